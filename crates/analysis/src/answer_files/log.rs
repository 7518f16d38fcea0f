//! The sample log: the measures of each answer.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use reasonscape_ingest::answers::Scorer;
use reasonscape_metrics::{PerTaskResult, SampleRecord};
use reasonscape_points::{SampleLog, SampleLogRows};
use serde::{Serialize, Serializer};

use crate::error::AnalysisError;

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// JSON Lines, one line per answer.
    Jsonl,
    /// Parquet, for `reasonscape sql` and other tools.
    Parquet,
}

impl LogKind {
    /// The format of a file, from its extension.
    ///
    /// # Errors
    /// [`AnalysisError::Input`] for any other extension.
    pub fn from_path(path: &Path) -> Result<Self, AnalysisError> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Ok(Self::Jsonl),
            Some("parquet") => Ok(Self::Parquet),
            _ => Err(AnalysisError::input(format_args!(
                "unknown log format of `{}`; expected a file name that ends in .jsonl or .parquet",
                path.display()
            ))),
        }
    }
}

/// A log that is being written.
pub enum Log<'w> {
    /// JSON Lines.
    Jsonl(&'w mut (dyn Write + Send)),
    /// One Parquet file.
    Parquet(Box<SampleLog<&'w mut (dyn Write + Send)>>),
}

impl<'w> Log<'w> {
    /// Starts a log in the format of the path's extension; it is written to `out`.
    ///
    /// # Errors
    /// [`AnalysisError::Input`] when the path ends in neither .jsonl nor .parquet, and errors of writing.
    pub fn new(out: &'w mut (dyn Write + Send), path: &Path) -> Result<Self, AnalysisError> {
        match LogKind::from_path(path)? {
            LogKind::Jsonl => Ok(Self::Jsonl(out)),
            LogKind::Parquet => Ok(Self::Parquet(Box::new(SampleLog::create(out, path)?))),
        }
    }

    pub(super) fn kind(&self) -> LogKind {
        match self {
            Self::Jsonl(_) => LogKind::Jsonl,
            Self::Parquet(_) => LogKind::Parquet,
        }
    }

    pub(super) fn write(&mut self, part: LogPart) -> Result<(), AnalysisError> {
        match (self, part) {
            (Self::Jsonl(out), LogPart::Jsonl(lines)) => Ok(out.write_all(&lines)?),
            (Self::Parquet(log), LogPart::Parquet(rows)) => Ok(log.write(*rows)?),
            _ => unreachable!("parts are of the kind that the log is"),
        }
    }

    /// Writes buffered rows and closes the log.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(self) -> Result<(), AnalysisError> {
        match self {
            Self::Jsonl(out) => Ok(out.flush()?),
            Self::Parquet(log) => Ok(log.close()?),
        }
    }
}

/// A part of the log, filled by one thread.
pub(super) enum LogPart {
    Jsonl(Vec<u8>),
    Parquet(Box<SampleLogRows>),
}

impl LogPart {
    pub(super) fn new(kind: LogKind) -> Self {
        match kind {
            LogKind::Jsonl => Self::Jsonl(Vec::new()),
            LogKind::Parquet => Self::Parquet(Box::default()),
        }
    }

    pub(super) fn push(&mut self, model: Option<&str>, row: &SampleRecord<'_>, task: &PerTaskResult<'_>) {
        match self {
            Self::Jsonl(lines) => {
                serde_json::to_writer(&mut *lines, &Line::new(model, row, task))
                    .expect("plain structures become JSON, and memory takes all of it");
                lines.push(b'\n');
            }
            Self::Parquet(rows) => rows.push(model, row, task),
        }
    }
}

/// An answer and its measures. The inputs are included, so that metrics can be computed again from the log.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    model: Option<&'a str>,
    category: Option<&'a str>,
    repeat: u32,
    input: Option<&'a str>,
    #[serde(serialize_with = "one_or_several")]
    target: &'a [Cow<'a, str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    options: &'a [Cow<'a, str>],
    answer: Option<&'a str>,
    answer_normalized: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    context: &'a [Cow<'a, str>],
    correct: bool,
    truncated: bool,
    cot: Option<&'a str>,
    cot_tokens: Option<u64>,
    cot_chars: Option<u64>,
    step_count: Option<u64>,
    self_correcting: Option<bool>,
    ra_ratio: Option<f64>,
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
    total_tokens: Option<u64>,
    latency_ms: Option<f64>,
    prob_correct: Option<f64>,
    temperature: Option<f64>,
    equations_checked: Option<u32>,
    equations_false: Option<usize>,
    false_steps: Vec<FalseStep<'a>>,
    sentences_checked: Option<u32>,
    sentences_unsupported: Option<usize>,
    unsupported: Vec<Unsupported<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampler: Option<&'a str>,
    /// `stored` if `correct` doesn't come from a comparison with the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    scorer: Option<Cow<'static, str>>,
}

#[derive(Serialize)]
struct FalseStep<'a> {
    line: usize,
    text: &'a str,
}

#[derive(Serialize)]
struct Unsupported<'a> {
    sentence: &'a str,
    missing: &'a [&'a str],
}

impl<'a> Line<'a> {
    fn new(model: Option<&'a str>, row: &SampleRecord<'a>, task: &'a PerTaskResult<'a>) -> Self {
        let steps = task.false_steps.iter().map(|step| FalseStep { line: step.line, text: step.text });
        let grounding = task.grounding.as_ref();
        let unsupported = grounding
            .iter()
            .flat_map(|found| &found.unsupported)
            .map(|found| Unsupported { sentence: found.sentence, missing: &found.missing });
        Self {
            id: row.id,
            model,
            category: row.category,
            repeat: row.repeat,
            input: row.input,
            target: row.targets,
            options: row.options,
            answer: row.answer,
            answer_normalized: task.answer.as_deref(),
            context: row.context,
            correct: task.correct,
            truncated: task.truncated,
            cot: task.cot,
            cot_tokens: task.cot_tokens,
            cot_chars: task.cot_chars,
            step_count: task.step_count,
            self_correcting: task.self_correcting,
            ra_ratio: task.ra_ratio,
            prompt_tokens: task.prompt_tokens,
            completion_tokens: task.completion_tokens,
            total_tokens: task.total_tokens,
            latency_ms: task.latency_ms,
            prob_correct: task.prob_correct,
            temperature: row.temperature,
            equations_checked: task.equations_checked,
            equations_false: task.equations_checked.map(|_| task.false_steps.len()),
            false_steps: steps.collect(),
            sentences_checked: grounding.map(|found| found.sentences),
            sentences_unsupported: grounding.map(|found| found.unsupported.len()),
            unsupported: unsupported.collect(),
            eval_id: row.eval_id,
            base_task: row.base_task,
            template: row.template,
            sampler: row.sampler,
            scorer: row.verdict.map(|_| Scorer::Stored.name()),
        }
    }
}

fn one_or_several<S: Serializer>(targets: &[Cow<'_, str>], serializer: S) -> Result<S::Ok, S::Error> {
    match targets {
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}
