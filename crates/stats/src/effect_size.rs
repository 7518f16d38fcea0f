//! Effect sizes for two samples of measurements.
//!
//! Compressed sizes and token counts are skewed with long tails, so samples are summarized by quartiles and compared by
//! ranks: how often is a value of the first sample larger than one of the second?

use std::fmt;

use rayon::slice::ParallelSliceMut;

use crate::{Confidence, StatsError, finite, in_range};

/// A sorted sample of finite measurements.
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::effect_size::{Sample, Size};
///
/// let wrong = Sample::new(vec![5.0, 6.0, 7.0, 9.0])?;
/// let right = Sample::new(vec![1.0, 2.0, 2.0, 6.0])?;
/// assert_eq!(right.quartiles().median, 2.0);
/// let effect = wrong.compared_with(&right, Confidence::P95);
/// // Of 16 pairs, 14 favor the first, 1 the second, and one is a tie.
/// assert_eq!(effect.delta, 13.0 / 16.0);
/// assert_eq!(effect.size(), Size::Large);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

/// The five-number summary of a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// Minimum.
    pub smallest: f64,
    /// First quartile.
    pub lower: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub upper: f64,
    /// Maximum.
    pub largest: f64,
}

impl Sample {
    /// Sorts the measurements.
    ///
    /// # Errors
    /// [`StatsError::Empty`] without a measurement, [`StatsError::NotFinite`] if one is not finite.
    pub fn new(mut values: Vec<f64>) -> Result<Self, StatsError> {
        if values.is_empty() {
            return Err(StatsError::Empty { name: "sample" });
        }
        for value in &mut values {
            // Adding zero turns -0 into +0.
            *value = finite("sample", *value)? + 0.0;
        }
        values.par_sort_unstable_by(f64::total_cmp);
        Ok(Self { sorted: values })
    }

    /// Number of measurements, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The measurements in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// The quantile at `proportion`, interpolated between neighbors.
    ///
    /// Position `proportion (n - 1)` of the sorted values, counted from 0: type 7 of Hyndman and Fan, NumPy's default.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] when `proportion` is not from 0 to 1.
    pub fn quantile(&self, proportion: f64) -> Result<f64, StatsError> {
        in_range("proportion", proportion, 0.0..=1.0, "from 0 to 1")?;
        Ok(quantile_of_sorted(&self.sorted, proportion))
    }

    /// The five-number summary.
    pub fn quartiles(&self) -> Quartiles {
        let at = |proportion| quantile_of_sorted(&self.sorted, proportion);
        Quartiles { smallest: at(0.0), lower: at(0.25), median: at(0.5), upper: at(0.75), largest: at(1.0) }
    }

    /// Cliff's delta of this sample against `other`, with its confidence interval.
    ///
    /// `delta = P(larger) - P(smaller)` over all pairs of one value from each; ties count for neither. The interval is that
    /// of the AUC, `P(larger) + P(tie) / 2`, from DeLong's variance on the logit scale, which keeps it within its range.
    /// That variance is zero if the samples don't overlap or all values are equal; there, and if a sample has only one
    /// value, the bounds are Newcombe's score interval, which depends on the sample sizes alone. Linear time, since samples
    /// are sorted. Assumes independent measurements.
    ///
    /// Sources: N. Cliff, "Dominance statistics", Psychol. Bull. 114 (1993); E. R. DeLong, D. M. DeLong and
    /// D. L. Clarke-Pearson, Biometrics 44 (1988); R. G. Newcombe, "Confidence intervals for an effect size measure
    /// based on the Mann-Whitney statistic, part 2", Statist. Med. 25 (2006), method 5.
    #[expect(clippy::doc_markdown, reason = "DeLong is a name")]
    pub fn compared_with(&self, other: &Sample, confidence: Confidence) -> Effect {
        let (a, b) = (&self.sorted, &other.sorted);
        let (n_a, n_b) = (a.len() as f64, b.len() as f64);
        let of_a = Placements::new(a, b);
        let of_b = Placements::new(b, a);
        // Sum integers, which is exact.
        let delta = (of_a.balance as f64 / n_a) / n_b;
        let auc = f64::midpoint(1.0, delta);
        let variance = of_a.variance / n_a + of_b.variance / n_b;
        let z = confidence.z();
        let bounds = if a.len() < 2 || b.len() < 2 || variance <= 0.0 || auc <= 0.0 || auc >= 1.0 {
            [newcombe(auc, n_a, n_b, -z), newcombe(auc, n_a, n_b, z)]
        } else {
            let (logit, reach) = ((auc / (1.0 - auc)).ln(), z * variance.sqrt() / (auc * (1.0 - auc)));
            [logit - reach, logit + reach].map(|end| 1.0 / (1.0 + (-end).exp()))
        };
        let [low, high] = bounds.map(|end| 2.0 * end - 1.0);
        Effect { delta, low: low.min(delta), high: high.max(delta), n_a: a.len(), n_b: b.len() }
    }
}

/// Placements of the values of one sample within another.
struct Placements {
    /// Pairs won minus pairs lost.
    balance: i128,
    /// Variance, over the values, of the proportion of the other sample below them (ties count half).
    variance: f64,
}

impl Placements {
    /// Both samples must be sorted; a single pass over each.
    fn new(values: &[f64], others: &[f64]) -> Self {
        let (mut below, mut not_above) = (0, 0);
        let balances: Vec<i64> = values
            .iter()
            .map(|value| {
                while below < others.len() && others[below] < *value {
                    below += 1;
                }
                while not_above < others.len() && others[not_above] <= *value {
                    not_above += 1;
                }
                below as i64 - (others.len() - not_above) as i64
            })
            .collect();
        let balance: i128 = balances.iter().map(|&balance| i128::from(balance)).sum();
        let mean = balance as f64 / values.len() as f64;
        let squares: f64 = balances.iter().map(|&balance| (balance as f64 - mean).powi(2)).sum();
        // A placement is a proportion; a balance has twice its range.
        let scale = 2.0 * others.len() as f64;
        let freedom = values.len().max(2) - 1;
        Self { balance, variance: squares / (freedom as f64 * scale * scale) }
    }
}

/// The AUC that a score test at `z` (negative for the lower end) just fails to reject, given `auc`.
///
/// The variance at `t` is `t (1 - t) / (m n) (1 + ((m + n) / 2 - 1) ((1 - t) / (2 - t) + t / (1 + t)))`, that of
/// exponential measurements with averaged sample sizes.
fn newcombe(auc: f64, n_a: f64, n_b: f64, z: f64) -> f64 {
    let variance = |t: f64| {
        let pairs = f64::midpoint(n_a, n_b) - 1.0;
        t * (1.0 - t) / (n_a * n_b) * (1.0 + pairs * ((1.0 - t) / (2.0 - t) + t / (1.0 + t)))
    };
    let (mut inside, mut outside) = (auc, if z < 0.0 { 0.0 } else { 1.0 });
    for _ in 0..100 {
        let middle = f64::midpoint(inside, outside);
        if (middle - auc).abs() <= z.abs() * variance(middle).sqrt() {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

/// Cliff's delta with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Cliff's delta: -1 if all of the first are smaller, 1 if all are larger.
    pub delta: f64,
    /// Lower bound of `delta`.
    pub low: f64,
    /// Upper bound of `delta`.
    pub high: f64,
    /// Measurements in the first sample.
    pub n_a: usize,
    /// Measurements in the second sample.
    pub n_b: usize,
}

impl Effect {
    /// The probability that a value of the first exceeds one of the second, ties counting half: `(delta + 1) / 2`.
    pub fn auc(&self) -> f64 {
        f64::midpoint(1.0, self.delta)
    }

    /// Whether the interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// The conventional label of the effect size.
    pub fn size(&self) -> Size {
        Size::from_delta(self.delta)
    }
}

/// Conventional labels for Cliff's delta.
///
/// The limits 0.147, 0.33 and 0.474 correspond to Cohen's d of 0.2, 0.5 and 0.8 for normal samples.
///
/// Source: J. Romano et al., "Appropriate statistics for ordinal level data" (2006).
///
/// ```
/// use reasonscape_stats::effect_size::Size;
///
/// assert_eq!(Size::from_delta(-0.4).to_string(), "medium");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// Below 0.147.
    Negligible,
    /// Below 0.33.
    Small,
    /// Below 0.474.
    Medium,
    /// 0.474 and more.
    Large,
}

impl Size {
    /// The label of `delta`, ignoring its sign.
    pub fn from_delta(delta: f64) -> Self {
        match delta.abs() {
            size if size < 0.147 => Self::Negligible,
            size if size < 0.33 => Self::Small,
            size if size < 0.474 => Self::Medium,
            _ => Self::Large,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Negligible => "negligible",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        })
    }
}

/// Type 7 quantile of a non-empty sorted slice.
pub(crate) fn quantile_of_sorted(sorted: &[f64], proportion: f64) -> f64 {
    let position = proportion * (sorted.len() - 1) as f64;
    let below = position.floor();
    let (low, high) = (sorted[below as usize], sorted[position.ceil() as usize]);
    // Halve first: the difference of two huge values of opposite sign would overflow.
    let part = position - below;
    if low == high { low } else { low * (1.0 - part) + high * part }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Vec<f64>> {
        // Integers from a small range, so that ties are common.
        prop::collection::vec((-8_i32..8).prop_map(f64::from), 1..40)
    }

    fn compare(a: &[f64], b: &[f64]) -> Effect {
        let sample = |values: &[f64]| Sample::new(values.to_vec()).unwrap();
        sample(a).compared_with(&sample(b), Confidence::P95)
    }

    proptest! {
        #[test]
        fn delta_equals_mean_sign_over_all_pairs(a in values(), b in values()) {
            let balance: i32 = a.iter().flat_map(|x| b.iter().map(move |y| i32::from(x > y) - i32::from(x < y))).sum();
            let found = compare(&a, &b);
            prop_assert!((found.delta - f64::from(balance) / (a.len() * b.len()) as f64).abs() < 1e-15);
            prop_assert!(-1.0 <= found.low && found.low <= found.delta);
            prop_assert!(found.delta <= found.high && found.high <= 1.0 && found.low < found.high);
        }

        #[test]
        fn delta_is_antisymmetric(a in values(), b in values()) {
            let (forward, backward) = (compare(&a, &b), compare(&b, &a));
            prop_assert!((forward.delta + backward.delta).abs() < 1e-15);
            prop_assert!((forward.low + backward.high).abs() < 1e-12);
            prop_assert!((forward.high + backward.low).abs() < 1e-12);
        }

        #[test]
        fn delta_ignores_order_and_scale(mut a in values(), b in values()) {
            let before = compare(&a, &b);
            a.reverse();
            let stretch = |values: &[f64]| values.iter().map(|value| value.exp()).collect::<Vec<_>>();
            prop_assert_eq!(compare(&stretch(&a), &stretch(&b)), before);
        }

        #[test]
        fn quantiles_are_monotone_and_within_sample_range(values in values(), proportions in (0.0..=1.0_f64, 0.0..=1.0_f64)) {
            let sample = Sample::new(values).unwrap();
            let (first, second) = (proportions.0.min(proportions.1), proportions.0.max(proportions.1));
            let (low, high) = (sample.quantile(first).unwrap(), sample.quantile(second).unwrap());
            prop_assert!(sample.sorted()[0] <= low && low <= high + 1e-12);
            prop_assert!(high <= sample.sorted()[sample.len() - 1]);
        }
    }

    #[test]
    fn disjoint_samples_keep_a_nonzero_interval() {
        let few = compare(&[3.0, 4.0, 5.0], &[0.0, 1.0, 2.0]);
        let many: Vec<f64> = (0..300).map(f64::from).collect();
        let far: Vec<f64> = many.iter().map(|value| value + 1000.0).collect();
        let certain = compare(&far, &many);
        assert_eq!((few.delta, few.high, certain.delta), (1.0, 1.0, 1.0));
        assert!(few.low < 0.5 && 0.95 < certain.low && certain.low < 1.0, "{few:?} {certain:?}");
        let same = compare(&[1.0; 10], &[1.0; 10]);
        assert!(same.delta == 0.0 && same.low < -0.3 && same.high > 0.3, "{same:?}");
    }

    #[test]
    fn quantile_of_huge_values_does_not_overflow() {
        let sample = Sample::new(vec![-f64::MAX, f64::MAX]).unwrap();
        assert_eq!(sample.quartiles().median, 0.0);
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |values: &[f64]| Sample::new(values.to_vec()).unwrap_err().to_string();
        assert_eq!(message(&[]), "`sample` is empty, but needs at least one entry");
        assert_eq!(message(&[1.0, f64::NAN]), "`sample` is NaN, but must be a finite number");
        let sample = Sample::new(vec![1.0]).unwrap();
        assert_eq!(
            sample.quantile(2.0).unwrap_err().to_string(),
            "`proportion` is 2, but must be from 0 to 1"
        );
    }
}
