//! `manifest.json`: the files that make up the current state of a study, with their hashes.
//!
//! It is written last: a reader sees the files that it lists, even while newer ones are being put next to or over
//! them (see [`publish`](crate::publish)). A study without a manifest consists of the files in its directories.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use datafusion::parquet::file::metadata::ParquetMetaData;
use reasonscape_limits::{is_too_large, max_file_bytes, read_to_end};
use reasonscape_study::temp_file;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::PointsError;
use crate::file_source::{chunk_ranges, read_at};

/// Name of the file in the study directory.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The format that is written, and the newest that is read.
const FORMAT: u32 = 1;

/// The hash of bytes in files: XXH3 with 64 bits.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The state of a study.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// Raised by every change.
    pub(crate) generation: u64,
    /// Publications that have begun to put files in place. Their files don't belong to this state.
    pub(crate) pending: Vec<String>,
    /// The files by path, relative to the study directory and with `/`.
    pub(crate) files: BTreeMap<String, FileEntry>,
    /// The hash of this file without this value.
    xxh3: String,
}

/// One file of a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    /// In bytes.
    pub(crate) size: u64,
    /// The id in its metadata that trials and counters written together share.
    pub(crate) pair: String,
    /// The hash of its footer, including length and magic number.
    footer: String,
    /// The hashes of its column chunks by row group and column, 16 digits each.
    chunks: String,
}

impl FileEntry {
    /// Hashes a file. Its footer has been read and decoded.
    pub(crate) fn compute(
        path: &Path,
        pair: &str,
        footer: &[u8],
        metadata: &ParquetMetaData,
    ) -> Result<Self, PointsError> {
        let damaged = |problem: String| PointsError::Damaged { path: path.to_owned(), problem };
        let file = File::open(path).map_err(PointsError::io("read", path))?;
        let size = file.metadata().map_err(PointsError::io("read", path))?.len();
        let mut chunks = String::new();
        for range in chunk_ranges(metadata).map_err(damaged)? {
            if range.end > size {
                return Err(damaged(format!("a column ends at byte {} of {size}", range.end)));
            }
            let bytes = read_at(&file, &range).map_err(PointsError::io("read", path))?;
            write!(chunks, "{:016x}", hash(&bytes)).expect("a string takes any text");
        }
        Ok(Self { size, pair: pair.to_owned(), footer: format!("{:016x}", hash(footer)), chunks })
    }

    /// Whether a file of this size and footer is the one that is listed.
    pub(crate) fn matches(&self, size: u64, footer: &[u8]) -> bool {
        self.size == size && self.footer == format!("{:016x}", hash(footer))
    }

    /// The hashes of its column chunks, or `None` if they are not numbers.
    pub(crate) fn chunk_hashes(&self) -> Option<Vec<u64>> {
        let digits = self.chunks.as_bytes().chunks(16);
        digits.map(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()).collect()
    }
}

/// What was found at the place of the manifest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FoundManifest {
    Missing,
    Valid(Box<Manifest>),
    /// It can't be used, for this reason: the files are listed as if there were none.
    Invalid(String),
}

impl FoundManifest {
    /// The manifest, if it can be used.
    pub(crate) fn valid(&self) -> Option<&Manifest> {
        match self {
            Self::Valid(manifest) => Some(manifest),
            Self::Missing | Self::Invalid(_) => None,
        }
    }
}

impl Manifest {
    pub(crate) fn path(study: &Path) -> PathBuf {
        study.join(MANIFEST)
    }

    /// Reads the manifest of a study.
    pub(crate) fn read(study: &Path) -> Result<FoundManifest, PointsError> {
        let path = Self::path(study);
        let text = match File::open(&path).and_then(|file| read_to_end(file, max_file_bytes())) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FoundManifest::Missing),
            Err(error) if is_too_large(&error) => return Ok(FoundManifest::Invalid(error.to_string())),
            Err(error) => return Err(PointsError::io("read", &path)(error)),
        };
        Ok(Self::parse(&text)
            .map_or_else(FoundManifest::Invalid, |found| FoundManifest::Valid(Box::new(found))))
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let found: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if found.format > FORMAT {
            return Err(format!("format {} is newer than this version", found.format));
        }
        if found.xxh3 != found.own_hash() {
            return Err("its hash does not match".to_owned());
        }
        Ok(found)
    }

    fn own_hash(&self) -> String {
        let without = Self { xxh3: String::new(), ..self.clone() };
        let text = serde_json::to_vec(&without).expect("plain structures serialize to JSON");
        format!("{:016x}", hash(&text))
    }

    /// Writes it as the next generation: completely or not at all.
    pub(crate) fn write(&mut self, study: &Path) -> Result<(), PointsError> {
        (self.format, self.generation) = (FORMAT, self.generation + 1);
        self.xxh3 = self.own_hash();
        let path = Self::path(study);
        let mut file = temp_file(study, "").map_err(PointsError::io("write in", study))?;
        let text = serde_json::to_vec_pretty(self).expect("plain structures serialize to JSON");
        std::io::Write::write_all(&mut file, &text)
            .and_then(|()| file.as_file().sync_all())
            .map_err(PointsError::io("write", &path))?;
        file.persist(&path).map_err(|error| PointsError::io("replace", &path)(error.error))?;
        sync_dir(study).map_err(PointsError::io("write", &path))
    }

    /// Whether a file with this pair id was put in place by a publication that is not complete.
    pub(crate) fn is_pending(&self, pair: &str) -> bool {
        self.pending.iter().any(|id| publication_id(pair) == Some(id))
    }
}

/// The publication that a pair of files was written by; files of earlier versions belong to none.
pub(crate) fn publication_id(pair: &str) -> Option<&str> {
    pair.rsplit_once('-').map(|(id, _)| id)
}

/// The path of a file as the manifest has it.
pub(crate) fn relative_name(study: &Path, path: &Path) -> String {
    let path = path.strip_prefix(study).unwrap_or(path);
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Makes the renames in a directory durable. Systems on which directories can't be opened do this themselves.
pub(crate) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    File::open(dir).map_or(Ok(()), |dir| dir.sync_all())
}
