//! The metrics of the answers to a dataset, written to its study and shown.

use std::path::Path;
use std::sync::Arc;

use reasonscape_pipeline::{ANSWERS, RESULTS, ScoreProgress, write_dataset_results};
use reasonscape_runner::Study;
use reasonscape_runner::cache::Cache;

use crate::cli::Global;
use crate::cli::metrics::Metrics;
use crate::dataset_results::ResultsError;
use crate::failure::Failure;
use crate::output::Format;

/// Writes what was answered, measures it, and shows the metrics of every model of the study.
pub(super) fn show(
    study: &Study,
    cache: &Cache,
    progress: &Arc<ScoreProgress>,
    global: Global,
) -> Result<(), Failure> {
    let measure = |answers: &Path, per_task: &Path| {
        Metrics::of(answers.to_owned()).kept(per_task.to_owned(), progress, global)
    };
    if !write_dataset_results(study, cache, measure)? {
        global.note("nothing was answered, so there is nothing to measure");
        return Ok(());
    }
    let folder = study.folder.join(RESULTS);
    Metrics::of(folder.join(ANSWERS)).show(progress, global)?;
    global.caption(format_args!(
        "answers, metrics and what was measured on each are in `{}`",
        folder.display()
    ));
    Ok(())
}

/// Measures answers without printing anything.
// removed when `pipeline` calls `analysis::answer_files::summarize`
pub(crate) fn measure_answers(
    answers: &Path,
    per_task: &Path,
    progress: &Arc<ScoreProgress>,
) -> Result<String, ResultsError> {
    let silent = Global { format: Format::Table, quiet: true, color: clap::ColorChoice::Auto };
    let measured = Metrics::of(answers.to_owned()).kept(per_task.to_owned(), progress, silent);
    measured.map_err(|failure| match failure {
        Failure::Input(error) | Failure::Broken(error) => ResultsError::Measure(error),
        _ => ResultsError::Stopped,
    })
}
