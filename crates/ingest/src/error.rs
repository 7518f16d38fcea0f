//! Errors of reading files.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

/// An error of reading a file of another tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// An I/O error.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file whose content can't be used.
    #[error("`{}`: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// Arguments that are invalid or do not match the files.
    #[error("{0}")]
    InvalidInput(String),
}

impl IngestError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), problem: problem.into() }
    }

    /// The problem without the path of the file.
    pub fn problem(&self) -> String {
        match self {
            Self::Io { action, source, .. } => format!("failed to {action} ({source})"),
            Self::File { problem, .. } | Self::InvalidInput(problem) => problem.clone(),
        }
    }

    /// Whether the input is at fault, rather than the machine.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { source, .. } => reasonscape_limits::is_too_large(source),
            _ => true,
        }
    }
}

/// The message of a Parquet error without the library's prefixes.
pub(crate) fn parquet_message(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::ArrowError(text) => {
            text.clone()
        }
        error => error.to_string(),
    }
}
