//! The simulated model, and its coverage: summed over every outcome, or simulated trial by trial.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Assumption, Confidence, Counters, Event, Mode};

pub(crate) const TRUE_P: [f64; 7] = [0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0];
const TRUNCATION: [f64; 3] = [0.0, 0.1, 0.4];
const OPTIONS: [u32; 4] = [0, 2, 4, 10];
pub(crate) const TRIALS: [u32; 3] = [32, 128, 512];

/// One cell of the study.
#[derive(Clone, Copy)]
pub(crate) struct Design {
    /// Probability that a trial knows its answer.
    pub(crate) p: f64,
    /// Probability that a trial is truncated, independent of whether it knows the answer.
    pub(crate) truncation: f64,
    /// 0 for a free-form task, which can't be guessed.
    pub(crate) options: u32,
    pub(crate) n: u32,
}

impl Design {
    pub(crate) fn all() -> Vec<Design> {
        let mut designs = Vec::new();
        for options in OPTIONS {
            for truncation in TRUNCATION {
                for n in TRIALS {
                    designs.extend(TRUE_P.map(|p| Design { p, truncation, options, n }));
                }
            }
        }
        designs
    }

    fn chance(&self) -> f64 {
        if self.options == 0 { 0.0 } else { 1.0 / f64::from(self.options) }
    }

    /// Probability that a completed trial is correct, by knowledge or by luck.
    fn equality(&self) -> f64 {
        self.p + (1.0 - self.p) * self.chance()
    }

    /// The true value of what a mode estimates.
    fn truth(&self, mode: Mode) -> f64 {
        let of_completed = match mode.event {
            Event::Equality => self.equality(),
            Event::Correctness | Event::Calibrated => self.p,
        };
        match mode.assumption {
            Assumption::Independence => of_completed,
            Assumption::Pessimism => of_completed * (1.0 - self.truncation),
            Assumption::Optimism => 1.0 - (1.0 - of_completed) * (1.0 - self.truncation),
        }
    }

    /// Whether a mode's interval contains the true value, given the observed `truncated` and `correct`.
    fn covers(&self, mode: Mode, truncated: u32, correct: u32) -> bool {
        let (n, n_t) = (f64::from(self.n), f64::from(truncated));
        let counters = Counters::new(n, f64::from(correct), n_t, (n - n_t) * self.chance())
            .expect("at most as many correct as completed");
        let interval = mode.estimate(&counters, Confidence::P95);
        // A true value of exactly 0 or 1 must not be lost to the last bit of a product.
        let (low, high) = (interval.low - 1e-12, interval.high + 1e-12);
        (low..=high).contains(&self.truth(mode))
    }

    /// Coverage of each mode, summed over every outcome.
    pub(crate) fn coverage<const MODES: usize>(&self, modes: [Mode; MODES]) -> [f64; MODES] {
        let mut covered = [0.0; MODES];
        for (truncated, outer) in likely(self.n, self.truncation) {
            for (correct, inner) in likely(self.n - truncated, self.equality()) {
                for (sum, mode) in covered.iter_mut().zip(modes) {
                    if self.covers(mode, truncated, correct) {
                        *sum += outer * inner;
                    }
                }
            }
        }
        covered
    }

    /// Coverage in `repeats` evaluations simulated trial by trial.
    pub(crate) fn simulated(&self, repeats: u32, seed: u32) -> [f64; 9] {
        let mut rng = PyRandom::new(seed);
        let mut covered = [0_u32; 9];
        for _ in 0..repeats {
            let (mut truncated, mut correct) = (0, 0);
            for _ in 0..self.n {
                if rng.random() < self.truncation {
                    truncated += 1;
                } else if rng.random() < self.p || rng.random() < self.chance() {
                    correct += 1;
                }
            }
            for (count, mode) in covered.iter_mut().zip(Mode::ALL) {
                *count += u32::from(self.covers(mode, truncated, correct));
            }
        }
        covered.map(|count| f64::from(count) / f64::from(repeats))
    }
}

/// The outcomes of a binomial with non-negligible probability.
///
/// Computed from ratios of neighboring outcomes, outwards from the mode, so that nothing underflows.
fn likely(n: u32, p: f64) -> Vec<(u32, f64)> {
    const NEGLIGIBLE: f64 = 1e-14;
    let peak = ((f64::from(n) + 1.0) * p).floor().min(f64::from(n)) as u32;
    let mut outcomes = vec![(peak, 1.0)];
    let mut weight = 1.0;
    for k in peak..n {
        weight *= f64::from(n - k) / f64::from(k + 1) * (p / (1.0 - p));
        if weight < NEGLIGIBLE {
            break;
        }
        outcomes.push((k + 1, weight));
    }
    weight = 1.0;
    for k in (1..=peak).rev() {
        weight *= f64::from(k) / f64::from(n - k + 1) * ((1.0 - p) / p);
        if weight < NEGLIGIBLE {
            break;
        }
        outcomes.push((k - 1, weight));
    }
    let total: f64 = outcomes.iter().map(|(_, weight)| weight).sum();
    for (_, weight) in &mut outcomes {
        *weight /= total;
    }
    outcomes
}
