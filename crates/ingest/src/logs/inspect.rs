//! Inspect logs: `.eval` files (zip archives with one member per sample) and `.json` files.
//!
//! A sample in one epoch becomes a trial. Inspect records stop reasons, so truncation is known.

mod archive;
mod header;
mod sample;
mod split;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use self::archive::Archive;
use self::header::Header;
use self::sample::{ChosenScore, Sample};
use self::split::{JsonKind, Split};
use super::batches::{ReadEnd, SampleSink, read_batches};
use super::choose::{RunName, check_wanted, choose, distinct, first_only};
use super::sample::{LogInfo, LogSample, SampleResult};
use super::score::Threshold;
use super::{LogOptions, OpenError, Opened, check_not_pointer, file_name, find};
use crate::{IngestError, Progress};

const TOOL: &str = "inspect";
/// How many samples are searched for scores when a log is opened: the first ones may have failed.
const MAX_SEARCHED_SAMPLES: usize = 100;

/// One log.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) path: PathBuf,
    header: Header,
    is_json: bool,
    pub(super) samples: u64,
    /// Model and task after renaming.
    display_model: String,
    task_name: String,
    scorer: String,
    /// The scorers of its samples.
    scorers: Vec<String>,
}

/// Files that Inspect's viewer writes next to logs.
const INDEXES: [&str; 2] = ["logs.json", "listing.json"];

/// Finds logs and selects what to read.
pub(super) fn open(paths: &[PathBuf], options: &LogOptions) -> Result<Opened<Log>, IngestError> {
    let mut opened = Opened::new();
    for path in find(paths, |name| has_extension(name, "eval") || has_extension(name, "json"))? {
        // Other tools write `.json` too, so those that are not logs are ignored.
        let is_given = paths.contains(&path);
        let is_index = INDEXES.contains(&file_name(&path).as_str());
        if has_extension(&file_name(&path), "json") && !is_given && !is_index {
            match JsonKind::of(&path) {
                JsonKind::Log => {}
                JsonKind::Other => continue,
                JsonKind::Damaged => {
                    let damaged = || {
                        let problem = "not a log: empty, truncated at the start or not JSON; copy it again";
                        Err(IngestError::file(&path, problem).into())
                    };
                    opened.add(
                        &path,
                        check_not_pointer(&path).map_err(OpenError::from).and_then(|()| damaged()),
                    )?;
                    continue;
                }
            }
        }
        let log = Log::open(&path, options, &mut opened.notes);
        opened.add(&path, log)?;
    }
    opened.check(options.strict)?;
    if opened.logs.is_empty() {
        let path = paths.first().map_or(Path::new("."), PathBuf::as_path);
        return Err(match opened.notes.first() {
            Some(note) => IngestError::InvalidInput(format!("no samples to import: {note}")),
            None => IngestError::file(
                path,
                "no Inspect logs found; expected a `.eval` file, or the directory of Inspect's `--log-dir`",
            ),
        });
    }
    let logs = &mut opened.logs;
    check_wanted("scorer", &options.scorers, logs.iter().flat_map(|log| &log.scorers))?;
    options.models.check("model", &distinct(logs.iter().map(|log| &log.header.model)))?;
    options.tasks.check("task", &distinct(logs.iter().map(|log| &log.header.task)))?;
    for log in &mut *logs {
        log.display_model = options.models.apply(&log.header.model);
        log.task_name = reasonscape_core::task_name(&options.tasks.apply(&log.header.task));
    }
    let others = keep_fullest(logs);
    opened.notes.extend(others);
    Ok(opened)
}

impl Log {
    /// Opens a log; one without samples only gets a note.
    fn open(path: &Path, options: &LogOptions, notes: &mut Vec<String>) -> Result<Option<Self>, OpenError> {
        check_not_pointer(path)?;
        let is_zip = archive::is_zip(path)?;
        let is_json = !is_zip && JsonKind::of(path) == JsonKind::Log;
        if !is_zip && !is_json && INDEXES.contains(&file_name(path).as_str()) {
            return Err(IngestError::file(path, "an index of logs, and not a log").into());
        }
        let (header, samples, scorers) = if is_json {
            let (header, samples) = Split::header(path)?;
            let mut split = Split::open(path)?;
            let first = split.next(1)?.unwrap_or_default().into_iter();
            let scorers = scorers(path, first.map(|(name, text)| Ok((name, text))))?;
            (header, samples, scorers)
        } else {
            let mut archive = Archive::open(path)?;
            let header = archive.header()?;
            let indices: Vec<usize> = archive.samples().iter().copied().take(MAX_SEARCHED_SAMPLES).collect();
            let texts = indices.into_iter().map(|index| {
                let mut text = Vec::new();
                archive.read(index, &mut text).map(|name| (name, text))
            });
            let scorers = scorers(path, texts)?;
            (header, archive.samples().len() as u64, scorers)
        };
        if samples == 0 {
            notes.push(format!("`{}` has no samples", path.display()));
            return Ok(None);
        }
        if scorers.is_empty() {
            let problem = "its samples have no scores; run `inspect score` and import the scored log";
            return Err(IngestError::file(path, problem).into());
        }
        let scorer = choose(path, &header.task, "scorer", &scorers, &options.scorers)?;
        let (display_model, task_name) = (header.model.clone(), header.task.clone());
        let path = path.to_owned();
        Ok(Some(Self { path, header, is_json, samples, display_model, task_name, scorer, scorers }))
    }

    fn name(&self) -> RunName<'_> {
        RunName {
            path: &self.path,
            model: &self.display_model,
            task: &self.header.task,
            samples: self.samples,
        }
    }

    pub(super) fn planned_trials(&self) -> u64 {
        self.header.planned.unwrap_or(0)
    }

    pub(super) fn reported_score(&self) -> Option<f64> {
        self.header.score(&self.scorer)
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.header.is_unfinished()
    }

    pub(super) fn info(&self, threshold: Threshold) -> LogInfo {
        let header = &self.header;
        LogInfo {
            model: self.display_model.clone(),
            template: TOOL.to_owned(),
            sampler: header.sampler(),
            task: self.task_name.clone(),
            tool: TOOL,
            run: header.run.clone(),
            file_name: file_name(&self.path),
            tool_version: header
                .version
                .as_ref()
                .map_or_else(|| TOOL.to_owned(), |version| format!("{TOOL} {version}")),
            task_version: header.task_version,
            score: self.scorer.clone(),
            threshold,
            is_truncation_known: true,
        }
    }

    pub(super) fn read<S, T: Send>(
        &self,
        progress: &Progress,
        init: impl Fn() -> S + Sync,
        map: impl Fn(&mut S, LogSample<'_>) -> Result<T, String> + Sync,
        sink: &mut SampleSink<'_, T>,
    ) -> Result<ReadEnd, IngestError> {
        let chosen = ChosenScore::new(&self.scorer);
        let parse_sample = |state: &mut S, name: &str, text: &[u8]| {
            progress.bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
            let mut spare = Vec::new();
            let sample = parse(&self.path, name, text, &mut spare)?;
            match sample.to_log_sample(&chosen, &self.header.model) {
                Ok(sample) => map(state, sample)
                    .map(SampleResult::Mapped)
                    .map_err(|problem| IngestError::file(&self.path, format!("sample `{name}`: {problem}"))),
                Err(reason) => Ok(SampleResult::Skipped(reason)),
            }
        };
        if self.is_json {
            let mut split = Split::open(&self.path)?;
            return read_batches(
                progress,
                || split.next(split::BATCH_BYTES),
                init,
                |state, (name, text): (String, Vec<u8>)| parse_sample(state, &name, &text),
                sink,
            );
        }
        let archive = Archive::open(&self.path)?;
        let mut batches = archive.batches();
        read_batches(
            progress,
            || Ok(batches.next()),
            init,
            |state, index| {
                let mut text = Vec::new();
                // A clone shares the directory of the zip and the open file.
                let name = archive.clone().read(index, &mut text)?;
                parse_sample(state, &name, &text)
            },
            sink,
        )
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
) -> Result<Sample<'a>, IngestError> {
    reasonscape_limits::check_json(text)
        .map_err(|error| IngestError::file(path, format!("sample `{name}`: {error}")))?;
    reasonscape_core::python_json::read(text, spare).map_err(|error| {
        IngestError::file(
            path,
            format!("sample `{name}` is not a valid Inspect sample ({error}); the log is damaged"),
        )
    })
}

/// The names of the scores in the first samples that have any.
fn scorers(
    path: &Path,
    texts: impl Iterator<Item = Result<(String, Vec<u8>), IngestError>>,
) -> Result<Vec<String>, IngestError> {
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

/// Keeps one run per model, task and settings: the fullest, of equally full ones a finished one, and of those the latest.
/// Returns notes on the others.
fn keep_fullest(logs: &mut Vec<Log>) -> Vec<String> {
    let key = |log: &Log| (log.display_model.clone(), log.task_name.clone(), log.header.sampler());
    logs.sort_by_cached_key(|log| {
        (key(log), log.samples, !log.header.is_unfinished(), log.header.created.clone())
    });
    logs.reverse();
    let notes = first_only(logs, |a, b| key(a) == key(b), Log::name);
    logs.reverse();
    notes
}
