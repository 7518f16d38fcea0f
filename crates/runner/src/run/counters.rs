//! Counters of a run and its summary.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use reasonscape_cache::Savings;
use reasonscape_providers::Usage;
use reasonscape_study::{Eval, EvalId};

/// Maximum names of missing trials to keep; the rest are only counted.
const MAX_NAMED: usize = 1000;

/// Counters of a running evaluation.
#[derive(Debug, Default)]
pub(super) struct EvalCounters {
    /// Trials planned so far.
    pub(super) planned: AtomicU64,
    /// Total trials of the plan: approximate for a shard until its plan is finished.
    pub(super) announced: AtomicU64,
    pub(super) cached: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) truncated: AtomicU64,
    pub(super) prompt_tokens: AtomicU64,
    pub(super) completion_tokens: AtomicU64,
    /// Whether the plan was walked to its end.
    pub(super) plan_finished: AtomicBool,
    /// Savings from cached responses, without the cost.
    saved: Mutex<Savings>,
    missing: Mutex<Missing>,
    stopped: Mutex<Option<String>>,
}

#[derive(Debug, Default)]
struct Missing {
    count: u64,
    named: Vec<MissingTrial>,
}

/// A trial without a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTrial {
    /// The trial: task, parameters and index.
    pub trial: String,
    /// Why there is no response.
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

    pub(super) fn add_saved(&self, saved: &Savings) {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).add(saved);
    }

    /// Marks the plan as finished, so that its length is exact.
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

    /// Ends the evaluation early. Keeps the first reason; returns whether this was the first.
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
        let mut saved = *self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        saved.cost = eval.prices.map(|prices| prices.cost(saved.prompt_tokens, saved.completion_tokens));
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
            saved,
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
    /// Trials planned; approximate for a shard that ended early.
    pub planned: u64,
    /// Trials answered before this run, or by another process during it.
    pub cached: u64,
    /// Requests sent, including retries.
    pub sent: u64,
    /// Trials answered by this run.
    pub answered: u64,
    /// Trials answered by this run whose response was truncated.
    pub truncated: u64,
    /// Trials that were sent and got no response.
    pub missing: u64,
    /// The first missing trials.
    pub missing_trials: Vec<MissingTrial>,
    /// Prompt tokens of this run, as far as the provider reported them.
    pub prompt_tokens: u64,
    /// Completion tokens of this run.
    pub completion_tokens: u64,
    /// Cost of this run, if prices are known.
    pub cost: Option<f64>,
    /// Savings from responses that were cached before this run.
    pub saved: Savings,
    /// Whether the plan was walked to its end; if the run was stopped, the remaining trials are unknown.
    pub plan_finished: bool,
    /// Why the evaluation ended early, if it did.
    pub stopped: Option<String>,
}

impl EvalRunSummary {
    /// Whether every planned trial has a response.
    pub fn is_complete(&self) -> bool {
        self.plan_finished && self.cached + self.answered == self.planned
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// The selected evaluations.
    pub evals: Vec<EvalRunSummary>,
    /// Whether a [`Shutdown`](crate::Shutdown) stopped the run.
    pub stopped: bool,
}

impl RunSummary {
    /// Savings from cached responses in this run.
    pub fn saved(&self) -> Savings {
        let mut total = Savings::default();
        self.evals.iter().for_each(|eval| total.add(&eval.saved));
        total
    }

    /// Whether every planned trial has a response.
    pub fn is_complete(&self) -> bool {
        self.evals.iter().all(EvalRunSummary::is_complete)
    }
}
