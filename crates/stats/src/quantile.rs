//! Quantiles that are values of the sample, with bounds that assume nothing about its shape.

use crate::effect_size::Sample;
use crate::{Confidence, StatsError, in_range};

/// A quantile of a sample and its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    /// The value at the quantile's index.
    pub value: f64,
    /// Lower bound; `None` when the sample is too small to have one.
    pub low: Option<f64>,
    /// Upper bound; `None` when the sample is too small to have one: no value of fewer than 72 is surely above the
    /// 95th percentile.
    pub high: Option<f64>,
}

/// The indices, from 0 among sorted values, of the bounds of a quantile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankBounds {
    /// Index of the lower bound; `None` when there are too few values for one.
    pub low: Option<usize>,
    /// Index of the upper bound; `None` when there are too few values for one.
    pub high: Option<usize>,
}

/// The index of a quantile among `n` sorted values, from 0: `ceil(share n) - 1`, and 0 for a share of 0.
///
/// A product that misses a whole number by rounding alone is that number.
///
/// ```
/// use reasonscape_stats::quantile::quantile_index;
///
/// assert_eq!([1, 19, 20, 21].map(|n| quantile_index(n, 0.95)), [Ok(0), Ok(18), Ok(18), Ok(19)]);
/// assert_eq!(quantile_index(100, 0.55), Ok(54));
/// ```
///
/// # Errors
/// A [`StatsError`] when `n` is 0 or `share` is not from 0 to 1.
pub fn quantile_index(n: usize, share: f64) -> Result<usize, StatsError> {
    in_range("share", share, 0.0..=1.0, "from 0 to 1")?;
    if n == 0 {
        return Err(StatsError::Empty { name: "sample" });
    }
    let product = share * n as f64;
    let rounded = product.round();
    let rank = if (product - rounded).abs() <= 1e-12 * product { rounded } else { product.ceil() };
    Ok((rank as usize).clamp(1, n) - 1)
}

/// The indices of two values that enclose the quantile of the population with at least this confidence.
///
/// How many of `n` independent values lie below the quantile is binomial with `n` and `share`, whatever the values are
/// distributed like. The lower bound is the highest index such that the quantile lies below that value with
/// probability `(1 - confidence) / 2` at most, the upper bound likewise; so each side is safe by itself, and with ties
/// more so. Assumes independent values.
///
/// Source: H. A. David and H. N. Nagaraja, "Order Statistics" (2003), section 7.1.
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::quantile::{RankBounds, rank_bounds};
///
/// let bounds = rank_bounds(100, 0.5, Confidence::P95)?;
/// assert_eq!(bounds, RankBounds { low: Some(39), high: Some(60) });
/// // Twenty values may well all lie below the 95th percentile.
/// assert_eq!(rank_bounds(20, 0.95, Confidence::P95)?.high, None);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `n` is 0 or `share` is not strictly between 0 and 1.
pub fn rank_bounds(n: usize, share: f64, confidence: Confidence) -> Result<RankBounds, StatsError> {
    in_range("share", share, f64::MIN_POSITIVE..=1.0 - f64::EPSILON / 2.0, "between 0 and 1")?;
    if n == 0 {
        return Err(StatsError::Empty { name: "sample" });
    }
    let side = (1.0 - confidence.level()) / 2.0;
    let fewer = lower_tail(n, share, side);
    // As many values above the quantile as there are below its mirror image.
    let more = lower_tail(n, 1.0 - share, side);
    Ok(RankBounds { low: fewer.checked_sub(1), high: more.checked_sub(1).map(|from_top| n - 1 - from_top) })
}

/// How many counts from 0 on a binomial of `n` and `share` has with probability `most` at most, all taken together.
///
/// Probabilities come from their ratios, relative to that of the likeliest count, and are summed until nothing is
/// left on either side: some dozen standard deviations, and no gamma function to lose digits in.
fn lower_tail(n: usize, share: f64, most: f64) -> usize {
    let odds = share / (1.0 - share);
    let mode = (((n + 1) as f64 * share) as usize).min(n);
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
        sum <= most * total
    });
    first + within.count()
}

/// The quantile of a sample, a value of it, with the bounds of [`rank_bounds`].
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
/// A [`StatsError`] when `share` is not strictly between 0 and 1.
pub fn quantile(sample: &Sample, share: f64, confidence: Confidence) -> Result<Quantile, StatsError> {
    let bounds = rank_bounds(sample.len(), share, confidence)?;
    let at = |index: usize| sample.sorted()[index];
    Ok(Quantile {
        value: at(quantile_index(sample.len(), share)?),
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
        fn bounds_enclose_quantile_index(n in 1_usize..3000, share in 0.001..0.999_f64) {
            let (index, bounds) = (quantile_index(n, share).unwrap(), rank_bounds(n, share, Confidence::P95).unwrap());
            prop_assert!(bounds.low.is_none_or(|low| low <= index), "{index} {bounds:?}");
            prop_assert!(bounds.high.is_none_or(|high| index <= high && high < n), "{index} {bounds:?}");
        }

        #[test]
        fn bounds_are_symmetric(n in 1_usize..3000, share in 0.001..0.999_f64) {
            let [here, there] = [share, 1.0 - share].map(|share| rank_bounds(n, share, Confidence::P95).unwrap());
            // 1 - (1 - share) is not always share; a count on the edge may go either way.
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
            "`share` is 95, but must be from 0 to 1"
        );
        for share in [0.0, 1.0, f64::NAN] {
            assert!(rank_bounds(3, share, Confidence::P95).is_err(), "{share}");
        }
        assert_eq!((quantile_index(3, 0.0), quantile_index(3, 1.0)), (Ok(0), Ok(2)));
    }
}
