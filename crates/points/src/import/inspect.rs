//! Inspect: `.eval` files, which are zips with one member a sample, and its `.json` logs.
//!
//! A sample in one epoch becomes a trial. Inspect says why each answer ended, so that truncation is known.

mod archive;
mod header;
mod sample;
mod split;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use reasonscape_runner::cache::Cache;

use self::archive::Archive;
use self::header::Header;
use self::sample::{Chosen, Sample};
use self::split::Split;
use super::lm_eval::{check_wanted, choose, distinct};
use super::pour::{Destination, Outcome, Poured, Source};
use super::score::Threshold;
use super::{ImportOptions, Imported, ImportedUnit, file_name, find};
use crate::evaluate::weigh::Scales;
use crate::{PointsError, Progress, Truncation};

const TOOL: &str = "inspect";
/// Samples that are looked at for the scorers that there are: the first may have ended in an error.
const LOOKED_AT: usize = 100;

/// Logs of Inspect, looked at and found importable.
#[derive(Debug)]
pub struct InspectLogs {
    logs: Vec<Log>,
    remarks: Vec<String>,
    threshold: Threshold,
}

/// One log.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    header: Header,
    is_json: bool,
    samples: u64,
    /// The names that it gets here.
    known_as: String,
    task_name: String,
    scorer: String,
}

impl InspectLogs {
    /// Finds the logs in files and folders and decides what of them is taken. Nothing is written yet.
    ///
    /// # Errors
    /// A [`PointsError`] that names the file, what is wrong with it, and what would be right: no zip, a layout that is
    /// not read, several scorers and none chosen.
    pub fn open(paths: &[PathBuf], options: &ImportOptions) -> Result<Self, PointsError> {
        let mut remarks = Vec::new();
        let mut logs = Vec::new();
        for path in find(paths, |name| has_extension(name, "eval"))? {
            logs.extend(Log::open(path, options, &mut remarks)?);
        }
        // A folder of `.json` logs is rarer, and other tools write `.json` too: those that are no log are passed over.
        if logs.is_empty() && remarks.is_empty() {
            for path in find(paths, |name| has_extension(name, "json"))? {
                if paths.contains(&path) || split::is_log(&path) {
                    logs.extend(Log::open(path, options, &mut remarks)?);
                }
            }
        }
        if logs.is_empty() {
            let path = paths.first().map_or(Path::new("."), PathBuf::as_path);
            return Err(match remarks.first() {
                Some(remark) => PointsError::Question(format!("there is nothing to import: {remark}")),
                None => PointsError::log(
                    path,
                    "there is no log of Inspect in it; give a `.eval` file, or the folder of its `--log-dir`",
                ),
            });
        }
        let scorers: Vec<String> = logs.iter().map(|log| log.scorer.clone()).collect();
        check_wanted("scorer", &options.scorers, scorers.iter())?;
        options.models.check("model", &distinct(logs.iter().map(|log| &log.header.model)))?;
        options.tasks.check("task", &distinct(logs.iter().map(|log| &log.header.task)))?;
        for log in &mut logs {
            log.known_as = options.models.apply(&log.header.model);
            log.task_name = reasonscape_core::task_name(&options.tasks.apply(&log.header.task));
        }
        latest_only(&mut logs, &mut remarks);
        Ok(Self { logs, remarks, threshold: Threshold(options.threshold) })
    }

    /// What was left out and why.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Imports them into the folder of a study and its cache, one after the other, each whole or not at all.
    ///
    /// # Errors
    /// A [`PointsError`] that names the log and the sample that cannot be read.
    pub fn import(&self, study: &Path, cache: &Cache, progress: &Progress) -> Result<Imported, PointsError> {
        progress.total.store(self.logs.iter().map(|log| log.samples).sum(), Ordering::Relaxed);
        let destination = Destination { study, cache, progress };
        Imported::of_each(&self.logs, |log| {
            let source = log.source(self.threshold);
            let poured = log.pour(&source, &destination)?;
            Ok(poured.map(|poured| log.unit(source, poured)))
        })
    }
}

impl Log {
    /// Opens a log; one without a single sample is only remarked upon.
    fn open(
        path: PathBuf,
        options: &ImportOptions,
        remarks: &mut Vec<String>,
    ) -> Result<Option<Self>, PointsError> {
        let is_json = !archive::is_zip(&path)? && split::is_log(&path);
        let (header, samples, scorers) = if is_json {
            let (header, samples) = Split::header(&path)?;
            let mut split = Split::open(&path)?;
            let first = split.next(1)?.unwrap_or_default().into_iter();
            let scorers = scorers(&path, first.map(|(name, text)| Ok((name, text))))?;
            (header, samples, scorers)
        } else {
            let mut archive = Archive::open(&path)?;
            let header = archive.header()?;
            let places: Vec<usize> = archive.samples().iter().copied().take(LOOKED_AT).collect();
            let texts = places.into_iter().map(|place| {
                let mut text = Vec::new();
                archive.read(place, &mut text).map(|name| (name, text))
            });
            let scorers = scorers(&path, texts)?;
            (header, archive.samples().len() as u64, scorers)
        };
        if samples == 0 {
            remarks.push(format!("`{}` has no samples", path.display()));
            return Ok(None);
        }
        if scorers.is_empty() {
            return Err(PointsError::log(
                &path,
                "its samples have no scores; `inspect score` scores them, then import that log",
            ));
        }
        let scorer = choose(&path, &header.task, "scorer", &scorers, &options.scorers)?;
        let (known_as, task_name) = (header.model.clone(), header.task.clone());
        Ok(Some(Self { path, header, is_json, samples, known_as, task_name, scorer }))
    }

    fn source(&self, threshold: Threshold) -> Source {
        let header = &self.header;
        Source {
            eval: Source::eval(&self.known_as, TOOL.to_owned(), header.sampler(), TOOL),
            task: self.task_name.clone(),
            tool: TOOL,
            run: header.run.clone(),
            log: file_name(&self.path),
            version: header
                .version
                .as_ref()
                .map_or_else(|| TOOL.to_owned(), |version| format!("{TOOL} {version}")),
            task_version: header.task_version,
            score: self.scorer.clone(),
            threshold,
            truncation: Truncation::Known,
        }
    }

    fn pour(&self, source: &Source, destination: &Destination<'_>) -> Result<Option<Poured>, PointsError> {
        let chosen = Chosen::of(&self.scorer);
        let understand = |name: &str, text: &[u8], scales: &mut Scales| {
            destination.progress.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
            let mut spare = Vec::new();
            let sample = parse(&self.path, name, text, &mut spare)?;
            let wrong = |problem: String| PointsError::log(&self.path, format!("sample `{name}`: {problem}"));
            match sample.said(&chosen, &self.header.model) {
                Ok(said) => source.answered(said, scales).map_err(wrong),
                Err(reason) => Ok(Outcome::Skipped(reason)),
            }
        };
        let planned = self.header.planned.unwrap_or(0);
        if self.is_json {
            let mut split = Split::open(&self.path)?;
            return destination.pour(
                source,
                planned,
                || split.next(split::BATCH_BYTES),
                |(name, text), scales| understand(&name, &text, scales),
            );
        }
        let archive = Archive::open(&self.path)?;
        let mut batches = archive.batches();
        destination.pour(
            source,
            planned,
            || Ok(batches.next()),
            |place, scales| {
                let mut text = Vec::new();
                // A clone shares the directory of the zip and the open file.
                let name = archive.clone().read(place, &mut text)?;
                understand(&name, &text, scales)
            },
        )
    }

    fn unit(&self, source: Source, poured: Poured) -> ImportedUnit {
        let log_score = self.header.score(&self.scorer);
        let unit = source.unit(&self.path, poured, log_score);
        ImportedUnit { unfinished: self.header.is_unfinished(), ..unit }
    }
}

fn has_extension(name: &str, wanted: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

fn parse<'a>(
    path: &Path,
    name: &str,
    text: &'a [u8],
    spare: &'a mut Vec<u8>,
) -> Result<Sample<'a>, PointsError> {
    reasonscape_core::python_json::read(text, spare).map_err(|error| {
        PointsError::log(
            path,
            format!("sample `{name}` is not as Inspect writes it ({error}); the log is damaged"),
        )
    })
}

/// The scores that the first samples with any have, by name.
fn scorers(
    path: &Path,
    texts: impl Iterator<Item = Result<(String, Vec<u8>), PointsError>>,
) -> Result<Vec<String>, PointsError> {
    for text in texts {
        let (name, text) = text?;
        let mut spare = Vec::new();
        let scorers = parse(path, &name, &text, &mut spare)?.scorers();
        if !scorers.is_empty() {
            return Ok(scorers);
        }
    }
    Ok(Vec::new())
}

/// Of several runs of a model on a task the latest that was finished stays; says which went.
fn latest_only(logs: &mut Vec<Log>, remarks: &mut Vec<String>) {
    let key = |log: &Log| (log.known_as.clone(), log.task_name.clone(), log.header.sampler());
    logs.sort_by_cached_key(|log| (key(log), !log.header.is_unfinished(), log.header.created.clone()));
    let mut kept: Vec<Log> = Vec::new();
    for log in logs.drain(..).rev() {
        match kept.last().filter(|last| key(last) == key(&log)) {
            Some(last) => remarks.push(format!(
                "`{}` is left out: `{}` is a later run of `{}` on {}; `--model` with another name keeps both",
                log.path.display(),
                file_name(&last.path),
                log.known_as,
                log.header.task
            )),
            None => kept.push(log),
        }
    }
    kept.reverse();
    *logs = kept;
}
