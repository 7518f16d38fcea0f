//! A run: sends every request whose response is not in the cache, until each is answered or missing, or it is stopped.

mod attempt;
mod budget;
mod claims;
mod counters;
mod eval_runner;
mod idle;
mod limiters;
mod planner;
mod retry;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Scope;

use reasonscape_cache::{Cache, CacheError, Writer};
use reasonscape_core::Point;
use reasonscape_study::{
    Eval, Selection, SelectionError, Study, StudyError, TestRanges, check_selection, is_selected,
    selected_points,
};
use tokio::sync::{mpsc, watch};

use crate::endpoint_limiter::EndpointLimiter;
use crate::event::{EventKind, RunEvent};

use self::budget::BudgetTracker;
use self::counters::EvalCounters;
pub use self::counters::{EvalRunSummary, MissingTrial, RunSummary};
use self::eval_runner::EvalRunner;
pub(crate) use self::limiters::header_map;
use self::limiters::{Limiters, endpoint_limiters};

/// How a run is to end before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    /// Go on.
    None,
    /// Send nothing more, and wait for what is in flight.
    Drain,
    /// Leave at once; what is in flight is lost.
    Immediate,
}

/// Why a run could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The study is wrong, or a key is missing.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The cache cannot be read or written: without it nothing would be kept.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// What is selected does not exist.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The HTTP client could not be set up.
    #[error("the HTTP client could not be set up: {problem}")]
    Client {
        /// What it said.
        problem: String,
    },
    /// What the next round should request could not be found out.
    #[error(transparent)]
    NextRound(Box<dyn std::error::Error + Send + Sync>),
}

/// Decides which problems of each point an evaluation requests next, given the last round, or none before the first;
/// `None` ends it. It is called on a thread of its own when all responses of the last round are stored.
pub type NextRound<'a> = dyn Fn(&Eval, &[Point<'_>], Option<&TestRanges>) -> Result<Option<Vec<Range<usize>>>, RunError>
    + Sync
    + 'a;

/// Everything that the parts of a run share.
struct Shared<'s> {
    study: &'s Study,
    points: Vec<Point<'s>>,
    selection: &'s Selection,
    cache: &'s Cache,
    writer: Writer,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
    budget: BudgetTracker,
    next_round: Option<&'s NextRound<'s>>,
}

impl Shared<'_> {
    async fn emit(&self, eval: usize, kind: EventKind) {
        // Without a receiver the run goes on, to fill the cache.
        let _ = self.events.send(RunEvent { eval, kind }).await;
    }
}

/// Runs a study: every point up to its count, or in rounds that `next_round` decides.
///
/// Events are sent as they happen; `stop` may be raised at any time. The summary counts for every evaluation the trials
/// that were planned, cached and answered, and those that are missing.
///
/// # Errors
/// A [`RunError`] when the study, a key or the cache does not allow a run. A model that fails is not an error: its trials
/// are missing, and the summary says so.
pub fn run<'s>(
    study: &'s Study,
    selection: &'s Selection,
    cache: &'s Cache,
    next_round: Option<&'s NextRound<'s>>,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
) -> Result<RunSummary, RunError> {
    check_selection(study, selection)?;
    let points = selected_points(study, selection);
    let evals: Vec<usize> =
        (0..study.evals.len()).filter(|eval| is_selected(&study.evals[*eval], selection)).collect();
    let limiters = endpoint_limiters(study, &evals)?;
    let budget = BudgetTracker::new(study.budget, selection.shard);
    let writer = cache.writer()?;
    let shared = Shared { study, points, selection, cache, writer, events, stop, budget, next_round };

    // One thread for all that waits on the network: the planning and the writing have theirs, and handing every reply
    // from one thread to another would cost a quarter more.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RunError::Client { problem: error.to_string() })?;
    let counters: Vec<EvalCounters> = evals.iter().map(|_| EvalCounters::default()).collect();
    // Plans are walked on threads that borrow the study; the scope outlives them all.
    std::thread::scope(|scope| {
        let runs = evals
            .iter()
            .zip(&counters)
            .map(|(eval, counters)| run_eval(&shared, *eval, &limiters, counters, scope));
        runtime.block_on(async {
            let mut stop = shared.stop.clone();
            tokio::select! {
                all = futures_util::future::try_join_all(runs) => all.map(|_| ()),
                _ = stop.wait_for(|stop| *stop == Shutdown::Immediate) => Ok(()),
            }
        })
    })?;
    let summary = |(eval_index, counters): (&usize, &EvalCounters)| {
        counters.summary(*eval_index, &study.evals[*eval_index])
    };
    // An immediate shutdown does not wait until the system has looked up a host name.
    runtime.shutdown_background();
    let stopped = *shared.stop.borrow() != Shutdown::None;
    Ok(RunSummary { evals: evals.iter().zip(&counters).map(summary).collect(), stopped })
}

/// Checks what [`run`] checks before it sends anything, without side effects: that the selection matches something, that
/// keys are in the environment, and that HTTP can carry the headers.
///
/// # Errors
/// The [`RunError`] that [`run`] would give.
pub fn check(study: &Study, selection: &Selection) -> Result<(), RunError> {
    check_selection(study, selection)?;
    let mut selected = study.evals.iter().filter(|eval| is_selected(eval, selection));
    selected.try_for_each(|eval| header_map(eval).map(drop))
}

/// Runs one evaluation, round by round.
async fn run_eval<'scope, 'env, 's: 'env>(
    shared: &'env Shared<'s>,
    eval_index: usize,
    limiters: &Limiters,
    counters: &EvalCounters,
    scope: &'scope Scope<'scope, 'env>,
) -> Result<(), RunError> {
    let eval = &shared.study.evals[eval_index];
    let eval_limiters: Vec<Arc<EndpointLimiter>> =
        eval.endpoints().map(|url| Arc::clone(&limiters[&(eval_index, url)])).collect();
    let runner = EvalRunner::new(shared, eval_index, &eval_limiters, counters)?;
    // Deciding reads many responses, and other evaluations wait for the network on this thread.
    let decide = async |next_round: &'env NextRound<'s>, last: Option<Vec<Range<usize>>>| {
        let (sender, decided) = tokio::sync::oneshot::channel();
        scope.spawn(move || sender.send(next_round(eval, &shared.points, last.as_deref())));
        decided.await.expect("the thread sends before it ends")
    };
    let mut round = if let Some(next_round) = shared.next_round {
        decide(next_round, None).await?
    } else {
        let count = |point: &Point<'_>| shared.study.count_at(point, shared.selection);
        Some(shared.points.iter().map(|point| 0..count(point)).collect::<Vec<_>>())
    };
    while let Some(requested) = round {
        let trials: u64 =
            requested.iter().map(|range| range.len() as u64).sum::<u64>() * u64::from(shared.study.repeats);
        let trials = trials.div_ceil(shared.selection.shard.total);
        EvalCounters::add(&counters.announced, trials);
        shared.emit(eval_index, EventKind::Planned { trials }).await;
        runner.run_round(scope, shared, requested.clone()).await?;
        let Some(next_round) = shared.next_round else { return Ok(()) };
        if counters.stopped().is_some() || *shared.stop.borrow() != Shutdown::None {
            // How many trials the next round would have had is not known.
            counters.plan_finished.store(false, Relaxed);
            return Ok(());
        }
        round = decide(next_round, Some(requested)).await?;
    }
    Ok(())
}
