//! Imports logs of other tools as trials.
//!
//! Scores are taken from the log; nothing is scored again. Prompts and replies go into the study's cache under the
//! trial's key.

mod trials;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use reasonscape_cache::Cache;
use reasonscape_ingest::logs::{Logs, SkippedLog};
use serde::Serialize;

use crate::publish::{Publication, sweep};
use crate::{EvalInfo, PointsError, TrialCounts};
use reasonscape_ingest::Progress;

/// The result for one evaluation on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportedUnit {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The task.
    pub task: String,
    /// The log.
    pub log: PathBuf,
    /// The score that was read.
    pub score: String,
    /// The counters.
    pub counts: TrialCounts,
    /// The accuracy as the log defines it: the proportion of trials scored as correct, including truncated ones.
    pub accuracy: Option<f64>,
    /// Lower end of its 95 % confidence interval, which counts repeats of one problem as one cluster.
    pub accuracy_low: Option<f64>,
    /// Upper end of it.
    pub accuracy_high: Option<f64>,
    /// The mean of the scores in the log.
    pub mean_score: Option<f64>,
    /// The mean that the log itself reports.
    pub log_score: Option<f64>,
    /// Whether the log records which responses were truncated.
    pub truncation_known: bool,
    /// Scores that are neither 0 nor 1.
    pub partial: u64,
    /// Truncated trials that were scored as correct; they count as truncated.
    pub truncated_correct: u64,
    /// Skipped samples, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Whether the logged run was not finished.
    pub unfinished: bool,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Imported {
    /// Each evaluation on each task.
    pub units: Vec<ImportedUnit>,
    /// Whether it was stopped before the end; what is in `units` is complete.
    pub stopped: bool,
    /// Logs that couldn't be imported.
    pub skipped_logs: Vec<SkippedLog>,
}

/// Imports logs into a study directory and its cache, one after the other, each completely or not at all.
///
/// # Errors
/// A [`PointsError`] that names the log and the line or sample that can't be read, if no log can be imported or the logs were
/// opened strictly; otherwise such logs are listed in the result.
pub fn import_logs(
    logs: &Logs,
    study: &Path,
    cache: &Cache,
    progress: &Progress,
) -> Result<Imported, PointsError> {
    progress.total.store(logs.expected_samples(), Ordering::Relaxed);
    let publication = Publication::new(study)?;
    sweep(study);
    let mut imported = Imported { skipped_logs: logs.skipped().to_vec(), ..Imported::default() };
    let mut ingest_all = || {
        let mut first_error = None;
        for log in logs.iter() {
            match trials::ingest(log, study, cache, progress, &publication) {
                Ok(Some(unit)) => imported.units.push(unit),
                Ok(None) => {
                    imported.stopped = true;
                    return Ok(());
                }
                Err(PointsError::Ingest(error)) if error.is_input() && !logs.is_strict() => {
                    let (path, reason) = (log.path().to_owned(), error.problem());
                    imported.skipped_logs.push(SkippedLog { path, reason });
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first_error {
            Some(error) if imported.units.is_empty() => Err(error.into()),
            _ => Ok(()),
        }
    };
    let ingested = ingest_all();
    // Also after an error: the logs before it are complete.
    let committed = publication.commit();
    ingested.and(committed).map(|()| imported)
}
