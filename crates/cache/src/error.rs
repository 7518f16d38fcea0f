//! Cache errors, with hints.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{ErrorCode, ffi};

/// Why a cache operation failed. Each error names the file and has a hint.
///
/// Can be cloned, because a failed transaction is the error of every entry in it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The file to read does not exist.
    #[error("no cache at `{}`; the first `reasonscape run` of the study creates it", path.display())]
    Missing {
        /// The cache.
        path: PathBuf,
    },
    /// The directory of the cache does not exist.
    #[error("directory `{}` of the cache does not exist; create it or correct the path of the study", dir.display())]
    NoDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// The path is a directory or another non-file.
    #[error("`{}` is not a regular file; expected the response cache; move it away", path.display())]
    NotAFile {
        /// The cache.
        path: PathBuf,
    },
    /// The file is not a SQLite database.
    #[error(
        "`{}` is not a cache: not a SQLite database; move it away, and the next run creates a new one",
        path.display()
    )]
    NotADatabase {
        /// The cache.
        path: PathBuf,
    },
    /// The file is a SQLite database of another program.
    #[error(
        "`{}` is a SQLite database of another program; move it away, and the next run creates a new cache",
        path.display()
    )]
    Foreign {
        /// The cache.
        path: PathBuf,
    },
    /// The file was written by a newer version of this program.
    #[error(
        "cache `{}` has format {found}; this version supports formats up to {known}; update reasonscape",
        path.display()
    )]
    Newer {
        /// The cache.
        path: PathBuf,
        /// Format of the file.
        found: i64,
        /// Latest supported format.
        known: i64,
    },
    /// The database itself is damaged.
    #[error(
        "cache `{}` is damaged; restore it from a backup, or recover the readable entries with \
         `sqlite3 {} .recover | sqlite3 saved.sqlite`",
        path.display(),
        path.display()
    )]
    Damaged {
        /// The cache.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// One entry is damaged; the others are readable.
    #[error(
        "cache `{}`: entry {entry} is damaged: {problem}; `reasonscape cache prune --damaged` removes such entries, \
         and the next run requests them again",
        path.display()
    )]
    DamagedEntry {
        /// The cache.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// The damage.
        problem: String,
    },
    /// The file or its directory is not writable.
    #[error(
        "cache `{}` is not writable; grant yourself write permission for the file and its directory, or copy the study \
         to a writable directory",
        path.display()
    )]
    ReadOnly {
        /// The cache.
        path: PathBuf,
    },
    /// The file or one of SQLite's auxiliary files could not be opened.
    #[error(
        "cache `{}` could not be opened; check your read and write permissions for it and its directory",
        path.display()
    )]
    CannotOpen {
        /// The cache.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The disk is full.
    #[error(
        "no space left on the disk for cache `{}`; free some and run again; stored responses are kept",
        path.display()
    )]
    Full {
        /// The cache.
        path: PathBuf,
    },
    /// A write failed for another reason than a full disk: a quota, a file size limit, a failing disk.
    #[error(
        "cache `{}` could not be written; check the quota, the limits, the free space and the health of its disk, and run \
         again; stored responses are kept",
        path.display()
    )]
    Unwritable {
        /// The cache.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// Another program has locked the database for over a minute.
    #[error(
        "cache `{}` is locked by another program; close the program that has it open (a database browser, a backup) and run again",
        path.display()
    )]
    Locked {
        /// The cache.
        path: PathBuf,
    },
    /// The file system does not support shared memory or locks between processes.
    #[error(
        "the file system of cache `{}` does not support shared databases; move the study to a local disk",
        path.display()
    )]
    NotShareable {
        /// The cache.
        path: PathBuf,
    },
    /// An entry exceeds the maximum size.
    #[error("request and response have {bytes} bytes; an entry can have at most {max}")]
    TooLarge {
        /// Size of the entry.
        bytes: usize,
        /// Maximum size.
        max: usize,
    },
    /// An auxiliary file of the cache could not be used.
    #[error("failed to use `{}` beside the cache; check the permissions and free space of its directory", path.display())]
    Beside {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The writer thread ended before its work was done.
    #[error("the writer of cache `{}` has ended unexpectedly; run again; stored responses are kept", path.display())]
    Closed {
        /// The cache.
        path: PathBuf,
    },
    /// Any other SQLite error.
    #[error("cache `{}` failed; `reasonscape cache verify` checks it", path.display())]
    Other {
        /// The cache.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: Arc<rusqlite::Error>,
    },
}

impl CacheError {
    /// Maps a SQLite error of the cache at this path.
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
                        // The file is shorter than its header states.
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

    /// Maps an I/O error of an auxiliary file.
    pub(crate) fn from_io(path: &Path) -> impl Fn(std::io::Error) -> Self + Copy + '_ {
        move |error| match error.kind() {
            std::io::ErrorKind::StorageFull => Self::Full { path: path.to_owned() },
            std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
                Self::ReadOnly { path: path.to_owned() }
            }
            _ => Self::Beside { path: path.to_owned(), source: Arc::new(error) },
        }
    }

    /// Whether a write failed for a reason that may pass: a full disk, a quota.
    pub fn is_unwritable(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Unwritable { .. })
    }

    /// Whether the input is at fault (a wrong path, a file of another program) rather than the environment.
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
            (ffi::SQLITE_CORRUPT, "restore it from a backup"),
            (ffi::SQLITE_IOERR_SHORT_READ, "restore it from a backup"),
            (ffi::SQLITE_READONLY, "grant yourself write permission"),
            (ffi::SQLITE_PERM, "grant yourself write permission"),
            (ffi::SQLITE_CANTOPEN, "check your read and write permissions"),
            (ffi::SQLITE_FULL, "free some and run again"),
            (ffi::SQLITE_BUSY, "close the program that has it open"),
            (ffi::SQLITE_BUSY_RECOVERY, "close the program that has it open"),
            (ffi::SQLITE_PROTOCOL, "move the study to a local disk"),
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
