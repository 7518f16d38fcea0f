//! Quartiles, extremes and the confidence interval of the median.

use reasonscape_stats::Confidence;
use reasonscape_stats::effect_size::Sample;
use schemars::JsonSchema;
use serde::Serialize;

/// Extremes, quartiles, and the confidence interval of the median, which is null for a small sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct QuartileSummary {
    /// Minimum.
    pub smallest: f64,
    /// Lower quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Lower end of the confidence interval of the median.
    pub median_low: Option<f64>,
    /// Upper end of the confidence interval of the median.
    pub median_high: Option<f64>,
    /// Upper quartile.
    pub upper: f64,
    /// Maximum.
    pub largest: f64,
}

impl QuartileSummary {
    pub(super) fn new(sample: &Sample, confidence: Confidence) -> Self {
        let quartiles = sample.quartiles();
        let sorted = sample.sorted();
        let rank = lower_rank(sorted.len(), confidence);
        Self {
            smallest: quartiles.smallest,
            lower: quartiles.lower,
            median: quartiles.median,
            median_low: rank.map(|rank| sorted[rank]),
            median_high: rank.map(|rank| sorted[sorted.len() - 1 - rank]),
            upper: quartiles.upper,
            largest: quartiles.largest,
        }
    }
}

/// The index of the value that is the lower bound of the median; the upper bound has the same distance from the end.
///
/// The number of values below the median is binomial with p = 1/2 for any distribution; the index is the largest with a tail
/// probability of at most half of 1 - confidence. Exact for small samples, by the normal approximation for large ones.
fn lower_rank(n: usize, confidence: Confidence) -> Option<usize> {
    const MAX_EXACT: usize = 200;
    if n > MAX_EXACT {
        let n = n as f64;
        return Some(((n - 1.0 - confidence.z() * n.sqrt()) / 2.0).floor().max(0.0) as usize);
    }
    let tail = (1.0 - confidence.level()) / 2.0;
    let mut one = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let (mut sum, mut rank) = (0.0, None);
    for k in 0..n {
        sum += one;
        if sum > tail {
            break;
        }
        rank = Some(k);
        one *= (n - k) as f64 / (k + 1) as f64;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_match_scipy() {
        // scipy.stats.binom.ppf(0.025, n, 0.5) - 1, for n from 6 on; nothing before.
        let rank = |n| lower_rank(n, Confidence::P95);
        assert_eq!((rank(0), rank(1), rank(5)), (None, None, None));
        for (n, k) in [
            (6, 0),
            (7, 0),
            (10, 1),
            (20, 5),
            (50, 17),
            (100, 39),
            (200, 85),
            (201, 86),
            (1000, 468),
            (5000, 2430),
            (100_000, 49_689),
        ] {
            assert_eq!(rank(n), Some(k), "{n}");
        }
    }
}
