//! The normal distribution: how many standard deviations a confidence is.

use crate::{StatsError, in_range};

/// How sure an interval is to contain the truth, with the normal quantile that belongs to it.
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
    /// 95 %, the house's default.
    pub const P95: Confidence = Confidence { level: 0.95, z: 1.959_963_984_540_054 };

    /// A two-sided confidence level strictly between 0 and 1; `z` is the normal quantile at `(1 + level) / 2`.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] outside `[0.01, 0.999999]`: beyond these a share has no useful interval.
    pub fn new(level: f64) -> Result<Self, StatsError> {
        in_range("confidence", level, 0.01..=0.999_999, "from 0.01 to 0.999999 (0.95 is 95 %)")?;
        if level == Self::P95.level {
            return Ok(Self::P95);
        }
        // The upper tail, not `(1 + level) / 2`, so that confidences near one keep their digits.
        Ok(Self { level, z: -quantile((1.0 - level) / 2.0) })
    }

    /// The level, 0.95 for 95 %.
    pub fn level(self) -> f64 {
        self.level
    }

    /// Standard deviations to either side.
    pub fn z(self) -> f64 {
        self.z
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

/// The standard normal distribution function, through the complementary error function.
pub(crate) fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The value below which a standard normal falls with probability `p`, for `p` strictly between 0 and 1.
///
/// Bisection to a bracket, then Newton steps on [`cdf`], whose derivative is the density. A dozen steps at most,
/// accurate to the last few bits because `libm::erfc` is; nothing here is hot enough for a rational fit.
pub(crate) fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        // The lower tail is where `cdf` keeps its relative precision.
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
