//! The standard normal distribution and two-sided confidence levels.

use crate::{StatsError, in_range};

/// A two-sided confidence level with its normal quantile.
///
/// ```
/// use reasonscape_stats::Confidence;
///
/// assert_eq!(Confidence::P95.z(), 1.959963984540054);
/// assert_eq!(Confidence::new(0.95)?, Confidence::P95);
/// assert!((Confidence::new(0.99)?.z() - 2.5758293035489).abs() < 1e-12);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    level: f64,
    z: f64,
}

impl Confidence {
    /// 95 %, the default.
    pub const P95: Confidence = Confidence { level: 0.95, z: 1.959_963_984_540_054 };

    /// A two-sided confidence level strictly between 0 and 1; `z` is the normal quantile at `(1 + level) / 2`.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] outside `[0.01, 0.999999]`: intervals at other levels are not useful.
    pub fn new(level: f64) -> Result<Self, StatsError> {
        in_range("confidence", level, 0.01..=0.999_999, "from 0.01 to 0.999999 (0.95 is 95 %)")?;
        if level == Self::P95.level {
            return Ok(Self::P95);
        }
        // Use the upper tail, not `(1 + level) / 2`, to keep precision for levels near 1.
        Ok(Self { level, z: -quantile((1.0 - level) / 2.0) })
    }

    /// The confidence to compute an interval with so that it keeps this level for clustered trials: `z` grows by the square
    /// root of the design effect. For Wilson's interval that is the same as dividing the counts by the design effect.
    ///
    /// ```
    /// use reasonscape_stats::{Confidence, wilson};
    ///
    /// let clustered = wilson(28.0, 40.0, Confidence::P95.with_design_effect(4.0))?;
    /// assert!((clustered.low - wilson(7.0, 10.0, Confidence::P95)?.low).abs() < 1e-15);
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    #[must_use]
    pub fn with_design_effect(self, design_effect: f64) -> Self {
        if design_effect.is_nan() || design_effect <= 1.0 {
            return self;
        }
        let z = self.z * design_effect.sqrt();
        // Levels closer to 1 have no quantile of Student's distribution in double precision.
        Self { level: (1.0 - 2.0 * cdf(-z)).min(1.0 - 1e-12), z }
    }

    /// The level, 0.95 for 95 %.
    pub fn level(self) -> f64 {
        self.level
    }

    /// Number of standard deviations to either side.
    pub fn z(self) -> f64 {
        self.z
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

/// The standard normal distribution function, computed from the complementary error function.
pub(crate) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The standard normal quantile of `p`, for `p` strictly between 0 and 1.
///
/// Bisection to a bracket, then at most a dozen Newton steps on [`cdf`]. Accurate to the last few bits, as `libm::erfc`
/// is; not called often enough to justify a rational approximation.
pub(crate) fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        // `cdf` keeps its relative precision in the lower tail.
        return -quantile(1.0 - p);
    }
    let (mut low, mut high) = (-40.0_f64, 0.0_f64);
    for _ in 0..20 {
        let middle = f64::midpoint(low, high);
        if cdf(middle) < p { low = middle } else { high = middle }
    }
    let mut x = f64::midpoint(low, high);
    for _ in 0..4 {
        let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        x -= (cdf(x) - p) / density;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_inverts_cdf() {
        for p in [1e-12, 1e-6, 0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.999_999] {
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-12, "p = {p}");
        }
        assert!((quantile(0.975) - Confidence::P95.z()).abs() < 1e-14);
    }

    #[test]
    fn rejects_confidence_out_of_range() {
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            let error = Confidence::new(level).unwrap_err().to_string();
            assert!(error.starts_with("`confidence` is"), "{error}");
        }
    }
}
