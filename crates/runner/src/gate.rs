//! The way into an endpoint: a window with a queue in front of it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::client::Endpoint;
use crate::window::Window;

/// How long an endpoint is left alone that could not be reached.
const UNREACHABLE: Duration = Duration::from_millis(500);

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

    /// How full it is, for choosing among several: whether it is closed, then the requests in flight and in the queue
    /// by the size of the window.
    fn load(&self) -> (bool, f64) {
        let state = self.state();
        let closed = state.window.closed_until(Instant::now()).is_some();
        (closed, (state.window.in_flight() + state.waiting.len()) as f64 / state.window.size() as f64)
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

    fn leave(&self, told: impl FnOnce(&mut Window)) {
        let mut state = self.state();
        told(&mut state.window);
        let mut free = if state.window.closed_until(Instant::now()).is_some() {
            // Whoever waits may find another gate open.
            usize::MAX
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
    }
}

impl Place<'_> {
    /// Where the request goes.
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.gate.endpoint
    }

    /// The endpoint could not be reached. It is left alone for a moment: failing fast, it would look as if it had all
    /// the time in the world.
    pub(crate) fn unreachable(self) {
        self.refused(Some(UNREACHABLE));
    }

    /// An answer came.
    pub(crate) fn answered(mut self, latency: Duration, tokens: u64) {
        self.open = false;
        self.gate.leave(|window| window.answered(latency, tokens));
    }

    /// The endpoint has too much to do.
    pub(crate) fn refused(mut self, retry_after: Option<Duration>) {
        self.open = false;
        self.gate.leave(|window| window.refused(self.sent, Instant::now(), retry_after));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.open {
            self.gate.leave(Window::leave);
        }
    }
}
