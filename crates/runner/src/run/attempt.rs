//! Finishes one attempt at a request: stores the reply or classifies the failure.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reasonscape_cache::{CacheError, Committed, Entry, Response};
use reasonscape_providers::{Completion, Finish, ReplyError};
use reasonscape_study::PlannedTrial;
use tracing::trace;

use super::eval_runner::EvalRunner;
use super::planner::token_usage;
use super::retry::{self, AttemptFailure, AttemptResult, EndpointState, FailureKind, OutageExtent};
use super::{RunError, Shutdown};
use crate::client::{RawReply, TransportError};
use crate::congestion_window::TransientFailure;
use crate::endpoint_limiter::{EndpointLimiter, Permit};
use crate::event::EventKind;
use crate::failure_streak::FailureStreak;

/// How long to keep retrying writes that fail because the disk is full.
const MAX_STORE_WAIT: Duration = Duration::from_secs(5);
const STORE_RETRY_INTERVAL: Duration = Duration::from_millis(500);

impl<'s> EvalRunner<'_, 's> {
    /// Stores the reply of an attempt, or decides what to do about its failure.
    pub(super) async fn finish_attempt(
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
                let is_down = permit.failed(if unreachable {
                    TransientFailure::Unreachable
                } else {
                    TransientFailure::Other
                });
                let kind = match (problem.is_permanent(), unreachable) {
                    (true, _) => FailureKind::Fatal,
                    (false, true) => FailureKind::Unreachable,
                    (false, false) => FailureKind::Other,
                };
                return Ok(self.decide(attempt, kind, problem.to_string(), None, is_down));
            }
        };
        let problem = match self.eval.provider.parse_received(reply.status, &reply.body) {
            Ok(completion) => {
                let tokens =
                    completion.usage.completion_tokens.unwrap_or(completion.content.len() as u64 / 4);
                // Count the usage first: the request is paid for even if storing fails, and the next request must
                // see it in the budget.
                self.shared.budget.add_usage(self.eval, completion.usage);
                self.idle.since.set(Instant::now());
                self.streak.set(FailureStreak::default());
                self.has_replied.set(true);
                let latency = reply.latency;
                let slot = permit.uncommitted_slot().await;
                permit.answered(latency, tokens);
                let Some(committed) = self.commit_response(planned, &completion, reply).await? else {
                    return Ok(AttemptResult::Unstored);
                };
                drop(slot);
                self.finish_response(planned, &completion, latency, committed).await?;
                return Ok(AttemptResult::Stored);
            }
            // A provider may repeat the rejected API key in its error.
            Err(problem) => self.key.as_ref().map_or(problem.clone(), |key| problem.without(key)),
        };
        // An endpoint can't ask for more patience than the study has.
        let retry_after = reply.retry_after.map(|pause| pause.min(self.eval.limits.outage_timeout));
        let (kind, min_wait, is_down) = if problem.is_overload() {
            let is_down = permit.failed(TransientFailure::Overloaded(retry_after));
            // This limiter stays closed for the requested pause; another may be open.
            (FailureKind::Overloaded, retry_after.filter(|_| self.limiters.len() == 1), is_down)
        } else if problem.is_retryable() {
            (FailureKind::Other, retry_after, permit.failed(TransientFailure::Other))
        } else {
            permit.mark_healthy();
            let kind = if is_fatal_for_eval(&problem) { FailureKind::Fatal } else { FailureKind::Refused };
            (kind, None, false)
        };
        Ok(self.decide(attempt, kind, problem.to_string(), min_wait, is_down))
    }

    /// Counts a failure and decides whether to retry.
    fn decide(
        &self,
        attempt: u32,
        kind: FailureKind,
        reason: String,
        min_wait: Option<Duration>,
        is_down: bool,
    ) -> AttemptResult {
        if kind.counts_in_streak() {
            self.streak
                .update(|streak| streak.with_failure(kind == FailureKind::Unreachable, Instant::now()));
        }
        let is_lost = |limiter: &Arc<EndpointLimiter>| limiter.is_lost(self.eval.limits.outage_timeout);
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

    /// Commits a response to the cache; from then on it survives the end of this process. A full disk stops the run, but the
    /// write is retried for a while in case space is freed; `None` if it isn't.
    async fn commit_response(
        &self,
        planned: &PlannedTrial<'s>,
        completion: &Completion,
        reply: RawReply,
    ) -> Result<Option<Committed>, CacheError> {
        let received = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let response = Response {
            status: reply.status,
            latency_ms: reply.latency.as_millis() as u64,
            latency_us: Some(reply.latency.as_micros() as u64),
            received_ms: received.as_millis() as i64,
            body: reply.body,
        };
        let entry = Arc::new(Entry { id: planned.id.clone(), request: planned.request.clone(), response });
        loop {
            match self.shared.writer.commit(Arc::clone(&entry), token_usage(completion.usage)).await {
                Err(error) if error.is_unwritable() => {
                    let failing_for = self.shared.storage.fail(&error);
                    if failing_for > MAX_STORE_WAIT || *self.shared.stop.borrow() != Shutdown::None {
                        self.shared.storage.add_unstored(planned.name());
                        return Ok(None);
                    }
                    tokio::time::sleep(STORE_RETRY_INTERVAL).await;
                }
                committed => return committed.map(Some),
            }
        }
    }

    /// Counts a committed response once it is synced to the disk.
    async fn finish_response(
        &self,
        planned: &PlannedTrial<'s>,
        completion: &Completion,
        latency: Duration,
        committed: Committed,
    ) -> Result<(), CacheError> {
        let (usage, truncated) = (completion.usage, completion.finish == Finish::Length);
        if let Err(error) = committed.synced().await {
            if !error.is_unwritable() {
                return Err(error);
            }
            self.shared.storage.fail(&error);
            self.shared.storage.add_unstored(planned.name());
            return Ok(());
        }
        trace!(trial = planned.name(), ?latency, "stored");
        self.counters.add_answered(usage, truncated);
        self.emit(EventKind::Answered { latency, usage, truncated }).await;
        Ok(())
    }
}

/// Whether every other request would be rejected for the same reason: a wrong key, model or URL.
fn is_fatal_for_eval(problem: &ReplyError) -> bool {
    matches!(problem, ReplyError::Refused { status: 300..=399 | 401..=405, .. })
}

/// A number in `[0, 1)` that differs between processes: with a reproducible one, their retries would coincide.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(()) as f64 / (u64::MAX as f64 + 1.0)
}
