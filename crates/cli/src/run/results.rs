//! The metrics of the answers to a dataset, written to its study and shown.

use std::sync::Arc;

use reasonscape_analysis::answer_files::{AnswerOptions, DEFAULT_BINS};
use reasonscape_cache::Cache;
use reasonscape_pipeline::{
    ANSWERS_FILE, RESULTS_DIR, ScoreProgress, summarize_answers, write_dataset_results,
};
use reasonscape_study::Study;

use crate::Global;
use crate::error::CliError;
use crate::metrics::{METRICS, print_dataset_summary};
use crate::progress::watch;

/// Writes the answers, measures them, and shows the metrics of every model of the study.
pub(super) fn show(
    study: &Study,
    cache: &Cache,
    progress: &Arc<ScoreProgress>,
    global: Global,
) -> Result<(), CliError> {
    if !watch(&METRICS, progress, global, || Ok(write_dataset_results(study, cache, progress)?))? {
        global.note("nothing was answered, so there is nothing to measure");
        return Ok(());
    }
    let dir = study.dir.join(RESULTS_DIR);
    let answers = [dir.join(ANSWERS_FILE)];
    let summary = watch(&METRICS, progress, global, || {
        Ok(summarize_answers(&answers, &AnswerOptions::default(), DEFAULT_BINS, None, progress)?)
    })?;
    print_dataset_summary(&summary, global)?;
    global.caption(format_args!("answers, metrics and what was measured on each are in `{}`", dir.display()));
    Ok(())
}
