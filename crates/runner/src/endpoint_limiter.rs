//! Limits the concurrent requests to an endpoint: a congestion window with a queue in front of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use tracing::{debug, trace, warn};

use crate::client::Endpoint;
use crate::congestion_window::{CongestionWindow, TransientFailure};

/// An outage counts as lost only after this many failed probes: a pause requested by the endpoint may be longer than the
/// outage timeout.
const MIN_FAILED_PROBES: u32 = 3;

/// An endpoint and its first-in, first-out queue of waiting requests. Evaluations that share an endpoint alternate,
/// because each has its own requests in the queue.
#[derive(Debug)]
pub(crate) struct EndpointLimiter {
    endpoint: Endpoint,
    state: Mutex<State>,
    /// Limits the responses that are not committed yet, of all evaluations together: besides the requests in flight, these are
    /// all that `kill -9` can lose.
    uncommitted: Semaphore,
}

#[derive(Debug)]
struct State {
    window: CongestionWindow,
    queue: VecDeque<oneshot::Sender<()>>,
}

/// Permission to send one request. Released with the request's result, or on drop.
#[derive(Debug)]
pub(crate) struct Permit<'g> {
    limiter: &'g EndpointLimiter,
    sent: Instant,
    is_held: bool,
}

impl EndpointLimiter {
    pub(crate) fn new(endpoint: Endpoint, max: usize) -> Self {
        Self {
            endpoint,
            state: Mutex::new(State { window: CongestionWindow::new(max), queue: VecDeque::new() }),
            uncommitted: Semaphore::new(max),
        }
    }

    /// Ignores lock poisoning: the state consists of plain numbers that stay valid after a panic elsewhere.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sort key for choosing among several endpoints: when this one reopens if it is closed, then requests in flight and
    /// queued relative to the window size.
    fn load(&self) -> (Option<Instant>, f64) {
        let (state, now) = (self.state(), Instant::now());
        // A probe's result is expected soon.
        let closed = state.window.closed_until(now).or_else(|| state.window.is_probing().then_some(now));
        (closed, (state.window.in_flight() + state.queue.len()) as f64 / state.window.size() as f64)
    }

    /// When the limiter reopens, if it is closed.
    pub(crate) fn closed_until(&self) -> Option<Instant> {
        self.state().window.closed_until(Instant::now())
    }

    /// Whether the endpoint is down.
    pub(crate) fn is_down(&self) -> bool {
        self.state().window.outage(Instant::now()).is_some()
    }

    /// Whether the endpoint has been down for this long despite being probed.
    pub(crate) fn is_lost(&self, outage_timeout: Duration) -> bool {
        let outage = self.state().window.outage(Instant::now());
        outage.is_some_and(|outage| {
            outage.failed_probes >= MIN_FAILED_PROBES && outage.duration >= outage_timeout
        })
    }

    /// Waits for a permit from the limiter that is likely to grant one first.
    pub(crate) async fn acquire(limiters: &[Arc<Self>]) -> Permit<'_> {
        loop {
            let loads = limiters.iter().map(|limiter| (limiter.load(), limiter));
            let (_, limiter) = loads
                .min_by(|((closed_a, load_a), _), ((closed_b, load_b), _)| {
                    closed_a.cmp(closed_b).then(load_a.total_cmp(load_b))
                })
                .expect("an eval has an endpoint");
            if let Some(permit) = limiter.wait_in_queue().await {
                return permit;
            }
        }
    }

    /// Waits for a permit. `None` if another request took it or the limiter closed; the caller then selects a limiter again.
    async fn wait_in_queue(&self) -> Option<Permit<'_>> {
        let now = Instant::now();
        let (turn, pause) = {
            let mut state = self.state();
            if state.queue.is_empty() && state.window.try_acquire(now) {
                return Some(self.permit(now));
            }
            let pause = state.window.closed_until(now);
            let (sender, turn) = oneshot::channel();
            state.queue.push_back(sender);
            (turn, pause)
        };
        match pause {
            // When a pause ends, there may be no request in flight whose completion would wake this one.
            Some(until) => tokio::select! {
                _ = turn => {}
                () = tokio::time::sleep_until(until.into()) => {}
            },
            None => _ = turn.await,
        }
        let now = Instant::now();
        self.state().window.try_acquire(now).then(|| self.permit(now))
    }

    fn permit(&self, sent: Instant) -> Permit<'_> {
        Permit { limiter: self, sent, is_held: true }
    }

    /// Updates the window after a request and wakes as many queued requests as fit. Returns whether the endpoint is
    /// down.
    fn release(&self, update: impl FnOnce(&mut CongestionWindow)) -> bool {
        let mut state = self.state();
        let (size, was_down) = (state.window.size(), state.window.outage(Instant::now()).is_some());
        update(&mut state.window);
        let now = Instant::now();
        let (closed_until, is_down) = (state.window.closed_until(now), state.window.outage(now).is_some());
        match (was_down, is_down) {
            (false, true) => warn!(host = self.endpoint.host(), "endpoint is down; probing it periodically"),
            (true, false) => warn!(host = self.endpoint.host(), "endpoint is up again"),
            _ => {}
        }
        if size != state.window.size() {
            trace!(host = self.endpoint.host(), from = size, to = state.window.size(), "window");
        }
        let mut free = if let Some(until) = closed_until {
            debug!(host = self.endpoint.host(), pause = ?(until - now), "closed");
            // Wake all of them: another limiter may be open.
            usize::MAX
        } else if is_down {
            usize::from(!state.window.is_probing())
        } else {
            state.window.size().saturating_sub(state.window.in_flight())
        };
        while free > 0 {
            match state.queue.pop_front() {
                // A request that was abandoned while queued takes no slot.
                Some(sender) => free -= usize::from(sender.send(()).is_ok()),
                None => break,
            }
        }
        is_down
    }
}

impl<'g> Permit<'g> {
    /// Waits until fewer than the maximum of responses are uncommitted. To be called before the permit is released, so that no
    /// more requests are sent while commits lag behind; held until the response is committed.
    pub(crate) async fn uncommitted_slot(&self) -> SemaphorePermit<'g> {
        self.limiter.uncommitted.acquire().await.expect("the semaphore is never closed")
    }

    /// The endpoint to send the request to.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.limiter.endpoint
    }

    /// Reports a completion.
    pub(crate) fn answered(mut self, latency: Duration, tokens: u64) {
        self.is_held = false;
        self.limiter.release(|window| window.answered(self.sent, latency, tokens));
    }

    /// Reports a valid reply without a completion.
    pub(crate) fn mark_healthy(mut self) {
        self.is_held = false;
        self.limiter.release(|window| window.mark_healthy(self.sent));
    }

    /// Reports a transient failure. Returns whether the endpoint is down, in which case every request waits for it.
    pub(crate) fn failed(mut self, failure: TransientFailure) -> bool {
        self.is_held = false;
        self.limiter.release(|window| window.failed(self.sent, Instant::now(), failure))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.is_held {
            self.limiter.release(|window| window.release(self.sent));
        }
    }
}
