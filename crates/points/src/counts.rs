//! Counting trials.

use reasonscape_core::Outcome;
use reasonscape_stats::{Counters, StatsError};
use serde::Serialize;

use crate::Trial;

/// What a group of trials adds up to. Adding two groups is adding their numbers.
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
    /// Trials that were planned; those that were not answered are missing.
    pub planned: u64,
    /// Trials that were answered.
    pub n: u64,
    /// Correct ones.
    pub n_e: u64,
    /// Truncated ones.
    pub n_t: u64,
    /// What blind guessing would have got right, summed over completed trials.
    pub g: f64,
    /// Tokens of the prompts.
    pub prompt_tokens: Mean,
    /// Tokens of the completions, reasoning included.
    pub completion_tokens: Mean,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Mean,
    /// Milliseconds to the last byte.
    pub latency_ms: u64,
    /// Bytes after gzip.
    pub compressed_size: u64,
}

/// A sum and how many values are in it, since not every provider counts tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Mean {
    /// The sum.
    pub sum: u64,
    /// How many values.
    pub n: u64,
}

impl Mean {
    /// The mean, if there is anything to take it of.
    pub fn value(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    fn add(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.sum += value;
            self.n += 1;
        }
    }
}

impl std::ops::AddAssign for Mean {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.n += other.n;
    }
}

impl TrialCounts {
    /// Completed trials.
    pub fn n_u(&self) -> u64 {
        self.n.saturating_sub(self.n_t)
    }

    /// Trials that were planned and not answered.
    pub fn missing(&self) -> u64 {
        self.planned.saturating_sub(self.n)
    }

    /// What the statistics read.
    ///
    /// # Errors
    /// A [`StatsError`] when the numbers contradict each other, as those of a damaged file may.
    pub fn counters(&self) -> Result<Counters, StatsError> {
        // A sum of many thirds may exceed what it is a share of by rounding.
        let g = self.g.min(self.n_u() as f64);
        Counters::new(self.n as f64, self.n_e as f64, self.n_t as f64, g)
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
        self.latency_ms += trial.latency_ms;
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
        self.latency_ms += other.latency_ms;
        self.compressed_size += other.compressed_size;
    }
}
