//! The results of a study of a dataset, for a front end that shows them elsewhere.
// Moves into `pipeline` with `analysis::answer_files::summarize` in the place of `measure_answers`.

use std::io;

use reasonscape_pipeline::{ScoreProgress, write_dataset_results};
use reasonscape_points::PointsError;
use reasonscape_runner::Study;
use reasonscape_runner::cache::Cache;

use crate::cli::measure_answers;

/// Why results could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The answers could not be measured.
    #[error(transparent)]
    Measure(anyhow::Error),
    /// Somebody stopped it.
    #[error("it was interrupted")]
    Stopped,
}

/// Writes the answers of a study and what is measured on them; returns whether there was an answer.
pub(crate) fn write_results(
    study: &Study,
    cache: &Cache,
    progress: &std::sync::Arc<ScoreProgress>,
) -> Result<bool, ResultsError> {
    write_dataset_results(study, cache, |answers, per_task| measure_answers(answers, per_task, progress))
}
