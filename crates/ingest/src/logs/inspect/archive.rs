//! The zip archive of an `.eval` file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use zip::ZipArchive;
use zip::result::ZipError;

use super::header::Header;
use crate::IngestError;
use crate::logs::max_sample_bytes;

/// Maximum bytes and samples of a batch.
const BATCH_BYTES: u64 = 16 << 20;
const BATCH_SAMPLES: usize = 512;

/// An open log. Clones are cheap and can be read independently.
#[derive(Debug, Clone)]
pub(super) struct Archive {
    path: Arc<Path>,
    zip: ZipArchive<Shared>,
    /// The indices of the samples in the archive. Of members with the same name the zip reader keeps the last, as
    /// Inspect intends when it writes one again.
    samples: Arc<[usize]>,
}

/// A file shared by several readers, each with its own position.
#[derive(Debug, Clone)]
struct Shared {
    file: Arc<Mutex<File>>,
    at: u64,
    length: u64,
}

impl Read for Shared {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(into)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(from) => self.length.checked_add_signed(from),
            SeekFrom::Current(from) => self.at.checked_add_signed(from),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

/// Whether a file starts with a zip signature.
pub(super) fn is_zip(path: &Path) -> Result<bool, IngestError> {
    let mut first = [0; 4];
    let mut file = File::open(path).map_err(IngestError::io("read", path))?;
    match file.read_exact(&mut first) {
        Ok(()) => Ok(&first == b"PK\x03\x04"),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(IngestError::io("read", path)(error)),
    }
}

impl Archive {
    pub(super) fn open(path: &Path) -> Result<Self, IngestError> {
        let file = File::open(path).map_err(IngestError::io("read", path))?;
        let length = file.metadata().map_err(IngestError::io("read", path))?.len();
        if !is_zip(path)? {
            return Err(IngestError::file(
                path,
                "not an Inspect log; expected an `.eval` file or a `.json` log",
            ));
        }
        let shared = Shared { file: Arc::new(Mutex::new(file)), at: 0, length };
        let zip = ZipArchive::new(shared).map_err(|error| {
            IngestError::file(
                path,
                format!(
                    "the zip archive has no directory at its end ({error}); it is truncated or still being copied: copy it \
                     again"
                ),
            )
        })?;
        let mut samples = Vec::new();
        for (index, name) in zip.file_names_raw().enumerate() {
            let Some(name) = name.strip_prefix(b"samples/") else { continue };
            if is_chunk(name) {
                return Err(IngestError::file(
                    path,
                    format!(
                        "its samples are in chunks (`samples/{}`), which is not supported; `inspect log convert --to \
                         json` writes one that is",
                        String::from_utf8_lossy(name)
                    ),
                ));
            }
            if name.ends_with(b".json") {
                samples.push(index);
            }
        }
        Ok(Self { path: Arc::from(path), zip, samples: samples.into() })
    }

    pub(super) fn samples(&self) -> &[usize] {
        &self.samples
    }

    /// The header, also of an unfinished log.
    pub(super) fn header(&mut self) -> Result<Header, IngestError> {
        let mut text = Vec::new();
        for name in ["header.json", "_journal/start.json"] {
            if let Some(index) = self.zip.index_for_name(name) {
                let name = self.read(index, &mut text)?;
                return Header::parse(&self.path, &name, &text);
            }
        }
        Err(IngestError::file(
            &self.path,
            "not an Inspect log: the zip archive has neither `header.json` nor `_journal/start.json`",
        ))
    }

    /// Reads a whole member and returns its name.
    pub(super) fn read(&mut self, index: usize, into: &mut Vec<u8>) -> Result<String, IngestError> {
        let path = Arc::clone(&self.path);
        let wrong = |error: &dyn std::fmt::Display, name: &str| {
            IngestError::file(
                &path,
                format!("`{name}` in the archive can't be read ({error}); the log is damaged: copy it again"),
            )
        };
        let unnamed = |error: ZipError| wrong(&error, "a member");
        let member = self.zip.by_index(index).map_err(unnamed)?;
        let name = member.name().map_err(unnamed)?.into_owned();
        let (size, max) = (member.size(), max_sample_bytes());
        if size > max {
            return Err(IngestError::file(
                &path,
                format!(
                    "`{name}` in the archive has {} MiB, but at most {} MiB are read; raise `--memory-limit` if the log \
                     is not a mistake",
                    size >> 20,
                    max >> 20
                ),
            ));
        }
        into.clear();
        into.reserve(usize::try_from(size.min(BATCH_BYTES)).unwrap_or(0));
        // The zip reader rejects a member that is larger than the directory declares.
        member.take(max).read_to_end(into).map_err(|error| wrong(&error, &name))?;
        Ok(name)
    }

    /// The indices of the samples, in batches.
    pub(super) fn batches(&self) -> impl Iterator<Item = Vec<usize>> + use<> {
        let (samples, zip) = (Arc::clone(&self.samples), self.zip.clone());
        let mut at = 0;
        std::iter::from_fn(move || {
            let (start, mut bytes) = (at, 0);
            while at < samples.len() && at - start < BATCH_SAMPLES && bytes < BATCH_BYTES {
                bytes += zip.by_index_data(samples[at]).map_or(0, |member| member.size());
                at += 1;
            }
            (at > start).then(|| samples[start..at].to_vec())
        })
    }
}

/// Whether a member is a chunk of a sample, such as `{id}_epoch_{n}/sample.json`. Ids may contain slashes.
fn is_chunk(name: &[u8]) -> bool {
    let Some(stem) = name.strip_suffix(b"/sample.json") else { return false };
    let digits = stem.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && stem[..stem.len() - digits].ends_with(b"_epoch_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_chunks_from_ids_with_slashes() {
        assert!(is_chunk(b"a_epoch_1/sample.json") && is_chunk(b"x/y_epoch_12/sample.json"));
        assert!(
            !is_chunk(b"sum/0_epoch_1.json")
                && !is_chunk(b"a_epoch_/sample.json")
                && !is_chunk(b"sample.json")
        );
    }
}
