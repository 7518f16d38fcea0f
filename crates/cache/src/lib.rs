//! The response cache: every response ever received, in one SQLite file that several processes can share.
//!
//! # Promises
//! A response is on disk before it counts as stored, and is never changed or lost afterwards. Several processes can use
//! one file; a request claimed by one of them is not sent by another. Files of older formats can be read. This crate sends
//! no requests and doesn't interpret responses.
//!
//! # How it works
//! An entry is identified by the key of the complete request as sent, a namespace and a repeat
//! ([`EntryId`](reasonscape_core::EntryId)). Storing it twice changes nothing. A stored response survives the end of the
//! process and a power failure. Before a request is sent it is claimed, so that no two processes send the same one; the
//! claims of a process that has ended, even by a crash, block nobody. Before the requests of a point are sent, its [`Mark`]
//! is raised, so that scoring knows how far to look.
//!
//! ```
//! use reasonscape_cache::{Cache, Claim, Entry, Response};
//! use reasonscape_core::{CacheKey, EntryId, Json, canonical_json};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let cache = Cache::open(dir.path().join("cache.sqlite"))?;
//! let writer = cache.writer()?;
//!
//! let request = canonical_json(&Json::parse(r#"{"model": "m", "messages": []}"#)?);
//! let id = EntryId::new(CacheKey::from_canonical_json(&request));
//! assert_eq!(writer.claim(vec![id.clone()]).await?, [Claim::Granted]);
//! assert_eq!(writer.claim(vec![id.clone()]).await?, [Claim::Taken]);
//!
//! let response = Response { status: 200, latency_ms: 12, latency_us: Some(12_345), received_ms: 0, body: b"{}".to_vec() };
//! writer.store(Entry { id: id.clone(), request, response }).await?;
//! assert_eq!(writer.claim(vec![id.clone()]).await?, [Claim::Stored]);
//! assert_eq!(cache.reader()?.get(&id)?.map(|response| response.body), Some(b"{}".to_vec()));
//! # Ok(())
//! # }
//! ```

mod codec;
mod database;
mod entry;
mod error;
mod jsonl;
mod leases;
mod maintenance;
mod marks;
mod reader;
mod savings;
mod watermark;
mod write_connection;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use entry::{Entry, Response, TokenUsage};
pub use error::CacheError;
pub use jsonl::{ExportLine, LineError};
pub use maintenance::{
    CacheStats, CorruptEntry, EntryFilter, EntryTotals, Importer, MergeSummary, Verification,
};
pub use marks::{HeldEntries, Mark, Marks, PointSampling};
pub use reader::{Found, FoundUsage, Reader, Snapshot};
pub use savings::Savings;
pub use watermark::{CacheDiff, Watermark};
pub use write_connection::Claim;
pub use writer::{Committed, Writer};

use database::Access;
use write_connection::WriteConnection;

/// A cache file. Threads can share it; each [`Reader`] and [`Writer`] has its own connection.
#[derive(Debug, Clone)]
pub struct Cache {
    path: Arc<Path>,
    access: Access,
}

impl Cache {
    /// Opens a cache for reading and writing, and creates it if missing.
    ///
    /// # Errors
    /// A [`CacheError`] with the cause: missing directory, not a cache, damaged, not writable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let path = path.as_ref();
        database::open(path, Access::Write)?;
        Ok(Self { path: Arc::from(path), access: Access::Write })
    }

    /// Opens a cache for reading, also on a read-only medium.
    ///
    /// # Errors
    /// A [`CacheError`] with the cause, such as [`CacheError::Missing`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let path = path.as_ref();
        let access = match database::open(path, Access::Read) {
            Ok(_) => Access::Read,
            // Where SQLite can't create its auxiliary files, such as on a full disk, no other process can be writing
            // either: read the file as it is, or with the write-ahead log that a killed process left next to it.
            Err(
                error @ (CacheError::ReadOnly { .. }
                | CacheError::CannotOpen { .. }
                | CacheError::Full { .. }
                | CacheError::Unwritable { .. }),
            ) => {
                let access = if has_log(path) { Access::Untouched } else { Access::Immutable };
                match database::open(path, access) {
                    Ok(_) => access,
                    Err(CacheError::ReadOnly { .. } | CacheError::CannotOpen { .. }) => return Err(error),
                    Err(other) => return Err(other),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(Self { path: Arc::from(path), access })
    }

    /// As [`open_read_only`](Self::open_read_only), but `None` if there is no cache, or an empty file, which a first run on a
    /// full disk leaves behind.
    ///
    /// # Errors
    /// A [`CacheError`] with the cause.
    pub fn open_if_exists(path: impl AsRef<Path>) -> Result<Option<Self>, CacheError> {
        match Self::open_read_only(path) {
            Ok(cache) => Ok(Some(cache)),
            Err(CacheError::Missing { .. } | CacheError::NoDirectory { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a cache for reading without creating or changing any file, not even SQLite's auxiliary files.
    ///
    /// # Errors
    /// As [`open_read_only`](Self::open_read_only), and if there is a write-ahead log without its index, since reading it
    /// would create one.
    pub fn open_untouched(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let path = path.as_ref();
        // Without a log no other process is writing.
        let access = if has_log(path) { Access::Untouched } else { Access::Immutable };
        database::open(path, access)?;
        Ok(Self { path: Arc::from(path), access })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a read connection, for one thread.
    ///
    /// # Errors
    /// A [`CacheError`] if the file can no longer be opened.
    pub fn reader(&self) -> Result<Reader, CacheError> {
        let access = if self.access == Access::Write { Access::Read } else { self.access };
        let connection = database::connect(&self.path, access)?;
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let has_marks = database::format(&connection).map_err(to_cache_error)? >= 2;
        let columns = database::Columns::read(&connection).map_err(to_cache_error)?;
        Ok(Reader { connection, path: Arc::clone(&self.path), has_marks, columns })
    }

    /// Starts the writer thread. A process needs only one; clone the handle.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn writer(&self) -> Result<Writer, CacheError> {
        Writer::start(self.write_connection()?)
    }

    fn write_connection(&self) -> Result<WriteConnection, CacheError> {
        if self.access != Access::Write {
            return Err(CacheError::ReadOnly { path: self.path.to_path_buf() });
        }
        Ok(WriteConnection::new(database::connect(&self.path, Access::Write)?, Arc::clone(&self.path)))
    }
}

fn has_log(path: &Path) -> bool {
    std::fs::metadata(log_path(path)).is_ok_and(|log| log.len() > 0)
}

/// Path of SQLite's write-ahead log of a database.
fn log_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
