//! Walks the plan of an evaluation on a thread of its own, and looks it up in the cache.

use std::ops::{ControlFlow, Range};

use reasonscape_cache::{Mark, Marks};
use reasonscape_core::canonical_json;
use reasonscape_study::{Eval, PlannedTrial, walk_trials};
use tokio::sync::mpsc;

use super::{RunError, Shared};

/// Batches that wait between the plan and the claims.
pub(super) const PLAN_QUEUE: usize = 4;
/// Trials that are looked up in the cache, and passed on, together.
const BATCH_LEN: usize = 128;

/// What the planning thread sends.
pub(super) enum PlanMessage<'s> {
    Batch(Batch<'s>),
    Failed(RunError),
}

/// A few trials of the plan.
pub(super) struct Batch<'s> {
    /// Those whose response is not in the cache.
    pub(super) uncached: Vec<PlannedTrial<'s>>,
    /// How many others there are.
    pub(super) cached: u64,
    /// How far it goes at points that were never requested so far.
    pub(super) marks: Vec<Mark>,
}

/// Walks the plan, and sends it in batches until it ends or nobody receives them.
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

/// Walks the plan; `on_batch` gets one batch at a time.
fn walk_plan<'s>(
    shared: &Shared<'s>,
    eval: &Eval,
    round: &[Range<usize>],
    on_batch: &mut dyn FnMut(Batch<'s>) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let reader = shared.cache.reader()?;
    let mut marks = reader.marks(shared.study.seed, eval.id.as_str())?;
    let mut failed = None;
    let mut look_up = |mut trials: Vec<PlannedTrial<'s>>| match reader
        .contains_each(trials.iter().map(|planned| &planned.id))
    {
        Ok(is_cached) => {
            let raised = raise_marks(&mut marks, shared.study.seed, eval, &trials);
            let total = trials.len();
            let mut is_cached = is_cached.into_iter();
            trials.retain(|_| is_cached.next() == Some(false));
            let cached = (total - trials.len()) as u64;
            on_batch(Batch { uncached: trials, cached, marks: raised })
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

/// The marks that have to be raised before the trials of a batch are requested. Those of one point stand together.
fn raise_marks(marks: &mut Marks, seed: i64, eval: &Eval, trials: &[PlannedTrial<'_>]) -> Vec<Mark> {
    let mut raised = Vec::new();
    for point in trials.chunk_by(|a, b| std::ptr::eq(a.params, b.params)) {
        let Some(last) = point.last() else { continue };
        let (task, params) = (last.task.name(), canonical_json(&last.params.to_json()));
        let requested = last.index as u64 + 1;
        if marks.raise(task, &params, requested) {
            raised.push(Mark { seed, eval: eval.id.to_string(), task: task.to_owned(), params, requested });
        }
    }
    raised
}
