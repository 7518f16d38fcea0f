//! What can go wrong with the files, said so that it can be mended.

use std::io;
use std::path::{Path, PathBuf};

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;

/// Why trials cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// Nothing has been evaluated yet.
    #[error("`{}` has no trials yet; `reasonscape evaluate` makes them from the responses", study.display())]
    Empty {
        /// The folder of the study.
        study: PathBuf,
    },
    /// A file that is no Parquet, or is damaged.
    #[error(
        "`{}` is not a sound Parquet file ({problem}); delete it and run `reasonscape evaluate`, which makes it again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        problem: String,
    },
    /// A Parquet file of somebody else.
    #[error("`{}` was not written by reasonscape ({problem}); move it out of the study's folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A format from the future.
    #[error(
        "`{}` has format {found}, and this program knows up to {known}; update reasonscape, or delete the file and \
         run `reasonscape evaluate`",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The latest that is known.
        known: u32,
    },
    /// A format that is no longer read.
    #[error(
        "`{}` has format {found}, and this program reads {oldest} and later; delete it and run `reasonscape evaluate`, \
         which makes it again",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The oldest that is read.
        oldest: u32,
    },
    /// The disk.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The answers, which are written beside the trials.
    #[error("failed to write the answers")]
    Answers(#[source] io::Error),
    /// A file could not be written.
    #[error("failed to write `{}`: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the writer said.
        problem: String,
    },
    /// A file that cannot be read.
    #[error("`{}`: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A query or filter that is not valid.
    #[error("{0}")]
    InvalidQuery(String),
    /// The SQL engine failed.
    #[error("{0}")]
    Query(String),
    /// A file of another tool that cannot be read.
    #[error(transparent)]
    Ingest(#[from] reasonscape_ingest::IngestError),
    /// The response cache.
    #[error(transparent)]
    Cache(#[from] reasonscape_cache::CacheError),
    /// The study.
    #[error(transparent)]
    Study(#[from] reasonscape_study::StudyError),
    /// The counters make no sense together.
    #[error(transparent)]
    Stats(#[from] reasonscape_stats::StatsError),
}

impl PointsError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Whether what was given is at fault, rather than the machine.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { .. } | Self::Answers(_) | Self::Write { .. } => false,
            Self::Ingest(error) => error.is_input(),
            _ => true,
        }
    }
}

impl From<DataFusionError> for PointsError {
    fn from(error: DataFusionError) -> Self {
        let message = error.strip_backtrace();
        match missing_table(&message) {
            Some(table) => {
                Self::Query(format!("there is no table `{table}`; there are trials, points and evals"))
            }
            None => Self::Query(message),
        }
    }
}

/// The table that the engine did not find, without the names of its own that it puts before.
pub(crate) fn missing_table(message: &str) -> Option<&str> {
    message.split_once("table 'datafusion.public.")?.1.strip_suffix("' not found")
}

impl From<ArrowError> for PointsError {
    fn from(error: ArrowError) -> Self {
        Self::Query(error.to_string())
    }
}

/// What the Parquet library says, without its prefixes.
pub(crate) fn parquet_message(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::ArrowError(text) => {
            text.clone()
        }
        error => error.to_string(),
    }
}
