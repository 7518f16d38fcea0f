//! Counters of trials.

use reasonscape_core::Outcome;
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::{Counters, StatsError};
use serde::Serialize;

use crate::Trial;

/// The counters of a group of trials. Counters of disjoint groups can be added.
///
/// ```
/// use reasonscape_points::TrialCounts;
///
/// let counts = TrialCounts { n: 10, n_e: 6, n_t: 2, g: 1.5, ..TrialCounts::default() };
/// assert_eq!(counts.n_u(), 8);
/// assert_eq!(counts.counters()?.g(), 1.5);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct TrialCounts {
    /// Planned trials, including missing ones.
    pub planned: u64,
    /// Trials with a response.
    pub n: u64,
    /// Correct trials.
    pub n_e: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Expected correct answers from random guessing, summed over completed trials.
    pub g: f64,
    /// Prompt tokens.
    pub prompt_tokens: Mean,
    /// Completion tokens, including reasoning.
    pub completion_tokens: Mean,
    /// Reasoning tokens.
    pub reasoning_tokens: Mean,
    /// Latency in milliseconds, to the last byte.
    pub latency_ms: u64,
    /// Gzip-compressed size in bytes.
    pub compressed_size: u64,
    /// The same trials by problem, if some problem has several samples; otherwise without trials.
    #[serde(skip)]
    pub problems: ClusteredRate,
}

/// A sum and its number of values, since not every provider counts tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Mean {
    /// The sum.
    pub sum: u64,
    /// The number of values.
    pub n: u64,
}

impl Mean {
    /// The mean, or `None` without values.
    pub fn value(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.sum = self.sum.saturating_add(value);
            self.n += 1;
        }
    }
}

impl std::ops::AddAssign for Mean {
    fn add_assign(&mut self, other: Self) {
        // Files of earlier versions have whatever an endpoint claimed.
        self.sum = self.sum.saturating_add(other.sum);
        self.n += other.n;
    }
}

impl TrialCounts {
    /// Completed trials.
    pub fn n_u(&self) -> u64 {
        self.n.saturating_sub(self.n_t)
    }

    /// Planned trials without a response.
    pub fn missing(&self) -> u64 {
        self.planned.saturating_sub(self.n)
    }

    /// The counters that the statistics take.
    ///
    /// # Errors
    /// A [`StatsError`] if the numbers are inconsistent, as those of a damaged file may be.
    pub fn counters(&self) -> Result<Counters, StatsError> {
        // Rounding can make a sum of many thirds exceed the number of trials.
        let g = self.g.min(self.n_u() as f64);
        Counters::new(self.n as f64, self.n_e as f64, self.n_t as f64, g)
    }

    /// Number of problems: that of trials, unless problems have several samples.
    pub fn distinct_problems(&self) -> u64 {
        if self.problems.n() == self.n { self.problems.clusters() } else { self.n }
    }

    /// How many times the variance of the accuracy exceeds that of independent trials: above 1 if problems have several
    /// samples.
    pub fn design_effect(&self) -> f64 {
        let effective = self.problems.effective_n().filter(|_| self.problems.n() == self.n);
        effective.map_or(1.0, |effective| self.n as f64 / effective)
    }

    pub(crate) fn add(&mut self, trial: &Trial) {
        self.n += 1;
        match trial.status {
            Outcome::Truncated => self.n_t += 1,
            Outcome::Correct => self.n_e += 1,
            Outcome::Incorrect => {}
        }
        if trial.status != Outcome::Truncated {
            self.g += trial.guess;
        }
        self.prompt_tokens.add(trial.prompt_tokens);
        self.completion_tokens.add(trial.completion_tokens);
        self.reasoning_tokens.add(trial.reasoning_tokens);
        self.latency_ms = self.latency_ms.saturating_add(trial.latency_ms);
        self.compressed_size += trial.compressed_size;
    }
}

impl std::ops::AddAssign for TrialCounts {
    fn add_assign(&mut self, other: Self) {
        self.planned += other.planned;
        self.n += other.n;
        self.n_e += other.n_e;
        self.n_t += other.n_t;
        self.g += other.g;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.reasoning_tokens += other.reasoning_tokens;
        self.latency_ms = self.latency_ms.saturating_add(other.latency_ms);
        self.compressed_size += other.compressed_size;
        self.problems.merge(&other.problems);
    }
}
