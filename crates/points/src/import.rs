//! Logs of other tools become trials, so that evaluations that people already have get these statistics.
//!
//! A log is read one bounded batch of samples at a time and never held as a whole. What it says of an answer's
//! correctness is taken as it is; nothing is judged again. Prompts and replies go into the study's cache, where
//! whatever shows them finds them by the key of the trial.

mod inspect;
mod lm_eval;
mod names;
mod pour;
mod score;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::inspect::InspectLogs;
pub use self::lm_eval::LmEvalLogs;
pub use self::names::Renames;

use crate::{Counts, EvalInfo, PointsError};

/// What to take from logs, and what to call it.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// Other names for models.
    pub models: Renames,
    /// Other names for tasks.
    pub tasks: Renames,
    /// lm-eval: the metrics to take; of several, the first that a task has.
    pub metrics: Vec<String>,
    /// lm-eval: the filters to take; of several, the first that a task has.
    pub filters: Vec<String>,
    /// Inspect: the scorers to take, with a part after a point where a score has several (`graded.exact`).
    pub scorers: Vec<String>,
    /// From which score on an answer is correct. Without it only a score of 1 is, and scores outside 0 to 1 are
    /// refused, since nobody said what they mean.
    pub threshold: Option<f64>,
}

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
    pub counts: Counts,
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

impl Imported {
    /// Imports logs one after the other, until there is none left or one was stopped.
    fn of_each<L>(
        logs: &[L],
        mut import: impl FnMut(&L) -> Result<Option<ImportedUnit>, PointsError>,
    ) -> Result<Self, PointsError> {
        let mut imported = Self::default();
        for log in logs {
            let Some(unit) = import(log)? else {
                imported.stopped = true;
                break;
            };
            imported.units.push(unit);
        }
        Ok(imported)
    }
}

/// The logs in files and folders: those that a name is right for, folders searched to their ends.
fn find(paths: &[PathBuf], is_log: impl Fn(&str) -> bool + Copy) -> Result<Vec<PathBuf>, PointsError> {
    let mut found = Vec::new();
    for path in paths {
        let what = std::fs::metadata(path).map_err(|error| {
            PointsError::log(
                path,
                format!("it cannot be read ({error}); give a file or a folder that is there"),
            )
        })?;
        if what.is_dir() { walk(path, is_log, &mut found)? } else { found.push(path.clone()) }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(
    folder: &Path,
    is_log: impl Fn(&str) -> bool + Copy,
    found: &mut Vec<PathBuf>,
) -> Result<(), PointsError> {
    for entry in std::fs::read_dir(folder).map_err(PointsError::io("list", folder))? {
        let entry = entry.map_err(PointsError::io("list", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            walk(&path, is_log, found)?;
        } else if is_log(&name) {
            found.push(path);
        }
    }
    Ok(())
}

/// The last part of a path, for people.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// `a, b and c`, of many only the first.
fn list(names: &[String]) -> String {
    const MOST: usize = 12;
    let shown = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
