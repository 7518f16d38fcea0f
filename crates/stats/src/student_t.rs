//! Student's t distribution.

use crate::Confidence;

/// From this many degrees of freedom on, the series in their inverse is accurate to the last digits.
const MIN_SERIES_DEGREES: u64 = 1000;

/// The two-sided `t` quantile at this confidence level for `degrees` (at least 1) degrees of freedom.
///
/// Bisection on the tail probability for few degrees of freedom; for many, the Cornish-Fisher expansion around the
/// normal quantile (Abramowitz and Stegun 26.7.5).
pub(crate) fn quantile(degrees: u64, confidence: Confidence) -> f64 {
    let degrees_real = degrees as f64;
    if degrees >= MIN_SERIES_DEGREES {
        return expansion(degrees_real, confidence.z());
    }
    let tail = 1.0 - confidence.level();
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided_tail(high, degrees_real) > tail {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if two_sided_tail(middle, degrees_real) > tail { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

fn expansion(degrees: f64, z: f64) -> f64 {
    let square = z * z;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let fourth = ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0;
    z * (1.0 + (first + (second + (third + fourth / degrees) / degrees) / degrees) / degrees)
}

/// The probability that a Student variable exceeds `t` in absolute value: `I(x; degrees / 2, 1 / 2)` at
/// `x = degrees / (degrees + t^2)`.
pub(crate) fn two_sided_tail(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + square), square / (degrees + square))
}

/// The regularized incomplete beta function `I(x; a, b)`; `rest` is `1 - x`, passed separately to keep its precision.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let factor = (a * x.ln() + b * rest.ln() + libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)).exp();
    // The continued fraction converges quickly on this side of the mean; the other side follows by symmetry.
    if x < (a + 1.0) / (a + b + 2.0) {
        factor * fraction(a, b, x) / a
    } else {
        1.0 - factor * fraction(b, a, rest) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let held = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut upper, mut lower) = (1.0, 1.0 / held(1.0 - (a + b) * x / (a + 1.0)));
    let mut result = lower;
    for step in 1..10_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            lower = 1.0 / held(1.0 + term * lower);
            upper = held(1.0 + term / upper);
            change = upper * lower;
            result *= change;
        }
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_closed_forms_for_one_and_two_degrees() {
        for level in [0.01, 0.5, 0.9, 0.95, 0.99, 0.9999] {
            let confidence = Confidence::new(level).unwrap();
            let cauchy = (std::f64::consts::PI * level / 2.0).tan();
            assert!((quantile(1, confidence) / cauchy - 1.0).abs() < 1e-10, "{level}");
            let two = level * (2.0 / (1.0 - level * level)).sqrt();
            assert!((quantile(2, confidence) / two - 1.0).abs() < 1e-10, "{level}");
        }
    }

    #[test]
    fn series_and_tail_agree_at_the_join() {
        for level in [0.5, 0.95, 0.9999] {
            let confidence = Confidence::new(level).unwrap();
            let (below, above) = (
                quantile(MIN_SERIES_DEGREES - 1, confidence),
                expansion((MIN_SERIES_DEGREES - 1) as f64, confidence.z()),
            );
            assert!((below / above - 1.0).abs() < 1e-11, "{below} {above}");
        }
        assert!((quantile(u64::MAX, Confidence::P95) - Confidence::P95.z()).abs() < 1e-15);
    }
}
