//! Runs one evaluation: from the plan through claims and endpoint limiters to the cache.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Scope;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::{StreamExt, TryStreamExt, future, stream};
use reasonscape_cache::{CacheError, Claim, Entry, Response};
use reasonscape_core::EntryId;
use reasonscape_providers::{ApiKey, Completion, Finish, ReplyError};
use reasonscape_study::{Eval, PlannedTrial};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, trace};

use super::counters::EvalCounters;
use super::retry::{
    self, AbandonScope, AttemptFailure, AttemptResult, EndpointState, FailureKind, OutageExtent,
};
use super::{Batch, RunError, Shared, Shutdown, walk_plan};
use crate::client::{RawReply, TransportError};
use crate::congestion_window::Failure;
use crate::endpoint_limiter::{EndpointLimiter, Permit};
use crate::event::EventKind;
use crate::failure_streak::FailureStreak;

/// Batches that wait between the plan and the claims.
const PLAN_QUEUE: usize = 4;
/// Trials that wait between the claims and the wire.
const REQUEST_QUEUE: usize = 512;
/// Claims made at once: those of some milliseconds, since they wait as long for the disk as the answers do.
const CLAIM_BATCH: usize = 512;
/// Answers that may wait for the disk while others are in flight: the more share a sync, the less each costs.
const MAX_STORING: usize = 512;
/// How often to check whether another process has answered a request it claimed.
const FOREIGN_CLAIM_POLL: Duration = Duration::from_millis(300);
/// How often [`EventKind::Waiting`] is emitted while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// One evaluation being run.
pub(super) struct EvalRunner<'a, 's> {
    pub(super) shared: &'a Shared<'s>,
    pub(super) place: usize,
    pub(super) eval: &'s Eval,
    pub(super) limiters: &'a [Arc<EndpointLimiter>],
    pub(super) counters: &'a EvalCounters,
    /// The key that must not be repeated in any message.
    pub(super) key: Option<ApiKey>,
    /// Failures since the last reply.
    pub(super) streak: Cell<FailureStreak>,
    /// Whether a reply has ever come; it may not be on the disk yet.
    pub(super) has_replied: Cell<bool>,
    /// Claims that are to be given back.
    pub(super) unsent_claims: RefCell<Vec<EntryId>>,
    /// Whether whoever waits should wait no more.
    pub(super) halted: watch::Sender<bool>,
    pub(super) idle: IdleState,
}

/// What an evaluation waits for.
#[derive(Debug)]
pub(super) struct IdleState {
    /// When something last came.
    since: Cell<Instant>,
    /// Requests in flight.
    answers: Cell<u64>,
    /// Trials that are to be sent, and wait for a place or the end of a pause.
    unsent: Cell<u64>,
    /// Trials that somebody else is asking.
    others: Cell<u64>,
}

impl Default for IdleState {
    fn default() -> Self {
        let none = || Cell::new(0);
        Self { since: Cell::new(Instant::now()), answers: none(), unsent: none(), others: none() }
    }
}

/// What the planning thread says.
enum PlanMessage<'s> {
    Batch(Batch<'s>),
    Failed(RunError),
}

impl<'s> EvalRunner<'_, 's> {
    /// Sends every trial of a round that is not cached, and stores the replies.
    pub(super) async fn run_round<'scope, 'env>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared<'s>,
        round: Vec<Range<usize>>,
    ) -> Result<(), RunError>
    where
        's: 'env,
    {
        let eval = self.eval;
        self.counters.whole.store(false, Relaxed);
        let (steps, planned) = mpsc::channel(PLAN_QUEUE);
        scope.spawn(move || plan(shared, eval, &round, &steps));
        let (granted, to_send) = mpsc::channel(REQUEST_QUEUE);
        let max = self.limiters.len() * eval.limits.concurrency + MAX_STORING;
        let requests =
            stream::unfold(to_send, |mut to_send| async { to_send.recv().await.map(|next| (next, to_send)) });
        let sending = requests.map(Ok).try_for_each_concurrent(max, |planned| self.run_trial(planned));
        tokio::select! {
            biased;
            done = future::try_join(self.claim(planned, granted), sending) => { done?; }
            never = self.monitor() => match never {},
        }
        let unsent_claims = std::mem::take(&mut *self.unsent_claims.borrow_mut());
        self.shared.writer.release(unsent_claims).await?;
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow() != Shutdown::None || *self.halted.borrow()
    }

    /// Wakes whoever waits when somebody says stop or a budget is used up, which may be in the middle of a pause; and
    /// says now and then that nothing happens.
    async fn monitor(&self) -> Infallible {
        let mut stop = self.shared.stop.clone();
        loop {
            let beat = Instant::now() + HEARTBEAT;
            let deadline = self.shared.budgets.deadline().filter(|deadline| *deadline > Instant::now());
            let wake = deadline.map_or(beat, |deadline| deadline.min(beat));
            tokio::select! {
                () = tokio::time::sleep_until(wake.into()) => {}
                Ok(_) = stop.wait_for(|stop| *stop != Shutdown::None), if !*self.halted.borrow() => {
                    self.halted.send_replace(true);
                }
            }
            // What is in flight is waited for, and may well be the last.
            if self.idle.unsent.get() > 0
                && !self.is_stopping()
                && let Some(reason) = self.shared.budgets.exhausted()
            {
                self.stop_for(&reason).await;
            }
            let idle = self.idle.since.get().elapsed();
            if idle >= HEARTBEAT {
                let closed = |limiter: &Arc<EndpointLimiter>| limiter.closed_until();
                let pause = self.limiters.iter().map(closed).min().flatten();
                let kind = EventKind::Waiting {
                    answers: self.idle.answers.get(),
                    others: self.idle.others.get(),
                    idle,
                    pause: pause.map(|until| until.saturating_duration_since(Instant::now())),
                };
                self.shared.emit(self.place, kind).await;
            }
        }
    }

    /// Claims what the plan offers, so that nobody else asks it, and passes on what is granted.
    async fn claim(
        &self,
        mut planned: mpsc::Receiver<PlanMessage<'s>>,
        granted: mpsc::Sender<PlannedTrial<'s>>,
    ) -> Result<(), RunError> {
        let mut taken: Vec<PlannedTrial<'s>> = Vec::new();
        let mut messages = Vec::with_capacity(PLAN_QUEUE);
        while planned.recv_many(&mut messages, PLAN_QUEUE).await > 0 {
            let mut offered = Vec::new();
            for message in messages.drain(..) {
                let Batch { ask, cached } = match message {
                    PlanMessage::Batch(batch) => batch,
                    PlanMessage::Failed(error) => return Err(error),
                };
                EvalCounters::count(&self.counters.planned, ask.len() as u64 + cached);
                offered.extend(ask);
                if cached > 0 {
                    self.cached(cached).await;
                }
            }
            if self.is_stopping() {
                return Ok(());
            }
            taken.extend(self.claim_batch(offered, &granted).await?);
        }
        self.counters.finish_plan();
        // What other processes were asking is in the cache by now, or soon, or theirs no more.
        while !taken.is_empty() && !self.is_stopping() {
            self.idle.others.set(taken.len() as u64);
            self.wait(FOREIGN_CLAIM_POLL).await;
            taken = self.claim_batch(taken, &granted).await?;
        }
        self.idle.others.set(0);
        Ok(())
    }

    /// Passes on what is granted and gives back what somebody else is asking.
    async fn claim_batch(
        &self,
        mut offered: Vec<PlannedTrial<'s>>,
        granted: &mpsc::Sender<PlannedTrial<'s>>,
    ) -> Result<Vec<PlannedTrial<'s>>, RunError> {
        let mut taken = Vec::new();
        for rest in (0..offered.len().div_ceil(CLAIM_BATCH)).rev() {
            let batch = offered.split_off(rest * CLAIM_BATCH);
            let claims =
                self.shared.writer.claim(batch.iter().map(|planned| planned.id.clone()).collect()).await?;
            for (planned, claim) in batch.into_iter().zip(claims) {
                match claim {
                    // The other end is open until this one is closed.
                    Claim::Granted => _ = granted.send(planned).await,
                    Claim::Stored => self.cached(1).await,
                    Claim::Taken => {
                        trace!(trial = planned.name(), "claim refused: somebody is asking it");
                        taken.push(planned);
                    }
                }
            }
        }
        Ok(taken)
    }

    async fn cached(&self, trials: u64) {
        self.idle.since.set(Instant::now());
        EvalCounters::count(&self.counters.cached, trials);
        self.shared.emit(self.place, EventKind::Cached { trials }).await;
    }

    /// Waits, but not past the end of the run.
    async fn wait(&self, duration: Duration) {
        self.idle.unsent.update(|unsent| unsent + 1);
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.is_halted() => {}
        }
        self.idle.unsent.update(|unsent| unsent - 1);
    }

    async fn is_halted(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.halted.subscribe().wait_for(|halted| *halted).await;
    }

    /// Asks one trial until it is answered or given up.
    async fn run_trial(&self, planned: PlannedTrial<'s>) -> Result<(), RunError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            if self.is_stopping() {
                break;
            }
            let Some(permit) = self.enter().await else { break };
            if self.is_stopping() {
                break;
            }
            if let Err(reason) = self.shared.budgets.take_request() {
                self.stop_for(&reason).await;
                break;
            }
            EvalCounters::count(&self.counters.sent, 1);
            self.idle.answers.update(|answers| answers + 1);
            let reply = permit.endpoint().send(planned.request.clone().into_bytes()).await;
            self.idle.answers.update(|answers| answers - 1);
            match self.finish_attempt(attempt, &planned, reply, permit).await? {
                AttemptResult::Stored => return Ok(()),
                AttemptResult::RetryWhenUp { reason: problem } => {
                    debug!(trial = planned.name(), problem, "waits for the endpoint");
                    attempt -= 1;
                    self.shared.emit(self.place, EventKind::Retrying { problem, wait: Duration::ZERO }).await;
                }
                AttemptResult::Retry { reason: problem, after: wait } => {
                    debug!(trial = planned.name(), attempt, problem, ?wait, "retry");
                    self.shared.emit(self.place, EventKind::Retrying { problem, wait }).await;
                    self.wait(wait).await;
                }
                AttemptResult::Abandon { reason: problem, scope } => {
                    if scope == AbandonScope::Eval {
                        self.stop_for(&problem).await;
                    }
                    let trial = planned.name();
                    info!(trial, problem, "missing");
                    self.counters.missing(trial.clone(), problem.clone());
                    self.shared.emit(self.place, EventKind::Missing { trial, problem }).await;
                    // At once: somebody who waits for this very request may be waited for by us.
                    self.shared.writer.release(vec![planned.id]).await?;
                    return Ok(());
                }
            }
        }
        self.unsent_claims.borrow_mut().push(planned.id);
        Ok(())
    }

    /// A place at an endpoint, unless the run ends first: a pause may be long.
    async fn enter(&self) -> Option<Permit<'_>> {
        self.idle.unsent.update(|unsent| unsent + 1);
        let permit = tokio::select! {
            // In this order: a turn that has come must be taken, or nobody else gets it.
            biased;
            permit = EndpointLimiter::enter(self.limiters) => Some(permit),
            () = self.is_halted() => None,
        };
        self.idle.unsent.update(|unsent| unsent - 1);
        permit
    }

    /// No more requests for this evaluation.
    async fn stop_for(&self, reason: &str) {
        self.halted.send_replace(true);
        if self.counters.stop(reason) {
            info!(eval = self.eval.name, reason, "stopped");
            self.shared.emit(self.place, EventKind::Stopped { reason: reason.to_owned() }).await;
        }
    }

    /// Stores what an attempt brought, or decides what to do about its failure.
    async fn finish_attempt(
        &self,
        attempt: u32,
        planned: &PlannedTrial<'s>,
        reply: Result<RawReply, TransportError>,
        permit: Permit<'_>,
    ) -> Result<AttemptResult, RunError> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(problem) => {
                let unreachable = problem.is_unreachable();
                let is_down = permit.failed(if unreachable { Failure::Unreachable } else { Failure::Other });
                let kind = match (problem.is_permanent(), unreachable) {
                    (true, _) => FailureKind::Fatal,
                    (false, true) => FailureKind::Unreachable,
                    (false, false) => FailureKind::Other,
                };
                return Ok(self.decide(attempt, kind, problem.to_string(), None, is_down));
            }
        };
        let problem = match self.eval.provider.parse(reply.status, &reply.body) {
            Ok(completion) if completion.finish == Finish::ContentFilter => {
                permit.mark_healthy();
                let reason = "the provider's content filter refused it".to_owned();
                return Ok(AttemptResult::Abandon { reason, scope: AbandonScope::Trial });
            }
            Ok(completion) => {
                let tokens =
                    completion.usage.completion_tokens.unwrap_or(completion.content.len() as u64 / 4);
                // It is paid for, whatever becomes of it, and before the next one takes its place.
                self.shared.budgets.answered(self.eval, completion.usage);
                permit.answered(reply.latency, tokens);
                self.idle.since.set(Instant::now());
                self.streak.set(FailureStreak::default());
                self.has_replied.set(true);
                self.store_response(planned, &completion, reply).await?;
                return Ok(AttemptResult::Stored);
            }
            // A provider may repeat the key that it refuses.
            Err(problem) => self.key.as_ref().map_or(problem.clone(), |key| problem.without(key)),
        };
        let (kind, min_wait, is_down) = if problem.is_overload() {
            let is_down = permit.failed(Failure::Overloaded(reply.retry_after));
            // The limiter stays closed for as long as was asked; another may be open.
            (FailureKind::Overloaded, reply.retry_after.filter(|_| self.limiters.len() == 1), is_down)
        } else if problem.is_retryable() {
            (FailureKind::Other, reply.retry_after, permit.failed(Failure::Other))
        } else {
            permit.mark_healthy();
            let kind = if is_fatal_for_eval(&problem) { FailureKind::Fatal } else { FailureKind::Refused };
            (kind, None, false)
        };
        Ok(self.decide(attempt, kind, problem.to_string(), min_wait, is_down))
    }

    /// Counts a failure, and decides whether to try again.
    fn decide(
        &self,
        attempt: u32,
        kind: FailureKind,
        reason: String,
        min_wait: Option<Duration>,
        is_down: bool,
    ) -> AttemptResult {
        if kind.counts_in_streak() {
            self.streak.update(|streak| streak.with_failure(kind == FailureKind::Unreachable));
        }
        let is_lost = |limiter: &Arc<EndpointLimiter>| limiter.is_lost(self.eval.limits.patience);
        let outage = match is_down {
            false => OutageExtent::None,
            true if self.limiters.iter().all(is_lost) => OutageExtent::Lost,
            true => OutageExtent::Down,
        };
        let endpoints = EndpointState {
            streak: self.streak.get(),
            has_replied: self.has_replied.get(),
            is_another_up: self.limiters.len() > 1 && !self.limiters.iter().all(|limiter| limiter.is_down()),
            outage,
        };
        let failure = AttemptFailure { kind, reason, min_wait };
        retry::decide(attempt, failure, &endpoints, &self.eval.limits, jitter())
    }

    /// Stores a response, and counts it once it is durable.
    async fn store_response(
        &self,
        planned: &PlannedTrial<'s>,
        completion: &Completion,
        reply: RawReply,
    ) -> Result<(), CacheError> {
        let received = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let latency = reply.latency;
        let response = Response {
            status: reply.status,
            latency_ms: latency.as_millis() as u64,
            received_ms: received.as_millis() as i64,
            body: reply.body,
        };
        let entry = Entry { id: planned.id.clone(), request: planned.request.clone(), response };
        let (usage, truncated) = (completion.usage, completion.finish == Finish::Length);
        self.shared.writer.store(entry).await?;
        trace!(trial = planned.name(), ?latency, "stored");
        self.counters.answered(usage, truncated);
        self.shared.emit(self.place, EventKind::Answered { latency, usage, truncated }).await;
        Ok(())
    }
}

/// Whether every other request would be refused for the same reason: a wrong key, model or address.
fn is_fatal_for_eval(problem: &ReplyError) -> bool {
    matches!(problem, ReplyError::Refused { status: 300..=399 | 401..=405, .. })
}

/// Walks the plan on a thread of its own and says what it finds.
fn plan<'s>(shared: &Shared<'s>, eval: &Eval, round: &[Range<usize>], steps: &mpsc::Sender<PlanMessage<'s>>) {
    let say = |step| {
        if steps.blocking_send(step).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    if let Err(error) = walk_plan(shared, eval, round, &mut |batch| say(PlanMessage::Batch(batch))) {
        let _ = say(PlanMessage::Failed(error));
    }
}

/// A number in `[0, 1)` that no two processes share: this is the one place where being reproducible would do harm.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(()) as f64 / (u64::MAX as f64 + 1.0)
}
