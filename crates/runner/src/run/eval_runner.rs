//! Runs one evaluation: from the plan through claims and endpoint limiters to the cache.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::Scope;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, future, stream};
use reasonscape_core::EntryId;
use reasonscape_providers::ApiKey;
use reasonscape_study::{Eval, PlannedTrial};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info};

use super::counters::EvalCounters;
use super::idle::IdleState;
use super::planner::{PLAN_QUEUE, send_plan};
use super::retry::{AbandonScope, AttemptResult};
use super::{RunError, Shared, Shutdown};
use crate::endpoint_limiter::{EndpointLimiter, Permit};
use crate::event::EventKind;
use crate::failure_streak::FailureStreak;

/// Maximum trials queued between claiming and sending.
const REQUEST_QUEUE: usize = 512;
/// Maximum responses that wait for a disk sync while others are in flight: the more share a sync, the less each costs.
/// They are already committed, so a killed process doesn't lose them.
const MAX_STORING: usize = 512;

/// A running evaluation.
pub(super) struct EvalRunner<'a, 's> {
    pub(super) shared: &'a Shared<'s>,
    /// Index of the evaluation in the study.
    eval_index: usize,
    pub(super) eval: &'s Eval,
    pub(super) limiters: &'a [Arc<EndpointLimiter>],
    pub(super) counters: &'a EvalCounters,
    /// API key, redacted from every message.
    pub(super) key: Option<ApiKey>,
    /// Failures since the last reply.
    pub(super) streak: Cell<FailureStreak>,
    /// Whether any reply has arrived; it may not be on disk yet.
    pub(super) has_replied: Cell<bool>,
    /// Claims to release at the end, because their requests were not sent.
    unsent_claims: RefCell<Vec<EntryId>>,
    /// Set when no more requests are sent.
    pub(super) halted: watch::Sender<bool>,
    pub(super) idle: IdleState,
}

impl<'a, 's> EvalRunner<'a, 's> {
    /// # Errors
    /// A [`RunError`] when the API key is not in the environment.
    pub(super) fn new(
        shared: &'a Shared<'s>,
        eval_index: usize,
        limiters: &'a [Arc<EndpointLimiter>],
        counters: &'a EvalCounters,
    ) -> Result<Self, RunError> {
        let eval = &shared.study.evals[eval_index];
        Ok(Self {
            shared,
            eval_index,
            eval,
            limiters,
            counters,
            key: eval.api_key()?,
            streak: Cell::default(),
            has_replied: Cell::new(false),
            unsent_claims: RefCell::new(Vec::new()),
            halted: watch::Sender::new(false),
            idle: IdleState::default(),
        })
    }

    /// Sends every trial of a round that isn't cached, and stores the replies.
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
        self.counters.plan_finished.store(false, Relaxed);
        let (sender, planned) = mpsc::channel(PLAN_QUEUE);
        scope.spawn(move || send_plan(shared, eval, &round, &sender));
        let (granted, to_send) = mpsc::channel(REQUEST_QUEUE);
        let max = self.limiters.len() * eval.limits.concurrency + MAX_STORING;
        let requests =
            stream::unfold(to_send, |mut to_send| async { to_send.recv().await.map(|next| (next, to_send)) });
        let sending = requests.map(Ok).try_for_each_concurrent(max, |planned| self.run_trial(planned));
        tokio::select! {
            biased;
            done = future::try_join(self.claim_plan(planned, granted), sending) => { done?; }
            never = self.monitor() => match never {},
        }
        let unsent_claims = std::mem::take(&mut *self.unsent_claims.borrow_mut());
        match self.shared.writer.release(unsent_claims).await {
            // On failure the claims end with this process.
            Err(error) if error.is_unwritable() && *self.shared.storage.has_failed.borrow() => Ok(()),
            released => Ok(released?),
        }
    }

    pub(super) async fn emit(&self, kind: EventKind) {
        self.shared.emit(self.eval_index, kind).await;
    }

    /// Whether to stop sending requests, for this evaluation or for all.
    pub(super) fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow() != Shutdown::None
            || *self.halted.borrow()
            || *self.shared.storage.has_failed.borrow()
    }

    /// Counts trials whose response is in the cache.
    pub(super) async fn count_cached(&self, trials: u64) {
        self.idle.since.set(Instant::now());
        EvalCounters::add(&self.counters.cached, trials);
        self.emit(EventKind::Cached { trials }).await;
    }

    /// Sleeps, but at most until the run ends.
    pub(super) async fn wait(&self, duration: Duration) {
        self.idle.unsent.update(|unsent| unsent + 1);
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.until_halted() => {}
        }
        self.idle.unsent.update(|unsent| unsent - 1);
    }

    /// Waits until no more requests are to be sent.
    async fn until_halted(&self) {
        // `self` owns the senders, so the channel can't be closed.
        let (mut halted, mut storage) = (self.halted.subscribe(), self.shared.storage.has_failed.subscribe());
        tokio::select! {
            _ = halted.wait_for(|halted| *halted) => {}
            _ = storage.wait_for(|has_failed| *has_failed) => {}
        }
    }

    /// Sends one trial, with retries, until its response is stored or it is abandoned.
    async fn run_trial(&self, planned: PlannedTrial<'s>) -> Result<(), RunError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            if self.is_stopping() {
                break;
            }
            let Some(permit) = self.acquire().await else { break };
            if self.is_stopping() {
                break;
            }
            if let Err(reason) = self.shared.budget.take_request() {
                self.stop_for(&reason).await;
                break;
            }
            EvalCounters::add(&self.counters.sent, 1);
            self.idle.in_flight.update(|in_flight| in_flight + 1);
            let reply = permit.endpoint().send(planned.request.clone().into_bytes()).await;
            self.idle.in_flight.update(|in_flight| in_flight - 1);
            match self.finish_attempt(attempt, &planned, reply, permit).await? {
                AttemptResult::Stored | AttemptResult::Unstored => return Ok(()),
                AttemptResult::RetryWhenUp { reason: problem } => {
                    debug!(trial = planned.name(), problem, "waiting for the endpoint");
                    attempt -= 1;
                    self.emit(EventKind::Retrying { problem, wait: Duration::ZERO }).await;
                }
                AttemptResult::Retry { reason: problem, after: wait } => {
                    debug!(trial = planned.name(), attempt, problem, ?wait, "retry");
                    self.emit(EventKind::Retrying { problem, wait }).await;
                    self.wait(wait).await;
                }
                AttemptResult::Abandon { reason: problem, scope } => {
                    if scope == AbandonScope::Eval {
                        self.stop_for(&problem).await;
                    }
                    let trial = planned.name();
                    info!(trial, problem, "missing");
                    self.counters.add_missing(trial.clone(), problem.clone());
                    self.emit(EventKind::Missing { trial, problem }).await;
                    // Release at once: a process waiting for this claim may hold one that this process waits for.
                    self.shared.writer.release(vec![planned.id]).await?;
                    return Ok(());
                }
            }
        }
        self.unsent_claims.borrow_mut().push(planned.id);
        Ok(())
    }

    /// Waits for a permit of one of the endpoints, unless the run ends first: a pause may be long.
    async fn acquire(&self) -> Option<Permit<'_>> {
        self.idle.unsent.update(|unsent| unsent + 1);
        let permit = tokio::select! {
            // Biased order: a permit that is ready must be taken, or no other request gets it.
            biased;
            permit = EndpointLimiter::acquire(self.limiters) => Some(permit),
            () = self.until_halted() => None,
        };
        self.idle.unsent.update(|unsent| unsent - 1);
        permit
    }

    /// Stops sending requests for this evaluation.
    pub(super) async fn stop_for(&self, reason: &str) {
        self.halted.send_replace(true);
        if self.counters.stop(reason) {
            info!(eval = self.eval.name, reason, "stopped");
            self.emit(EventKind::Stopped { reason: reason.to_owned() }).await;
        }
    }
}
