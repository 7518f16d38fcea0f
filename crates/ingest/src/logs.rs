//! Logs of lm-eval and Inspect.
//!
//! A log is read in bounded batches of samples and never held in memory as a whole. Its scores are taken as they are;
//! nothing is scored again.

mod batches;
mod choose;
mod inspect;
mod lm_eval;
mod renames;
mod sample;
mod score;

use std::path::{Path, PathBuf};

pub use self::batches::{ReadEnd, SampleSink};
pub use self::renames::Renames;
pub use self::sample::{LogInfo, LogSample, SampleResult};
pub use self::score::{Threshold, skip_reason};

use crate::{IngestError, Progress};

/// Maximum bytes of one sample: several are held at the same time, as text, parsed and as a trial.
pub(crate) fn max_sample_bytes() -> u64 {
    reasonscape_limits::max_line_bytes() / 2
}

/// What to read from logs, and how to name it.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Other names for models.
    pub models: Renames,
    /// Other names for tasks.
    pub tasks: Renames,
    /// lm-eval: the metrics to read; of several, the first that a task has.
    pub metrics: Vec<String>,
    /// lm-eval: the filters to read; of several, the first that a task has.
    pub filters: Vec<String>,
    /// Inspect: the scorers to read, with a part after a dot where a score has several (`graded.exact`).
    pub scorers: Vec<String>,
    /// The lowest score of a correct answer. Without it only a score of 1 is correct, and scores outside 0 to 1 are
    /// rejected, because their meaning is unknown.
    pub threshold: Option<f64>,
}

/// Logs of one tool, checked and ready to be read.
#[derive(Debug)]
pub struct Logs {
    logs: Vec<Log>,
    notes: Vec<String>,
}

/// One model on one task.
#[derive(Debug)]
pub struct Log {
    source: LogSource,
    threshold: Threshold,
}

#[derive(Debug)]
enum LogSource {
    LmEval(lm_eval::Log),
    Inspect(inspect::Log),
}

impl Logs {
    /// Finds the lm-eval logs in files and directories and selects what to read.
    ///
    /// # Errors
    /// An [`IngestError`] that names the file, the problem and the remedy: no logs, no samples, or several metrics or
    /// filters and none chosen.
    pub fn open_lm_eval(paths: &[PathBuf], options: &LogOptions) -> Result<Self, IngestError> {
        let (logs, notes) = lm_eval::open(paths, options)?;
        Ok(Self::new(logs.into_iter().map(LogSource::LmEval), notes, options))
    }

    /// Finds the Inspect logs in files and directories and selects what to read.
    ///
    /// # Errors
    /// An [`IngestError`] that names the file, the problem and the remedy: not a zip file, an unsupported layout, or
    /// several scorers and none chosen.
    pub fn open_inspect(paths: &[PathBuf], options: &LogOptions) -> Result<Self, IngestError> {
        let (logs, notes) = inspect::open(paths, options)?;
        Ok(Self::new(logs.into_iter().map(LogSource::Inspect), notes, options))
    }

    fn new(sources: impl Iterator<Item = LogSource>, notes: Vec<String>, options: &LogOptions) -> Self {
        let threshold = Threshold(options.threshold);
        Self { logs: sources.map(|source| Log { source, threshold }).collect(), notes }
    }

    /// Notes on skipped logs.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The logs.
    pub fn iter(&self) -> impl Iterator<Item = &Log> {
        self.logs.iter()
    }

    /// Number of samples in all logs, as far as known.
    pub fn expected_samples(&self) -> u64 {
        self.iter().map(Log::expected_samples).sum()
    }
}

impl Log {
    /// The file.
    pub fn path(&self) -> &Path {
        match &self.source {
            LogSource::LmEval(log) => &log.path,
            LogSource::Inspect(log) => &log.path,
        }
    }

    /// The properties that all samples share.
    pub fn info(&self) -> LogInfo {
        match &self.source {
            LogSource::LmEval(log) => log.info(self.threshold),
            LogSource::Inspect(log) => log.info(self.threshold),
        }
    }

    /// Number of samples in the file, as far as known.
    pub fn expected_samples(&self) -> u64 {
        match &self.source {
            LogSource::LmEval(log) => log.expected_lines(),
            LogSource::Inspect(log) => log.samples,
        }
    }

    /// Planned trials of the run, 0 if unknown.
    pub fn planned_trials(&self) -> u64 {
        match &self.source {
            LogSource::LmEval(log) => log.planned_trials(),
            LogSource::Inspect(log) => log.planned_trials(),
        }
    }

    /// The mean score that the log itself reports.
    pub fn reported_score(&self) -> Option<f64> {
        match &self.source {
            LogSource::LmEval(log) => log.reported_score(),
            LogSource::Inspect(log) => log.reported_score(),
        }
    }

    /// Whether the run was not finished.
    pub fn is_unfinished(&self) -> bool {
        match &self.source {
            LogSource::LmEval(_) => false,
            LogSource::Inspect(log) => log.is_unfinished(),
        }
    }

    /// Reads all samples. `map` runs on all cores with a state from `init` per thread; file and line are added to its
    /// error message. `sink` receives the results in order and can stop the reading.
    ///
    /// # Errors
    /// An [`IngestError`] that names the file and the line or sample that can't be read.
    pub fn read<S, T: Send>(
        &self,
        progress: &Progress,
        init: impl Fn() -> S + Sync,
        map: impl Fn(&mut S, LogSample<'_>) -> Result<T, String> + Sync,
        sink: &mut SampleSink<'_, T>,
    ) -> Result<ReadEnd, IngestError> {
        match &self.source {
            LogSource::LmEval(log) => log.read(progress, init, map, sink),
            LogSource::Inspect(log) => log.read(progress, init, map, sink),
        }
    }
}

/// The given files, and the files in the given directories (recursively) whose name `is_log` accepts.
fn find(paths: &[PathBuf], is_log: impl Fn(&str) -> bool + Copy) -> Result<Vec<PathBuf>, IngestError> {
    let mut found = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|error| {
            IngestError::file(path, format!("can't be read ({error}); expected a file or directory"))
        })?;
        if metadata.is_dir() { walk(path, is_log, &mut found)? } else { found.push(path.clone()) }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(
    dir: &Path,
    is_log: impl Fn(&str) -> bool + Copy,
    found: &mut Vec<PathBuf>,
) -> Result<(), IngestError> {
    for entry in std::fs::read_dir(dir).map_err(IngestError::io("list", dir))? {
        let entry = entry.map_err(IngestError::io("list", dir))?;
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

/// The last part of a path, for messages.
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The names in backticks; of many, the first and the number of the others.
fn list(names: &[String]) -> String {
    const MAX_NAMES: usize = 12;
    let shown = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
