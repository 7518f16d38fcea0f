//! The response cache: every answer that was ever paid for, in one SQLite file that several processes share.
//!
//! # Promises
//! A response is on disk before it counts as stored, and is never changed or lost afterwards. Several processes can use
//! one file; a request that one of them has claimed is sent by no other. Files of older formats can be read. Nothing
//! here sends a request or knows what a response means.
//!
//! # How it works
//! An entry is known by the key of the complete request as sent, a namespace, and a repeat ([`EntryId`](reasonscape_core::EntryId)). Storing it
//! twice changes nothing. A response that is stored is on the disk: it survives the end of the process and of the
//! power. Before a request is sent it is claimed, so that no two processes send the same one; the claims of a process
//! that has ended, however it ended, block nobody. Before the requests of a point are sent, its [`Mark`] is raised, so
//! that scoring knows how far to look.
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
mod watermark;
mod write_connection;
mod writer;

use std::path::Path;
use std::sync::Arc;

pub use entry::{Entry, Response};
pub use error::CacheError;
pub use jsonl::{ExportLine, LineError};
pub use maintenance::{
    CacheStats, CorruptEntry, EntryFilter, EntryTotals, Importer, MergeSummary, Verification,
};
pub use marks::{HeldEntries, Mark, Marks};
pub use reader::{Found, Reader, Snapshot};
pub use watermark::{CacheDiff, Watermark};
pub use write_connection::Claim;
pub use writer::Writer;

use database::Access;
use write_connection::WriteConnection;

/// A cache file. It can be shared by threads; what reads ([`Reader`]) and writes ([`Writer`]) it has a connection of
/// its own.
#[derive(Debug, Clone)]
pub struct Cache {
    path: Arc<Path>,
    access: Access,
}

impl Cache {
    /// Opens a cache to read and write, and makes it if there is none.
    ///
    /// # Errors
    /// A [`CacheError`] that says what stands in the way: no such folder, not a cache, damaged, not writable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let path = path.as_ref();
        database::open(path, Access::Write)?;
        Ok(Self { path: Arc::from(path), access: Access::Write })
    }

    /// Opens a cache to read, be it on a medium that cannot be written.
    ///
    /// # Errors
    /// A [`CacheError`] that says what stands in the way, such as [`CacheError::Missing`].
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        let path = path.as_ref();
        let access = match database::open(path, Access::Read) {
            Ok(_) => Access::Read,
            // Where SQLite cannot make its files beside the database, nobody else can be writing either: the file is
            // read as it stands, unless a log beside it holds more.
            Err(CacheError::ReadOnly { .. } | CacheError::CannotOpen { .. }) if !has_log(path) => {
                database::open(path, Access::Immutable)?;
                Access::Immutable
            }
            Err(error) => return Err(error),
        };
        Ok(Self { path: Arc::from(path), access })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A connection that reads, for one thread.
    ///
    /// # Errors
    /// A [`CacheError`] if the file can no longer be opened.
    pub fn reader(&self) -> Result<Reader, CacheError> {
        let access = if self.access == Access::Write { Access::Read } else { self.access };
        let connection = database::connect(&self.path, access)?;
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let has_marks = database::format(&connection).map_err(to_cache_error)? >= 2;
        let has_latency_us = database::has_latency_us(&connection).map_err(to_cache_error)?;
        Ok(Reader { connection, path: Arc::clone(&self.path), has_marks, has_latency_us })
    }

    /// Starts the thread that writes. A process needs one; clone it to hand it around.
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
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}
