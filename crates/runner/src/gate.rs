//! The way into an endpoint: a window with a queue in front of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use tracing::{debug, trace, warn};

use crate::client::Endpoint;
use crate::window::{Failure, Window};

/// An endpoint that is down is not given up before it was tried so often: a pause that it asked for may be longer than
/// anybody's patience.
const TRIES: u32 = 3;

/// An endpoint, and those who wait for it in the order in which they came. Whoever asks for several evaluations at once
/// stands in the queue once for each, so the evaluations take turns.
#[derive(Debug)]
pub(crate) struct Gate {
    endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    window: Window,
    waiting: VecDeque<oneshot::Sender<()>>,
}

/// A place in flight. It is given back when it is dropped, or with what was learnt.
#[derive(Debug)]
pub(crate) struct Place<'g> {
    gate: &'g Gate,
    sent: Instant,
    open: bool,
}

impl Gate {
    pub(crate) fn new(endpoint: Endpoint, most: usize) -> Self {
        Self { endpoint, state: Mutex::new(State { window: Window::new(most), waiting: VecDeque::new() }) }
    }

    /// A panic elsewhere leaves numbers that are still numbers.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How soon a place can be had, for choosing among several: when it opens if it is closed, then the requests in
    /// flight and in the queue by the size of the window.
    fn load(&self) -> (Option<Instant>, f64) {
        let (state, now) = (self.state(), Instant::now());
        // It is soon known whether an endpoint lives that is being tried.
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
        outage.is_some_and(|outage| outage.tries >= TRIES && outage.lasting >= patience)
    }

    /// Waits for a place at whichever of the gates has one first, as far as can be told.
    pub(crate) async fn enter(gates: &[Arc<Self>]) -> Place<'_> {
        loop {
            let loads = gates.iter().map(|gate| (gate.load(), gate));
            let (_, gate) = loads
                .min_by(|((closed, load), _), ((than_closed, than), _)| {
                    closed.cmp(than_closed).then(load.total_cmp(than))
                })
                .expect("an eval has an endpoint");
            if let Some(place) = gate.wait().await {
                return place;
            }
        }
    }

    /// Waits for a turn. There is no place when somebody was faster, or the gate has closed: look around again.
    async fn wait(&self) -> Option<Place<'_>> {
        let now = Instant::now();
        let (turn, pause) = {
            let mut state = self.state();
            if state.waiting.is_empty() && state.window.enter(now) {
                return Some(self.place(now));
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
        self.state().window.enter(now).then(|| self.place(now))
    }

    fn place(&self, sent: Instant) -> Place<'_> {
        Place { gate: self, sent, open: true }
    }

    /// Tells the window what became of a request, and calls as many of those who wait as there is room for. Whether
    /// the endpoint is down.
    fn leave(&self, told: impl FnOnce(&mut Window)) -> bool {
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
            // Whoever waits may find another gate open.
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

impl Place<'_> {
    /// Where the request goes.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.gate.endpoint
    }

    /// An answer came.
    pub(crate) fn answered(mut self, latency: Duration, tokens: u64) {
        self.open = false;
        self.gate.leave(|window| window.answered(self.sent, latency, tokens));
    }

    /// The endpoint said something that makes sense, if no answer.
    pub(crate) fn lives(mut self) {
        self.open = false;
        self.gate.leave(|window| window.lives(self.sent));
    }

    /// The request failed, and may succeed later. Whether the endpoint is down: then everybody waits for it.
    pub(crate) fn failed(mut self, failure: Failure) -> bool {
        self.open = false;
        self.gate.leave(|window| window.failed(self.sent, Instant::now(), failure))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.open {
            self.gate.leave(|window| window.leave(self.sent));
        }
    }
}
