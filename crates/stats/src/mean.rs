//! Means of measurements with Student's t intervals.

use crate::student_t::{quantile, two_sided_tail};
use crate::{Confidence, StatsError, finite};

/// Running count, mean and sum of squared deviations: enough for a mean with its interval, in constant memory.
///
/// Values are added with Welford's update and partial results merged with Chan's; both avoid cancellation. A different
/// order or split over threads changes the mean and the bounds only by rounding: at most about `n` half-units in the last
/// place, in practice a few.
///
/// Source: T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance", Am. Statist. 37
/// (1983).
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::mean::Moments;
///
/// let mut latency = Moments::default();
/// for milliseconds in [120.0, 80.0, 100.0] {
///     latency.add(milliseconds)?;
/// }
/// assert_eq!(latency.mean(), Some(100.0));
/// let bounds = latency.interval(Confidence::P95).expect("three values have a spread");
/// assert_eq!(format!("{:.1} to {:.1}", bounds.low, bounds.high), "50.3 to 149.7");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[expect(clippy::doc_markdown, reason = "LeVeque is a name")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
}

/// Bounds of an unbounded quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Moments {
    /// Adds a value.
    ///
    /// # Errors
    /// [`StatsError::NotFinite`] if the value is not finite; it is then not added.
    pub fn add(&mut self, value: f64) -> Result<(), StatsError> {
        finite("value", value)?;
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
        Ok(())
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        if self.n == 0 || other.n == 0 {
            if other.n > 0 {
                *self = *other;
            }
            return;
        }
        let (ours, theirs) = (self.n as f64, other.n as f64);
        let both = ours + theirs;
        let apart = other.mean - self.mean;
        self.n += other.n;
        self.mean += apart * (theirs / both);
        self.squares += other.squares + apart * apart * (ours * theirs / both);
    }

    /// Number of values.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then_some(self.mean)
    }

    /// The sample variance (denominator `n - 1`); `None` with fewer than two values.
    pub fn variance(&self) -> Option<f64> {
        (self.n > 1).then(|| self.squares / (self.n - 1) as f64)
    }

    /// Student's t interval of the mean, `mean ± t sqrt(variance / n)`; `None` with fewer than two values.
    ///
    /// Assumes independent values, and enough of them (a few dozen if they are skewed, as token counts are) for their mean
    /// to be approximately normal.
    pub fn interval(&self, confidence: Confidence) -> Option<Bounds> {
        let error = (self.variance()? / self.n as f64).sqrt();
        let reach = quantile(self.n - 1, confidence) * error;
        Some(Bounds { low: self.mean - reach, high: self.mean + reach })
    }

    /// The two-sided p-value of Student's t test that the true mean is zero.
    ///
    /// `None` for fewer than two values, and if all values are equal but not zero: without variance the test is undefined.
    ///
    /// ```
    /// use reasonscape_stats::mean::Moments;
    ///
    /// let mut moments = Moments::default();
    /// for value in [0.5, 0.5, 0.0] {
    ///     moments.add(value)?;
    /// }
    /// // t is 2 at 2 degrees of freedom.
    /// assert!((moments.p_value_of_zero().expect("three values") - (1.0 - 2.0 / 6.0_f64.sqrt())).abs() < 1e-12);
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    pub fn p_value_of_zero(&self) -> Option<f64> {
        let (mean, variance) = (self.mean()?, self.variance()?);
        if variance == 0.0 {
            return (mean == 0.0).then_some(1.0);
        }
        Some(two_sided_tail(mean / (variance / self.n as f64).sqrt(), (self.n - 1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for &value in values {
            moments.add(value).unwrap();
        }
        moments
    }

    proptest! {
        #[test]
        fn merging_parts_equals_whole(values in prop::collection::vec(-1e6..1e6_f64, 0..80), cut in 0.0..=1.0_f64) {
            let (first, second) = values.split_at((cut * values.len() as f64) as usize);
            let mut merged = moments(second);
            merged.merge(&moments(first));
            let all_at_once = moments(&values);
            prop_assert_eq!(merged.n(), all_at_once.n());
            let close = |a: Option<f64>, b: Option<f64>, scale: f64| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * scale,
                (a, b) => a == b,
            };
            prop_assert!(close(merged.mean(), all_at_once.mean(), 1e6));
            prop_assert!(close(merged.variance(), all_at_once.variance(), 1e12));
        }

        #[test]
        fn interval_contains_mean(values in prop::collection::vec(-1e6..1e6_f64, 2..80)) {
            let found = moments(&values);
            let bounds = found.interval(Confidence::P95).unwrap();
            prop_assert!(bounds.low <= found.mean().unwrap() && found.mean().unwrap() <= bounds.high);
        }
    }

    #[test]
    fn large_offset_keeps_precision() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        assert_eq!((moments(&values).mean(), moments(&values).variance()), (Some(1e9 + 10.0), Some(30.0)));
    }

    #[test]
    fn few_values_give_partial_statistics() {
        assert_eq!((moments(&[]).mean(), moments(&[]).interval(Confidence::P95)), (None, None));
        assert_eq!((moments(&[3.0]).mean(), moments(&[3.0]).interval(Confidence::P95)), (Some(3.0), None));
        let same = moments(&[3.0, 3.0]).interval(Confidence::P95).unwrap();
        assert_eq!((same.low, same.high), (3.0, 3.0));
        let error = Moments::default().add(f64::NAN).unwrap_err();
        assert_eq!(error.to_string(), "`value` is NaN, but must be a finite number");
    }
}
