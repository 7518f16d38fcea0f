//! Asking one evaluation: from the plan through claims and gates to the cache.

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
use reasonscape_providers::{ApiKey, Completion, Finish, ReplyProblem};
use reasonscape_study::{Eval, Planned};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, trace};

use super::ledger::Ledger;
use super::{Lot, RunError, Shared, Stop, walk_plan};
use crate::client::{RawReply, TransportProblem, backoff};
use crate::event::EventKind;
use crate::gate::{Gate, Place};
use crate::window::{FRUITLESS, Failure, UNREACHABLE};

/// Lots that wait between the plan and the claims.
const LOTS: usize = 4;
/// Trials that wait between the claims and the wire.
const WAITING: usize = 512;
/// Claims made at once: those of some milliseconds, since they wait as long for the disk as the answers do.
const BATCH: usize = 512;
/// Answers that may wait for the disk while others are in flight: the more share a sync, the less each costs.
const STORING: usize = 512;
/// How long to leave a request alone that another process is asking.
const OTHERS: Duration = Duration::from_millis(300);
/// How often it is said that nothing happens, when nothing does.
const BEAT: Duration = Duration::from_secs(1);

/// One evaluation being asked.
pub(super) struct Asker<'a, 's> {
    pub(super) shared: &'a Shared<'s>,
    pub(super) place: usize,
    pub(super) eval: &'s Eval,
    pub(super) gates: &'a [Arc<Gate>],
    pub(super) ledger: &'a Ledger,
    /// The key that must not be repeated in any message.
    pub(super) key: Option<ApiKey>,
    /// What has failed since the last answer.
    pub(super) failures: Cell<Failures>,
    /// Claims that are to be given back.
    pub(super) unasked: RefCell<Vec<EntryId>>,
    /// Whether whoever waits should wait no more.
    pub(super) halted: watch::Sender<bool>,
    pub(super) waiting: Waiting,
}

/// What an evaluation waits for.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When something last came.
    since: Cell<Instant>,
    /// Requests in flight.
    answers: Cell<u64>,
    /// Trials that are to be sent, and wait for a place or the end of a pause.
    unsent: Cell<u64>,
    /// Trials that somebody else is asking.
    others: Cell<u64>,
}

impl Default for Waiting {
    fn default() -> Self {
        let none = || Cell::new(0);
        Self { since: Cell::new(Instant::now()), answers: none(), unsent: none(), others: none() }
    }
}

/// Failures in a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Failures {
    /// To reach the endpoint.
    unreachable: u32,
    /// Of any kind.
    all: u32,
    /// Whether an answer has ever come; it may not be on the disk yet.
    answered: bool,
}

/// What the planning thread says.
enum Step<'s> {
    Lot(Lot<'s>),
    Failed(RunError),
}

/// What is to be done after an attempt.
enum Next {
    Done,
    Again {
        problem: String,
        wait: Duration,
    },
    /// The same attempt once more, when the endpoint is up again.
    Resume {
        problem: String,
    },
    GiveUp {
        problem: String,
        for_all: bool,
    },
}

impl<'s> Asker<'_, 's> {
    /// Asks every trial of a round that the cache does not hold.
    pub(super) async fn ask<'scope, 'env>(
        &self,
        scope: &'scope Scope<'scope, 'env>,
        shared: &'env Shared<'s>,
        round: Vec<Range<usize>>,
    ) -> Result<(), RunError>
    where
        's: 'env,
    {
        let eval = self.eval;
        self.ledger.whole.store(false, Relaxed);
        let (steps, planned) = mpsc::channel(LOTS);
        scope.spawn(move || plan(shared, eval, &round, &steps));
        let (granted, asked) = mpsc::channel(WAITING);
        let most = self.gates.len() * eval.limits.concurrency + STORING;
        let requests =
            stream::unfold(asked, |mut asked| async { asked.recv().await.map(|next| (next, asked)) });
        let asking = requests.map(Ok).try_for_each_concurrent(most, |planned| self.ask_trial(planned));
        tokio::select! {
            biased;
            done = future::try_join(self.claim(planned, granted), asking) => { done?; }
            never = self.watch_over() => match never {},
        }
        let unasked = std::mem::take(&mut *self.unasked.borrow_mut());
        self.shared.writer.release(unasked).await?;
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        *self.shared.stop.borrow() != Stop::No || *self.halted.borrow()
    }

    /// Wakes whoever waits when somebody says stop or a budget is used up, which may be in the middle of a pause; and
    /// says now and then that nothing happens.
    async fn watch_over(&self) -> Infallible {
        let mut stop = self.shared.stop.clone();
        loop {
            let beat = Instant::now() + BEAT;
            let deadline = self.shared.budgets.deadline().filter(|deadline| *deadline > Instant::now());
            let wake = deadline.map_or(beat, |deadline| deadline.min(beat));
            tokio::select! {
                () = tokio::time::sleep_until(wake.into()) => {}
                Ok(_) = stop.wait_for(|stop| *stop != Stop::No), if !*self.halted.borrow() => {
                    self.halted.send_replace(true);
                }
            }
            // What is in flight is waited for, and may well be the last.
            if self.waiting.unsent.get() > 0
                && !self.is_stopping()
                && let Some(reason) = self.shared.budgets.exhausted()
            {
                self.stop_for(&reason).await;
            }
            let idle = self.waiting.since.get().elapsed();
            if idle >= BEAT {
                let closed = |gate: &Arc<Gate>| gate.closed_until();
                let pause = self.gates.iter().map(closed).min().flatten();
                let kind = EventKind::Waiting {
                    answers: self.waiting.answers.get(),
                    others: self.waiting.others.get(),
                    idle,
                    pause: pause.map(|until| until.saturating_duration_since(Instant::now())),
                };
                self.shared.tell(self.place, kind).await;
            }
        }
    }

    /// Claims what the plan offers, so that nobody else asks it, and passes on what is granted.
    async fn claim(
        &self,
        mut planned: mpsc::Receiver<Step<'s>>,
        granted: mpsc::Sender<Planned<'s>>,
    ) -> Result<(), RunError> {
        let mut taken: Vec<Planned<'s>> = Vec::new();
        let mut steps = Vec::with_capacity(LOTS);
        while planned.recv_many(&mut steps, LOTS).await > 0 {
            let mut offered = Vec::new();
            for step in steps.drain(..) {
                let Lot { ask, cached } = match step {
                    Step::Lot(lot) => lot,
                    Step::Failed(error) => return Err(error),
                };
                Ledger::count(&self.ledger.planned, ask.len() as u64 + cached);
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
        self.ledger.settle();
        // What other processes were asking is in the cache by now, or soon, or theirs no more.
        while !taken.is_empty() && !self.is_stopping() {
            self.waiting.others.set(taken.len() as u64);
            self.wait(OTHERS).await;
            taken = self.claim_batch(taken, &granted).await?;
        }
        self.waiting.others.set(0);
        Ok(())
    }

    /// Passes on what is granted and gives back what somebody else is asking.
    async fn claim_batch(
        &self,
        mut offered: Vec<Planned<'s>>,
        granted: &mpsc::Sender<Planned<'s>>,
    ) -> Result<Vec<Planned<'s>>, RunError> {
        let mut taken = Vec::new();
        for rest in (0..offered.len().div_ceil(BATCH)).rev() {
            let batch = offered.split_off(rest * BATCH);
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
        self.waiting.since.set(Instant::now());
        Ledger::count(&self.ledger.cached, trials);
        self.shared.tell(self.place, EventKind::Cached { trials }).await;
    }

    /// Waits, but not past the end of the run.
    async fn wait(&self, duration: Duration) {
        self.waiting.unsent.update(|unsent| unsent + 1);
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            () = self.is_halted() => {}
        }
        self.waiting.unsent.update(|unsent| unsent - 1);
    }

    async fn is_halted(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.halted.subscribe().wait_for(|halted| *halted).await;
    }

    /// Asks one trial until it is answered or given up.
    async fn ask_trial(&self, planned: Planned<'s>) -> Result<(), RunError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            if self.is_stopping() {
                break;
            }
            let Some(place) = self.enter().await else { break };
            if self.is_stopping() {
                break;
            }
            if let Err(reason) = self.shared.budgets.take_request() {
                self.stop_for(&reason).await;
                break;
            }
            Ledger::count(&self.ledger.sent, 1);
            self.waiting.answers.update(|answers| answers + 1);
            let reply = place.endpoint().send(planned.request.clone().into_bytes()).await;
            self.waiting.answers.update(|answers| answers - 1);
            match self.next(attempt, &planned, reply, place).await? {
                Next::Done => return Ok(()),
                Next::Resume { problem } => {
                    debug!(trial = planned.name(), problem, "waits for the endpoint");
                    attempt -= 1;
                    self.shared.tell(self.place, EventKind::Retrying { problem, wait: Duration::ZERO }).await;
                }
                Next::Again { problem, wait } => {
                    debug!(trial = planned.name(), attempt, problem, ?wait, "retry");
                    self.shared.tell(self.place, EventKind::Retrying { problem, wait }).await;
                    self.wait(wait).await;
                }
                Next::GiveUp { problem, for_all } => {
                    if for_all {
                        self.stop_for(&problem).await;
                    }
                    let trial = planned.name();
                    info!(trial, problem, "missing");
                    self.ledger.missing(trial.clone(), problem.clone());
                    self.shared.tell(self.place, EventKind::Missing { trial, problem }).await;
                    // At once: somebody who waits for this very request may be waited for by us.
                    self.shared.writer.release(vec![planned.id]).await?;
                    return Ok(());
                }
            }
        }
        self.unasked.borrow_mut().push(planned.id);
        Ok(())
    }

    /// A place at an endpoint, unless the run ends first: a pause may be long.
    async fn enter(&self) -> Option<Place<'_>> {
        self.waiting.unsent.update(|unsent| unsent + 1);
        let place = tokio::select! {
            // In this order: a turn that has come must be taken, or nobody else gets it.
            biased;
            place = Gate::enter(self.gates) => Some(place),
            () = self.is_halted() => None,
        };
        self.waiting.unsent.update(|unsent| unsent - 1);
        place
    }

    /// No more requests for this evaluation.
    async fn stop_for(&self, reason: &str) {
        self.halted.send_replace(true);
        if self.ledger.stop(reason) {
            info!(eval = self.eval.name, reason, "stopped");
            self.shared.tell(self.place, EventKind::Stopped { reason: reason.to_owned() }).await;
        }
    }

    /// Makes sense of what an attempt brought.
    async fn next(
        &self,
        attempt: u32,
        planned: &Planned<'s>,
        reply: Result<RawReply, TransportProblem>,
        place: Place<'_>,
    ) -> Result<Next, RunError> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(problem) => {
                let unreachable = problem.is_unreachable();
                let is_down = place.failed(if unreachable { Failure::Unreachable } else { Failure::Other });
                let text = problem.to_string();
                if problem.is_hopeless() {
                    return Ok(Next::GiveUp { problem: text, for_all: true });
                }
                return Ok(self.again(attempt, text, unreachable, is_down, None));
            }
        };
        match self.eval.provider.parse(reply.status, &reply.body) {
            Ok(completion) if completion.finish == Finish::ContentFilter => {
                place.lives();
                Ok(Next::GiveUp {
                    problem: "the provider's content filter refused it".to_owned(),
                    for_all: false,
                })
            }
            Ok(completion) => {
                let tokens =
                    completion.usage.completion_tokens.unwrap_or(completion.content.len() as u64 / 4);
                // It is paid for, whatever becomes of it, and before the next one takes its place.
                self.shared.budgets.answered(self.eval, completion.usage);
                place.answered(reply.latency, tokens);
                self.waiting.since.set(Instant::now());
                self.failures.set(Failures { answered: true, ..Failures::default() });
                self.keep(planned, &completion, reply).await?;
                Ok(Next::Done)
            }
            Err(problem) => {
                // A provider may repeat the key that it refuses.
                let problem = self.key.as_ref().map_or(problem.clone(), |key| problem.without(key));
                if problem.is_overload() {
                    let is_down = place.failed(Failure::Overloaded(reply.retry_after));
                    // The gate stays closed for as long as was asked; another may be open.
                    let pause = reply.retry_after.filter(|_| self.gates.len() == 1);
                    return Ok(self.later(attempt, problem.to_string(), is_down, pause));
                }
                if problem.is_retryable() {
                    let is_down = place.failed(Failure::Other);
                    Ok(self.again(attempt, problem.to_string(), false, is_down, reply.retry_after))
                } else {
                    place.lives();
                    Ok(Next::GiveUp { problem: problem.to_string(), for_all: concerns_all(&problem) })
                }
            }
        }
    }

    /// Another attempt after a failure, unless the endpoint fails again and again and has never answered: then there is
    /// a mistake to mend, and waiting would not help.
    fn again(
        &self,
        attempt: u32,
        problem: String,
        unreachable: bool,
        is_down: bool,
        pause: Option<Duration>,
    ) -> Next {
        let before = self.failures.get();
        let failures = Failures {
            unreachable: if unreachable { before.unreachable + 1 } else { 0 },
            all: before.all + 1,
            ..before
        };
        self.failures.set(failures);
        // One of several endpoints may be all right and only slow.
        let may_answer = self.gates.len() > 1 && !self.gates.iter().all(|gate| gate.is_down());
        if may_answer || failures.answered {
            self.later(attempt, problem, is_down, pause)
        } else if failures.unreachable >= UNREACHABLE {
            Next::GiveUp { problem, for_all: true }
        } else if failures.all >= FRUITLESS {
            let problem = format!(
                "none of the first {} requests was answered; look at the server, and check `base_url` and \
                 `model`: {problem}",
                failures.all
            );
            Next::GiveUp { problem, for_all: true }
        } else {
            self.later(attempt, problem, is_down, pause)
        }
    }

    /// Another attempt, unless there have been enough, or the endpoint has been down for too long. While it is down,
    /// attempts do not count: no trial can do anything about it.
    fn later(&self, attempt: u32, problem: String, is_down: bool, pause: Option<Duration>) -> Next {
        if is_down {
            let patience = self.eval.limits.patience;
            if !self.gates.iter().all(|gate| gate.is_lost(patience)) {
                return Next::Resume { problem };
            }
            let problem = format!(
                "no answer for {} seconds: {problem}; look at the server and run again, or raise \
                 `patience_seconds`",
                patience.as_secs_f64()
            );
            return Next::GiveUp { problem, for_all: true };
        }
        if attempt > self.eval.limits.max_retries {
            return Next::GiveUp { problem, for_all: false };
        }
        let wait = backoff(attempt, jitter()).max(pause.unwrap_or_default());
        Next::Again { problem, wait }
    }

    /// Stores a response, and counts it once it is durable.
    async fn keep(
        &self,
        planned: &Planned<'s>,
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
        self.ledger.answered(usage, truncated);
        self.shared.tell(self.place, EventKind::Answered { latency, usage, truncated }).await;
        Ok(())
    }
}

/// Whether every other request would be refused for the same reason: a wrong key, model or address.
fn concerns_all(problem: &ReplyProblem) -> bool {
    matches!(problem, ReplyProblem::Refused { status: 300..=399 | 401..=405, .. })
}

/// Walks the plan on a thread of its own and says what it finds.
fn plan<'s>(shared: &Shared<'s>, eval: &Eval, round: &[Range<usize>], steps: &mpsc::Sender<Step<'s>>) {
    let say = |step| {
        if steps.blocking_send(step).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    if let Err(error) = walk_plan(shared, eval, round, &mut |lot| say(Step::Lot(lot))) {
        let _ = say(Step::Failed(error));
    }
}

/// A number in `[0, 1)` that no two processes share: this is the one place where being reproducible would do harm.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(()) as f64 / (u64::MAX as f64 + 1.0)
}
