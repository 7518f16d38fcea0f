//! Why a report or the metrics of answer files could not be computed.

use std::io;

use reasonscape_points::PointsError;
use reasonscape_stats::StatsError;

/// Why a report or the metrics of answer files could not be computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The study could not be queried, or doesn't have the requested data.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The numbers do not allow the computation.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// The input is invalid; the message names the problem and how to fix it.
    #[error("{0}")]
    Input(String),
    /// A file could not be opened.
    #[error("failed to read `{name}`")]
    Open {
        /// The path.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// A file could not be read to its end.
    #[error("failed to read `{name}`")]
    Read {
        /// The name of the file in messages.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The sample log could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// The caller requested a stop.
    #[error("interrupted")]
    Stopped,
}

impl AnalysisError {
    /// Invalid input: one line with the problem and how to fix it.
    pub(crate) fn input(message: impl std::fmt::Display) -> Self {
        Self::Input(message.to_string())
    }
}
