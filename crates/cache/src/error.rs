//! What can go wrong with a cache, and what to do about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{ErrorCode, ffi};

/// Why the cache could not do what was asked. Each says which file it is about and what helps.
///
/// It can be cloned because one transaction that fails is the failure of every entry in it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// There is no such file, and it was to be read.
    #[error("no cache at `{}`; it appears with the first `reasonscape run` of the study", path.display())]
    Missing {
        /// The cache.
        path: PathBuf,
    },
    /// The folder that should hold it does not exist.
    #[error("no folder `{}` for the cache; create it or correct the path of the study", dir.display())]
    NoDirectory {
        /// The folder.
        dir: PathBuf,
    },
    /// A folder, or something else that is no file, stands at its place.
    #[error("`{}` is not a file, but the cache belongs there; move it away", path.display())]
    NotAFile {
        /// The cache.
        path: PathBuf,
    },
    /// The file holds something else.
    #[error(
        "`{}` is not a cache: it is no SQLite database; move it away, and the next run starts a new one",
        path.display()
    )]
    NotADatabase {
        /// The cache.
        path: PathBuf,
    },
    /// A SQLite database, but not ours.
    #[error(
        "`{}` is a SQLite database of something else; move it away, and the next run starts a new cache",
        path.display()
    )]
    Foreign {
        /// The cache.
        path: PathBuf,
    },
    /// Written by a later version of this program.
    #[error(
        "cache `{}` has format {found}, and this program knows formats up to {known}; update reasonscape",
        path.display()
    )]
    Newer {
        /// The cache.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The latest format known here.
        known: i64,
    },
    /// The database itself is damaged.
    #[error(
        "cache `{}` is damaged; put a backup in its place, or save what can be read with \
         `sqlite3 {} .recover | sqlite3 saved.sqlite`",
        path.display(),
        path.display()
    )]
    Damaged {
        /// The cache.
        path: PathBuf,
        /// What SQLite found.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// One entry is damaged, the others are not.
    #[error(
        "cache `{}`: entry {entry} is damaged: {problem}; `reasonscape cache prune --damaged` removes such entries, \
         and the next run asks for them again",
        path.display()
    )]
    DamagedEntry {
        /// The cache.
        path: PathBuf,
        /// Which entry.
        entry: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The file or its folder may not be written.
    #[error(
        "cache `{}` cannot be written; give yourself the right to write the file and its folder, or copy the study \
         to where you have it",
        path.display()
    )]
    ReadOnly {
        /// The cache.
        path: PathBuf,
    },
    /// The file or what SQLite keeps beside it could not be opened.
    #[error(
        "cache `{}` could not be opened; check that you may read and write it and its folder",
        path.display()
    )]
    CannotOpen {
        /// The cache.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The disk is full.
    #[error(
        "no space left on the disk for cache `{}`; free some and run again: what is stored is kept",
        path.display()
    )]
    Full {
        /// The cache.
        path: PathBuf,
    },
    /// The system refused a write, and not for want of space: a quota, a limit on the size of files, a failing disk.
    #[error(
        "cache `{}` could not be written; check the quota, the limits and the health of its disk, and run again: \
         what is stored is kept",
        path.display()
    )]
    Unwritable {
        /// The cache.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// Another program has not let go of the database for a minute.
    #[error(
        "cache `{}` is locked by another program; close what has it open (a database browser, a backup) and run again",
        path.display()
    )]
    Locked {
        /// The cache.
        path: PathBuf,
    },
    /// The file system cannot share memory or locks between processes.
    #[error(
        "the file system of cache `{}` cannot share a database between processes; put the study on a local disk",
        path.display()
    )]
    NotShareable {
        /// The cache.
        path: PathBuf,
    },
    /// More than an entry may hold.
    #[error("a request and response of {bytes} bytes are more than the {max} bytes that an entry may have")]
    TooLarge {
        /// How much it is.
        bytes: usize,
        /// How much it may be.
        max: usize,
    },
    /// A file beside the cache could not be used.
    #[error("failed to use `{}` beside the cache; check the rights and the space of its folder", path.display())]
    Beside {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The writing thread has ended before its work was done.
    #[error("the writer of cache `{}` has ended; run again: what is stored is kept", path.display())]
    Closed {
        /// The cache.
        path: PathBuf,
    },
    /// Anything else that SQLite says.
    #[error("cache `{}` failed; `reasonscape cache verify` checks it", path.display())]
    Other {
        /// The cache.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<rusqlite::Error>,
    },
}

impl CacheError {
    /// What SQLite said of the cache at this path, in our words.
    pub(crate) fn from_sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self + Copy + '_ {
        move |error| {
            let path = path.to_owned();
            match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
                Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, source: Arc::new(error) },
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
                Some(ErrorCode::CannotOpen) => Self::CannotOpen { path, source: Arc::new(error) },
                Some(ErrorCode::DiskFull) => Self::Full { path },
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
                Some(ErrorCode::FileLockingProtocolFailed | ErrorCode::NoLargeFileSupport) => {
                    Self::NotShareable { path }
                }
                Some(ErrorCode::SystemIoFailure) => {
                    let (extended, source) = (error.sqlite_extended_error_code(), Arc::new(error));
                    match extended {
                        // The file ends where its header promises more.
                        Some(ffi::SQLITE_IOERR_SHORT_READ) => Self::Damaged { path, source },
                        Some(
                            ffi::SQLITE_IOERR_WRITE
                            | ffi::SQLITE_IOERR_FSYNC
                            | ffi::SQLITE_IOERR_DIR_FSYNC
                            | ffi::SQLITE_IOERR_TRUNCATE
                            | ffi::SQLITE_IOERR_SHMSIZE,
                        ) => Self::Unwritable { path, source },
                        _ => Self::Other { path, source },
                    }
                }
                _ => Self::Other { path, source: Arc::new(error) },
            }
        }
    }

    /// What the system said of a file beside the cache.
    pub(crate) fn from_io(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy + '_ {
        move |error| match error.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path: path.to_owned() },
            std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path: path.to_owned() }
            }
            _ => Self::Beside { path: path.to_owned(), source: Arc::new(error) },
        }
    }

    /// Whether what was given is at fault (a wrong path, a foreign file), and not what happened.
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::NoDirectory { .. }
                | Self::NotAFile { .. }
                | Self::NotADatabase { .. }
                | Self::Foreign { .. }
                | Self::Newer { .. }
                | Self::Damaged { .. }
                | Self::DamagedEntry { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_file_and_a_remedy() {
        let cases = [
            (ffi::SQLITE_NOTADB, "move it away"),
            (ffi::SQLITE_CORRUPT, "put a backup in its place"),
            (ffi::SQLITE_IOERR_SHORT_READ, "put a backup in its place"),
            (ffi::SQLITE_READONLY, "give yourself the right"),
            (ffi::SQLITE_PERM, "give yourself the right"),
            (ffi::SQLITE_CANTOPEN, "check that you may read and write"),
            (ffi::SQLITE_FULL, "free some and run again"),
            (ffi::SQLITE_BUSY, "close what has it open"),
            (ffi::SQLITE_BUSY_RECOVERY, "close what has it open"),
            (ffi::SQLITE_PROTOCOL, "put the study on a local disk"),
            (ffi::SQLITE_IOERR_WRITE, "check the quota"),
            (ffi::SQLITE_IOERR_READ, "cache verify"),
        ];
        for (code, remedy) in cases {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let message = CacheError::from_sqlite(Path::new("study/cache.sqlite"))(error).to_string();
            assert!(
                message.contains("`study/cache.sqlite`") && message.contains(remedy),
                "{code}: {message}"
            );
        }
    }
}
