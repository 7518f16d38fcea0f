//! Imports logs of other tools as trials.
//!
//! Scores are taken as the log has them; nothing is scored again. Prompts and replies go into the study's cache, where
//! whatever shows them finds them by the key of the trial.

mod trials;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use reasonscape_cache::Cache;
use reasonscape_ingest::logs::Logs;
use serde::Serialize;

use crate::{EvalInfo, PointsError, TrialCounts};
use reasonscape_ingest::Progress;

/// One evaluation on one task, after it was imported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportedUnit {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The task.
    pub task: String,
    /// The log.
    pub log: PathBuf,
    /// Which of its scores was taken.
    pub score: String,
    /// What was counted.
    pub counts: TrialCounts,
    /// The share of trials whose score says correct, those that were cut off among them: what the log calls accuracy.
    pub accuracy: Option<f64>,
    /// The mean of the scores as they are in the log.
    pub mean_score: Option<f64>,
    /// What the log itself says this mean is.
    pub log_score: Option<f64>,
    /// Whether the log says which answers were cut off.
    pub truncation_known: bool,
    /// Scores that are neither 0 nor 1.
    pub partial: u64,
    /// Trials that were cut off and yet scored as correct; they count as truncated.
    pub truncated_correct: u64,
    /// Samples that became no trial, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Whether the log was never finished.
    pub unfinished: bool,
}

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Imported {
    /// Each evaluation on each task.
    pub units: Vec<ImportedUnit>,
    /// Whether it was stopped before the end; what is in `units` is complete.
    pub stopped: bool,
}

/// Imports logs into the folder of a study and its cache, one after the other, each completely or not at all.
///
/// # Errors
/// A [`PointsError`] that names the log and the line or sample that cannot be read.
pub fn import_logs(
    logs: &Logs,
    study: &Path,
    cache: &Cache,
    progress: &Progress,
) -> Result<Imported, PointsError> {
    progress.total.store(logs.expected_samples(), Ordering::Relaxed);
    let mut imported = Imported::default();
    for log in logs.iter() {
        let Some(unit) = trials::ingest(log, study, cache, progress)? else {
            imported.stopped = true;
            break;
        };
        imported.units.push(unit);
    }
    Ok(imported)
}
