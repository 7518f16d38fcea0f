//! Reads answer files into one summary per group, on all cores and in the order of the lines.

use std::borrow::Cow;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use rayon::prelude::*;
use reasonscape_core::{
    DetectedScorer, Extraction, Reply, Scorer as DatasetScorer, Test, detect_scorer_of, extract,
};
use reasonscape_ingest::Progress;
use reasonscape_metrics::{MetricOptions, SampleRecord, Summary, measure};
use serde::Serialize;

use super::group::GroupColumn;
use super::log::{Log, LogKind, LogPart};
use super::summarize::DEFAULT_EXAMPLES;
use crate::error::AnalysisError;
use reasonscape_ingest::answers::{AnswerRow, FieldMap, LineChunks, NamesSeen, Scorer, UsualName};

/// How answer files are read.
#[derive(Debug)]
pub struct AnswerOptions {
    /// The names of the fields.
    pub names: FieldMap,
    /// The metrics to compute.
    pub rules: MetricOptions,
    /// Whether invalid lines are skipped instead of rejected.
    pub skip_bad: bool,
    /// The number of false steps to keep as examples.
    pub examples: usize,
    /// The scorer of all lines; `None` uses the scorer that each line names.
    pub scorer: Option<Scorer>,
    /// Whether `answer` is a whole reply, in which the answer is to be found.
    pub extract: bool,
    /// The columns by which answers are grouped; by default the model.
    pub by: Vec<GroupColumn>,
}

impl Default for AnswerOptions {
    fn default() -> Self {
        Self {
            names: FieldMap::default(),
            rules: MetricOptions::default(),
            skip_bad: false,
            examples: DEFAULT_EXAMPLES,
            scorer: None,
            extract: false,
            by: vec![GroupColumn::Model],
        }
    }
}

/// The contents of the files.
#[derive(Debug, Default)]
pub struct Results {
    /// The groups, in the order of their first line; by default each is a model.
    pub models: Vec<Model>,
    /// Skipped lines.
    pub skipped: u64,
    /// The first false steps, in the order of the lines.
    pub examples: Vec<Example>,
    /// The scorers in use.
    pub scorers: ScorersUsed,
    /// Names in the files that are probably other names of fields that no line has.
    pub suggestions: Vec<UsualName>,
    /// The scorer that the targets of the first lines suggest, if it isn't the one in use.
    pub suggested_scorer: Option<DetectedScorer>,
    names: NamesSeen,
    first_tests: Vec<Test>,
}

/// The scorers that answers were scored by.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScorersUsed {
    exact: bool,
    stored: bool,
    of_dataset: Option<Scorer>,
    /// Answers that a scorer could only compare as text.
    pub undecided: u64,
}

impl ScorersUsed {
    fn add(&mut self, other: Self) {
        self.exact |= other.exact;
        self.stored |= other.stored;
        self.of_dataset = self.of_dataset.or(other.of_dataset);
        self.undecided += other.undecided;
    }

    fn add_scorer(&mut self, scorer: Scorer) {
        match scorer {
            Scorer::Exact => self.exact = true,
            Scorer::Stored => self.stored = true,
            Scorer::Dataset(_) => self.of_dataset = Some(scorer),
        }
    }

    /// The scorer's name, or `mixed` if lines differ.
    pub fn name(self) -> String {
        match self {
            Self { of_dataset: Some(scorer), .. } => scorer.name().into_owned(),
            Self { exact: true, stored: true, .. } => "mixed".to_owned(),
            Self { stored: true, .. } => Scorer::Stored.name().into_owned(),
            Self { .. } => Scorer::Exact.name().into_owned(),
        }
    }
}

/// The answers of one model, or of another group.
#[derive(Debug)]
pub struct Model {
    /// The name; `None` if neither the lines nor the file name have it.
    pub name: Option<String>,
    /// The values of the columns that define the group.
    pub group: Vec<Option<String>>,
    /// The metrics.
    pub summary: Summary,
    /// The lines of the answers, by chunk.
    places: Vec<Places>,
}

/// Lines of a chunk of a file.
#[derive(Debug)]
struct Places {
    file: usize,
    /// Lines before the chunk.
    before: u64,
    /// Line numbers in the chunk, from 1.
    lines: Vec<u32>,
}

impl Model {
    /// The file and the line of an answer.
    fn place(&self, mut answer: usize) -> (usize, u64) {
        for part in &self.places {
            match part.lines.get(answer) {
                Some(line) => return (part.file, part.before + u64::from(*line)),
                None => answer -= part.lines.len(),
            }
        }
        unreachable!("every answer has a line")
    }
}

/// A false step in the reasoning of an answer.
#[derive(Debug, Clone, Serialize)]
pub struct Example {
    /// The model, if known.
    pub model: Option<String>,
    /// The id of the question.
    pub id: String,
    /// Line of the reasoning.
    pub line: usize,
    /// The text of the step.
    pub text: String,
}

/// Invalid lines to list; more are only counted.
const MAX_SHOWN: usize = 20;
/// Lines whose targets may suggest a scorer.
const MAX_SUGGESTION_LINES: u64 = 200;
/// More models than this mean that the field holds something else.
const MAX_MODELS: usize = 1000;

#[derive(Debug, Default)]
struct Bad {
    shown: Vec<String>,
    count: u64,
}

/// Reads answers from a stream.
pub(super) fn read_stream(
    name: &str,
    reader: impl Read + Send,
    options: &AnswerOptions,
    progress: &Progress,
    logs: &mut [Log<'_>],
) -> Result<Results, AnalysisError> {
    let names = [name.to_owned()];
    let mut reading = Reading::new(options, progress, &names, 0);
    reading.file(0, reader, logs)?;
    reading.finish()
}

/// Reads all files; `-` is standard input. Invalid lines are an error, unless they are skipped.
pub(super) fn read(
    paths: &[PathBuf],
    options: &AnswerOptions,
    progress: &Progress,
    logs: &mut [Log<'_>],
) -> Result<Results, AnalysisError> {
    let names = file_names(paths);
    let total: u64 =
        paths.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|file| file.len()).sum();
    let mut reading = Reading::new(options, progress, &names, total);
    for (file, path) in paths.iter().enumerate() {
        // With several files, lines without a model name get the file name.
        let stem = names[file].strip_suffix(".jsonl").unwrap_or(&names[file]);
        reading.default_model = (paths.len() > 1).then(|| stem.to_owned());
        if path == Path::new("-") {
            reading.file(file, std::io::stdin(), logs)?;
        } else {
            let opened = File::open(path)
                .map_err(|source| AnalysisError::Open { name: path.display().to_string(), source })?;
            reading.file(file, opened, logs)?;
        }
    }
    reading.finish()
}

/// The names of the files in messages: file names, or paths if two file names are equal.
fn file_names(paths: &[PathBuf]) -> Vec<String> {
    let name = |path: &Path| match path.file_name() {
        _ if path == Path::new("-") => "standard input".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let short: Vec<String> = paths.iter().map(|path| name(path)).collect();
    let twice = |name: &String| short.iter().filter(|other| *other == name).count() > 1;
    paths
        .iter()
        .zip(&short)
        .map(|(path, name)| if twice(name) { path.display().to_string() } else { name.clone() })
        .collect()
}

struct Reading<'a> {
    options: &'a AnswerOptions,
    progress: &'a Progress,
    results: Results,
    bad: Bad,
    names: &'a [String],
    total: u64,
    default_model: Option<String>,
}

/// The contents of a chunk of a file.
struct Part {
    models: Vec<Model>,
    lines: u32,
    bytes: usize,
    bad: Vec<(u32, String)>,
    bad_count: u64,
    examples: Vec<Example>,
    logs: Vec<LogPart>,
    scorers: ScorersUsed,
    names: NamesSeen,
    first_tests: Vec<Test>,
}

impl<'a> Reading<'a> {
    fn new(options: &'a AnswerOptions, progress: &'a Progress, names: &'a [String], total: u64) -> Self {
        Self {
            options,
            progress,
            results: Results::default(),
            bad: Bad::default(),
            names,
            total,
            default_model: None,
        }
    }

    fn file(
        &mut self,
        file: usize,
        reader: impl Read + Send,
        logs: &mut [Log<'_>],
    ) -> Result<(), AnalysisError> {
        // Enough chunks to keep all cores busy, few enough to fit into memory.
        let at_once = (4 * rayon::current_num_threads()).min(64);
        let names = self.names;
        let failed = |source| AnalysisError::Read { name: names[file].clone(), source };
        let mut blocks = LineChunks::new(reader);
        let mut batch = blocks.next_chunks(at_once).map_err(failed)?;
        let mut line = 0;
        while !batch.is_empty() {
            if self.progress.stop.load(Relaxed) {
                return Err(AnalysisError::Stopped);
            }
            let kinds: Vec<LogKind> = logs.iter().map(Log::kind).collect();
            // A line without an id is identified by its number, so each chunk needs the number of its first line.
            let newlines: Vec<u64> =
                batch.par_iter().map(|block| memchr::memchr_iter(b'\n', block).count() as u64).collect();
            let mut first = line;
            let pieces: Vec<(u64, &Vec<u8>)> = batch
                .iter()
                .zip(newlines)
                .map(|(block, lines)| {
                    first += lines;
                    (first - lines, block)
                })
                .collect();
            let (parts, next) = rayon::join(
                || {
                    let part = |(before, block): &(u64, &Vec<u8>)| self.part(file, *before, block, &kinds);
                    pieces.par_iter().map(part).collect::<Vec<Part>>()
                },
                || blocks.next_chunks(at_once),
            );
            for part in parts {
                line = self.take(file, line, part, logs)?;
            }
            blocks.reuse(std::mem::replace(&mut batch, next.map_err(failed)?));
        }
        Ok(())
    }

    fn part(&self, file: usize, before: u64, block: &[u8], logs: &[LogKind]) -> Part {
        let mut part = Part {
            models: Vec::new(),
            lines: 0,
            bytes: block.len(),
            bad: Vec::new(),
            bad_count: 0,
            examples: Vec::new(),
            logs: logs.iter().copied().map(LogPart::new).collect(),
            scorers: ScorersUsed::default(),
            names: NamesSeen::default(),
            first_tests: Vec::new(),
        };
        let mut from = 0;
        while from < block.len() {
            let end = memchr::memchr(b'\n', &block[from..]).map_or(block.len(), |length| from + length);
            part.lines += 1;
            if let Err(problem) = self.line(file, before, &block[from..end], &mut part) {
                part.bad_count += 1;
                if part.bad.len() < MAX_SHOWN {
                    part.bad.push((part.lines, problem));
                }
            }
            from = end + 1;
        }
        part
    }

    fn line(&self, file: usize, before: u64, line: &[u8], part: &mut Part) -> Result<(), String> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        let text = std::str::from_utf8(line)
            .map_err(|error| format!("is not UTF-8 text from byte {} on", error.valid_up_to() + 1))?;
        let row = AnswerRow::parse(text, before + u64::from(part.lines), &self.options.names)?;
        part.names.merge(row.names());
        let scorer = self.options.scorer.unwrap_or_else(|| row.scorer());
        let mut answered = SampleRecord { verdict: row.verdict(scorer)?, ..row.to_sample_record() };
        let reply = answered.answer.filter(|_| self.options.extract);
        let found = reply.map(|content| extract(&Reply { content, reasoning: None }));
        let thoughts = found.as_ref().and_then(Extraction::thoughts);
        if let Some(found) = &found {
            answered.answer = found.answer.as_deref();
            let whole = reply.filter(|_| answered.truncated);
            answered.cot = answered.cot.or(whole).or(thoughts.as_deref());
        }
        if let Scorer::Dataset(scorer) = scorer {
            let verdict = answered.answer.map(|answer| scorer.score(answer, &row.to_test()));
            answered.verdict = Some(verdict.is_some_and(|verdict| verdict.is_correct));
            part.scorers.undecided += u64::from(verdict.is_some_and(|verdict| verdict.is_undecided));
        } else if scorer == Scorer::Exact && before + u64::from(part.lines) <= MAX_SUGGESTION_LINES {
            part.first_tests.push(row.to_test());
        }
        let model_name = row.model().or(self.default_model.as_deref());
        let group = self.group(&row, model_name)?;
        let name = group_name(&group);
        let task = measure(&answered, &self.options.rules);
        if part.examples.len() < self.options.examples {
            part.examples.extend(task.false_steps.iter().map(|step| Example {
                model: name.as_deref().map(str::to_owned),
                id: task.id.to_owned(),
                line: step.line,
                text: step.text.to_owned(),
            }));
        }
        for log in &mut part.logs {
            log.push(model_name, &answered, &task);
        }
        part.scorers.add_scorer(scorer);
        let model = model(&mut part.models, &group);
        model.summary.add(&task);
        if model.places.is_empty() {
            model.places.push(Places { file, before: 0, lines: Vec::new() });
        }
        model.places[0].lines.push(part.lines);
        Ok(())
    }

    /// The values of the columns that define the group of a line.
    fn group<'r>(
        &self,
        row: &'r AnswerRow<'_>,
        model: Option<&'r str>,
    ) -> Result<Vec<Option<&'r str>>, String> {
        let value = |column: &GroupColumn| match (column, row.group_value(column.field())) {
            (GroupColumn::Model, _) => Ok(model),
            (_, Some(value)) => Ok(Some(value)),
            (column, None) => {
                let name = column.name();
                Err(format!("`{name}` is missing or not a string; `--by {name}` needs it"))
            }
        };
        self.options.by.iter().map(value).collect()
    }

    /// Adds a chunk that begins after `line` lines, and returns the number of lines after it.
    fn take(
        &mut self,
        file: usize,
        line: u64,
        part: Part,
        logs: &mut [Log<'_>],
    ) -> Result<u64, AnalysisError> {
        for found in part.models {
            let group: Vec<Option<&str>> = found.group.iter().map(Option::as_deref).collect();
            let model = model(&mut self.results.models, &group);
            model.summary.merge(found.summary);
            model.places.extend(found.places.into_iter().map(|mut places| {
                places.lines.shrink_to_fit();
                Places { before: line, ..places }
            }));
        }
        if self.results.models.len() > MAX_MODELS {
            let name = &self.names[file];
            return Err(if self.options.by == [GroupColumn::Model] {
                AnalysisError::input(format_args!(
                    "`{name}` has more than {MAX_MODELS} models; if another field holds the model, use `--map \
                     model=NAME`"
                ))
            } else {
                AnalysisError::input(format_args!(
                    "`{name}` has more than {MAX_MODELS} groups; use fewer columns in `--by`"
                ))
            });
        }
        self.results.scorers.add(part.scorers);
        self.results.names.merge(part.names);
        self.results.first_tests.extend(part.first_tests);
        self.bad.count += part.bad_count;
        for (place, problem) in part.bad {
            if self.bad.shown.len() < MAX_SHOWN {
                self.bad.shown.push(format!(
                    "`{}` line {}: {problem}",
                    self.names[file],
                    line + u64::from(place)
                ));
            }
        }
        let room = self.options.examples.saturating_sub(self.results.examples.len());
        self.results.examples.extend(part.examples.into_iter().take(room));
        for (log, part) in logs.iter_mut().zip(part.logs) {
            log.write(part)?;
        }
        let answers: usize = self.results.models.iter().map(|model| model.summary.len()).sum();
        let bytes = self.progress.bytes.fetch_add(part.bytes as u64, Relaxed) + part.bytes as u64;
        let forecast = self.total.max(bytes) as f64 / bytes.max(1) as f64 * answers as f64;
        self.progress.done.store(answers as u64, Relaxed);
        self.progress.total.store(forecast as u64, Relaxed);
        Ok(line + u64::from(part.lines))
    }

    fn finish(mut self) -> Result<Results, AnalysisError> {
        if self.bad.count > 0 && !self.options.skip_bad {
            let remedy = "fix them, or skip them with `--skip-bad`";
            return Err(refusal(&self.bad, &format!("cannot be parsed; nothing was computed; {remedy}")));
        }
        self.results.skipped = self.bad.count;
        self.results.suggestions = self.results.names.suggestions().collect();
        let tests = std::mem::take(&mut self.results.first_tests);
        self.results.suggested_scorer = (!tests.is_empty())
            .then(|| detect_scorer_of(&tests))
            .filter(|detected| !matches!(detected.scorer, DatasetScorer::Exact | DatasetScorer::Choice));
        let mut again = Bad::default();
        for model in &self.results.models {
            let duplicates = model.summary.duplicates();
            again.count += duplicates.len() as u64;
            for [place, first] in duplicates.into_iter().take(MAX_SHOWN) {
                let at = |place: usize| {
                    let (file, line) = model.place(place);
                    format!("`{}` line {line}", self.names[file])
                };
                if again.shown.len() < MAX_SHOWN {
                    again.shown.push(format!("{} has the id of {}", at(place), at(first)));
                }
            }
        }
        if again.count > 0 {
            let remedy = "number the samples of one question with `repeat`, or keep one of them";
            return Err(refusal(
                &again,
                &format!("repeat an id of the same model; nothing was computed; {remedy}"),
            ));
        }
        if self.results.models.is_empty() {
            let names = self.names.join("`, `");
            return Err(AnalysisError::input(format_args!(
                "`{names}` has no answers; expected lines like {{\"target\": \"12\", \"answer\": \"12\"}}"
            )));
        }
        Ok(self.results)
    }
}

/// The name of a group: its values joined, if it has any.
fn group_name<'g>(group: &[Option<&'g str>]) -> Option<Cow<'g, str>> {
    match group {
        [] => None,
        [one] => one.map(Cow::Borrowed),
        several => {
            let values: Vec<&str> = several.iter().map(|value| value.unwrap_or("?")).collect();
            Some(Cow::Owned(values.join(" / ")))
        }
    }
}

fn model<'m>(models: &'m mut Vec<Model>, group: &[Option<&str>]) -> &'m mut Model {
    let is_same = |model: &Model| model.group.iter().map(Option::as_deref).eq(group.iter().copied());
    let place = models.iter().position(is_same).unwrap_or_else(|| {
        models.push(Model {
            name: group_name(group).map(Cow::into_owned),
            group: group.iter().map(|value| value.map(str::to_owned)).collect(),
            summary: Summary::default(),
            places: Vec::new(),
        });
        models.len() - 1
    });
    &mut models[place]
}

/// An error that lists the first invalid lines.
fn refusal(bad: &Bad, what: &str) -> AnalysisError {
    let lines = if bad.count == 1 { "line" } else { "lines" };
    let mut text = format!("{} {lines} {what}", bad.count);
    for shown in &bad.shown {
        text += "\n  ";
        text += shown;
    }
    if bad.count > bad.shown.len() as u64 {
        let _ = write!(text, "\n  and {} more", bad.count - bad.shown.len() as u64);
    }
    AnalysisError::input(text)
}
