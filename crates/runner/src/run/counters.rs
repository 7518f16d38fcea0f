//! The counts of a run and its summary.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use reasonscape_providers::Usage;
use reasonscape_study::{Eval, EvalId};

/// Names of missing trials that are kept; the rest are counted.
const MAX_NAMED: usize = 1000;

/// The counts of one evaluation, kept while it runs.
#[derive(Debug, Default)]
pub(super) struct EvalCounters {
    /// Trials that the plan has come to so far.
    pub(super) planned: AtomicU64,
    /// Trials that the plan will come to: for a shard nearly, until its end is reached.
    pub(super) announced: AtomicU64,
    pub(super) cached: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) truncated: AtomicU64,
    pub(super) prompt_tokens: AtomicU64,
    pub(super) completion_tokens: AtomicU64,
    /// Whether the plan was walked to its end.
    pub(super) whole: AtomicBool,
    missing: Mutex<Missing>,
    stopped: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Missing {
    count: u64,
    named: Vec<MissingTrial>,
}

/// A trial that got no answer, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTrial {
    /// Task, coordinates and index.
    pub trial: String,
    /// Why it has none.
    pub problem: String,
}

impl EvalCounters {
    pub(super) fn count(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Relaxed);
    }

    pub(super) fn answered(&self, usage: Usage, truncated: bool) {
        Self::count(&self.answered, 1);
        Self::count(&self.truncated, u64::from(truncated));
        Self::count(&self.prompt_tokens, usage.prompt_tokens.unwrap_or(0));
        Self::count(&self.completion_tokens, usage.completion_tokens.unwrap_or(0));
    }

    /// The end of the plan is reached, so its length is known.
    pub(super) fn finish_plan(&self) {
        self.announced.store(self.planned.load(Relaxed), Relaxed);
        self.whole.store(true, Relaxed);
    }

    pub(super) fn missing(&self, trial: String, problem: String) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.count += 1;
        if missing.named.len() < MAX_NAMED {
            missing.named.push(MissingTrial { trial, problem });
        }
    }

    /// Ends the evaluation early. The first reason stands; whether this was it.
    pub(super) fn stop(&self, reason: &str) -> bool {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let first = stopped.is_none();
        stopped.get_or_insert_with(|| reason.to_owned());
        first
    }

    pub(super) fn stopped(&self) -> Option<String> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn summary(&self, place: usize, eval: &Eval) -> EvalRunSummary {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let (prompt_tokens, completion_tokens) =
            (self.prompt_tokens.load(Relaxed), self.completion_tokens.load(Relaxed));
        EvalRunSummary {
            place,
            id: eval.id.clone(),
            name: eval.name.clone(),
            planned: self.announced.load(Relaxed),
            cached: self.cached.load(Relaxed),
            sent: self.sent.load(Relaxed),
            answered: self.answered.load(Relaxed),
            truncated: self.truncated.load(Relaxed),
            missing: missing.count,
            missing_trials: missing.named.clone(),
            prompt_tokens,
            completion_tokens,
            cost: eval.prices.map(|prices| prices.cost(prompt_tokens, completion_tokens)),
            whole: self.whole.load(Relaxed),
            stopped: self.stopped(),
        }
    }
}

/// What became of one evaluation.
#[derive(Debug, Clone)]
pub struct EvalRunSummary {
    /// Its place in the study.
    pub place: usize,
    /// What it is known by.
    pub id: EvalId,
    /// What people call it.
    pub name: String,
    /// Trials planned; for a shard that ended early nearly.
    pub planned: u64,
    /// Of these, answered before this run, or by another process during it.
    pub cached: u64,
    /// Requests sent, retries included.
    pub sent: u64,
    /// Trials answered by this run.
    pub answered: u64,
    /// Of these, cut off.
    pub truncated: u64,
    /// Trials that were asked and got no answer.
    pub missing: u64,
    /// The first of them by name.
    pub missing_trials: Vec<MissingTrial>,
    /// Tokens of the prompts that this run sent, as far as they were counted.
    pub prompt_tokens: u64,
    /// Tokens of the completions that this run got.
    pub completion_tokens: u64,
    /// What this run cost, where prices are known.
    pub cost: Option<f64>,
    /// Whether the plan was walked to its end: a run that is stopped does not know all that it would have asked.
    pub whole: bool,
    /// Why it ended early, if it did.
    pub stopped: Option<String>,
}

impl EvalRunSummary {
    /// Whether every planned trial has an answer.
    pub fn is_complete(&self) -> bool {
        self.whole && self.cached + self.answered == self.planned
    }
}

/// What became of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// Each evaluation that was selected.
    pub evals: Vec<EvalRunSummary>,
    /// Whether somebody said stop.
    pub stopped: bool,
}

impl RunSummary {
    /// Whether every planned trial has an answer.
    pub fn is_complete(&self) -> bool {
        self.evals.iter().all(EvalRunSummary::is_complete)
    }
}
