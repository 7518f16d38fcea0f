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

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::batches::{ReadEnd, SampleSink};
pub use self::renames::Renames;
pub use self::sample::{LogInfo, LogSample, SampleResult, UNKNOWN_FINISH};
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
    /// Whether a log that can't be imported is an error, even if others can.
    pub strict: bool,
}

/// Logs of one tool, checked and ready to be read.
#[derive(Debug)]
pub struct Logs {
    opened: Vec<Log>,
    notes: Vec<String>,
    skipped: Vec<SkippedLog>,
    is_strict: bool,
}

/// A log that can't be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedLog {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, or what it lacks.
    pub reason: String,
}

/// Collects logs that open, and errors of those that don't.
struct Opened<L> {
    logs: Vec<L>,
    notes: Vec<String>,
    failed: Vec<(PathBuf, IngestError)>,
}

impl<L> Opened<L> {
    fn new() -> Self {
        Self { logs: Vec::new(), notes: Vec::new(), failed: Vec::new() }
    }

    /// Adds a log. What the machine is to blame for, and choices that are left to the user, are errors.
    fn add(&mut self, path: &Path, opened: Result<Option<L>, OpenError>) -> Result<(), IngestError> {
        match opened {
            Ok(log) => self.logs.extend(log),
            Err(OpenError::Unusable(error)) if error.is_input() => self.failed.push((path.to_owned(), error)),
            Err(OpenError::Unusable(error) | OpenError::Choice(error)) => return Err(error),
        }
        Ok(())
    }

    /// An error if no log opened, or strictly if one didn't.
    fn check(&mut self, is_strict: bool) -> Result<(), IngestError> {
        if (self.logs.is_empty() || is_strict) && !self.failed.is_empty() {
            return Err(self.failed.swap_remove(0).1);
        }
        Ok(())
    }

    fn skipped(&self) -> Vec<SkippedLog> {
        let skipped = |(path, error): &(PathBuf, IngestError)| SkippedLog {
            path: path.clone(),
            reason: error.problem(),
        };
        self.failed.iter().map(skipped).collect()
    }
}

/// Why a log can't be opened.
#[derive(Debug)]
enum OpenError {
    /// It has nothing to import, or is damaged.
    Unusable(IngestError),
    /// It has several scores, and none was chosen.
    Choice(IngestError),
}

impl From<IngestError> for OpenError {
    fn from(error: IngestError) -> Self {
        Self::Unusable(error)
    }
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
    /// An [`IngestError`] that names the file, the problem and the remedy: no log that can be imported, or several metrics or
    /// filters and none chosen.
    pub fn open_lm_eval(paths: &[PathBuf], options: &LogOptions) -> Result<Self, IngestError> {
        Ok(Self::new(lm_eval::open(paths, options)?, LogSource::LmEval, options))
    }

    /// Finds the Inspect logs in files and directories and selects what to read.
    ///
    /// # Errors
    /// An [`IngestError`] that names the file, the problem and the remedy: no log that can be imported, or several scorers
    /// and none chosen.
    pub fn open_inspect(paths: &[PathBuf], options: &LogOptions) -> Result<Self, IngestError> {
        Ok(Self::new(inspect::open(paths, options)?, LogSource::Inspect, options))
    }

    fn new<L>(opened: Opened<L>, source: impl Fn(L) -> LogSource, options: &LogOptions) -> Self {
        let threshold = Threshold(options.threshold);
        let skipped = opened.skipped();
        let logs = opened.logs.into_iter().map(|log| Log { source: source(log), threshold }).collect();
        Self { opened: logs, notes: opened.notes, skipped, is_strict: options.strict }
    }

    /// Logs that can't be imported; none if that is an error.
    pub fn skipped(&self) -> &[SkippedLog] {
        &self.skipped
    }

    /// Whether a log that can't be imported is an error.
    pub fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Notes on logs of which another run is imported, and on empty ones.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The logs.
    pub fn iter(&self) -> impl Iterator<Item = &Log> {
        self.opened.iter()
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

/// Refuses the pointer that Git LFS leaves in the place of a file.
fn check_not_pointer(path: &Path) -> Result<(), IngestError> {
    const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
    let mut start = Vec::new();
    let file = std::fs::File::open(path).map_err(IngestError::io("read", path))?;
    file.take(POINTER.len() as u64).read_to_end(&mut start).map_err(IngestError::io("read", path))?;
    if start == POINTER {
        return Err(IngestError::file(path, "a pointer of Git LFS instead of the log; run `git lfs pull`"));
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
