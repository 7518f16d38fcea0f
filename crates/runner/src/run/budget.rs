//! The remaining budget of a run.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use reasonscape_providers::Usage;
use reasonscape_study::{Budget, Eval, Shard};

/// How much of the budget all evaluations of a run have used.
#[derive(Debug)]
pub(super) struct BudgetTracker {
    budget: Budget,
    started: Instant,
    tokens: AtomicU64,
    requests: AtomicU64,
    /// In millionths, so that it can be an atomic integer.
    money: AtomicU64,
}

impl BudgetTracker {
    /// A shard gets its fraction of the study's budget, except for the time: shards run in parallel.
    pub(super) fn new(budget: Budget, shard: Shard) -> Self {
        let budget = Budget {
            tokens: budget.tokens.map(|tokens| shard.part_of(tokens)),
            requests: budget.requests.map(|requests| shard.part_of(requests)),
            money: budget.money.map(|money| money / shard.total as f64),
            ..budget
        };
        Self {
            budget,
            started: Instant::now(),
            tokens: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            money: AtomicU64::new(0),
        }
    }

    /// Counts a request before it is sent.
    ///
    /// # Errors
    /// The limit that is reached, if any; the request is then not counted.
    pub(super) fn take_request(&self) -> Result<(), String> {
        if let Some(reason) = self.exhausted() {
            return Err(reason);
        }
        let limit = self.budget.requests.unwrap_or(u64::MAX);
        let add_one = |requests| (requests < limit).then_some(requests + 1);
        match self.requests.fetch_update(Relaxed, Relaxed, add_one) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("the budget of {limit} requests is used up")),
        }
    }

    /// Counts the tokens of a reply and their cost.
    pub(super) fn add_usage(&self, eval: &Eval, usage: Usage) {
        let (prompt, completion) = (usage.prompt_tokens.unwrap_or(0), usage.completion_tokens.unwrap_or(0));
        self.tokens.fetch_add(prompt + completion, Relaxed);
        if let Some(prices) = eval.prices {
            self.money.fetch_add((prices.cost(prompt, completion) * 1e6) as u64, Relaxed);
        }
    }

    /// When the time limit is reached, if there is one.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.budget.time.and_then(|limit| self.started.checked_add(limit))
    }

    /// The limit that is reached other than that of requests, if any.
    pub(super) fn exhausted(&self) -> Option<String> {
        let reached = |used: u64, limit: Option<u64>| limit.filter(|limit| used >= *limit);
        let Budget { tokens, money, time, .. } = self.budget;
        if let Some(limit) = reached(self.tokens.load(Relaxed), tokens) {
            return Some(format!("the budget of {limit} tokens is used up"));
        }
        if let Some(limit) = money.filter(|limit| self.money.load(Relaxed) as f64 / 1e6 >= *limit) {
            return Some(format!("the cost budget of {limit} is used up"));
        }
        let is_over = |limit: &Duration| self.started.elapsed() >= *limit;
        time.filter(is_over).map(|limit| format!("the budget of {} seconds is used up", limit.as_secs_f64()))
    }
}
