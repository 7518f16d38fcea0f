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
    /// Trials of the plan so far.
    pub(super) planned: AtomicU64,
    /// Trials that the plan will have: an approximation for a shard, until the plan is finished.
    pub(super) announced: AtomicU64,
    pub(super) cached: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) truncated: AtomicU64,
    pub(super) prompt_tokens: AtomicU64,
    pub(super) completion_tokens: AtomicU64,
    /// Whether the plan was walked to its end.
    pub(super) plan_finished: AtomicBool,
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
    pub(super) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Relaxed);
    }

    pub(super) fn add_answered(&self, usage: Usage, truncated: bool) {
        Self::add(&self.answered, 1);
        Self::add(&self.truncated, u64::from(truncated));
        Self::add(&self.prompt_tokens, usage.prompt_tokens.unwrap_or(0));
        Self::add(&self.completion_tokens, usage.completion_tokens.unwrap_or(0));
    }

    /// The end of the plan is reached, so its length is known.
    pub(super) fn finish_plan(&self) {
        self.announced.store(self.planned.load(Relaxed), Relaxed);
        self.plan_finished.store(true, Relaxed);
    }

    pub(super) fn add_missing(&self, trial: String, problem: String) {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.count += 1;
        if missing.named.len() < MAX_NAMED {
            missing.named.push(MissingTrial { trial, problem });
        }
    }

    /// Ends the evaluation early. The first reason is kept; returns whether this was the first.
    pub(super) fn stop(&self, reason: &str) -> bool {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = stopped.is_none();
        stopped.get_or_insert_with(|| reason.to_owned());
        is_first
    }

    pub(super) fn stopped(&self) -> Option<String> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn summary(&self, eval_index: usize, eval: &Eval) -> EvalRunSummary {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let (prompt_tokens, completion_tokens) =
            (self.prompt_tokens.load(Relaxed), self.completion_tokens.load(Relaxed));
        EvalRunSummary {
            eval_index,
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
            plan_finished: self.plan_finished.load(Relaxed),
            stopped: self.stopped(),
        }
    }
}

/// The result of one evaluation.
#[derive(Debug, Clone)]
pub struct EvalRunSummary {
    /// Index of the evaluation in the study.
    pub eval_index: usize,
    /// Identifier of the evaluation.
    pub id: EvalId,
    /// Display name of the evaluation.
    pub name: String,
    /// Trials planned; an approximation for a shard that ended early.
    pub planned: u64,
    /// Of these, answered before this run, or by another process during it.
    pub cached: u64,
    /// Requests sent, retries included.
    pub sent: u64,
    /// Trials answered by this run.
    pub answered: u64,
    /// Of these, truncated.
    pub truncated: u64,
    /// Trials that were sent and got no answer.
    pub missing: u64,
    /// The first of them by name.
    pub missing_trials: Vec<MissingTrial>,
    /// Tokens of the prompts that this run sent, as far as they were counted.
    pub prompt_tokens: u64,
    /// Tokens of the completions that this run got.
    pub completion_tokens: u64,
    /// What this run cost, where prices are known.
    pub cost: Option<f64>,
    /// Whether the plan was walked to its end: a run that is stopped does not know all that it would have sent.
    pub plan_finished: bool,
    /// Why it ended early, if it did.
    pub stopped: Option<String>,
}

impl EvalRunSummary {
    /// Whether every planned trial has an answer.
    pub fn is_complete(&self) -> bool {
        self.plan_finished && self.cached + self.answered == self.planned
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// Each evaluation that was selected.
    pub evals: Vec<EvalRunSummary>,
    /// Whether it was stopped by a [`Shutdown`](crate::Shutdown).
    pub stopped: bool,
}

impl RunSummary {
    /// Whether every planned trial has an answer.
    pub fn is_complete(&self) -> bool {
        self.evals.iter().all(EvalRunSummary::is_complete)
    }
}
