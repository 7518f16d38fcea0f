//! Reads one version of a Parquet file, and checks what is read against its hashes.
//!
//! A file is replaced by renaming a new one over it. A reader that keeps the old one open continues to read the state that it
//! started with, whatever a writer does meanwhile.

use std::fs::{File, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use bytes::{Buf, Bytes};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use datafusion::parquet::file::reader::{ChunkReader, Length};

use crate::PointsError;
use crate::manifest::{FileEntry, hash};

/// Maximum number of files that this process keeps open for later queries. Others are opened again and refused if they
/// were replaced. Windows can't replace a file that is open.
const MAX_PINNED: usize = if cfg!(unix) { 256 } else { 0 };

/// A footer is read with the last bytes of its file; a longer one takes a second read.
const FOOTER_GUESS: u64 = 32 * 1024;

/// Number of files that are kept open.
static PINNED: AtomicUsize = AtomicUsize::new(0);

/// An open file that counts against [`MAX_PINNED`].
#[derive(Debug)]
struct PinnedFile(File);

impl PinnedFile {
    fn new(file: File) -> Option<Self> {
        let take = |pinned: usize| (pinned < MAX_PINNED).then_some(pinned + 1);
        PINNED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok().map(|_| Self(file))
    }
}

impl Drop for PinnedFile {
    fn drop(&mut self) {
        PINNED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What distinguishes a file from another one that replaced it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub(crate) size: u64,
    modified: Option<SystemTime>,
    /// Device and inode.
    inode: Option<(u64, u64)>,
}

impl FileIdentity {
    pub(crate) fn new(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let inode = None;
        Self { size: metadata.len(), modified: metadata.modified().ok(), inode }
    }
}

/// A column of one row group, and the hash of its bytes.
#[derive(Debug)]
struct HashedChunk {
    range: Range<u64>,
    hash: u64,
    column: String,
}

/// The bytes of one version of a file.
#[derive(Debug)]
pub(crate) struct FileSource {
    path: PathBuf,
    pinned: Option<PinnedFile>,
    identity: FileIdentity,
    /// Column chunks in order of their position; empty for a file without hashes.
    chunks: Vec<HashedChunk>,
}

impl FileSource {
    /// Opens a file and reads its footer: the encoded metadata, its length and the magic number.
    pub(crate) fn open(path: &Path) -> Result<(Self, Bytes), PointsError> {
        let file = File::open(path).map_err(PointsError::io("read", path))?;
        let identity = FileIdentity::new(&file.metadata().map_err(PointsError::io("read", path))?);
        let footer = read_footer(&file, identity.size, path)?;
        let source =
            Self { path: path.to_owned(), pinned: PinnedFile::new(file), identity, chunks: Vec::new() };
        Ok((source, footer))
    }

    pub(crate) fn size(&self) -> u64 {
        self.identity.size
    }

    /// Closes the file; it is opened again if it is read.
    pub(crate) fn unpin(&mut self) {
        self.pinned = None;
    }

    /// Checks every chunk that is read from now on. The footer is that of the entry, so both have the same chunks.
    pub(crate) fn check_against(
        &mut self,
        entry: &FileEntry,
        metadata: &ParquetMetaData,
    ) -> Result<(), String> {
        let ranges = chunk_ranges(metadata)?;
        let hashes = entry.chunk_hashes().filter(|hashes| hashes.len() == ranges.len());
        let hashes = hashes.ok_or("manifest.json does not have the hashes of its columns")?;
        let names = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
        let mut chunks: Vec<HashedChunk> = ranges
            .into_iter()
            .zip(hashes)
            .zip(names)
            .map(|((range, hash), column)| HashedChunk { range, hash, column: column.column_path().string() })
            .collect();
        chunks.sort_by_key(|chunk| chunk.range.start);
        self.chunks = chunks;
        Ok(())
    }

    /// The bytes of a range. Those of a column chunk are compared with its hash.
    pub(crate) fn read(&self, range: &Range<u64>) -> Result<Bytes, PointsError> {
        let next = self.chunks.partition_point(|chunk| chunk.range.start <= range.start);
        let chunk = next.checked_sub(1).map(|index| &self.chunks[index]);
        let Some(chunk) = chunk.filter(|chunk| range.end <= chunk.range.end) else {
            return self.read_unchecked(range);
        };
        let bytes = self.read_unchecked(&chunk.range)?;
        if hash(&bytes) != chunk.hash {
            return Err(PointsError::Corrupt {
                path: self.path.clone(),
                problem: format!("column `{}` does not match its hash in manifest.json", chunk.column),
            });
        }
        let start = (range.start - chunk.range.start) as usize;
        Ok(bytes.slice(start..start + (range.end - range.start) as usize))
    }

    fn read_unchecked(&self, range: &Range<u64>) -> Result<Bytes, PointsError> {
        if range.start > range.end || range.end > self.identity.size {
            return Err(PointsError::Damaged {
                path: self.path.clone(),
                problem: format!("bytes {} to {} are beyond its end", range.start, range.end),
            });
        }
        if let Some(PinnedFile(file)) = &self.pinned {
            return read_at(file, range).map_err(PointsError::io("read", &self.path));
        }
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(self.changed()),
            file => file.map_err(PointsError::io("read", &self.path))?,
        };
        let metadata = file.metadata().map_err(PointsError::io("read", &self.path))?;
        if FileIdentity::new(&metadata) != self.identity {
            return Err(self.changed());
        }
        read_at(&file, range).map_err(PointsError::io("read", &self.path))
    }

    fn changed(&self) -> PointsError {
        PointsError::Changed { path: self.path.clone() }
    }

    /// Reads every chunk, so that each is compared with its hash.
    pub(crate) fn check_all(&self) -> Result<(), PointsError> {
        self.chunks.iter().try_for_each(|chunk| self.read(&chunk.range).map(drop))
    }

    /// Reads these columns, numbered as in the file's schema, for a reader that takes them page by page.
    pub(crate) fn load(
        &self,
        metadata: &ParquetMetaData,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<LoadedChunks, PointsError> {
        let ranges = chunk_ranges(metadata)
            .map_err(|problem| PointsError::Damaged { path: self.path.clone(), problem })?;
        let columns = metadata.file_metadata().schema_descr().num_columns().max(1);
        let mut chunks = ranges
            .into_iter()
            .enumerate()
            .filter(|(index, _)| is_wanted(index % columns))
            .map(|(_, range)| Ok((range.start, self.read(&range)?)))
            .collect::<Result<Vec<_>, PointsError>>()?;
        chunks.sort_by_key(|(start, _)| *start);
        Ok(LoadedChunks { chunks: Arc::new(chunks), size: self.identity.size })
    }
}

/// The position of each column chunk, by row group and column.
pub(crate) fn chunk_ranges(metadata: &ParquetMetaData) -> Result<Vec<Range<u64>>, String> {
    let columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    columns
        .map(|column| {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let range = u64::try_from(start).ok().zip(u64::try_from(column.compressed_size()).ok());
            range
                .and_then(|(start, length)| Some(start..start.checked_add(length)?))
                .ok_or_else(|| format!("invalid position of column `{}`", column.column_path().string()))
        })
        .collect()
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, range: &Range<u64>) -> std::io::Result<Bytes> {
    use std::os::unix::fs::FileExt;
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_exact_at(&mut bytes, range.start)?;
    Ok(bytes.into())
}

/// Without [`MAX_PINNED`], no other thread moves the position of this file.
#[cfg(not(unix))]
pub(crate) fn read_at(mut file: &File, range: &Range<u64>) -> std::io::Result<Bytes> {
    use std::io::{Read, Seek, SeekFrom};
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

/// The end of a Parquet file: metadata, the length of the metadata in four bytes, and `PAR1`.
fn read_footer(file: &File, size: u64, path: &Path) -> Result<Bytes, PointsError> {
    let damaged = |problem: String| PointsError::Damaged { path: path.to_owned(), problem };
    let read = |start: u64| read_at(file, &(start..size)).map_err(PointsError::io("read", path));
    if size < 12 {
        return Err(damaged(format!("file size of {size} is less than a footer")));
    }
    let end = read(size.saturating_sub(FOOTER_GUESS))?;
    let tail = &end[end.len() - 8..];
    if &tail[4..] != b"PAR1" {
        return Err(damaged("corrupt footer".to_owned()));
    }
    let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]])) + 8;
    if length > size - 4 {
        return Err(damaged(format!("its footer claims {length} of {size} bytes")));
    }
    if length <= end.len() as u64 {
        return Ok(end.slice(end.len() - length as usize..));
    }
    read(size - length)
}

/// Column chunks in memory, for Parquet's synchronous reader.
#[derive(Clone)]
pub(crate) struct LoadedChunks {
    /// The start of each chunk in the file, in order, and its bytes.
    chunks: Arc<Vec<(u64, Bytes)>>,
    size: u64,
}

impl LoadedChunks {
    /// From here to the end of the chunk.
    fn bytes_from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let next = self.chunks.partition_point(|(from, _)| *from <= start);
        let found = next.checked_sub(1).map(|index| &self.chunks[index]);
        found
            .and_then(|(from, bytes)| {
                let skipped = usize::try_from(start - from).ok()?;
                (skipped <= bytes.len()).then(|| bytes.slice(skipped..))
            })
            .ok_or_else(|| ParquetError::EOF(format!("offset {start} is in no column that is read")))
    }
}

impl Length for LoadedChunks {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for LoadedChunks {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.bytes_from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.bytes_from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at offset {start} are beyond their column"
            )));
        }
        Ok(bytes.slice(..length))
    }
}
