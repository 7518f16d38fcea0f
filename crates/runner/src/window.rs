//! How many requests an endpoint is given at once: more while it copes, half when it says stop.

use std::time::{Duration, Instant};

/// An additive-increase, multiplicative-decrease window, as congestion control on the Internet has it.
///
/// It opens by one for each answer at first, and by one for each full window of answers once it has been cut. While
/// answers take more than [`SLOWER`] times as long per token as they did with few requests in flight, it does not
/// open further: the endpoint is busy, and more would only wait. A 429 or 503 halves it, once for all requests that
/// were in flight when the first of them came, and closes it for as long as `Retry-After` asks.
///
/// Pure: time is an argument.
#[derive(Debug)]
pub(crate) struct Window {
    size: f64,
    most: f64,
    in_flight: usize,
    doubling: bool,
    /// Seconds per token when the endpoint was at ease, and lately.
    at_ease: Option<f64>,
    lately: Option<f64>,
    last_cut: Option<Instant>,
    closed_until: Option<Instant>,
}

/// An endpoint is busy when a token takes this many times as long as it did at ease.
const SLOWER: f64 = 3.0;
/// Requests in flight at the start.
const FIRST: f64 = 4.0;
/// Weight of the newest answer in the running mean of the time per token.
const NEWEST: f64 = 0.1;

impl Window {
    /// A window that opens to `most` requests at once.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.max(1) as f64;
        Self {
            size: FIRST.min(most),
            most,
            in_flight: 0,
            doubling: true,
            at_ease: None,
            lately: None,
            last_cut: None,
            closed_until: None,
        }
    }

    /// How many requests may be in flight.
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// When it opens again, if the endpoint asked for a pause.
    pub(crate) fn closed_until(&self, now: Instant) -> Option<Instant> {
        self.closed_until.filter(|until| *until > now)
    }

    /// Takes a place if there is one.
    pub(crate) fn enter(&mut self, now: Instant) -> bool {
        let open = self.closed_until(now).is_none() && self.in_flight < self.size();
        if open {
            self.in_flight += 1;
        }
        open
    }

    /// A request has ended without telling anything about how busy the endpoint is.
    pub(crate) fn leave(&mut self) {
        self.in_flight -= 1;
    }

    /// An answer of `tokens` tokens came after `latency`.
    pub(crate) fn answered(&mut self, latency: Duration, tokens: u64) {
        self.leave();
        let per_token = latency.as_secs_f64() / tokens.max(1) as f64;
        let lately = self.lately.map_or(per_token, |mean| mean + NEWEST * (per_token - mean));
        self.lately = Some(lately);
        let at_ease = self.at_ease.map_or(lately, |ease| ease.min(lately));
        self.at_ease = Some(at_ease);
        if lately <= SLOWER * at_ease {
            self.size = (self.size + if self.doubling { 1.0 } else { 1.0 / self.size }).min(self.most);
        } else {
            self.doubling = false;
        }
    }

    /// The endpoint said that it has too much to do, and perhaps for how long to leave it alone.
    pub(crate) fn refused(&mut self, sent: Instant, now: Instant, retry_after: Option<Duration>) {
        self.leave();
        // One cut for all requests that were under way when the endpoint first complained.
        if self.last_cut.is_none_or(|cut| sent > cut) {
            self.size = (self.size / 2.0).max(1.0);
            self.doubling = false;
            self.last_cut = Some(now);
        }
        if let Some(pause) = retry_after {
            let until = now + pause;
            self.closed_until = Some(self.closed_until.map_or(until, |before| before.max(until)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Fills the window and answers everything, `rounds` times.
    fn answer_all(window: &mut Window, rounds: usize, latency: Duration) {
        let now = Instant::now();
        for _ in 0..rounds {
            while window.enter(now) {}
            for _ in 0..window.in_flight() {
                window.answered(latency, 10);
            }
        }
    }

    #[test]
    fn it_opens_to_its_most_while_the_endpoint_copes() {
        let mut window = Window::new(64);
        assert_eq!(window.size(), 4);
        answer_all(&mut window, 10, SECOND);
        assert_eq!(window.size(), 64);
        assert_eq!(Window::new(2).size(), 2);
        assert_eq!(Window::new(0).size(), 1);
    }

    #[test]
    fn a_refusal_halves_it_once_for_all_that_were_in_flight() {
        let mut window = Window::new(64);
        answer_all(&mut window, 10, SECOND);
        let sent = Instant::now();
        while window.enter(sent) {}
        for i in 0..10 {
            window.refused(sent, sent + SECOND * i, None);
        }
        assert_eq!((window.size(), window.in_flight()), (32, 54));
        window.refused(sent + SECOND * 20, sent + SECOND * 21, None);
        assert_eq!(window.size(), 16);
        for i in 0..20 {
            window.refused(sent + SECOND * (30 + 2 * i), sent + SECOND * (31 + 2 * i), None);
        }
        assert_eq!(window.size(), 1);
    }

    #[test]
    fn after_a_cut_it_opens_by_one_a_window() {
        let mut window = Window::new(64);
        answer_all(&mut window, 10, SECOND);
        let now = Instant::now();
        assert!(window.enter(now));
        window.refused(now, now, None);
        assert_eq!(window.size(), 32);
        answer_all(&mut window, 1, SECOND);
        assert_eq!(window.size(), 32);
        answer_all(&mut window, 2, SECOND);
        assert!((33..=35).contains(&window.size()), "{}", window.size());
    }

    #[test]
    fn it_stays_closed_for_as_long_as_the_endpoint_asks() {
        let mut window = Window::new(8);
        let now = Instant::now();
        assert!(window.enter(now));
        window.refused(now, now, Some(SECOND * 5));
        assert!(!window.enter(now + SECOND * 4));
        assert_eq!(window.closed_until(now + SECOND * 4), Some(now + SECOND * 5));
        assert!(window.enter(now + SECOND * 6));
    }

    #[test]
    fn it_does_not_open_further_while_answers_are_slow() {
        let mut window = Window::new(1000);
        answer_all(&mut window, 3, SECOND);
        let size = window.size();
        answer_all(&mut window, 1, SECOND * 100);
        let busy = window.size();
        answer_all(&mut window, 5, SECOND * 100);
        assert!(busy < 2 * size + 1 && window.size() == busy, "{size} {busy} {}", window.size());
    }
}
