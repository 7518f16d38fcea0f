//! lm-eval: a folder of `samples_<task>_<time>.jsonl` with a `results_<time>.json` beside them.
//!
//! A document on one filter is a line and becomes a trial; lines of other filters are the same document seen
//! otherwise. Repeats were reduced by the filter before anything was scored, so there is one trial for all of them. Why
//! an answer ended is written nowhere.

mod line;
mod results;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use reasonscape_runner::cache::Cache;

use self::line::Line;
use self::results::Results;
use super::pour::{Destination, Outcome, Poured, Source};
use super::score::Threshold;
use super::{ImportOptions, Imported, ImportedUnit, file_name, find, list};
use crate::{PointsError, Progress, Truncation};

const TOOL: &str = "lm-eval";
/// Bytes and lines that are understood together.
const BATCH_BYTES: usize = 8 << 20;
const BATCH_LINES: usize = 2_048;

/// Logs of lm-eval, looked at and found importable.
#[derive(Debug)]
pub struct LmEvalLogs {
    logs: Vec<Log>,
    remarks: Vec<String>,
    threshold: Threshold,
}

/// The samples of one model on one task.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    task: String,
    time: String,
    results: Option<Arc<Results>>,
    model: String,
    /// The names that it gets here.
    known_as: String,
    task_name: String,
    metric: String,
    filter: String,
    is_generated: bool,
}

impl LmEvalLogs {
    /// Finds the logs in files and folders and decides what of them is taken. Nothing is written yet.
    ///
    /// # Errors
    /// A [`PointsError`] that names the file, what is wrong with it, and what would be right: no logs, no samples,
    /// several metrics or filters and none chosen.
    pub fn open(paths: &[PathBuf], options: &ImportOptions) -> Result<Self, PointsError> {
        let found = find(paths, |name| samples_name(name).is_some() || results_time(name).is_some())?;
        let mut results: BTreeMap<PathBuf, Arc<Results>> = BTreeMap::new();
        let mut logs = Vec::new();
        let mut results_found = Vec::new();
        for path in found {
            let name = file_name(&path);
            if let Some((task, time)) = samples_name(&name) {
                let beside = path.with_file_name(format!("results_{time}.json"));
                if !results.contains_key(&beside) && beside.is_file() {
                    results.insert(beside.clone(), Arc::new(Results::read(&beside)?));
                }
                let results = results.get(&beside).cloned();
                logs.push(Log::open(path, task, time, results, options)?);
            } else if results_time(&name).is_some() {
                results_found.push(path);
            } else {
                return Err(PointsError::log(
                    &path,
                    "it is no log of lm-eval; give a folder, or files called `samples_<task>_<time>.jsonl`",
                ));
            }
        }
        if logs.is_empty() {
            return Err(match results_found.first() {
                Some(path) => PointsError::log(
                    path,
                    "there are no samples beside these results, only sums; run lm-eval again with `--log_samples`",
                ),
                None => PointsError::log(
                    paths.first().map_or(Path::new("."), PathBuf::as_path),
                    "there is no log of lm-eval in it; give the folder of its `--output_path`, with files called \
                     `samples_<task>_<time>.jsonl`",
                ),
            });
        }
        check_wanted("metric", &options.metrics, logs.iter().map(|log| &log.metric))?;
        check_wanted("filter", &options.filters, logs.iter().map(|log| &log.filter))?;
        options.models.check("model", &distinct(logs.iter().map(|log| &log.model)))?;
        options.tasks.check("task", &distinct(logs.iter().map(|log| &log.task)))?;
        for log in &mut logs {
            log.known_as = options.models.apply(&log.model);
            log.task_name = reasonscape_core::task_name(&options.tasks.apply(&log.task));
        }
        let remarks = latest_only(&mut logs);
        Ok(Self { logs, remarks, threshold: Threshold(options.threshold) })
    }

    /// What was left out and why.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Imports them into the folder of a study and its cache, one after the other, each whole or not at all.
    ///
    /// # Errors
    /// A [`PointsError`] that names the file and the line that cannot be read.
    pub fn import(&self, study: &Path, cache: &Cache, progress: &Progress) -> Result<Imported, PointsError> {
        let expected = self.logs.iter().map(Log::expected_lines).sum();
        progress.total.store(expected, Ordering::Relaxed);
        let destination = Destination { study, cache, progress };
        Imported::of_each(&self.logs, |log| {
            let source = log.source(self.threshold);
            let poured = log.pour(&source, &destination)?;
            Ok(poured.map(|poured| log.unit(source, poured)))
        })
    }
}

impl Log {
    fn open(
        path: PathBuf,
        task: &str,
        time: &str,
        results: Option<Arc<Results>>,
        options: &ImportOptions,
    ) -> Result<Self, PointsError> {
        let mut lines = Lines::open(&path)?;
        let first = match lines.next()? {
            Some(mut batch) => batch.swap_remove(0),
            None => {
                return Err(PointsError::log(
                    &path,
                    "it is empty; lm-eval was stopped before it wrote samples",
                ));
            }
        };
        let mut spare = Vec::new();
        let line = understand(&path, &first, &mut spare)?;
        let mut metrics = line.scores();
        if let Some(results) = &results {
            metrics.retain(|metric| !results.is_loss(task, metric));
        }
        if metrics.is_empty() {
            return Err(PointsError::log(
                &path,
                "no metric of it says of single documents whether they are right; leave the file out",
            ));
        }
        let filters = match results.as_ref().map(|results| results.filters(task)) {
            Some(filters) if !filters.is_empty() => filters,
            _ => filters_in(&path)?,
        };
        let choose = |what: &str, have: &[String], wanted: &[String]| choose(&path, task, what, have, wanted);
        let model = results
            .as_ref()
            .and_then(|results| results.model.clone())
            .unwrap_or_else(|| path.parent().map_or_else(|| "unknown".to_owned(), file_name));
        Ok(Self {
            metric: choose("metric", &metrics, &options.metrics)?,
            filter: choose("filter", &filters, &options.filters)?,
            is_generated: !line.is_likelihood(),
            task: task.to_owned(),
            time: time.to_owned(),
            known_as: model.clone(),
            task_name: task.to_owned(),
            model,
            results,
            path,
        })
    }

    fn source(&self, threshold: Threshold) -> Source {
        let results = self.results.as_deref();
        let template = format!("{TOOL}{}", results.and_then(Results::shots).unwrap_or_default());
        let sampler = results.map_or_else(|| "unknown".to_owned(), Results::sampler);
        let version = results.and_then(|results| results.version.clone());
        Source {
            eval: Source::eval(&self.known_as, template, sampler, TOOL),
            task: self.task_name.clone(),
            tool: TOOL,
            run: format!("{} {}", self.model, self.time),
            log: file_name(&self.path),
            version: version.map_or_else(|| TOOL.to_owned(), |version| format!("{TOOL} {version}")),
            task_version: results.map_or(0, |results| results.task_version(&self.task)),
            score: format!("{},{}", self.metric, self.filter),
            threshold,
            // Where the model only weighs given answers nothing can be cut off.
            truncation: if self.is_generated { Truncation::Unknown } else { Truncation::Known },
        }
    }

    /// Lines that the results promise.
    fn expected_lines(&self) -> u64 {
        let documents = self.results.as_ref().and_then(|results| results.documents(&self.task));
        let filters = self.results.as_ref().map_or(1, |results| results.filters(&self.task).len().max(1));
        documents.unwrap_or(0) * filters as u64
    }

    fn pour(&self, source: &Source, destination: &Destination<'_>) -> Result<Option<Poured>, PointsError> {
        let mut lines = Lines::open(&self.path)?;
        let received_ms = self.results.as_ref().map_or(0, |results| results.date_ms);
        let planned = self.results.as_ref().and_then(|results| results.documents(&self.task)).unwrap_or(0);
        let next = || {
            let batch = lines.next()?;
            let bytes: usize = batch.iter().flatten().map(|line| line.text.len()).sum();
            destination.progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            Ok(batch)
        };
        destination.pour(source, planned, next, |numbered: Numbered, scales| {
            let mut spare = Vec::new();
            let line = understand(&self.path, &numbered, &mut spare)?;
            if line.filter != self.filter {
                return Ok(Outcome::Beside);
            }
            let wrong = |problem: String| wrong_line(&self.path, numbered.number, &problem);
            match line.said(&self.metric, received_ms).map_err(wrong)? {
                Ok(said) => source.answered(said, scales).map_err(wrong),
                Err(reason) => Ok(Outcome::Skipped(reason)),
            }
        })
    }

    fn unit(&self, source: Source, poured: Poured) -> ImportedUnit {
        let log_score = self.results.as_ref().and_then(|results| results.score(&self.task, &source.score));
        source.unit(&self.path, poured, log_score)
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

pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// The one that is wanted, or the only one.
pub(super) fn choose(
    path: &Path,
    task: &str,
    what: &str,
    have: &[String],
    wanted: &[String],
) -> Result<String, PointsError> {
    if let Some(wanted) = wanted.iter().find(|wanted| have.contains(wanted)) {
        return Ok(wanted.clone());
    }
    match have {
        [only] => Ok(only.clone()),
        several => Err(PointsError::log(
            path,
            format!(
                "`{task}` has several {what}s: {}; choose one, as in `--{what} {}`",
                list(several),
                several.first().map_or("", String::as_str)
            ),
        )),
    }
}

/// Whatever was asked for must have been found somewhere: otherwise it is a slip.
pub(super) fn check_wanted<'a>(
    what: &str,
    wanted: &[String],
    taken: impl Iterator<Item = &'a String>,
) -> Result<(), PointsError> {
    let taken = distinct(taken);
    match wanted.iter().find(|wanted| !taken.contains(wanted)) {
        Some(slip) => Err(PointsError::Question(format!(
            "`--{what} {slip}` is taken from no log; they would be scored by {}",
            list(&taken)
        ))),
        None => Ok(()),
    }
}

/// Of several runs of a model on a task the latest stays; says which went.
fn latest_only(logs: &mut Vec<Log>) -> Vec<String> {
    logs.sort_by(|a, b| (&a.known_as, &a.task_name, &b.time).cmp(&(&b.known_as, &b.task_name, &a.time)));
    let mut remarks = Vec::new();
    let mut kept: Vec<Log> = Vec::new();
    for log in logs.drain(..) {
        let shots = |log: &Log| log.results.as_ref().map(|results| (results.shots(), results.sampler()));
        match kept.last() {
            Some(last)
                if (&last.known_as, &last.task_name) == (&log.known_as, &log.task_name)
                    && shots(last) == shots(&log) =>
            {
                remarks.push(format!(
                    "`{}` is left out: `{}` is a later run of `{}` on {}; `--model` with another name keeps both",
                    log.path.display(),
                    file_name(&last.path),
                    log.known_as,
                    log.task
                ));
            }
            _ => kept.push(log),
        }
    }
    *logs = kept;
    remarks
}

/// A line and where it stands.
struct Numbered {
    number: usize,
    text: Vec<u8>,
}

/// The lines of a file, some at a time.
struct Lines<'p> {
    path: &'p Path,
    reader: BufReader<File>,
    number: usize,
}

impl<'p> Lines<'p> {
    fn open(path: &'p Path) -> Result<Self, PointsError> {
        let file = File::open(path).map_err(PointsError::io("read", path))?;
        Ok(Self { path, reader: BufReader::with_capacity(1 << 18, file), number: 0 })
    }

    fn next(&mut self) -> Result<Option<Vec<Numbered>>, PointsError> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_LINES {
            let mut text = Vec::new();
            let read =
                self.reader.read_until(b'\n', &mut text).map_err(PointsError::io("read", self.path))?;
            if read == 0 {
                break;
            }
            self.number += 1;
            bytes += read;
            if !text.trim_ascii().is_empty() {
                batch.push(Numbered { number: self.number, text });
            }
        }
        Ok((!batch.is_empty()).then_some(batch))
    }
}

fn understand<'a>(
    path: &Path,
    numbered: &'a Numbered,
    spare: &'a mut Vec<u8>,
) -> Result<Line<'a>, PointsError> {
    reasonscape_core::python_json::read(&numbered.text, spare).map_err(|error| {
        let problem = error.to_string();
        let problem = problem.split(" at line ").next().unwrap_or_default();
        wrong_line(
            path,
            numbered.number,
            &format!("not a sample of lm-eval ({problem}, column {})", error.column()),
        )
    })
}

fn wrong_line(path: &Path, number: usize, problem: &str) -> PointsError {
    PointsError::log(path, format!("line {number}: {problem}; mend or remove the line and import again"))
}

/// The filters of a file whose results are not there to name them.
fn filters_in(path: &Path) -> Result<Vec<String>, PointsError> {
    let mut lines = Lines::open(path)?;
    let mut filters: Vec<String> = Vec::new();
    while let Some(batch) = lines.next()? {
        for numbered in batch {
            let mut spare = Vec::new();
            let line = understand(path, &numbered, &mut spare)?;
            if !filters.iter().any(|filter| *filter == line.filter) {
                filters.push(line.filter.into_owned());
            }
        }
    }
    Ok(filters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_may_have_underscores() {
        let name = "samples_mmlu_high_school_2026-11-16T03-55-32.253987.jsonl";
        assert_eq!(samples_name(name), Some(("mmlu_high_school", "2026-11-16T03-55-32.253987")));
        assert_eq!(samples_name("samples_2026.jsonl"), None);
        assert_eq!(samples_name("results_2026.json"), None);
        assert_eq!(results_time("results_2026-11.json"), Some("2026-11"));
    }
}
