//! The way into an endpoint: a window with a queue in front of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use tracing::{debug, trace, warn};

use crate::client::Endpoint;
use crate::congestion_window::{CongestionWindow, Failure};

/// An endpoint that is down is not given up before it was tried so often: a pause that it asked for may be longer than
/// anybody's patience.
const MIN_OUTAGE_TRIES: u32 = 3;

/// An endpoint, and those who wait for it in the order in which they came. Whoever asks for several evaluations at once
/// stands in the queue once for each, so the evaluations take turns.
#[derive(Debug)]
pub(crate) struct EndpointLimiter {
    endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    window: CongestionWindow,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A place in flight. It is given back when it is dropped, or with what was learnt.
#[derive(Debug)]
pub(crate) struct Permit<'g> {
    limiter: &'g EndpointLimiter,
    sent: Instant,
    open: bool,
}

impl EndpointLimiter {
    pub(crate) fn new(endpoint: Endpoint, max: usize) -> Self {
        Self {
            endpoint,
            state: Mutex::new(State { window: CongestionWindow::new(max), waiting: VecDeque::new() }),
        }
    }

    /// A panic elsewhere leaves numbers that are still numbers.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How soon a place can be had, for choosing among several: when it opens if it is closed, then the requests in
    /// flight and in the queue by the size of the window.
    fn load(&self) -> (Option<Instant>, f64) {
        let (state, now) = (self.state(), Instant::now());
        // It is soon known whether an endpoint is up that is being tried.
        let closed = state.window.closed_until(now).or_else(|| state.window.is_trying().then_some(now));
        (closed, (state.window.in_flight() + state.waiting.len()) as f64 / state.window.size() as f64)
    }

    /// When it opens again, if it is closed.
    pub(crate) fn closed_until(&self) -> Option<Instant> {
        self.state().window.closed_until(Instant::now())
    }

    /// Whether the endpoint is down.
    pub(crate) fn is_down(&self) -> bool {
        self.state().window.outage(Instant::now()).is_some()
    }

    /// Whether the endpoint has been down for longer than this, although it was tried.
    pub(crate) fn is_lost(&self, patience: Duration) -> bool {
        let outage = self.state().window.outage(Instant::now());
        outage.is_some_and(|outage| outage.tries >= MIN_OUTAGE_TRIES && outage.lasting >= patience)
    }

    /// Waits for a place at whichever of the limiters has one first, as far as can be told.
    pub(crate) async fn enter(limiters: &[Arc<Self>]) -> Permit<'_> {
        loop {
            let loads = limiters.iter().map(|limiter| (limiter.load(), limiter));
            let (_, limiter) = loads
                .min_by(|((closed, load), _), ((than_closed, than), _)| {
                    closed.cmp(than_closed).then(load.total_cmp(than))
                })
                .expect("an eval has an endpoint");
            if let Some(permit) = limiter.wait().await {
                return permit;
            }
        }
    }

    /// Waits for a turn. There is no place when somebody was faster, or the limiter has closed: look around again.
    async fn wait(&self) -> Option<Permit<'_>> {
        let now = Instant::now();
        let (turn, pause) = {
            let mut state = self.state();
            if state.waiting.is_empty() && state.window.enter(now) {
                return Some(self.permit(now));
            }
            let pause = state.window.closed_until(now);
            let (called, turn) = oneshot::channel();
            state.waiting.push_back(called);
            (turn, pause)
        };
        match pause {
            // Nobody may be in flight to call us when a pause ends.
            Some(until) => tokio::select! {
                _ = turn => {}
                () = tokio::time::sleep_until(until.into()) => {}
            },
            None => _ = turn.await,
        }
        let now = Instant::now();
        self.state().window.enter(now).then(|| self.permit(now))
    }

    fn permit(&self, sent: Instant) -> Permit<'_> {
        Permit { limiter: self, sent, open: true }
    }

    /// Tells the window what became of a request, and calls as many of those who wait as there is room for. Whether
    /// the endpoint is down.
    fn release(&self, told: impl FnOnce(&mut CongestionWindow)) -> bool {
        let mut state = self.state();
        let (size, was_down) = (state.window.size(), state.window.outage(Instant::now()).is_some());
        told(&mut state.window);
        let now = Instant::now();
        let (closed_until, is_down) = (state.window.closed_until(now), state.window.outage(now).is_some());
        match (was_down, is_down) {
            (false, true) => warn!(host = self.endpoint.host(), "does not answer; is tried now and then"),
            (true, false) => warn!(host = self.endpoint.host(), "answers again"),
            _ => {}
        }
        if size != state.window.size() {
            trace!(host = self.endpoint.host(), from = size, to = state.window.size(), "window");
        }
        let mut free = if let Some(until) = closed_until {
            debug!(host = self.endpoint.host(), pause = ?(until - now), "closed");
            // Whoever waits may find another limiter open.
            usize::MAX
        } else if is_down {
            usize::from(!state.window.is_trying())
        } else {
            state.window.size().saturating_sub(state.window.in_flight())
        };
        while free > 0 {
            match state.waiting.pop_front() {
                // Those who gave up in the meantime take no place.
                Some(waiting) => free -= usize::from(waiting.send(()).is_ok()),
                None => break,
            }
        }
        is_down
    }
}

impl Permit<'_> {
    /// Where the request goes.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.limiter.endpoint
    }

    /// An answer came.
    pub(crate) fn answered(mut self, latency: Duration, tokens: u64) {
        self.open = false;
        self.limiter.release(|window| window.answered(self.sent, latency, tokens));
    }

    /// The endpoint said something that makes sense, if no answer.
    pub(crate) fn mark_healthy(mut self) {
        self.open = false;
        self.limiter.release(|window| window.mark_healthy(self.sent));
    }

    /// The request failed, and may succeed later. Whether the endpoint is down: then everybody waits for it.
    pub(crate) fn failed(mut self, failure: Failure) -> bool {
        self.open = false;
        self.limiter.release(|window| window.failed(self.sent, Instant::now(), failure))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.open {
            self.limiter.release(|window| window.release(self.sent));
        }
    }
}
