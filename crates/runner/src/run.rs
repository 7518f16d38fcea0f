//! A run: asks what the cache does not hold, until everything is answered, missing, or somebody says stop.

mod budget;
mod counters;
mod eval_runner;
mod precision;
mod retry;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Scope;

use reasonscape_cache::{Cache, CacheError, Writer};
use reasonscape_core::Point;
use reasonscape_study::{
    Eval, Limits, PlannedTrial, Selection, SelectionError, Study, StudyError, check_selection, is_selected,
    selected_points, walk_trials,
};
use tokio::sync::{mpsc, watch};

use crate::client::{Endpoint, Timeouts};
use crate::endpoint_limiter::EndpointLimiter;
use crate::event::{EventKind, RunEvent};

use self::budget::Budgets;
use self::counters::EvalCounters;
pub use self::counters::{EvalRunSummary, MissingTrial, RunSummary};
use self::eval_runner::{EvalRunner, IdleState};

/// How a run is asked to end before it is done.
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
}

/// Everything that the parts of a run share.
struct Shared<'s> {
    study: &'s Study,
    points: Vec<Point<'s>>,
    selection: &'s Selection,
    cache: &'s Cache,
    writer: Writer,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
    budgets: Budgets,
}

impl Shared<'_> {
    async fn emit(&self, eval: usize, kind: EventKind) {
        // Nobody listens any more: the run goes on, for the cache.
        let _ = self.events.send(RunEvent { eval, kind }).await;
    }
}

/// Runs a study.
///
/// Events are told as they happen; `stop` may be raised at any time. What comes back says for every evaluation what was
/// planned, cached, answered and is missing.
///
/// # Errors
/// A [`RunError`] when the study, a key or the cache does not allow a run. A model that fails is not an error: its trials
/// are missing, and the summary says so.
pub fn run(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    events: mpsc::Sender<RunEvent>,
    stop: watch::Receiver<Shutdown>,
) -> Result<RunSummary, RunError> {
    check_selection(study, selection)?;
    let points = selected_points(study, selection);
    let evals: Vec<usize> =
        (0..study.evals.len()).filter(|eval| is_selected(&study.evals[*eval], selection)).collect();
    let limiters = limiters(study, &evals)?;
    let budgets = Budgets::new(study.budget);
    let shared = Shared { study, points, selection, cache, writer: cache.writer()?, events, stop, budgets };

    // One thread for all that waits on the network: the planning and the writing have theirs, and handing every reply
    // from one thread to another would cost a quarter more.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RunError::Client { problem: error.to_string() })?;
    let counters: Vec<EvalCounters> = evals.iter().map(|_| EvalCounters::default()).collect();
    // Plans are walked on threads that borrow the study; the scope outlives them all.
    std::thread::scope(|scope| {
        let asked = evals
            .iter()
            .zip(&counters)
            .map(|(eval, counters)| run_eval(&shared, *eval, &limiters, counters, scope));
        runtime.block_on(async {
            let mut stop = shared.stop.clone();
            tokio::select! {
                all = futures_util::future::try_join_all(asked) => all.map(|_| ()),
                _ = stop.wait_for(|stop| *stop == Shutdown::Immediate) => Ok(()),
            }
        })
    })?;
    let summary = |(place, counters): (&usize, &EvalCounters)| counters.summary(*place, &study.evals[*place]);
    // Whoever said now does not wait for the system to look up a host.
    runtime.shutdown_background();
    let stopped = *shared.stop.borrow() != Shutdown::None;
    Ok(RunSummary { evals: evals.iter().zip(&counters).map(summary).collect(), stopped })
}

/// Refuses what [`run`] would refuse before it sends anything, and leaves no trace: a selection that names something that
/// there is not, a key that is not in the environment, a header that HTTP cannot carry.
///
/// # Errors
/// The [`RunError`] that [`run`] would give.
pub fn check(study: &Study, selection: &Selection) -> Result<(), RunError> {
    check_selection(study, selection)?;
    let mut selected = study.evals.iter().filter(|eval| is_selected(eval, selection));
    selected.try_for_each(|eval| header_map(eval).map(drop))
}

/// A limiter, and what an evaluation must have in common with it to use it.
type Known = (String, reqwest::header::HeaderMap, Limits, Arc<EndpointLimiter>);

/// One limiter for each address, shared by the evaluations that go there with the same headers and limits.
fn limiters(
    study: &Study,
    evals: &[usize],
) -> Result<HashMap<(usize, String), Arc<EndpointLimiter>>, RunError> {
    // A second call finds the provider installed already, which is what was wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut shared: Vec<Known> = Vec::new();
    let mut limiters = HashMap::new();
    for &place in evals {
        let eval = &study.evals[place];
        let headers = header_map(eval)?;
        for url in eval.endpoints() {
            let same = |(known, with, limits, _): &&Known| {
                *known == url && *with == headers && *limits == eval.limits
            };
            let limiter = if let Some((_, _, _, limiter)) = shared.iter().find(same) {
                Arc::clone(limiter)
            } else {
                let timeouts = Timeouts {
                    connect: eval.limits.connect_timeout,
                    idle: eval.limits.idle_timeout,
                    total: eval.limits.timeout,
                };
                let endpoint = Endpoint::new(&url, headers.clone(), timeouts)
                    .map_err(|error| RunError::Client { problem: error.without_url().to_string() })?;
                let limiter = Arc::new(EndpointLimiter::new(endpoint, eval.limits.concurrency));
                shared.push((url.clone(), headers.clone(), eval.limits, Arc::clone(&limiter)));
                limiter
            };
            limiters.insert((place, url), limiter);
        }
    }
    Ok(limiters)
}

pub(crate) fn header_map(eval: &Eval) -> Result<reqwest::header::HeaderMap, RunError> {
    use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for header in eval.request_headers()? {
        let wrong = || RunError::Client {
            problem: format!("header `{}` is not one that HTTP can carry", header.name),
        };
        let name: HeaderName = header.name.parse().map_err(|_| wrong())?;
        let mut value: HeaderValue = header.value.expose().parse().map_err(|_| wrong())?;
        // Kept out of what the HTTP libraries log.
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

/// Asks one evaluation, in rounds if a precision is wanted.
async fn run_eval<'scope, 'env, 's: 'env>(
    shared: &'env Shared<'s>,
    place: usize,
    limiters: &HashMap<(usize, String), Arc<EndpointLimiter>>,
    counters: &EvalCounters,
    scope: &'scope Scope<'scope, 'env>,
) -> Result<(), RunError> {
    let eval = &shared.study.evals[place];
    let limiters: Vec<Arc<EndpointLimiter>> =
        eval.endpoints().map(|url| Arc::clone(&limiters[&(place, url)])).collect();
    let runner = EvalRunner {
        shared,
        place,
        eval,
        limiters: &limiters,
        counters,
        key: eval.api_key()?,
        streak: Cell::default(),
        has_replied: Cell::new(false),
        unsent_claims: RefCell::new(Vec::new()),
        halted: watch::Sender::new(false),
        idle: IdleState::default(),
    };
    let count = |point: &Point<'_>| shared.study.count_at(point, shared.selection);
    let mut round: Vec<Range<usize>> = match shared.study.precision {
        Some(precision) => precision::first_round(&shared.points, precision),
        None => shared.points.iter().map(|point| 0..count(point)).collect(),
    };
    loop {
        let trials: u64 =
            round.iter().map(|range| range.len() as u64).sum::<u64>() * u64::from(shared.study.repeats);
        let trials = trials.div_ceil(shared.selection.shard.of);
        EvalCounters::count(&counters.announced, trials);
        shared.emit(place, EventKind::Planned { trials }).await;
        runner.run_round(scope, shared, round.clone()).await?;
        let Some(precision) = shared.study.precision else { return Ok(()) };
        if counters.stopped().is_some() || *shared.stop.borrow() != Shutdown::None {
            // What the next round would have asked is not known.
            counters.whole.store(false, Relaxed);
            return Ok(());
        }
        round = precision::next_round(shared, eval, &round, precision)?;
        if round.iter().all(Range::is_empty) {
            return Ok(());
        }
    }
}

/// Trials that are looked up in the cache, and handed on, together.
const BATCH_LEN: usize = 128;

/// A few trials of the plan.
struct Batch<'s> {
    /// What the cache does not hold.
    ask: Vec<PlannedTrial<'s>>,
    /// How many it does.
    cached: u64,
}

/// Walks the plan on a thread of its own; `take` is given a batch at a time.
fn walk_plan<'s>(
    shared: &Shared<'s>,
    eval: &Eval,
    round: &[Range<usize>],
    take: &mut dyn FnMut(Batch<'s>) -> ControlFlow<()>,
) -> Result<(), RunError> {
    let reader = shared.cache.reader()?;
    let mut failed = None;
    let mut look_up = |mut ask: Vec<PlannedTrial<'s>>| match reader.contains_each(ask.iter().map(|it| &it.id))
    {
        Ok(held) => {
            let all = ask.len();
            let mut held = held.into_iter();
            ask.retain(|_| held.next() == Some(false));
            let cached = (all - ask.len()) as u64;
            take(Batch { ask, cached })
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
