//! Sample quantiles with distribution-free confidence bounds.

use crate::effect_size::Sample;
use crate::{Confidence, StatsError, in_range};

/// A sample quantile and its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The sample value at the quantile.
    pub value: f64,
    /// Lower bound; `None` when the sample is too small to have one.
    pub low: Option<f64>,
    /// Upper bound; `None` when the sample is too small to have one: the upper bound of the
    /// 95th percentile needs at least 72 values.
    pub high: Option<f64>,
}

/// The 0-based indices, among sorted values, of the bounds of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankBounds {
    /// Index of the lower bound; `None` when there are too few values for one.
    pub low: Option<usize>,
    /// Index of the upper bound; `None` when there are too few values for one.
    pub high: Option<usize>,
}

/// The 0-based index of a quantile among `n` sorted values: `ceil(proportion n) - 1`, and 0 for a proportion of 0.
///
/// A product within rounding error of an integer is taken as that integer.
///
/// ```
/// use reasonscape_stats::quantile::quantile_index;
///
/// assert_eq!([1, 19, 20, 21].map(|n| quantile_index(n, 0.95)), [Ok(0), Ok(18), Ok(18), Ok(19)]);
/// assert_eq!(quantile_index(100, 0.55), Ok(54));
/// ```
///
/// # Errors
/// A [`StatsError`] when `n` is 0 or `proportion` is not from 0 to 1.
pub fn quantile_index(n: usize, proportion: f64) -> Result<usize, StatsError> {
    in_range("proportion", proportion, 0.0..=1.0, "from 0 to 1")?;
    if n == 0 {
        return Err(StatsError::Empty { name: "sample" });
    }
    let product = proportion * n as f64;
    let rounded = product.round();
    let rank = if (product - rounded).abs() <= 1e-12 * product { rounded } else { product.ceil() };
    Ok((rank as usize).clamp(1, n) - 1)
}

/// The indices of two order statistics that enclose the population quantile with at least this confidence.
///
/// The number of `n` independent values below the quantile is binomial with `n` and `proportion`, whatever their
/// distribution. The lower bound is the highest index such that the quantile lies below that value with
/// probability at most `(1 - confidence) / 2`, the upper bound likewise; each side is conservative, with ties even
/// more. Assumes independent values.
///
/// Source: H. A. David and H. N. Nagaraja, "Order Statistics" (2003), section 7.1.
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::quantile::{RankBounds, rank_bounds};
///
/// let bounds = rank_bounds(100, 0.5, Confidence::P95)?;
/// assert_eq!(bounds, RankBounds { low: Some(39), high: Some(60) });
/// // All of twenty values may lie below the 95th percentile.
/// assert_eq!(rank_bounds(20, 0.95, Confidence::P95)?.high, None);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `n` is 0 or `proportion` is not strictly between 0 and 1.
pub fn rank_bounds(n: usize, proportion: f64, confidence: Confidence) -> Result<RankBounds, StatsError> {
    in_range("proportion", proportion, f64::MIN_POSITIVE..=1.0 - f64::EPSILON / 2.0, "between 0 and 1")?;
    if n == 0 {
        return Err(StatsError::Empty { name: "sample" });
    }
    let side = (1.0 - confidence.level()) / 2.0;
    let fewer = lower_tail(n, proportion, side);
    // By symmetry: as many values above the quantile as below its mirror image.
    let more = lower_tail(n, 1.0 - proportion, side);
    Ok(RankBounds { low: fewer.checked_sub(1), high: more.checked_sub(1).map(|from_top| n - 1 - from_top) })
}

/// The number of counts from 0 on whose total probability under a binomial of `n` and `proportion` is at most `max`.
///
/// Probabilities are computed by recurrence, relative to the most likely count, until they are negligible on
/// either side (about a dozen standard deviations); this avoids the precision loss of a gamma function.
fn lower_tail(n: usize, proportion: f64, max: f64) -> usize {
    let odds = proportion / (1.0 - proportion);
    let mode = (((n + 1) as f64 * proportion) as usize).min(n);
    let mut below = vec![1.0];
    let mut weight = 1.0;
    for k in (1..=mode).rev() {
        weight *= k as f64 / ((n - k + 1) as f64 * odds);
        if weight < 1e-40 {
            break;
        }
        below.push(weight);
    }
    let mut above = 0.0;
    weight = 1.0;
    for k in mode..n {
        weight *= (n - k) as f64 * odds / (k + 1) as f64;
        if weight < 1e-40 {
            break;
        }
        above += weight;
    }
    let total = above + below.iter().rev().sum::<f64>();
    let first = mode + 1 - below.len();
    let mut sum = 0.0;
    let within = below.iter().rev().take_while(|weight| {
        sum += **weight;
        sum <= max * total
    });
    first + within.count()
}

/// A sample quantile with the bounds of [`rank_bounds`].
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::effect_size::Sample;
/// use reasonscape_stats::quantile::quantile;
///
/// let latencies = Sample::new((1..=100).map(f64::from).collect())?;
/// let slow = quantile(&latencies, 0.95, Confidence::P95)?;
/// assert_eq!((slow.value, slow.low, slow.high), (95.0, Some(90.0), Some(100.0)));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `proportion` is not strictly between 0 and 1.
pub fn quantile(sample: &Sample, proportion: f64, confidence: Confidence) -> Result<Quantile, StatsError> {
    let bounds = rank_bounds(sample.len(), proportion, confidence)?;
    let at = |index: usize| sample.sorted()[index];
    Ok(Quantile {
        value: at(quantile_index(sample.len(), proportion)?),
        low: bounds.low.map(at),
        high: bounds.high.map(at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bounds_enclose_quantile_index(n in 1_usize..3000, proportion in 0.001..0.999_f64) {
            let (index, bounds) = (quantile_index(n, proportion).unwrap(), rank_bounds(n, proportion, Confidence::P95).unwrap());
            prop_assert!(bounds.low.is_none_or(|low| low <= index), "{index} {bounds:?}");
            prop_assert!(bounds.high.is_none_or(|high| index <= high && high < n), "{index} {bounds:?}");
        }

        #[test]
        fn bounds_are_symmetric(n in 1_usize..3000, proportion in 0.001..0.999_f64) {
            let [here, there] = [proportion, 1.0 - proportion].map(|proportion| rank_bounds(n, proportion, Confidence::P95).unwrap());
            // 1 - (1 - proportion) may differ from proportion by rounding, so allow a difference of one.
            let close = |low: Option<usize>, high: Option<usize>| {
                low.map_or(-1, |low| low as i64).abs_diff(high.map_or(-1, |high| (n - 1 - high) as i64)) <= 1
            };
            prop_assert!(close(here.low, there.high) && close(there.low, here.high));
        }
    }

    #[test]
    fn small_samples_have_no_bound() {
        let at = |n| rank_bounds(n, 0.95, Confidence::P95).unwrap();
        assert_eq!(at(1), RankBounds { low: None, high: None });
        assert_eq!(at(2).low, Some(0));
        // 0.95^71 is above 2.5 %, 0.95^72 below.
        assert_eq!((at(71).high, at(72).high), (None, Some(71)));
    }

    #[test]
    fn handles_millions_of_values() {
        let bounds = rank_bounds(4_000_000, 0.95, Confidence::P95).unwrap();
        let reach = Confidence::P95.z() * (4e6_f64 * 0.95 * 0.05).sqrt();
        assert!((bounds.low.unwrap() as f64 - (3.8e6 - reach)).abs() < 2.0, "{bounds:?}");
        assert!((bounds.high.unwrap() as f64 - (3.8e6 + reach)).abs() < 2.0, "{bounds:?}");
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        assert_eq!(
            quantile_index(0, 0.5).unwrap_err().to_string(),
            "`sample` is empty, but needs at least one entry"
        );
        assert_eq!(
            quantile_index(3, 95.0).unwrap_err().to_string(),
            "`proportion` is 95, but must be from 0 to 1"
        );
        for proportion in [0.0, 1.0, f64::NAN] {
            assert!(rank_bounds(3, proportion, Confidence::P95).is_err(), "{proportion}");
        }
        assert_eq!((quantile_index(3, 0.0), quantile_index(3, 1.0)), (Ok(0), Ok(2)));
    }
}
