//! Estimates with confidence intervals, and the Wilson score interval they are built from.

use crate::{Confidence, StatsError, finite};

/// A proportion with its confidence interval.
///
/// ```
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = wilson(8.0, 10.0, Confidence::P95)?;
/// assert_eq!(proportion.point, Some(0.8));
/// assert!(proportion.low < 0.8 && 0.8 < proportion.high);
/// assert_eq!(proportion.center(), (proportion.low + proportion.high) / 2.0);
/// assert_eq!(proportion.margin(), (proportion.high - proportion.low) / 2.0);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The observed ratio; `None` without trials.
    pub point: Option<f64>,
}

impl Interval {
    /// The interval without information, from 0 to 1.
    pub const UNKNOWN: Interval = Interval { low: 0.0, high: 1.0, point: None };

    /// The midpoint, `(low + high) / 2`.
    ///
    /// The midpoint of a Wilson interval is shrunk towards one half; [`point`](Self::point) is the
    /// observed ratio.
    pub fn center(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    /// Half the width, `(high - low) / 2`.
    pub fn margin(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The interval of the complement, `1 - x`.
    pub(crate) fn complement(self) -> Interval {
        Interval { low: 1.0 - self.high, high: 1.0 - self.low, point: self.point.map(|p| 1.0 - p) }
    }

    /// The interval of a product of two proportions, by interval arithmetic (Bonferroni: each factor keeps its z).
    pub(crate) fn times(self, other: Interval) -> Interval {
        let point = self.point.zip(other.point).map(|(a, b)| a * b);
        Interval { low: self.low * other.low, high: self.high * other.high, point }
    }
}

/// The Wilson score interval for `k` successes in `n` trials, both real-valued.
///
/// The bounds are the proportions `p` that a normal test at `z` just fails to reject: the roots of
/// `(k - n p)^2 = z^2 n p (1 - p)`, which are
///
/// ```text
/// (k + z^2/2 ± z sqrt(k (n - k) / n + z^2/4)) / (n + z^2)
/// ```
///
/// `k` is clamped to `[0, n]`, because a guess-corrected count can be negative (worse than chance).
/// `n <= 0` gives `[0, 1]` without a point. `k = 0` gives `low = 0` and `k = n` gives `high = 1`,
/// exactly. Assumes independent trials with a common success probability.
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
///
/// ```
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = wilson(0.0, 20.0, Confidence::P95)?;
/// assert_eq!(proportion.low, 0.0);
/// assert!((proportion.high - 0.1611).abs() < 1e-4);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::NotFinite`] when `k` or `n` is NaN or infinite.
pub fn wilson(k: f64, n: f64, confidence: Confidence) -> Result<Interval, StatsError> {
    Ok(wilson_unchecked(finite("k", k)?, finite("n", n)?, confidence))
}

/// [`wilson`] for arguments known to be finite.
pub(crate) fn wilson_unchecked(k: f64, n: f64, confidence: Confidence) -> Interval {
    if n <= 0.0 {
        return Interval::UNKNOWN;
    }
    let k = k.clamp(0.0, n);
    let (low, missed) = (lower_root(k, n, confidence.z()), lower_root(n - k, n, confidence.z()));
    // With very many trials, rounding can move a bound past the point estimate.
    let point = k / n;
    Interval { low: low.min(point), high: (1.0 - missed).max(point), point: Some(point) }
}

/// The smaller root, computed from the product of the roots to avoid cancellation for small `k`.
fn lower_root(k: f64, n: f64, z: f64) -> f64 {
    // Divide first: the square of a small `k` may underflow.
    let spread = z * (k * ((n - k) / n) + z * z / 4.0).sqrt();
    (k / n) * (k / (k + z * z / 2.0 + spread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The textbook formula, written out as the paper has it.
    fn textbook(k: f64, n: f64, z: f64) -> (f64, f64) {
        let p = k / n;
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (middle - half, middle + half)
    }

    proptest! {
        #[test]
        fn wilson_equals_textbook_formula(n in 0.1..1e5_f64, proportion in 0.0..=1.0_f64) {
            let found = wilson(proportion * n, n, Confidence::P95).unwrap();
            let (low, high) = textbook(proportion * n, n, Confidence::P95.z());
            prop_assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12);
        }

        #[test]
        fn interval_contains_point_and_stays_in_unit_range(n in 1e-300..1e300_f64, k in -1e300..1e300_f64) {
            let found = wilson(k, n, Confidence::P95).unwrap();
            let point = found.point.unwrap();
            prop_assert!(0.0 <= found.low && found.low <= point && point <= found.high && found.high <= 1.0);
        }

        #[test]
        fn interval_narrows_with_more_trials(n in 1.0..1e6_f64, proportion in 0.0..=1.0_f64) {
            let few = wilson(proportion * n, n, Confidence::P95).unwrap();
            let many = wilson(proportion * n * 4.0, n * 4.0, Confidence::P95).unwrap();
            prop_assert!(many.margin() < few.margin());
        }
    }

    #[test]
    fn bounds_are_exact_at_zero_and_one() {
        for n in [0.3, 1.0, 7.0, 128.0, 1e9] {
            assert_eq!(wilson(0.0, n, Confidence::P95).unwrap().low, 0.0);
            assert_eq!(wilson(n, n, Confidence::P95).unwrap().high, 1.0);
            assert_eq!(wilson(-3.5, n, Confidence::P95), wilson(0.0, n, Confidence::P95));
        }
    }

    #[test]
    fn no_trials_gives_unknown_interval() {
        assert_eq!(wilson(3.0, 0.0, Confidence::P95).unwrap(), Interval::UNKNOWN);
        assert_eq!(wilson(0.0, -1.0, Confidence::P95).unwrap(), Interval::UNKNOWN);
    }

    #[test]
    fn rejects_nan_by_name() {
        let error = wilson(f64::NAN, 3.0, Confidence::P95).unwrap_err();
        assert_eq!(error.to_string(), "`k` is NaN, but must be a finite number");
        assert!(wilson(1.0, f64::INFINITY, Confidence::P95).is_err());
    }
}
