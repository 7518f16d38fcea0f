//! How many requests an endpoint gets at once: more while it keeps up, half when it reports overload.

use std::time::{Duration, Instant};

use crate::client::backoff;
use crate::failure_streak::FailureStreak;

/// An additive-increase, multiplicative-decrease (AIMD) window, as in TCP congestion control.
///
/// It grows by one per response at first, and by one per full window of responses once it has been halved. It stops growing
/// while responses take more than [`SLOWDOWN_FACTOR`] times as long per token as with few requests in flight: the endpoint
/// is saturated, and further requests would only queue. A 429 or 503 halves it, once for all requests that were in flight
/// at the first such reply, and pauses it for the time in `Retry-After`.
///
/// An endpoint is down when its consecutive failures are an [outage](FailureStreak::is_outage). It then gets one request at
/// a time, a probe, with growing pauses, until it replies. All other requests wait and restart with a small window.
///
/// Pure: the current time is an argument.
#[derive(Debug)]
pub(crate) struct CongestionWindow {
    size: f64,
    max: f64,
    in_flight: usize,
    is_slow_start: bool,
    /// Seconds per token: the lowest running mean so far, and the current running mean.
    baseline: Option<f64>,
    recent: Option<f64>,
    last_cut: Option<Instant>,
    streak: FailureStreak,
    status: Outcome,
}

/// Whether the endpoint accepts requests.
#[derive(Debug)]
enum Outcome {
    /// Accepts as many as the window has room for.
    Open,
    /// Accepts none before `until`: the endpoint requested a pause or could not be reached.
    Paused { until: Instant },
    /// Accepts one at a time, to detect when it is up again.
    Down(OutageState),
}

/// An endpoint that is down.
#[derive(Debug)]
struct OutageState {
    since: Instant,
    failed_probes: u32,
    next_probe: Instant,
    /// When the probe in flight was sent.
    probe_sent: Option<Instant>,
    /// Pause requested by the endpoint. It may outlast the outage.
    paused_until: Option<Instant>,
}

/// How long an endpoint has been down, and how many probes have failed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) duration: Duration,
    pub(crate) failed_probes: u32,
}

/// How a request failed that may succeed on retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransientFailure {
    /// No connection was established.
    Unreachable,
    /// The endpoint is overloaded, and may specify how long to wait.
    Overloaded(Option<Duration>),
    /// Any other transient failure.
    Other,
}

/// Pause after a failure to connect. Without it, fast failures would make the endpoint look idle and draw every request.
const UNREACHABLE_COOLDOWN: Duration = Duration::from_millis(500);

/// An endpoint is saturated when the time per token exceeds the baseline by this factor.
const SLOWDOWN_FACTOR: f64 = 3.0;
/// Initial number of requests in flight.
const INITIAL_SIZE: f64 = 4.0;
/// Weight of the newest response in the running mean of the time per token.
const EWMA_ALPHA: f64 = 0.1;

impl CongestionWindow {
    /// Creates a window that grows to at most `max` concurrent requests.
    pub(crate) fn new(max: usize) -> Self {
        let max = max.max(1) as f64;
        Self {
            size: INITIAL_SIZE.min(max),
            max,
            in_flight: 0,
            is_slow_start: true,
            baseline: None,
            recent: None,
            last_cut: None,
            streak: FailureStreak::default(),
            status: Outcome::Open,
        }
    }

    /// Current maximum of requests in flight.
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// When the window reopens, if the endpoint requested a pause or is down.
    pub(crate) fn closed_until(&self, now: Instant) -> Option<Instant> {
        let until = match &self.status {
            Outcome::Open => None,
            Outcome::Paused { until } => Some(*until),
            Outcome::Down(outage) => outage.paused_until.max(Some(outage.next_probe)),
        };
        until.filter(|until| *until > now)
    }

    /// Whether a probe is in flight and other requests wait for its result.
    pub(crate) fn is_probing(&self) -> bool {
        matches!(&self.status, Outcome::Down(outage) if outage.probe_sent.is_some())
    }

    /// The endpoint's outage, if it is down.
    pub(crate) fn outage(&self, now: Instant) -> Option<Outage> {
        match &self.status {
            Outcome::Down(outage) => {
                Some(Outage { duration: now - outage.since, failed_probes: outage.failed_probes })
            }
            Outcome::Open | Outcome::Paused { .. } => None,
        }
    }

    /// Counts a request as in flight if it may be sent now.
    pub(crate) fn try_acquire(&mut self, now: Instant) -> bool {
        if self.closed_until(now).is_some() {
            return false;
        }
        let is_free = match &mut self.status {
            Outcome::Down(outage) if outage.probe_sent.is_some() => false,
            Outcome::Down(outage) => {
                outage.probe_sent = Some(now);
                true
            }
            Outcome::Open | Outcome::Paused { .. } => self.in_flight < self.size(),
        };
        self.in_flight += usize::from(is_free);
        is_free
    }

    /// Removes a request sent at `sent` that carries no information about the state of the endpoint.
    pub(crate) fn release(&mut self, sent: Instant) {
        self.in_flight -= 1;
        if let Outcome::Down(outage) = &mut self.status {
            outage.probe_sent.take_if(|probe_sent| *probe_sent == sent);
        }
    }

    /// Records a valid reply without a completion: the endpoint is up.
    pub(crate) fn mark_healthy(&mut self, sent: Instant) {
        self.release(sent);
        self.streak = FailureStreak::default();
        if let Outcome::Down(outage) = &self.status {
            self.status = outage.paused_until.map_or(Outcome::Open, |until| Outcome::Paused { until });
            // The capacity after an outage is unknown: restart with a small window.
            self.size = INITIAL_SIZE.min(self.max);
            self.is_slow_start = true;
        }
    }

    /// Records a response of `tokens` tokens after `latency`.
    pub(crate) fn answered(&mut self, sent: Instant, latency: Duration, tokens: u64) {
        self.mark_healthy(sent);
        let per_token = latency.as_secs_f64() / tokens.max(1) as f64;
        let recent = self.recent.map_or(per_token, |mean| mean + EWMA_ALPHA * (per_token - mean));
        self.recent = Some(recent);
        let baseline = self.baseline.map_or(recent, |lowest| lowest.min(recent));
        self.baseline = Some(baseline);
        if recent <= SLOWDOWN_FACTOR * baseline {
            self.size = (self.size + if self.is_slow_start { 1.0 } else { 1.0 / self.size }).min(self.max);
        } else {
            self.is_slow_start = false;
        }
    }

    /// Records the failure of a request sent at `sent`.
    pub(crate) fn failed(&mut self, sent: Instant, now: Instant, failure: TransientFailure) {
        let is_probe = matches!(&self.status, Outcome::Down(outage) if outage.probe_sent == Some(sent));
        self.release(sent);
        let pause = match failure {
            TransientFailure::Other => None,
            TransientFailure::Unreachable => Some(UNREACHABLE_COOLDOWN),
            TransientFailure::Overloaded(retry_after) => retry_after,
        };
        // Halve only once for all requests that were in flight at the first overload reply.
        if failure != TransientFailure::Other && self.last_cut.is_none_or(|cut| sent > cut) {
            self.size = (self.size / 2.0).max(1.0);
            self.is_slow_start = false;
            self.last_cut = Some(now);
        }
        if let Some(pause) = pause {
            self.pause_until(now + pause);
        }
        self.streak = self.streak.with_failure(failure == TransientFailure::Unreachable, now);
        match &mut self.status {
            Outcome::Down(outage) if is_probe => {
                outage.failed_probes += 1;
                outage.next_probe = now + backoff(outage.failed_probes + 1, 1.0);
            }
            Outcome::Open | Outcome::Paused { .. } if self.streak.is_outage() => self.start_outage(now),
            Outcome::Down(_) | Outcome::Open | Outcome::Paused { .. } => {}
        }
    }

    /// Pauses until then, unless a longer pause is in effect.
    fn pause_until(&mut self, end: Instant) {
        match &mut self.status {
            Outcome::Open => self.status = Outcome::Paused { until: end },
            Outcome::Paused { until } => *until = end.max(*until),
            Outcome::Down(outage) => outage.paused_until = outage.paused_until.max(Some(end)),
        }
    }

    fn start_outage(&mut self, now: Instant) {
        let paused_until = match self.status {
            Outcome::Paused { until } => Some(until),
            Outcome::Open | Outcome::Down(_) => None,
        };
        self.status = Outcome::Down(OutageState {
            since: self.streak.since.unwrap_or(now),
            failed_probes: 0,
            next_probe: now + backoff(1, 1.0),
            probe_sent: None,
            paused_until,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_streak::{MAX_CONNECT_FAILURES, MAX_CONSECUTIVE_FAILURES};

    const SECOND: Duration = Duration::from_secs(1);
    const BUSY: TransientFailure = TransientFailure::Overloaded(None);

    /// Fills the window and answers every request, `rounds` times.
    fn answer_all(window: &mut CongestionWindow, rounds: usize, latency: Duration) {
        let now = Instant::now();
        for _ in 0..rounds {
            while window.try_acquire(now) {}
            for _ in 0..window.in_flight() {
                window.answered(now, latency, 10);
            }
        }
    }

    #[test]
    fn opens_to_the_maximum_while_replies_are_fast() {
        let mut window = CongestionWindow::new(64);
        assert_eq!(window.size(), 4);
        answer_all(&mut window, 10, SECOND);
        assert_eq!(window.size(), 64);
        assert_eq!(CongestionWindow::new(2).size(), 2);
        assert_eq!(CongestionWindow::new(0).size(), 1);
    }

    #[test]
    fn overload_halves_once_per_flight() {
        let mut window = CongestionWindow::new(64);
        answer_all(&mut window, 10, SECOND);
        let sent = Instant::now();
        while window.try_acquire(sent) {}
        for i in 0..10 {
            window.failed(sent, sent + SECOND * i, BUSY);
        }
        assert_eq!((window.size(), window.in_flight()), (32, 54));
        window.failed(sent + SECOND * 20, sent + SECOND * 21, BUSY);
        assert_eq!(window.size(), 16);
        for i in 0..20 {
            window.failed(sent + SECOND * (30 + 2 * i), sent + SECOND * (31 + 2 * i), BUSY);
        }
        assert_eq!(window.size(), 1);
    }

    #[test]
    fn grows_additively_after_a_cut() {
        let mut window = CongestionWindow::new(64);
        answer_all(&mut window, 10, SECOND);
        let now = Instant::now();
        assert!(window.try_acquire(now));
        window.failed(now, now, BUSY);
        assert_eq!(window.size(), 32);
        answer_all(&mut window, 1, SECOND);
        assert_eq!(window.size(), 32);
        answer_all(&mut window, 2, SECOND);
        assert!((33..=35).contains(&window.size()), "{}", window.size());
    }

    #[test]
    fn stays_closed_for_retry_after() {
        let mut window = CongestionWindow::new(8);
        let now = Instant::now();
        assert!(window.try_acquire(now));
        window.failed(now, now, TransientFailure::Overloaded(Some(SECOND * 5)));
        assert!(!window.try_acquire(now + SECOND * 4));
        assert_eq!(window.closed_until(now + SECOND * 4), Some(now + SECOND * 5));
        assert!(window.try_acquire(now + SECOND * 6));
    }

    #[test]
    fn does_not_grow_while_replies_are_slow() {
        let mut window = CongestionWindow::new(1000);
        answer_all(&mut window, 3, SECOND);
        let size = window.size();
        answer_all(&mut window, 1, SECOND * 100);
        let busy = window.size();
        answer_all(&mut window, 5, SECOND * 100);
        assert!(busy < 2 * size + 1 && window.size() == busy, "{size} {busy} {}", window.size());
    }

    /// A window of 64 whose endpoint has just gone down, and the time when it did.
    fn window_of_endpoint_that_is_down() -> (CongestionWindow, Instant) {
        let mut window = CongestionWindow::new(64);
        answer_all(&mut window, 10, SECOND);
        let now = Instant::now();
        while window.try_acquire(now) {}
        for failures in 1..=64 {
            assert_eq!(window.outage(now).is_some(), failures > MAX_CONNECT_FAILURES, "after {failures}");
            window.failed(now, now, TransientFailure::Unreachable);
        }
        (window, now)
    }

    #[test]
    fn probes_an_endpoint_that_is_down_with_backoff() {
        let (mut window, began) = window_of_endpoint_that_is_down();
        let mut now = began;
        for (failed_probes, seconds) in (0..).zip([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]) {
            assert_eq!(window.outage(now), Some(Outage { duration: now - began, failed_probes }));
            assert!(!window.try_acquire(now));
            let next = now + Duration::from_secs_f64(seconds);
            assert_eq!(window.closed_until(now), Some(next));
            assert!(window.try_acquire(next) && window.is_probing() && !window.try_acquire(next));
            now = next + SECOND;
            window.failed(next, now, TransientFailure::Other);
            assert!(!window.is_probing());
        }
    }

    #[test]
    fn recovered_endpoint_starts_over() {
        let (mut window, began) = window_of_endpoint_that_is_down();
        let now = began + SECOND;
        assert!(window.try_acquire(now));
        window.answered(now, SECOND, 10);
        assert_eq!((window.outage(now), window.closed_until(now)), (None, None));
        assert_eq!(window.size(), 5);
        for _ in 0..10 {
            while window.try_acquire(now) {}
            (0..window.in_flight()).for_each(|_| window.answered(now, SECOND, 10));
        }
        assert_eq!(window.size(), 64);
    }

    #[test]
    fn released_probe_lets_another_request_probe() {
        let (mut window, began) = window_of_endpoint_that_is_down();
        let now = began + SECOND;
        assert!(window.try_acquire(now) && !window.try_acquire(now));
        window.release(now);
        assert!(window.try_acquire(now + SECOND));
    }

    #[test]
    fn occasional_failures_are_no_outage() {
        let mut window = CongestionWindow::new(1);
        let now = Instant::now();
        for _ in 0..10 {
            for _ in 1..MAX_CONSECUTIVE_FAILURES {
                assert!(window.try_acquire(now));
                window.failed(now, now, TransientFailure::Other);
            }
            assert_eq!(window.outage(now), None);
            assert!(window.try_acquire(now));
            window.mark_healthy(now);
        }
    }
}
