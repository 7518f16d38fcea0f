//! The chi-square distribution.

use crate::{StatsError, non_negative};

/// The probability that a chi-square variable of `degrees` degrees of freedom exceeds `statistic`.
///
/// The upper regularized incomplete gamma function `Q(degrees / 2, statistic / 2)`: a power series below the mean and a
/// continued fraction above it, accurate to about twelve digits, including the far tail.
///
/// ```
/// use reasonscape_stats::chi_square::survival;
///
/// assert!((survival(3.841458820694124, 1)? - 0.05).abs() < 1e-12);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `statistic` is negative or not finite, or `degrees` is 0.
pub fn survival(statistic: f64, degrees: u64) -> Result<f64, StatsError> {
    non_negative("statistic", statistic)?;
    if degrees == 0 {
        return Err(StatsError::OutOfRange { name: "degrees", value: 0.0, expected: "1 or more" });
    }
    Ok(upper_gamma(degrees as f64 / 2.0, statistic / 2.0))
}

/// `Q(a, x)`, for `a > 0` and `x >= 0`.
fn upper_gamma(a: f64, x: f64) -> f64 {
    /// Maximum number of terms; both expansions need a small multiple of `sqrt(a)`.
    const MAX_TERMS: u32 = 100_000;

    if x == 0.0 {
        return 1.0;
    }
    let factor = (a * x.ln() - x - libm::lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for step in 1..MAX_TERMS {
            term *= x / (a + f64::from(step));
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return (1.0 - factor * sum).clamp(0.0, 1.0);
    }
    // Lentz's method, forward; the denominators stay positive for these arguments.
    let mut divisor = x + 1.0 - a;
    let (mut upper, mut lower) = (f64::MAX.sqrt(), 1.0 / divisor);
    let mut fraction = lower;
    for step in 1..MAX_TERMS {
        let step = f64::from(step);
        let numerator = -step * (step - a);
        divisor += 2.0;
        lower = 1.0 / (numerator * lower + divisor);
        upper = divisor + numerator / upper;
        let change = lower * upper;
        fraction *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (factor * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_closed_forms_for_one_and_two_degrees() {
        for statistic in [0.0, 1e-9, 0.1, 1.0, 2.9, 3.1, 10.0, 80.0, 700.0] {
            let normal = libm::erfc((statistic / 2.0_f64).sqrt());
            assert!((survival(statistic, 1).unwrap() / normal - 1.0).abs() < 1e-12, "{statistic}");
            let exponential = (-statistic / 2.0).exp();
            assert!((survival(statistic, 2).unwrap() / exponential - 1.0).abs() < 1e-12, "{statistic}");
        }
        assert_eq!(survival(1e6, 3).unwrap(), 0.0);
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        assert_eq!(survival(-1.0, 1).unwrap_err().to_string(), "`statistic` is -1, but must be 0 or more");
        assert_eq!(survival(1.0, 0).unwrap_err().to_string(), "`degrees` is 0, but must be 1 or more");
    }
}
