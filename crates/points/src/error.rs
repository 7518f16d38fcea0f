//! Errors of reading, writing and querying trials, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;

/// An error of writing, reading or querying trials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// The study has no trials yet.
    #[error("`{}` has no trials yet; `reasonscape run` sends the requests, `reasonscape evaluate` scores responses that are cached", study.display())]
    Empty {
        /// The study directory.
        study: PathBuf,
    },
    /// A file is not a Parquet file, or is damaged.
    #[error(
        "`{}` is not a valid Parquet file ({problem}); delete it and run `reasonscape evaluate` to rebuild it",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reader's message.
        problem: String,
    },
    /// A file that is not what was written, according to its hash.
    #[error(
        "`{}` is damaged: {problem}; `reasonscape verify` checks the whole study, and `reasonscape evaluate --force` \
         rebuilds what the cache still has",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What doesn't match.
        problem: String,
    },
    /// A file was replaced while it was in use.
    #[error("`{}` was replaced while it was read; try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A Parquet file that reasonscape did not write.
    #[error("`{}` was not written by reasonscape ({problem}); move it out of the study directory", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A file of a newer format.
    #[error(
        "`{}` has format {found}, but this version reads formats up to {known}; update reasonscape, or delete the \
         file and run `reasonscape evaluate`",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest supported format.
        known: u32,
    },
    /// A file of a format that is no longer supported.
    #[error(
        "`{}` has format {found}, but this version reads formats from {oldest} on; delete it and run `reasonscape \
         evaluate` to rebuild it",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The oldest supported format.
        oldest: u32,
    },
    /// An I/O error.
    #[error("failed to {action} `{}`", path.display())]
    Io {
        /// The operation that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The answers file could not be written.
    #[error("failed to write the answers")]
    Answers(#[source] io::Error),
    /// A file could not be written.
    #[error("failed to write `{}`: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The writer's message.
        problem: String,
    },
    /// A file whose content can't be used.
    #[error("`{}`: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// An invalid query or filter.
    #[error("{0}")]
    InvalidQuery(String),
    /// The SQL engine rejected or failed a query.
    #[error("{0}")]
    Query(String),
    /// A file of another tool that can't be read.
    #[error(transparent)]
    Ingest(#[from] reasonscape_ingest::IngestError),
    /// An error of the response cache.
    #[error(transparent)]
    Cache(#[from] reasonscape_cache::CacheError),
    /// An error in the study.
    #[error(transparent)]
    Study(#[from] reasonscape_study::StudyError),
    /// Inconsistent counters.
    #[error(transparent)]
    Stats(#[from] reasonscape_stats::StatsError),
}

impl PointsError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Whether the input is at fault, rather than the machine.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { .. } | Self::Answers(_) | Self::Write { .. } | Self::Changed { .. } => false,
            Self::Ingest(error) => error.is_input(),
            _ => true,
        }
    }
}

impl From<DataFusionError> for PointsError {
    fn from(error: DataFusionError) -> Self {
        if let DataFusionError::ResourcesExhausted(_) = error.find_root() {
            return Self::Query(format!(
                "the query needs more than {} MiB of memory; select fewer rows or columns, or raise `--memory-limit`",
                reasonscape_limits::memory_limit() >> 21
            ));
        }
        if let Some(error) = file_error(&error) {
            return error;
        }
        let message = error.strip_backtrace();
        match missing_table(&message) {
            Some(table) => Self::Query(format!("unknown table `{table}`; expected trials, points or evals")),
            None => Self::Query(common_mistake(&message).map_or(message, ToOwned::to_owned)),
        }
    }
}

/// What to write instead, for two mistakes that every newcomer makes.
fn common_mistake(message: &str) -> Option<&'static str> {
    let is_outcome = ["'incorrect'", "'correct'", "'truncated'"].iter().any(|name| message.contains(name));
    if is_outcome && message.contains("Cast error") {
        return Some(
            "`status` is a number: 0 incorrect, 1 correct, 2 truncated; `status_name(status)` is its name",
        );
    }
    message.contains("No field named name.").then_some(
        "no column `name`; names of evaluations are in the table `evals`: add `JOIN evals USING (eval_id)`",
    )
}

/// The error of reading a file that made a query fail.
fn file_error(error: &DataFusionError) -> Option<PointsError> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref() {
            Some(PointsError::Corrupt { path, problem }) => {
                return Some(PointsError::Corrupt { path: path.clone(), problem: problem.clone() });
            }
            Some(PointsError::Damaged { path, problem }) => {
                return Some(PointsError::Damaged { path: path.clone(), problem: problem.clone() });
            }
            Some(PointsError::Changed { path }) => return Some(PointsError::Changed { path: path.clone() }),
            _ => {}
        }
        cause = error.source();
    }
    None
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("its content can't be decoded: {}", text.unwrap_or("the decoder failed"))
}

/// The table that DataFusion did not find, without its catalog and schema prefix.
pub(crate) fn missing_table(message: &str) -> Option<&str> {
    message.split_once("table 'datafusion.public.")?.1.strip_suffix("' not found")
}

impl From<ArrowError> for PointsError {
    fn from(error: ArrowError) -> Self {
        Self::Query(error.to_string())
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
