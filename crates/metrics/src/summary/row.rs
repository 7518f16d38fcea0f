//! The compact record of an answered question: about a hundred bytes, whatever the length of its texts.

use std::hash::{DefaultHasher, Hasher};

use crate::PerTaskResult;
use crate::estimate::Counted;

/// The compact record of an answered question.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) task: [u64; 2],
    /// The task as one evaluation answered it: rows with the same one are samples of each other.
    pub(crate) series: [u64; 2],
    pub(crate) answer: [u64; 2],
    pub(crate) prob_correct: f64,
    pub(crate) latency_ms: f64,
    pub(crate) repeat: u32,
    pub(crate) cot_tokens: u32,
    pub(crate) cot_chars: u32,
    pub(crate) step_count: u32,
    answer_tokens: u32,
    pub(crate) prompt_tokens: u32,
    pub(crate) completion_tokens: u32,
    pub(crate) equations: [u32; 2],
    pub(crate) sentences: [u32; 2],
    flags: u8,
}

/// Marks a missing count; larger counts are clamped to one below.
const NONE: u32 = u32::MAX;

const CORRECT: u8 = 1;
pub(crate) const TRUNCATED: u8 = 1 << 1;
pub(crate) const ANSWERED: u8 = 1 << 2;
const REASONED: u8 = 1 << 3;
pub(crate) const SELF_CORRECTING: u8 = 1 << 4;
const AT_ZERO: u8 = 1 << 5;

impl Row {
    pub(crate) fn new(task: &PerTaskResult<'_>) -> Self {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let grounding = task.grounding.as_ref();
        let problem = digest(task.id.as_bytes());
        Self {
            task: problem,
            series: task.eval_id.map_or(problem, |eval| digest(format!("{}\0{eval}", task.id).as_bytes())),
            answer: task.answer.as_ref().map_or([0; 2], |answer| digest(answer.as_bytes())),
            prob_correct: task.prob_correct.unwrap_or(f64::NAN),
            latency_ms: task.latency_ms.unwrap_or(f64::NAN),
            repeat: task.repeat,
            cot_tokens: or_missing(task.cot_tokens),
            cot_chars: or_missing(task.cot_chars),
            step_count: or_missing(task.step_count),
            answer_tokens: or_missing(task.answer_tokens),
            prompt_tokens: or_missing(task.prompt_tokens.map(u64::from)),
            completion_tokens: or_missing(task.completion_tokens.map(u64::from)),
            equations: [task.false_steps.len() as u32, task.equations_checked.unwrap_or(0)],
            sentences: grounding.map_or([0; 2], |found| [found.unsupported.len() as u32, found.sentences]),
            flags: flag(task.correct, CORRECT)
                | flag(task.truncated, TRUNCATED)
                | flag(task.answer.is_some(), ANSWERED)
                | flag(task.cot.is_some(), REASONED)
                | flag(task.self_correcting == Some(true), SELF_CORRECTING)
                | flag(task.deterministic == Some(true), AT_ZERO),
        }
    }

    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn correct(&self) -> bool {
        self.has(CORRECT)
    }

    pub(crate) fn has_answer(&self) -> bool {
        self.has(ANSWERED)
    }

    pub(crate) fn at_zero(&self) -> bool {
        self.has(AT_ZERO)
    }

    pub(crate) fn ra_ratio(&self) -> Option<f64> {
        let (cot, answer) = (known(self.cot_tokens)?, known(self.answer_tokens)?);
        Some(cot / answer.max(1.0))
    }

    pub(crate) fn total_tokens(&self) -> Option<f64> {
        Some(known(self.prompt_tokens)? + known(self.completion_tokens)?)
    }

    pub(crate) fn reasoned(&self, flag: u8) -> Option<Counted> {
        self.has(REASONED).then(|| self.has(flag).into())
    }
}

fn or_missing(count: Option<u64>) -> u32 {
    count.map_or(NONE, |count| u32::try_from(count).unwrap_or(NONE).min(NONE - 1))
}

pub(crate) fn known(count: u32) -> Option<f64> {
    (count != NONE).then(|| f64::from(count))
}

pub(crate) fn finite(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

/// A 128-bit hash that identifies a text; collisions are negligible for billions of texts.
fn digest(text: &[u8]) -> [u64; 2] {
    let mut hasher = DefaultHasher::new();
    hasher.write(text);
    let first = hasher.finish();
    // The state is wider than one output.
    hasher.write_u8(0xff);
    [first, hasher.finish()]
}
