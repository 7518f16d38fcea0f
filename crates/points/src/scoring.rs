//! Scores the cached responses of a point. Trials, the answers file and precision targets all use this walk.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reasonscape_cache::{CacheError, Found, Reader};
use reasonscape_core::{CacheKey, EntryId, Extraction, Outcome, Point, Reply, Task, Test, score};
use reasonscape_metrics::{answer_probability, stated_confidence};
use reasonscape_providers::Completion;
use reasonscape_study::{Eval, Study, planned_requests};

use crate::PointsError;

/// Consecutive problems without a response after which no more entries without a watermark are expected at a point.
const MAX_UNMARKED_GAP: usize = 256;

/// A problem and the response to it, scored.
#[derive(Debug)]
pub struct ScoredTrial<'a> {
    /// The task.
    pub task: &'a dyn Task,
    /// Index of the problem at its point.
    pub index: usize,
    /// Which repeat of the same request.
    pub repeat: u32,
    /// Key of the request.
    pub key: CacheKey,
    /// The problem.
    pub test: &'a Test,
    /// The outcome of the trial.
    pub outcome: Outcome,
    /// The extracted answer and the extraction method.
    pub extraction: Extraction<'a>,
    /// The provider's response.
    pub completion: &'a Completion,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// The latency in microseconds, if the cache has it.
    pub latency_us: Option<u64>,
    /// When the reply arrived, in milliseconds since 1970.
    pub received_ms: i64,
}

impl ScoredTrial<'_> {
    /// The answer that counts: a truncated trial has none.
    pub fn answer(&self) -> Option<&str> {
        self.extraction.answer.as_deref().filter(|_| self.outcome != Outcome::Truncated)
    }

    /// The model's confidence in its answer: the probability of the answer's tokens, or else the confidence stated in
    /// the reply. `None` without an answer or if neither exists.
    pub fn prob_correct(&self) -> Option<f64> {
        let answer = self.answer()?;
        let tokens = self.completion.logprobs.as_deref().unwrap_or_default();
        let tokens: Vec<(&str, f64)> =
            tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
        answer_probability(&tokens, answer).or_else(|| stated_confidence(&self.extraction.text))
    }

    /// The reasoning that metrics are computed on.
    pub fn cot(&self) -> Option<Cow<'_, str>> {
        cot(&self.extraction, self.outcome == Outcome::Truncated)
    }
}

/// The reasoning of a reply: the text before its answer, or all of it if it was truncated.
pub(crate) fn cot<'e>(extraction: &'e Extraction<'_>, truncated: bool) -> Option<Cow<'e, str>> {
    if !truncated {
        return extraction.thoughts();
    }
    let all = format!("{}\n\n{}", extraction.reasoning.as_deref().unwrap_or_default(), extraction.text);
    // A model with hidden reasoning that was truncated while reasoning sends nothing: the trace is missing, not empty.
    Some(all.trim()).filter(|all| !all.is_empty()).map(|all| Cow::Owned(all.to_owned()))
}

/// Entries of one model and namespace without a watermark that match no problem generated so far.
#[derive(Debug, Default)]
pub(crate) struct UnmarkedEntries {
    remaining: AtomicU64,
    /// One entry can belong to two problems: a small point repeats its prompts.
    matched: Mutex<HashSet<i64>>,
}

impl UnmarkedEntries {
    pub(crate) fn new(entries: u64) -> Self {
        Self { remaining: AtomicU64::new(entries), matched: Mutex::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.remaining.load(Ordering::Relaxed) == 0
    }

    fn remove(&self, entry: i64) {
        if self.matched.lock().unwrap_or_else(PoisonError::into_inner).insert(entry) {
            // An entry stored after the count was taken is not included in it.
            let _ =
                self.remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        }
    }
}

/// The problems of a point to look up.
pub(crate) struct WalkRange<'a> {
    /// All of these, with or without responses.
    pub(crate) problems: Range<usize>,
    /// Repeats of each.
    pub(crate) repeats: u32,
    /// Ends the walk when set; in a long gap without trials the visitor is never called and can't stop it.
    pub(crate) stop: &'a AtomicBool,
    /// Entries that are found are removed from these.
    pub(crate) unmarked: &'a UnmarkedEntries,
    /// Whether to continue as long as some of them may belong to the point.
    pub(crate) beyond: bool,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The cache entries that belong to problems of the point. One can occur twice.
    pub(crate) entries: Vec<i64>,
    /// Entries that could not be read.
    pub(crate) damaged: u64,
    /// The error of the first of them.
    pub(crate) damage: Option<String>,
}

impl Walked {
    fn add_damage(&mut self, problem: String) {
        self.damaged += 1;
        self.damage.get_or_insert(problem);
    }
}

/// Scores the responses to some problems of a point and their planned repeats, ordered by problem and repeat, until
/// `visit` returns `Break`. A damaged entry counts as no response.
///
/// # Errors
/// A [`PointsError`] if the cache cannot be read or a request cannot be rendered.
pub fn score_responses(
    study: &Study,
    reader: &Reader,
    eval: &Eval,
    point: &Point<'_>,
    problems: Range<usize>,
    visit: &mut dyn FnMut(ScoredTrial<'_>) -> ControlFlow<()>,
) -> Result<(), PointsError> {
    let (unmarked, stop) = (UnmarkedEntries::default(), AtomicBool::new(false));
    let range =
        WalkRange { problems, repeats: study.repeats, stop: &stop, unmarked: &unmarked, beyond: false };
    walk(study, reader, eval, point, &range, visit).map(drop)
}

/// [`score_responses`] that also looks for entries without a watermark and accounts for all that it finds.
pub(crate) fn walk(
    study: &Study,
    reader: &Reader,
    eval: &Eval,
    point: &Point<'_>,
    range: &WalkRange<'_>,
    visit: &mut dyn FnMut(ScoredTrial<'_>) -> ControlFlow<()>,
) -> Result<Walked, PointsError> {
    let namespace: Arc<str> = Arc::from(eval.cache_namespace.as_str());
    let _snapshot = reader.snapshot()?;
    let mut walked = Walked::default();
    let mut gap = 0;
    for planned in planned_requests(study, eval, point, range.problems.start) {
        let planned = planned?;
        let is_searched = range.beyond && gap < MAX_UNMARKED_GAP && !range.unmarked.is_empty();
        let is_over = planned.index >= range.problems.end && !is_searched;
        if is_over || range.stop.load(Ordering::Relaxed) {
            break;
        }
        gap += 1;
        for repeat in 0..range.repeats {
            let id = EntryId { key: planned.key, namespace: Arc::clone(&namespace), repeat };
            let Some(Found { entry, marked, response }) = reader.find(&id)? else { continue };
            gap = 0;
            walked.entries.push(entry);
            if !marked {
                range.unmarked.remove(entry);
            }
            let response = match response {
                Ok(response) => response,
                Err(error @ CacheError::DamagedEntry { .. }) => {
                    walked.add_damage(error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let completion = match eval.provider.parse(response.status, &response.body) {
                Ok(completion) => completion,
                Err(problem) => {
                    walked.add_damage(format!("the reply under {} cannot be read: {problem}", planned.key));
                    continue;
                }
            };
            let reply = Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
            let (outcome, extraction) = score(point.task, &planned.test, &reply, completion.is_truncated());
            let trial = ScoredTrial {
                task: point.task,
                index: planned.index,
                repeat,
                key: planned.key,
                test: &planned.test,
                outcome,
                extraction,
                completion: &completion,
                latency_ms: response.latency_ms,
                latency_us: response.latency_us,
                received_ms: response.received_ms,
            };
            if visit(trial).is_break() {
                return Ok(walked);
            }
        }
    }
    Ok(walked)
}
