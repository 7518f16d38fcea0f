//! Walks the plan of an evaluation on a separate thread, and looks up its trials in the cache.

use std::ops::{ControlFlow, Range};

use reasonscape_cache::{CacheError, Mark, Marks, PointSampling, Reader, Savings, TokenUsage};
use reasonscape_core::{EntryId, canonical_json};
use reasonscape_providers::Usage;
use reasonscape_study::{Eval, PlannedTrial, walk_trials};
use tokio::sync::mpsc;

use super::{RunError, Shared};

/// Maximum batches queued between planning and claiming.
pub(super) const PLAN_QUEUE: usize = 4;
/// Trials per batch: they are looked up in the cache and passed on together.
const BATCH_LEN: usize = 128;

/// Messages of the planning thread.
pub(super) enum PlanMessage<'s> {
    Batch(Batch<'s>),
    Failed(RunError),
}

/// A batch of the plan.
pub(super) struct Batch<'s> {
    /// Trials without a cached response.
    pub(super) uncached: Vec<PlannedTrial<'s>>,
    /// Number of trials with a cached response.
    pub(super) cached: u64,
    /// Savings from the cached responses.
    pub(super) saved: Savings,
    /// Marks to raise before the batch is requested.
    pub(super) marks: Vec<Mark>,
}

/// Walks the plan and sends it in batches, until it ends or the receiver is dropped.
pub(super) fn send_plan<'s>(
    shared: &Shared<'s>,
    eval: &Eval,
    round: &[Range<usize>],
    sender: &mpsc::Sender<PlanMessage<'s>>,
) {
    let send = |message| {
        if sender.blocking_send(message).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    if let Err(error) = walk_plan(shared, eval, round, &mut |batch| send(PlanMessage::Batch(batch))) {
        let _ = send(PlanMessage::Failed(error));
    }
}

/// Walks the plan and calls `on_batch` for each batch.
fn walk_plan<'s>(
    shared: &Shared<'s>,
    eval: &Eval,
    round: &[Range<usize>],
    on_batch: &mut dyn FnMut(Batch<'s>) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let reader = shared.cache.reader()?;
    let mut marks = reader.marks(shared.study.seed, eval.id.as_str())?;
    let mut failed = None;
    let mut look_up =
        |mut trials: Vec<PlannedTrial<'s>>| match find_cached(&reader, eval, shared.last_entry, &trials) {
            Ok((is_cached, saved)) => {
                let raised = raise_marks(shared, &mut marks, eval, &trials);
                let total = trials.len();
                let mut is_cached = is_cached.into_iter();
                trials.retain(|_| is_cached.next() == Some(false));
                let cached = (total - trials.len()) as u64;
                on_batch(Batch { uncached: trials, cached, saved, marks: raised })
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
    let mut batch = Vec::with_capacity(BATCH_LEN);
    let mut visit = |planned: PlannedTrial<'s>| {
        batch.push(planned);
        if batch.len() < BATCH_LEN {
            return ControlFlow::Continue(());
        }
        look_up(std::mem::replace(&mut batch, Vec::with_capacity(BATCH_LEN)))
    };
    walk_trials(shared.study, eval, &shared.points, round, shared.selection.shard, &mut visit)?;
    if !batch.is_empty() {
        let _ = look_up(batch);
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Which trials have a cached response, and the savings from responses up to `last_entry`. Later ones were paid for during
/// this run.
fn find_cached(
    reader: &Reader,
    eval: &Eval,
    last_entry: i64,
    trials: &[PlannedTrial<'_>],
) -> Result<(Vec<bool>, Savings), CacheError> {
    let _snapshot = reader.snapshot()?;
    let mut is_cached = Vec::with_capacity(trials.len());
    let mut saved = Savings::default();
    for planned in trials {
        let found = reader.find_usage(&planned.id)?;
        is_cached.push(found.is_some());
        let Some(found) = found.filter(|found| found.entry <= last_entry) else { continue };
        saved.requests += 1;
        let usage = match found.usage {
            Some(usage) => usage,
            None => reported_usage(reader, eval, &planned.id)?,
        };
        saved.prompt_tokens += usage.prompt.unwrap_or(0);
        saved.completion_tokens += usage.completion.unwrap_or(0);
    }
    Ok((is_cached, saved))
}

/// Tokens of a response from an earlier version, another cache or a provider that reports none: read from the response.
fn reported_usage(reader: &Reader, eval: &Eval, id: &EntryId) -> Result<TokenUsage, CacheError> {
    let response = reader.find(id)?.and_then(|found| found.response.ok());
    let completion = response.and_then(|response| eval.provider.parse(response.status, &response.body).ok());
    Ok(completion.map_or_else(TokenUsage::default, |completion| token_usage(completion.usage)))
}

/// What the cache records of a completion's usage.
pub(super) fn token_usage(usage: Usage) -> TokenUsage {
    TokenUsage { prompt: usage.prompt_tokens, completion: usage.completion_tokens }
}

/// The marks to raise before the trials of a batch are requested. Trials of one point are adjacent.
fn raise_marks(
    shared: &Shared<'_>,
    marks: &mut Marks,
    eval: &Eval,
    trials: &[PlannedTrial<'_>],
) -> Vec<Mark> {
    let mut raised = Vec::new();
    for point in trials.chunk_by(|a, b| std::ptr::eq(a.params, b.params)) {
        let Some(last) = point.last() else { continue };
        let (task, params) = (last.task.name(), canonical_json(&last.params.to_json()));
        let requested = last.index as u64 + 1;
        let sampling = sampling(shared, last);
        if marks.raise(task, &params, requested, &sampling) {
            let (seed, eval, task) = (shared.study.seed, eval.id.to_string(), task.to_owned());
            raised.push(Mark { seed, eval, task, params, requested, sampling });
        }
    }
    raised
}

/// How this run chooses the number of problems of a trial's point.
fn sampling(shared: &Shared<'_>, trial: &PlannedTrial<'_>) -> PointSampling {
    if let Some(adaptive) = shared.adaptive {
        return PointSampling { fixed_count: None, stop_rule: Some(adaptive.stop_rule.clone()) };
    }
    let point = shared.points.iter().find(|point| std::ptr::eq(point.params, trial.params));
    let count = point.map(|point| shared.study.count_at(point, shared.selection) as u64);
    PointSampling { fixed_count: count, stop_rule: None }
}
