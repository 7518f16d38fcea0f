//! How many requests an endpoint is given at once: more while it copes, half when it says stop.

use std::time::{Duration, Instant};

use crate::client::backoff;
use crate::failure_streak::FailureStreak;

/// An additive-increase, multiplicative-decrease window, as congestion control on the Internet has it.
///
/// It opens by one for each answer at first, and by one for each full window of answers once it has been cut. While
/// answers take more than [`SLOWDOWN_FACTOR`] times as long per token as they did with few requests in flight, it does
/// not open further: the endpoint is busy, and more would only wait. A 429 or 503 halves it, once for all requests that
/// were in flight when the first of them came, and closes it for as long as `Retry-After` asks.
///
/// An endpoint is down when its failures in a row are an [outage](FailureStreak::is_outage). It is then sent one request
/// at a time, with growing pauses, until it answers; all others wait, and start over with few requests when it does.
///
/// Pure: time is an argument.
#[derive(Debug)]
pub(crate) struct CongestionWindow {
    size: f64,
    max: f64,
    in_flight: usize,
    is_slow_start: bool,
    /// Seconds per token: the lowest running mean so far, and the running mean now.
    baseline: Option<f64>,
    recent: Option<f64>,
    last_cut: Option<Instant>,
    closed_until: Option<Instant>,
    streak: FailureStreak,
    /// When the first failure of the streak came.
    streak_since: Option<Instant>,
    down: Option<OutageState>,
}

/// An endpoint that is down.
#[derive(Debug)]
struct OutageState {
    since: Instant,
    /// Requests that have tried it since.
    tries: u32,
    /// When the next may.
    next: Instant,
    /// When the one was sent that tries it now.
    trying: Option<Instant>,
}

/// How long an endpoint has been down, and how often it was tried in that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outage {
    pub(crate) lasting: Duration,
    pub(crate) tries: u32,
}

/// How a request failed that may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There was no connection.
    Unreachable,
    /// The endpoint has too much to do, and may say for how long to wait.
    Overloaded(Option<Duration>),
    /// Anything else.
    Other,
}

/// How long an endpoint is left alone that could not be reached. Failing fast, it would look as if it had all the time
/// in the world.
const UNREACHABLE_COOLDOWN: Duration = Duration::from_millis(500);

/// An endpoint is busy when a token takes this many times as long as the baseline.
const SLOWDOWN_FACTOR: f64 = 3.0;
/// Requests in flight at the start.
const INITIAL_SIZE: f64 = 4.0;
/// Weight of the newest answer in the running mean of the time per token.
const EWMA_ALPHA: f64 = 0.1;

impl CongestionWindow {
    /// A window that opens to `max` requests at once.
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
            closed_until: None,
            streak: FailureStreak::default(),
            streak_since: None,
            down: None,
        }
    }

    /// How many requests may be in flight.
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// When it opens again, if the endpoint asked for a pause or is down.
    pub(crate) fn closed_until(&self, now: Instant) -> Option<Instant> {
        let next = self.down.as_ref().map(|down| down.next);
        self.closed_until.max(next).filter(|until| *until > now)
    }

    /// Whether one request tries an endpoint that is down, and the others wait for what becomes of it.
    pub(crate) fn is_trying(&self) -> bool {
        self.down.as_ref().is_some_and(|down| down.trying.is_some())
    }

    /// The endpoint's outage, if it is down.
    pub(crate) fn outage(&self, now: Instant) -> Option<Outage> {
        let outage = |down: &OutageState| Outage { lasting: now - down.since, tries: down.tries };
        self.down.as_ref().map(outage)
    }

    /// Takes a place if there is one.
    pub(crate) fn enter(&mut self, now: Instant) -> bool {
        if self.closed_until(now).is_some() {
            return false;
        }
        let open = match &mut self.down {
            Some(down) if down.trying.is_some() => false,
            Some(down) => {
                down.trying = Some(now);
                true
            }
            None => self.in_flight < self.size(),
        };
        self.in_flight += usize::from(open);
        open
    }

    /// A request that was sent then has ended without telling anything about the endpoint.
    pub(crate) fn release(&mut self, sent: Instant) {
        self.in_flight -= 1;
        if let Some(down) = &mut self.down {
            down.trying.take_if(|trying| *trying == sent);
        }
    }

    /// The endpoint sent a reply that makes sense, if no answer: it is up.
    pub(crate) fn mark_healthy(&mut self, sent: Instant) {
        self.release(sent);
        self.streak = FailureStreak::default();
        self.streak_since = None;
        if self.down.take().is_some() {
            // As if it had just been met.
            self.size = INITIAL_SIZE.min(self.max);
            self.is_slow_start = true;
        }
    }

    /// An answer of `tokens` tokens came after `latency`.
    pub(crate) fn answered(&mut self, sent: Instant, latency: Duration, tokens: u64) {
        self.mark_healthy(sent);
        let per_token = latency.as_secs_f64() / tokens.max(1) as f64;
        let recent = self.recent.map_or(per_token, |mean| mean + EWMA_ALPHA * (per_token - mean));
        self.recent = Some(recent);
        let baseline = self.baseline.map_or(recent, |ease| ease.min(recent));
        self.baseline = Some(baseline);
        if recent <= SLOWDOWN_FACTOR * baseline {
            self.size = (self.size + if self.is_slow_start { 1.0 } else { 1.0 / self.size }).min(self.max);
        } else {
            self.is_slow_start = false;
        }
    }

    /// A request that was sent then has failed now.
    pub(crate) fn failed(&mut self, sent: Instant, now: Instant, failure: Failure) {
        let tried = self.down.as_ref().is_some_and(|down| down.trying == Some(sent));
        self.release(sent);
        let pause = match failure {
            Failure::Other => None,
            Failure::Unreachable => Some(UNREACHABLE_COOLDOWN),
            Failure::Overloaded(retry_after) => retry_after,
        };
        // One cut for all requests that were under way when the endpoint first complained.
        if failure != Failure::Other && self.last_cut.is_none_or(|cut| sent > cut) {
            self.size = (self.size / 2.0).max(1.0);
            self.is_slow_start = false;
            self.last_cut = Some(now);
        }
        self.closed_until = self.closed_until.max(pause.map(|pause| now + pause));
        let since = *self.streak_since.get_or_insert(now);
        self.streak = self.streak.with_failure(failure == Failure::Unreachable);
        match &mut self.down {
            Some(down) if tried => {
                down.tries += 1;
                down.next = now + backoff(down.tries + 1, 1.0);
            }
            None if self.streak.is_outage() => {
                self.down = Some(OutageState { since, tries: 0, next: now + backoff(1, 1.0), trying: None });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_streak::{MAX_CONNECT_FAILURES, MAX_CONSECUTIVE_FAILURES};

    const SECOND: Duration = Duration::from_secs(1);
    const BUSY: Failure = Failure::Overloaded(None);

    /// Fills the window and answers everything, `rounds` times.
    fn answer_all(window: &mut CongestionWindow, rounds: usize, latency: Duration) {
        let now = Instant::now();
        for _ in 0..rounds {
            while window.enter(now) {}
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
        while window.enter(sent) {}
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
        assert!(window.enter(now));
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
        assert!(window.enter(now));
        window.failed(now, now, Failure::Overloaded(Some(SECOND * 5)));
        assert!(!window.enter(now + SECOND * 4));
        assert_eq!(window.closed_until(now + SECOND * 4), Some(now + SECOND * 5));
        assert!(window.enter(now + SECOND * 6));
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

    /// A window of 64 whose endpoint has just failed so often that it is down, and when that was.
    fn down() -> (CongestionWindow, Instant) {
        let mut window = CongestionWindow::new(64);
        answer_all(&mut window, 10, SECOND);
        let now = Instant::now();
        while window.enter(now) {}
        for failures in 1..=64 {
            assert_eq!(window.outage(now).is_some(), failures > MAX_CONNECT_FAILURES, "after {failures}");
            window.failed(now, now, Failure::Unreachable);
        }
        (window, now)
    }

    #[test]
    fn probes_an_endpoint_that_is_down_with_backoff() {
        let (mut window, began) = down();
        let mut now = began;
        for (tries, seconds) in (0..).zip([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]) {
            assert_eq!(window.outage(now), Some(Outage { lasting: now - began, tries }));
            assert!(!window.enter(now));
            let next = now + Duration::from_secs_f64(seconds);
            assert_eq!(window.closed_until(now), Some(next));
            assert!(window.enter(next) && window.is_trying() && !window.enter(next));
            now = next + SECOND;
            window.failed(next, now, Failure::Other);
            assert!(!window.is_trying());
        }
    }

    #[test]
    fn recovered_endpoint_starts_over() {
        let (mut window, began) = down();
        let now = began + SECOND;
        assert!(window.enter(now));
        window.answered(now, SECOND, 10);
        assert_eq!((window.outage(now), window.closed_until(now)), (None, None));
        assert_eq!(window.size(), 5);
        for _ in 0..10 {
            while window.enter(now) {}
            (0..window.in_flight()).for_each(|_| window.answered(now, SECOND, 10));
        }
        assert_eq!(window.size(), 64);
    }

    #[test]
    fn released_probe_lets_another_request_probe() {
        let (mut window, began) = down();
        let now = began + SECOND;
        assert!(window.enter(now) && !window.enter(now));
        window.release(now);
        assert!(window.enter(now + SECOND));
    }

    #[test]
    fn occasional_failures_are_no_outage() {
        let mut window = CongestionWindow::new(1);
        let now = Instant::now();
        for _ in 0..10 {
            for _ in 1..MAX_CONSECUTIVE_FAILURES {
                assert!(window.enter(now));
                window.failed(now, now, Failure::Other);
            }
            assert_eq!(window.outage(now), None);
            assert!(window.enter(now));
            window.mark_healthy(now);
        }
    }
}
