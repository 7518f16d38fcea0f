//! lm-eval logs: a directory of `samples_<task>_<time>.jsonl` files and a `results_<time>.json`.
//!
//! A line is a document under one filter and becomes a trial; lines of other filters are the same document extracted
//! differently. Filters reduce repeats before scoring, so there is one trial for all of them. Stop reasons are not
//! recorded.

mod line;
mod results;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::line::Line;
use self::results::Results;
use super::batches::{ReadEnd, SampleSink, read_batches};
use super::choose::{NO_FILTER, RunName, check_wanted, choose, distinct, first_only};
use super::sample::{LogInfo, LogSample, SampleResult};
use super::score::Threshold;
use super::{LogOptions, OpenError, Opened, check_not_pointer, file_name, find, list, max_sample_bytes};
use crate::{IngestError, Progress};
use reasonscape_limits::{check_json, read_line};

const TOOL: &str = "lm-eval";
/// Maximum bytes and lines of a batch.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_LINES: usize = 2_048;

/// The samples of one model on one task.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) path: PathBuf,
    task: String,
    time: String,
    results: Option<Arc<Results>>,
    model: String,
    /// Model and task after renaming.
    display_model: String,
    task_name: String,
    metric: String,
    filter: String,
    /// The metrics and filters to choose from.
    metrics: Vec<String>,
    filters: Vec<String>,
    is_generated: bool,
}

/// Finds logs and selects what to read.
pub(super) fn open(paths: &[PathBuf], options: &LogOptions) -> Result<Opened<Log>, IngestError> {
    let found = find(paths, |name| samples_name(name).is_some() || results_time(name).is_some())?;
    let mut results: BTreeMap<PathBuf, Arc<Results>> = BTreeMap::new();
    let mut opened = Opened::new();
    let mut results_found = Vec::new();
    let mut runs = HashSet::new();
    for path in found {
        let name = file_name(&path);
        if let Some((task, time)) = samples_name(&name) {
            let beside = path.with_file_name(format!("results_{time}.json"));
            runs.insert(beside.clone());
            let log = read_once(&mut results, &beside)
                .map_err(OpenError::from)
                .and_then(|results| Log::open(&path, task, time, results, options).map(Some));
            opened.add(&path, log)?;
        } else if results_time(&name).is_some() {
            results_found.push(path);
        } else {
            let problem =
                "not an lm-eval log; expected a directory or files named `samples_<task>_<time>.jsonl`";
            opened.add(&path, Err(IngestError::file(&path, problem).into()))?;
        }
    }
    opened.check(options.strict)?;
    if opened.logs.is_empty() {
        return Err(match results_found.first() {
            Some(path) => IngestError::file(
                path,
                "the results have no samples files; run lm-eval again with `--log_samples`",
            ),
            None => IngestError::file(
                paths.first().map_or(Path::new("."), PathBuf::as_path),
                "no lm-eval logs found; expected the directory of lm-eval's `--output_path`, with files named \
                 `samples_<task>_<time>.jsonl`",
            ),
        });
    }
    for path in results_found.iter().filter(|path| !runs.contains(*path)) {
        opened.notes.push(format!(
            "`{}` has no samples files; run lm-eval again with `--log_samples`",
            path.display()
        ));
    }
    let logs = &mut opened.logs;
    check_wanted("metric", &options.metrics, logs.iter().flat_map(|log| &log.metrics))?;
    check_wanted("filter", &options.filters, logs.iter().flat_map(|log| &log.filters))?;
    options.models.check("model", &distinct(logs.iter().map(|log| &log.model)))?;
    options.tasks.check("task", &distinct(logs.iter().map(|log| &log.task)))?;
    for log in &mut *logs {
        log.display_model = options.models.apply(&log.model);
        log.task_name = reasonscape_core::task_name(&options.tasks.apply(&log.task));
    }
    let others = keep_fullest(logs);
    opened.notes.extend(others);
    Ok(opened)
}

/// The results in a file, if it is there; several samples files share it.
fn read_once(
    known: &mut BTreeMap<PathBuf, Arc<Results>>,
    path: &Path,
) -> Result<Option<Arc<Results>>, IngestError> {
    if !known.contains_key(path) && path.is_file() {
        check_not_pointer(path)?;
        known.insert(path.to_owned(), Arc::new(Results::read(path)?));
    }
    Ok(known.get(path).cloned())
}

impl Log {
    fn open(
        path: &Path,
        task: &str,
        time: &str,
        results: Option<Arc<Results>>,
        options: &LogOptions,
    ) -> Result<Self, OpenError> {
        check_not_pointer(path)?;
        let mut lines = Lines::open(path)?;
        let Some(mut batch) = lines.next()? else {
            return Err(
                IngestError::file(path, "it is empty; lm-eval was stopped before it wrote samples").into()
            );
        };
        let first = batch.swap_remove(0);
        let mut spare = Vec::new();
        let line = parse_line(path, &first, &mut spare)?;
        let mut metrics = line.scores();
        if let Some(results) = &results {
            metrics.retain(|metric| !results.is_loss(task, metric));
        }
        if metrics.is_empty() {
            let problem = "none of its metrics scores single documents, as for perplexity";
            return Err(IngestError::file(path, problem).into());
        }
        let filters = match results.as_ref().map(|results| results.filters(task)) {
            Some(filters) if !filters.is_empty() => filters,
            _ => filters_in(path)?,
        };
        let choose = |what: &str, have: &[String], wanted: &[String]| choose(path, task, what, have, wanted);
        let model = results
            .as_ref()
            .and_then(|results| results.model.clone())
            .unwrap_or_else(|| path.parent().map_or_else(|| "unknown".to_owned(), file_name));
        Ok(Self {
            metric: choose("metric", &metrics, &options.metrics)?,
            filter: choose("filter", &filters, &options.filters)?,
            is_generated: !line.is_likelihood(),
            metrics,
            filters,
            task: task.to_owned(),
            time: time.to_owned(),
            display_model: model.clone(),
            task_name: task.to_owned(),
            model,
            results,
            path: path.to_owned(),
        })
    }

    /// Number of documents: according to the results, or else of lines.
    fn documents(&self) -> u64 {
        let count_lines = || -> Result<u64, IngestError> {
            let mut lines = Lines::open(&self.path)?;
            let mut count = 0;
            while let Some(batch) = lines.next()? {
                count += batch.len() as u64;
            }
            Ok(count)
        };
        match self.planned_trials() {
            // A file that can't be read fails when it is imported.
            0 => count_lines().unwrap_or(0) / self.filters.len().max(1) as u64,
            planned => planned,
        }
    }

    /// Whether a line belongs to the chosen filter. Before lm-eval 0.4.7 lines didn't name theirs.
    fn is_chosen(&self, line: &Line<'_>) -> bool {
        match &line.filter {
            Some(filter) => *filter == self.filter,
            None => self.filters.len() == 1,
        }
    }

    pub(super) fn info(&self, threshold: Threshold) -> LogInfo {
        let results = self.results.as_deref();
        let version = results.and_then(|results| results.version.clone());
        LogInfo {
            model: self.display_model.clone(),
            template: format!("{TOOL}{}", results.and_then(Results::shots).unwrap_or_default()),
            sampler: results.map_or_else(|| "unknown".to_owned(), Results::sampler),
            task: self.task_name.clone(),
            tool: TOOL,
            run: format!("{} {}", self.model, self.time),
            file_name: file_name(&self.path),
            tool_version: version.map_or_else(|| TOOL.to_owned(), |version| format!("{TOOL} {version}")),
            task_version: results.map_or(0, |results| results.task_version(&self.task)),
            score: self.score_name(),
            threshold,
            // Where the model only ranks given answers, nothing can be truncated.
            is_truncation_known: !self.is_generated,
        }
    }

    /// The score as lm-eval names it in its results.
    fn score_name(&self) -> String {
        format!("{},{}", self.metric, self.filter)
    }

    /// Number of lines according to the results.
    pub(super) fn expected_lines(&self) -> u64 {
        let filters = self.results.as_ref().map_or(1, |results| results.filters(&self.task).len().max(1));
        self.planned_trials() * filters as u64
    }

    /// Number of documents according to the results.
    pub(super) fn planned_trials(&self) -> u64 {
        self.results.as_ref().and_then(|results| results.documents(&self.task)).unwrap_or(0)
    }

    /// The mean score according to the results.
    pub(super) fn reported_score(&self) -> Option<f64> {
        self.results.as_ref().and_then(|results| results.score(&self.task, &self.score_name()))
    }

    pub(super) fn read<S, T: Send>(
        &self,
        progress: &Progress,
        init: impl Fn() -> S + Sync,
        map: impl Fn(&mut S, LogSample<'_>) -> Result<T, String> + Sync,
        sink: &mut SampleSink<'_, T>,
    ) -> Result<ReadEnd, IngestError> {
        let mut lines = Lines::open(&self.path)?;
        let received_ms = self.results.as_ref().map_or(0, |results| results.date_ms);
        let next = || {
            let batch = lines.next()?;
            let bytes: usize = batch.iter().flatten().map(|line| line.text.len()).sum();
            progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            Ok(batch)
        };
        let found = AtomicBool::new(false);
        let parse = |state: &mut S, numbered: NumberedLine| {
            let mut spare = Vec::new();
            let line = parse_line(&self.path, &numbered, &mut spare)?;
            if !self.is_chosen(&line) {
                return Ok(SampleResult::OtherFilter);
            }
            found.store(true, Ordering::Relaxed);
            let invalid = |problem: String| invalid_line(&self.path, numbered.number, &problem);
            match line.to_log_sample(&self.metric, received_ms).map_err(invalid)? {
                Ok(sample) => map(state, sample).map(SampleResult::Mapped).map_err(invalid),
                Err(reason) => Ok(SampleResult::Skipped(reason)),
            }
        };
        let end = read_batches(progress, next, init, parse, sink)?;
        if end == ReadEnd::Complete && !found.into_inner() {
            return Err(IngestError::file(
                &self.path,
                format!(
                    "no line has the filter `{}` of the results; the lines have {}",
                    self.filter,
                    list(&filters_in(&self.path)?)
                ),
            ));
        }
        Ok(end)
    }
}

/// Task and time of `samples_<task>_<time>.jsonl`. Task names have underscores, times have none.
fn samples_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("samples_")?
        .strip_suffix(".jsonl")?
        .rsplit_once('_')
        .filter(|(task, _)| !task.is_empty())
}

fn results_time(name: &str) -> Option<&str> {
    name.strip_prefix("results_")?.strip_suffix(".json")
}

/// Keeps one run per model, task and settings: the fullest, and of equally full ones the latest. Returns notes on the others.
fn keep_fullest(logs: &mut Vec<Log>) -> Vec<String> {
    type Settings = Option<(Option<String>, String)>;
    let settings =
        |log: &Log| -> Settings { log.results.as_ref().map(|results| (results.shots(), results.sampler())) };
    let mut sized: Vec<(u64, Log)> = logs.drain(..).map(|log| (log.documents(), log)).collect();
    sized.sort_by_cached_key(|(documents, log)| {
        let latest_first = Reverse((*documents, log.time.clone()));
        (log.display_model.clone(), log.task_name.clone(), settings(log), latest_first)
    });
    let is_same = |(_, a): &(u64, Log), (_, b): &(u64, Log)| {
        (&a.display_model, &a.task_name) == (&b.display_model, &b.task_name) && settings(a) == settings(b)
    };
    let notes = first_only(&mut sized, is_same, |(documents, log)| RunName {
        path: &log.path,
        model: &log.display_model,
        task: &log.task,
        samples: *documents,
    });
    logs.extend(sized.into_iter().map(|(_, log)| log));
    notes
}

/// A line and its number in the file.
struct NumberedLine {
    number: usize,
    text: Vec<u8>,
}

/// The lines of a file, in batches.
struct Lines<'p> {
    path: &'p Path,
    reader: BufReader<File>,
    number: usize,
}

impl<'p> Lines<'p> {
    fn open(path: &'p Path) -> Result<Self, IngestError> {
        let file = File::open(path).map_err(IngestError::io("read", path))?;
        Ok(Self { path, reader: BufReader::with_capacity(1 << 18, file), number: 0 })
    }

    fn next(&mut self) -> Result<Option<Vec<NumberedLine>>, IngestError> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_LINES {
            let mut text = Vec::new();
            let read = read_line(&mut self.reader, max_sample_bytes(), &mut text)
                .map_err(IngestError::io("read", self.path))?;
            if read == 0 {
                break;
            }
            self.number += 1;
            bytes += read;
            if !text.trim_ascii().is_empty() {
                batch.push(NumberedLine { number: self.number, text });
            }
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

fn parse_line<'a>(
    path: &Path,
    numbered: &'a NumberedLine,
    spare: &'a mut Vec<u8>,
) -> Result<Line<'a>, IngestError> {
    check_json(&numbered.text).map_err(|error| invalid_line(path, numbered.number, &error.to_string()))?;
    reasonscape_core::python_json::read(&numbered.text, spare).map_err(|error| {
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default();
        invalid_line(
            path,
            numbered.number,
            &format!("not a sample of lm-eval ({problem}, column {})", error.column()),
        )
    })
}

fn invalid_line(path: &Path, number: usize, problem: &str) -> IngestError {
    IngestError::file(path, format!("line {number}: {problem}; fix or remove the line and import again"))
}

/// The filters in a samples file without a results file.
fn filters_in(path: &Path) -> Result<Vec<String>, IngestError> {
    let mut lines = Lines::open(path)?;
    let mut filters: Vec<String> = Vec::new();
    while let Some(batch) = lines.next()? {
        for numbered in batch {
            let mut spare = Vec::new();
            let line = parse_line(path, &numbered, &mut spare)?;
            let filter = line.filter.unwrap_or(Cow::Borrowed(NO_FILTER));
            if !filters.iter().any(|known| *known == filter) {
                filters.push(filter.into_owned());
            }
        }
    }
    Ok(filters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_names_may_contain_underscores() {
        let name = "samples_mmlu_high_school_2026-11-16T03-55-32.253987.jsonl";
        assert_eq!(samples_name(name), Some(("mmlu_high_school", "2026-11-16T03-55-32.253987")));
        assert_eq!(samples_name("samples_2026.jsonl"), None);
        assert_eq!(samples_name("results_2026.json"), None);
        assert_eq!(results_time("results_2026-11.json"), Some("2026-11"));
    }
}
