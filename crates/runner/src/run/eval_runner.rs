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

/// Trials that wait between the claims and the wire.
const REQUEST_QUEUE: usize = 512;
/// Responses that may wait for the disk while others are in flight: the more share a sync, the less each costs.
const MAX_STORING: usize = 512;

/// One evaluation being run.
pub(super) struct EvalRunner<'a, 's> {
    pub(super) shared: &'a Shared<'s>,
    /// Index of the evaluation in the study.
    eval_index: usize,
    pub(super) eval: &'s Eval,
    pub(super) limiters: &'a [Arc<EndpointLimiter>],
    pub(super) counters: &'a EvalCounters,
    /// The key that must not be repeated in any message.
    pub(super) key: Option<ApiKey>,
    /// Failures since the last reply.
    pub(super) streak: Cell<FailureStreak>,
    /// Whether a reply has ever come; it may not be on the disk yet.
    pub(super) has_replied: Cell<bool>,
    /// Claims to give up at the end, because their requests were not sent.
    unsent_claims: RefCell<Vec<EntryId>>,
    /// Whether no more requests are to be sent.
    pub(super) halted: watch::Sender<bool>,
    pub(super) idle: IdleState,
}

impl<'a, 's> EvalRunner<'a, 's> {
    /// # Errors
    /// A [`RunError`] when the key is not in the environment.
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
        self.shared.writer.release(unsent_claims).await?;
        Ok(())
    }

    pub(super) async fn emit(&self, kind: EventKind) {
        self.shared.emit(self.eval_index, kind).await;
    }

    /// Whether no more requests are to be sent, for this evaluation or for all.
    pub(super) fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow() != Shutdown::None || *self.halted.borrow()
    }

    /// Counts trials whose response is in the cache.
    pub(super) async fn count_cached(&self, trials: u64) {
        self.idle.since.set(Instant::now());
        EvalCounters::add(&self.counters.cached, trials);
        self.emit(EventKind::Cached { trials }).await;
    }

    /// Waits, but not past the end of the run.
    pub(super) async fn wait(&self, duration: Duration) {
        self.idle.unsent.update(|unsent| unsent + 1);
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.until_halted() => {}
        }
        self.idle.unsent.update(|unsent| unsent - 1);
    }

    /// Returns when no more requests are to be sent.
    async fn until_halted(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.halted.subscribe().wait_for(|halted| *halted).await;
    }

    /// Sends one trial until its response is stored or it is given up.
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
                AttemptResult::Stored => return Ok(()),
                AttemptResult::RetryWhenUp { reason: problem } => {
                    debug!(trial = planned.name(), problem, "waits for the endpoint");
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
                    // At once: a process that waits for this request may hold the claim of one that we wait for.
                    self.shared.writer.release(vec![planned.id]).await?;
                    return Ok(());
                }
            }
        }
        self.unsent_claims.borrow_mut().push(planned.id);
        Ok(())
    }

    /// A permit of one of the endpoints, unless the run ends first: a pause may be long.
    async fn acquire(&self) -> Option<Permit<'_>> {
        self.idle.unsent.update(|unsent| unsent + 1);
        let permit = tokio::select! {
            // In this order: a permit that is ready must be taken, or no other request gets it.
            biased;
            permit = EndpointLimiter::acquire(self.limiters) => Some(permit),
            () = self.until_halted() => None,
        };
        self.idle.unsent.update(|unsent| unsent - 1);
        permit
    }

    /// Sends no more requests for this evaluation.
    pub(super) async fn stop_for(&self, reason: &str) {
        self.halted.send_replace(true);
        if self.counters.stop(reason) {
            info!(eval = self.eval.name, reason, "stopped");
            self.emit(EventKind::Stopped { reason: reason.to_owned() }).await;
        }
    }
}
