//! A run: sends every request whose response is not cached, until each is answered or missing, or the run is stopped.

mod attempt;
mod budget;
mod claims;
mod counters;
mod eval_runner;
mod idle;
mod limiters;
mod planner;
mod retry;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

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

/// How to end a run early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    /// Continue.
    None,
    /// Send no more requests, and wait for those in flight.
    Drain,
    /// Exit at once; responses to requests in flight are lost.
    Immediate,
}

/// Why a run could not start, or ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The study is invalid, or an API key is missing.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The cache cannot be read or written, so no response could be stored.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The selection matches nothing.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The HTTP client could not be created.
    #[error("failed to create the HTTP client: {problem}")]
    Client {
        /// The error.
        problem: String,
    },
    /// Responses arrived and could not be written to disk.
    #[error("{error}{}", describe_unstored(unstored))]
    Storage {
        /// Names of the trials whose responses are lost.
        unstored: Vec<String>,
        /// The first write error.
        error: CacheError,
    },
    /// The next round could not be determined.
    #[error(transparent)]
    NextRound(Box<dyn std::error::Error + Send + Sync>),
}

/// Decides which problems of each point an evaluation requests next, given the last round (`None` before the first);
/// returning `None` ends the evaluation. Called on a separate thread once all responses of the last round are stored.
pub type NextRound<'a> = dyn Fn(&Eval, &[Point<'_>], Option<&TestRanges>) -> Result<Option<Vec<Range<usize>>>, RunError>
    + Sync
    + 'a;

/// Adaptive sampling of every point.
pub struct AdaptiveRounds<'a> {
    /// Chooses the problems of each round.
    pub next: &'a NextRound<'a>,
    /// The rule by which it stops, as text; recorded in the cache with each point.
    pub stop_rule: String,
}

/// State shared by all parts of a run.
struct Shared<'s> {
    study: &'s Study,
    points: Vec<Point<'s>>,
    selection: &'s Selection,
    cache: &'s Cache,
    writer: Writer,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
    budget: BudgetTracker,
    storage: StorageState,
    adaptive: Option<&'s AdaptiveRounds<'s>>,
    /// The newest cache entry at the start of the run: responses after it were paid for during the run.
    last_entry: i64,
}

/// Whether responses can be written to disk. If not, no more requests are sent, because their responses would be paid
/// for and lost.
#[derive(Default)]
struct StorageState {
    has_failed: watch::Sender<bool>,
    failure: Mutex<Option<StorageFailure>>,
}

struct StorageFailure {
    error: CacheError,
    since: Instant,
    unstored: Vec<String>,
}

impl StorageState {
    /// Stops the run after a failed write. Returns for how long writes have been failing.
    fn fail(&self, error: &CacheError) -> Duration {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = failure.get_or_insert_with(|| StorageFailure {
            error: error.clone(),
            since: Instant::now(),
            unstored: Vec::new(),
        });
        self.has_failed.send_replace(true);
        failure.since.elapsed()
    }

    /// Discards a response after writing it has been retried for long enough.
    fn add_unstored(&self, trial: String) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = failure.as_mut() {
            failure.unstored.push(trial);
        }
    }

    fn result(&self) -> Result<(), RunError> {
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(StorageFailure { error, unstored, .. }) => Err(RunError::Storage { unstored, error }),
            None => Ok(()),
        }
    }
}

/// Names the responses that arrived and were lost: `sort {"length": 4} #3, #7; …`.
fn describe_unstored(unstored: &[String]) -> String {
    if unstored.is_empty() {
        return "; every response received was stored".to_owned();
    }
    let mut problems: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for trial in unstored {
        let (point, problem) = trial.rsplit_once(" #").unwrap_or((trial, ""));
        problems.entry(point).or_default().push(problem);
    }
    let points = problems.into_iter().map(|(point, problems)| format!("{point} #{}", problems.join(", #")));
    let points: Vec<String> = points.collect();
    format!("; responses received and not stored: {} ({})", unstored.len(), points.join("; "))
}

impl Shared<'_> {
    async fn emit(&self, eval: usize, kind: EventKind) {
        // The run continues without a receiver: filling the cache doesn't need one.
        let _ = self.events.send(RunEvent { eval, kind }).await;
    }
}

/// Runs a study: every point up to its count, or in rounds of adaptive sampling.
///
/// Events are sent as they happen; `stop` may be set at any time. The summary counts the planned, cached, answered and
/// missing trials of every evaluation.
///
/// # Errors
/// A [`RunError`] when the study, an API key or the cache prevents the run. A failing model is not an error: its trials
/// are missing, and the summary reports them.
pub fn run<'s>(
    study: &'s Study,
    selection: &'s Selection,
    cache: &'s Cache,
    adaptive: Option<&'s AdaptiveRounds<'s>>,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
) -> Result<RunSummary, RunError> {
    check_selection(study, selection)?;
    let points = selected_points(study, selection);
    let evals: Vec<usize> =
        (0..study.evals.len()).filter(|eval| is_selected(&study.evals[*eval], selection)).collect();
    let limiters = endpoint_limiters(study, &evals)?;
    let budget = BudgetTracker::new(study.budget, selection.shard);
    let last_entry = cache.reader()?.last_entry()?;
    let writer = cache.writer()?;
    let storage = StorageState::default();
    let shared = Shared {
        study,
        points,
        selection,
        cache,
        writer,
        events,
        stop,
        budget,
        storage,
        adaptive,
        last_entry,
    };

    // One thread for all network I/O: planning and writing have their own, and passing every reply between threads would
    // cost a quarter more.
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
    shared.storage.result()?;
    let summary = |(eval_index, counters): (&usize, &EvalCounters)| {
        counters.summary(*eval_index, &study.evals[*eval_index])
    };
    // An immediate shutdown does not wait for pending DNS lookups.
    runtime.shutdown_background();
    let stopped = *shared.stop.borrow() != Shutdown::None;
    let summary = RunSummary { evals: evals.iter().zip(&counters).map(summary).collect(), stopped };
    // Failing to record the savings does not fail the run: the responses are stored.
    if let Err(error) = cache.add_savings(summary.evals.iter().map(|eval| (eval.id.as_str(), eval.saved))) {
        tracing::warn!(%error, "savings not recorded");
    }
    Ok(summary)
}

/// Checks what [`run`] checks before it sends anything, without side effects: that the selection matches something, that
/// keys are in the environment, and that headers are valid.
///
/// # Errors
/// The [`RunError`] that [`run`] would return.
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
    // On a separate thread: the decision reads many responses, and this thread serves the network I/O of other evaluations.
    let decide = async |next_round: &'env NextRound<'s>, last: Option<Vec<Range<usize>>>| {
        let (sender, decided) = tokio::sync::oneshot::channel();
        scope.spawn(move || sender.send(next_round(eval, &shared.points, last.as_deref())));
        decided.await.expect("the thread sends before it ends")
    };
    let mut round = if let Some(adaptive) = shared.adaptive {
        decide(adaptive.next, None).await?
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
        let Some(adaptive) = shared.adaptive else { return Ok(()) };
        let is_ended = *shared.stop.borrow() != Shutdown::None || *shared.storage.has_failed.borrow();
        if counters.stopped().is_some() || is_ended {
            // The number of trials in the next round is unknown.
            counters.plan_finished.store(false, Relaxed);
            return Ok(());
        }
        round = decide(adaptive.next, Some(requested)).await?;
    }
    Ok(())
}
