//! Why a report or the metrics of answer files could not be computed.

use std::io;

use reasonscape_points::PointsError;
use reasonscape_stats::StatsError;

/// Why a report or the metrics of answer files could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The study could not be queried, or does not have what was asked for.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The numbers do not allow the computation.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// The input is invalid; the message says what is wrong and how to fix it.
    #[error("{0}")]
    Input(String),
    /// A file could not be opened.
    #[error("failed to read `{name}`")]
    Open {
        /// The file as it was given.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// A file was opened and could not be read to its end.
    #[error("failed to read `{name}`")]
    Read {
        /// The file as it is called in messages.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The log of measured answers could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The caller asked to stop.
    #[error("interrupted")]
    Stopped,
}

impl AnalysisError {
    /// Invalid input, in one line that says what is wrong and how to fix it.
    pub(crate) fn input(message: impl std::fmt::Display) -> Self {
        Self::Input(message.to_string())
    }
}
