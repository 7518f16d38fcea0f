//! The trial counts that most statistics are computed from.

use std::iter::Sum;
use std::ops::Add;

use crate::{StatsError, non_negative};

/// Outcome counts of a group of trials.
///
/// A trial is correct, incorrect or truncated. Trials without a response (after a network failure, say) are in no
/// counter. Counts are real-valued to allow partial credit and weights.
///
/// ```
/// use reasonscape_stats::Counters;
///
/// let counters = Counters::new(128.0, 100.0, 5.0, 12.3)?;
/// assert_eq!(counters.n_u(), 123.0);
/// assert!(Counters::new(3.0, 5.0, 0.0, 0.0).is_err());
///
/// let both: Counters = [counters, counters].into_iter().sum();
/// assert_eq!(both.n(), 256.0);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counters {
    n: f64,
    n_e: f64,
    n_t: f64,
    g: f64,
}

impl Counters {
    /// Validated counters: `n` trials, `n_e` of them correct, `n_t` truncated, and `g` the sum of the guess
    /// probabilities (one over the number of options; 0 for free-form answers) of the **completed** ones.
    ///
    /// # Errors
    /// A [`StatsError`] when a count is negative or not finite, when `n_e + n_t > n`, or when `g` exceeds the
    /// completed trials `n - n_t`.
    pub fn new(n: f64, n_e: f64, n_t: f64, g: f64) -> Result<Self, StatsError> {
        let counters = Self {
            n: non_negative("n", n)?,
            n_e: non_negative("n_e", n_e)?,
            n_t: non_negative("n_t", n_t)?,
            g: non_negative("g", g)?,
        };
        if n_e + n_t > n {
            return Err(StatsError::TooManyOutcomes { n, n_e, n_t });
        }
        // A sum of a million thirds may exceed the total by a rounding error.
        if g > counters.n_u() * (1.0 + 1e-9) {
            return Err(StatsError::TooManyGuesses { g, n_u: counters.n_u() });
        }
        Ok(counters)
    }

    /// All trials.
    pub fn n(&self) -> f64 {
        self.n
    }

    /// Correct trials; these are always completed.
    pub fn n_e(&self) -> f64 {
        self.n_e
    }

    /// Truncated trials: those that reached the token limit before they answered.
    pub fn n_t(&self) -> f64 {
        self.n_t
    }

    /// Completed trials, `n - n_t`.
    pub fn n_u(&self) -> f64 {
        self.n - self.n_t
    }

    /// Sum of the guess probabilities of the completed trials.
    pub fn g(&self) -> f64 {
        self.g
    }
}

impl Add for Counters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            n: self.n + other.n,
            n_e: self.n_e + other.n_e,
            n_t: self.n_t + other.n_t,
            g: self.g + other.g,
        }
    }
}

impl Sum for Counters {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_impossible_counts_by_name() {
        let message = |n, n_e, n_t, g| Counters::new(n, n_e, n_t, g).unwrap_err().to_string();
        assert_eq!(message(-1.0, 0.0, 0.0, 0.0), "`n` is -1, but must be 0 or more");
        assert_eq!(message(5.0, f64::NAN, 0.0, 0.0), "`n_e` is NaN, but must be a finite number");
        assert_eq!(message(10.0, 6.0, 5.0, 0.0), "`n_e` + `n_t` is 6 + 5 = 11, more than `n` = 10 trials");
        assert_eq!(message(10.0, 2.0, 5.0, 6.0), "`g` is 6, more than the `n_u` = 5 completed trials");
    }
}
