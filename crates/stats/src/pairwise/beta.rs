//! Beta distributions fitted to confidence intervals of proportions.

use crate::{Confidence, Interval, StatsError, in_range};

/// Distance that a mean keeps from 0 and 1: a proportion of exactly 0 has no Beta.
pub const MEAN_FLOOR: f64 = 1e-6;

/// Maximum of `alpha + beta`, in trials: an interval of width 0 has no Beta.
pub const MAX_TRIALS: f64 = 1e12;

/// A Beta distribution with both shapes from 1 to [`MAX_TRIALS`], so it is unimodal and never U-shaped.
///
/// ```
/// use reasonscape_stats::pairwise::Beta;
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = wilson(80.0, 100.0, Confidence::P95)?;
/// let beta = Beta::from_interval(proportion, Confidence::P95)?;
/// assert!((beta.mean() - proportion.center()).abs() < 1e-12);
/// assert!((beta.standard_deviation() * Confidence::P95.z() - proportion.margin()).abs() < 1e-12);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beta {
    alpha: f64,
    beta: f64,
}

impl Beta {
    /// The Beta distribution with density proportional to `x^(alpha - 1) (1 - x)^(beta - 1)`.
    ///
    /// ```
    /// use reasonscape_stats::pairwise::Beta;
    ///
    /// assert_eq!(Beta::new(3.0, 1.0)?.mean(), 0.75);
    /// assert!(Beta::new(0.5, 0.5).is_err());
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// A [`StatsError`] when a shape is not from 1 to [`MAX_TRIALS`].
    pub fn new(alpha: f64, beta: f64) -> Result<Self, StatsError> {
        let shape = |name, value| in_range(name, value, 1.0..=MAX_TRIALS, "from 1 to 1e12");
        Ok(Self { alpha: shape("alpha", alpha)?, beta: shape("beta", beta)? })
    }

    /// The Beta with the moments of the interval: mean = center, standard deviation = margin / z.
    ///
    /// With `nu = mean (1 - mean) / sd^2 - 1`, the shapes are `alpha = mean nu` and `beta = (1 - mean) nu`
    /// (the method of moments). Assumes that the interval is approximately normal, center ± z sd.
    ///
    /// Three clamps handle degenerate intervals:
    /// - the mean to `[1e-6, 1 - 1e-6]`, so that `[0, 0]` and `[1, 1]` have a Beta;
    /// - `nu` to at most 1e12, so that an interval of width 0 has one (its sd is then `1e-6 sqrt(mean (1 - mean))`);
    /// - `nu` to at least `1 / min(mean, 1 - mean)`, so that both shapes are at least 1 and the Beta is not U-shaped. An
    ///   interval within `[0, 1]` has margin <= min(mean, 1 - mean), so its shapes are at least `(z^2 - 1) / 2`; at 95 %
    ///   that is 1.42 and this clamp has no effect.
    ///
    /// ```
    /// use reasonscape_stats::pairwise::Beta;
    /// use reasonscape_stats::{Confidence, Interval};
    ///
    /// let unknown = Beta::from_interval(Interval::UNKNOWN, Confidence::P95)?;
    /// assert_eq!(format!("{:.2} {:.2}", unknown.alpha(), unknown.beta()), "1.42 1.42");
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// A [`StatsError`] when a bound is not within `[0, 1]` or they are crossed.
    pub fn from_interval(interval: Interval, confidence: Confidence) -> Result<Self, StatsError> {
        let low = in_range("low", interval.low, 0.0..=1.0, "from 0 to 1")?;
        let high = in_range("high", interval.high, 0.0..=1.0, "from 0 to 1")?;
        if low > high {
            return Err(StatsError::CrossedBounds { low, high });
        }
        let mean = interval.center().clamp(MEAN_FLOOR, 1.0 - MEAN_FLOOR);
        // Compute the distance of the center from 1 separately, to keep its precision when it is small.
        let rest = f64::midpoint(1.0 - low, 1.0 - high).clamp(MEAN_FLOOR, 1.0 - MEAN_FLOOR);
        let variance = (interval.margin() / confidence.z()).powi(2);
        let nu = (mean * rest / variance - 1.0).clamp(1.0 / mean.min(rest), MAX_TRIALS);
        Ok(Self { alpha: (mean * nu).max(1.0), beta: (rest * nu).max(1.0) })
    }

    /// The shape parameter that grows with correct answers.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The shape parameter that grows with incorrect answers.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The mean, `alpha / (alpha + beta)`.
    pub fn mean(&self) -> f64 {
        self.alpha / (self.alpha + self.beta)
    }

    /// One minus the mean, `beta / (alpha + beta)`, at full precision where the mean is near 1.
    pub(super) fn rest(&self) -> f64 {
        self.beta / (self.alpha + self.beta)
    }

    /// The standard deviation, `sqrt(mean (1 - mean) / (alpha + beta + 1))`.
    pub fn standard_deviation(&self) -> f64 {
        (self.mean() * self.rest() / (self.alpha + self.beta + 1.0)).sqrt()
    }

    /// The logarithm of the density relative to the one at the mean, given the logarithms of `x / mean` and
    /// `(1 - x) / (1 - mean)`.
    ///
    /// Avoids log-gamma, so that nothing cancels for shapes of 1e12; the caller normalizes by integration.
    pub(super) fn log_density(&self, log_proportion: f64, log_rest: f64) -> f64 {
        (self.alpha - 1.0) * log_proportion + (self.beta - 1.0) * log_rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high, point: None }
    }

    proptest! {
        #[test]
        fn beta_at_95_percent_needs_no_clamp(one in 0.0..=1.0_f64, other in 0.0..=1.0_f64) {
            let proportion = interval(one.min(other), one.max(other));
            prop_assume!(proportion.margin() > 1e-5 && proportion.center().min(1.0 - proportion.center()) > MEAN_FLOOR);
            let (mean, z) = (proportion.center(), Confidence::P95.z());
            let nu = mean * (1.0 - mean) / (proportion.margin() / z).powi(2) - 1.0;
            prop_assert!(mean.min(1.0 - mean) * nu >= (z * z - 1.0) / 2.0 - 1e-9);
            let beta = Beta::from_interval(proportion, Confidence::P95).unwrap();
            prop_assert!((beta.alpha() / (mean * nu) - 1.0).abs() < 1e-9);
            prop_assert!((beta.beta() / ((1.0 - mean) * nu) - 1.0).abs() < 1e-9);
        }

        #[test]
        fn from_interval_gives_valid_shapes(
            one in 0.0..=1.0_f64,
            width in -20.0..0.0_f64,
            level in 0.01..0.999_f64,
        ) {
            let proportion = interval(one, (one + 10_f64.powf(width)).min(1.0));
            let beta = Beta::from_interval(proportion, Confidence::new(level).unwrap()).unwrap();
            prop_assert_eq!(Beta::new(beta.alpha(), beta.beta()), Ok(beta));
        }
    }

    #[test]
    fn degenerate_intervals_give_documented_betas() {
        let fit = |low, high, level| {
            Beta::from_interval(interval(low, high), Confidence::new(level).unwrap()).unwrap()
        };
        let (none, all) = (fit(0.0, 0.0, 0.95), fit(1.0, 1.0, 0.95));
        assert!((none.mean() / MEAN_FLOOR - 1.0).abs() < 1e-12);
        assert_eq!((none.alpha(), none.beta()), (all.beta(), all.alpha()));
        let sharp = fit(0.3, 0.3, 0.95);
        assert!((sharp.standard_deviation() / (1e-6 * 0.21_f64.sqrt()) - 1.0).abs() < 1e-9);
        // At 50 % confidence the interval [0, 1] would be a Beta of shapes -0.27.
        assert_eq!(fit(0.0, 1.0, 0.5), Beta::new(1.0, 1.0).unwrap());
        let skewed = fit(0.0, 0.4, 0.5);
        assert!(skewed.alpha() == 1.0 && (skewed.mean() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn rejects_bounds_outside_unit_range() {
        let message =
            |low, high| Beta::from_interval(interval(low, high), Confidence::P95).unwrap_err().to_string();
        assert_eq!(message(f64::NAN, 1.0), "`low` is NaN, but must be a finite number");
        assert_eq!(message(0.5, 1.5), "`high` is 1.5, but must be from 0 to 1");
        assert_eq!(message(0.5, 0.4), "`low` is 0.5, above `high` = 0.4");
    }
}
