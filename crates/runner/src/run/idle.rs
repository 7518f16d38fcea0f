//! Tracks what an evaluation is waiting for, and reports it.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shutdown;
use super::eval_runner::EvalRunner;
use crate::endpoint_limiter::EndpointLimiter;
use crate::event::EventKind;

/// How often [`EventKind::Waiting`] is emitted while no responses arrive.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// What an evaluation is waiting for.
#[derive(Debug)]
pub(super) struct IdleState {
    /// When the last response arrived, from an endpoint or the cache.
    pub(super) since: Cell<Instant>,
    /// Requests sent and not yet answered.
    pub(super) in_flight: Cell<u64>,
    /// Trials that wait for a permit or the end of a pause.
    pub(super) unsent: Cell<u64>,
    /// Trials claimed by another process or evaluation.
    pub(super) claimed_elsewhere: Cell<u64>,
}

impl Default for IdleState {
    fn default() -> Self {
        Self {
            since: Cell::new(Instant::now()),
            in_flight: Cell::new(0),
            unsent: Cell::new(0),
            claimed_elsewhere: Cell::new(0),
        }
    }
}

impl EvalRunner<'_, '_> {
    /// Ends all waiting on a shutdown or when a budget is used up, even during a pause, and reports what the evaluation is
    /// waiting for while no responses arrive.
    pub(super) async fn monitor(&self) -> Infallible {
        let mut stop = self.shared.stop.clone();
        loop {
            let next_beat = Instant::now() + HEARTBEAT;
            let deadline = self.shared.budget.deadline().filter(|deadline| *deadline > Instant::now());
            let wake = deadline.map_or(next_beat, |deadline| deadline.min(next_beat));
            tokio::select! {
                () = tokio::time::sleep_until(wake.into()) => {}
                Ok(_) = stop.wait_for(|stop| *stop != Shutdown::None), if !*self.halted.borrow() => {
                    self.halted.send_replace(true);
                }
            }
            // Not if all remaining requests are in flight: the run waits for those anyway.
            if self.idle.unsent.get() > 0
                && !self.is_stopping()
                && let Some(reason) = self.shared.budget.exhausted()
            {
                self.stop_for(&reason).await;
            }
            let idle = self.idle.since.get().elapsed();
            if idle >= HEARTBEAT {
                let closed = |limiter: &Arc<EndpointLimiter>| limiter.closed_until();
                let pause = self.limiters.iter().map(closed).min().flatten();
                let kind = EventKind::Waiting {
                    in_flight: self.idle.in_flight.get(),
                    claimed_elsewhere: self.idle.claimed_elsewhere.get(),
                    idle,
                    pause: pause.map(|until| until.saturating_duration_since(Instant::now())),
                };
                self.emit(kind).await;
            }
        }
    }
}
