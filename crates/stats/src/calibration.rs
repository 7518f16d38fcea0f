//! Calibration: stated confidences against observed accuracy.
//!
//! Every function takes pairs of a probability and whether the answer was correct. A probability outside `[0, 1]` is an
//! error and never clamped, so that 85 is not silently read as 85 %.
//!
//! Probabilities are summed as integer multiples of 2^-63, to which each is rounded once. Integer sums are the same in any
//! order, so results are bit-identical however rows are distributed over threads.

use crate::interval::wilson_unchecked;
use crate::{Confidence, Interval, StatsError, in_range};

/// Maximum number of bins.
const MAX_BINS: usize = 100_000;

/// One bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower edge; for equal-mass bins the smallest probability in the bin.
    pub low: f64,
    /// Upper edge; for equal-mass bins the largest probability in the bin.
    pub high: f64,
    /// Number of answers.
    pub n: u64,
    /// Mean of the stated probabilities.
    pub confidence: f64,
    /// Proportion of correct answers.
    pub accuracy: f64,
    /// Wilson interval of `accuracy`.
    pub interval: Interval,
}

impl Bin {
    /// The calibration gap, `|accuracy - confidence|`.
    pub fn gap(&self) -> f64 {
        (self.accuracy - self.confidence).abs()
    }
}

/// How answers are binned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binning {
    /// This many bins of equal width; `p` falls into bin `floor(p K)`, and 1 into the last.
    EqualWidth(usize),
    /// This many bins with about the same number of answers; equal probabilities are never split.
    ///
    /// With the answers sorted by probability, equal ones form a group, and a group falls into bin `floor(K m / n)` with `m`
    /// the middle of its ranks. Without ties that is `n / K` answers per bin, plus or minus one.
    EqualMass(usize),
}

/// The Brier score, `mean((p - is_correct)^2)`; `None` without answers.
///
/// Source: G. W. Brier, "Verification of forecasts expressed in terms of probability", Mon. Weather Rev. 78 (1950).
///
/// ```
/// use reasonscape_stats::calibration::brier;
///
/// assert_eq!(brier(&[(0.5, true), (1.0, true)])?, Some(0.125));
/// assert_eq!(brier(&[])?, None);
/// assert!(brier(&[(85.0, true)]).is_err());
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a probability is not a number from 0 to 1.
pub fn brier(answers: &[(f64, bool)]) -> Result<Option<f64>, StatsError> {
    Ok(collected(answers, 1)?.brier())
}

/// The expected calibration error (ECE): the mean of `|accuracy - confidence|` over bins, weighted by answers; `None`
/// without answers.
///
/// With equal-width bins this is the ECE of Naeini et al.; with equal-mass bins it is the adaptive ECE. Both are biased
/// upwards when bins hold few answers.
///
/// Sources: M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian
/// binning", AAAI (2015); K. Nguyen and B. O'Connor, "Posterior calibration and exploratory analysis for natural
/// language processing models", EMNLP (2015).
///
/// ```
/// use reasonscape_stats::calibration::{Binning, expected_error};
///
/// let answers = [(0.25, false), (0.25, true), (0.75, true), (0.75, true)];
/// assert_eq!(expected_error(&answers, Binning::EqualWidth(10))?, Some(0.25));
/// assert_eq!(expected_error(&answers, Binning::EqualMass(2))?, Some(0.25));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a probability is not a number from 0 to 1, or the number of bins is not from 1 to 100,000.
pub fn expected_error(answers: &[(f64, bool)], binning: Binning) -> Result<Option<f64>, StatsError> {
    Ok(weighted_gap(&reliability(answers, binning, Confidence::P95)?))
}

/// The non-empty bins in ascending order: the points of a reliability diagram.
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::calibration::{Binning, reliability};
///
/// let answers = [(0.5, false), (0.5, true), (1.0, true)];
/// let bins = reliability(&answers, Binning::EqualWidth(10), Confidence::P95)?;
/// assert_eq!(bins.len(), 2);
/// assert_eq!((bins[1].low, bins[1].high, bins[1].accuracy), (0.9, 1.0, 1.0));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a probability is not a number from 0 to 1, or the number of bins is not from 1 to 100,000.
pub fn reliability(
    answers: &[(f64, bool)],
    binning: Binning,
    confidence: Confidence,
) -> Result<Vec<Bin>, StatsError> {
    match binning {
        Binning::EqualWidth(bins) => Ok(collected(answers, bins)?.reliability(confidence)),
        Binning::EqualMass(bins) => equal_mass(answers.to_vec(), bins, confidence),
    }
}

/// Streaming calibration with equal-width bins; instances filled on several threads can be merged.
///
/// Sums are of integers, so the order of `add` and `merge` doesn't affect the result.
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::calibration::Calibration;
///
/// let mut first = Calibration::new(10)?;
/// first.add(0.75, true)?;
/// let mut second = Calibration::new(10)?;
/// second.add(0.25, true)?;
/// first.merge(&second)?;
/// assert_eq!(first.brier(), Some(0.3125));
/// assert_eq!(first.expected_error(), Some(0.5));
/// assert_eq!(first.reliability(Confidence::P95).len(), 2);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    bins: Vec<Counts>,
    squares: Total,
}

impl Calibration {
    /// Creates empty bins.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] unless `bins` is from 1 to 100,000.
    pub fn new(bins: usize) -> Result<Self, StatsError> {
        Ok(Self { bins: vec![Counts::default(); checked(bins)?], squares: Total::default() })
    }

    /// Adds an answer with stated probability `p` of being correct.
    ///
    /// # Errors
    /// A [`StatsError`] when `p` is not a number from 0 to 1; the answer is then not added.
    pub fn add(&mut self, p: f64, is_correct: bool) -> Result<(), StatsError> {
        probability(p)?;
        let bin = ((p * self.bins.len() as f64) as usize).min(self.bins.len() - 1);
        self.bins[bin].add(p, is_correct);
        let error = p - f64::from(u8::from(is_correct));
        self.squares.add(error * error);
        Ok(())
    }

    /// Adds all answers of `other`.
    ///
    /// # Errors
    /// [`StatsError::WrongLength`] when `other` has a different number of bins.
    pub fn merge(&mut self, other: &Self) -> Result<(), StatsError> {
        let (found, expected) = (other.bins.len(), self.bins.len());
        if found != expected {
            return Err(StatsError::WrongLength { name: "bins", found, expected });
        }
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.merge(other);
        }
        self.squares.merge(&other.squares);
        Ok(())
    }

    /// Number of answers.
    pub fn n(&self) -> u64 {
        self.bins.iter().map(|bin| bin.n).sum()
    }

    /// As [`brier`](fn@brier).
    pub fn brier(&self) -> Option<f64> {
        self.squares.mean(self.n())
    }

    /// As [`expected_error`](fn@expected_error) with bins of equal width.
    pub fn expected_error(&self) -> Option<f64> {
        weighted_gap(&self.reliability(Confidence::P95))
    }

    /// As [`reliability`](fn@reliability) with bins of equal width.
    pub fn reliability(&self, confidence: Confidence) -> Vec<Bin> {
        let width = self.bins.len() as f64;
        self.bins
            .iter()
            .enumerate()
            .filter_map(|(i, tally)| tally.bin(i as f64 / width, (i + 1) as f64 / width, confidence))
            .collect()
    }
}

/// A sum of numbers from 0 to 1, in multiples of 2^-63.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Total(u128);

impl Total {
    const ONE: f64 = (1_u64 << 63) as f64;

    fn add(&mut self, value: f64) {
        // Scaling by a power of two is exact; only digits below 2^-63 are rounded.
        self.0 += u128::from((value * Self::ONE).round() as u64);
    }

    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
    }

    fn mean(&self, n: u64) -> Option<f64> {
        (n > 0).then(|| (self.0 as f64 / Self::ONE / n as f64).min(1.0))
    }
}

/// Totals of one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    n: u64,
    is_correct: u64,
    probabilities: Total,
}

impl Counts {
    fn add(&mut self, p: f64, is_correct: bool) {
        self.n += 1;
        self.is_correct += u64::from(is_correct);
        self.probabilities.add(p);
    }

    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.is_correct += other.is_correct;
        self.probabilities.merge(&other.probabilities);
    }

    fn bin(&self, low: f64, high: f64, level: Confidence) -> Option<Bin> {
        let confidence = self.probabilities.mean(self.n)?;
        let (is_correct, n) = (self.is_correct as f64, self.n as f64);
        let interval = wilson_unchecked(is_correct, n, level);
        Some(Bin { low, high, n: self.n, confidence, accuracy: is_correct / n, interval })
    }
}

fn collected(answers: &[(f64, bool)], bins: usize) -> Result<Calibration, StatsError> {
    let mut calibration = Calibration::new(bins)?;
    for &(p, is_correct) in answers {
        calibration.add(p, is_correct)?;
    }
    Ok(calibration)
}

/// As [`reliability`] with [`Binning::EqualMass`], sorting the answers in place: there may be millions.
///
/// # Errors
/// A [`StatsError`] when a probability is not a number from 0 to 1, or the number of bins is not from 1 to 100,000.
pub fn equal_mass(
    mut sorted: Vec<(f64, bool)>,
    bins: usize,
    level: Confidence,
) -> Result<Vec<Bin>, StatsError> {
    checked(bins)?;
    for (p, _) in &mut sorted {
        probability(*p)?;
        // Adding zero turns -0 into +0.
        *p += 0.0;
    }
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut result = Vec::new();
    let mut open: Option<(u128, Counts, f64, f64)> = None;
    let mut start = 0;
    for group in sorted.chunk_by(|a, b| a.0 == b.0) {
        // Twice the middle rank, which is an integer.
        let middle = (2 * start + group.len()) as u128;
        let bin = middle * bins as u128 / (2 * sorted.len() as u128);
        start += group.len();
        if let Some((current, tally, low, high)) = open
            && current != bin
        {
            result.extend(tally.bin(low, high, level));
            open = None;
        }
        let (_, tally, _, high) = open.get_or_insert((bin, Counts::default(), group[0].0, group[0].0));
        *high = group[0].0;
        for &(p, is_correct) in group {
            tally.add(p, is_correct);
        }
    }
    result.extend(open.and_then(|(_, tally, low, high)| tally.bin(low, high, level)));
    Ok(result)
}

fn weighted_gap(bins: &[Bin]) -> Option<f64> {
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    (n > 0).then(|| bins.iter().map(|bin| bin.n as f64 * bin.gap()).sum::<f64>() / n as f64)
}

fn checked(bins: usize) -> Result<usize, StatsError> {
    in_range("bins", bins as f64, 1.0..=MAX_BINS as f64, "from 1 to 100000")?;
    Ok(bins)
}

fn probability(p: f64) -> Result<f64, StatsError> {
    in_range("p", p, 0.0..=1.0, "from 0 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answers() -> impl Strategy<Value = Vec<(f64, bool)>> {
        // Tenths, so that ties and bin edges are common.
        let p = prop_oneof![0.0..=1.0_f64, (0_u8..=10).prop_map(|tenths| f64::from(tenths) / 10.0)];
        prop::collection::vec((p, any::<bool>()), 0..60)
    }

    proptest! {
        #[test]
        fn result_is_bitwise_independent_of_order_and_threads(mut answers in answers(), cut in 0.0..=1.0_f64) {
            let all_at_once = collected(&answers, 10).unwrap();
            let adaptive = expected_error(&answers, Binning::EqualMass(10)).unwrap();
            answers.reverse();
            let (first, second) = answers.split_at((cut * answers.len() as f64) as usize);
            let mut merged = collected(first, 10).unwrap();
            merged.merge(&collected(second, 10).unwrap()).unwrap();
            prop_assert_eq!(&merged, &all_at_once);
            prop_assert_eq!(expected_error(&answers, Binning::EqualMass(10)).unwrap(), adaptive);
        }

        #[test]
        fn equal_probabilities_share_one_bin(answers in answers(), k in 1_usize..20) {
            for binning in [Binning::EqualWidth(k), Binning::EqualMass(k)] {
                let bins = reliability(&answers, binning, Confidence::P95).unwrap();
                prop_assert_eq!(bins.iter().map(|bin| bin.n).sum::<u64>(), answers.len() as u64);
                prop_assert!(bins.len() <= k);
                prop_assert!(bins.windows(2).all(|pair| pair[0].high <= pair[1].low));
                for bin in bins {
                    prop_assert!(bin.low <= bin.confidence + 1e-15 && bin.confidence <= bin.high + 1e-15, "{bin:?}");
                    prop_assert!(bin.interval.low <= bin.accuracy && bin.accuracy <= bin.interval.high);
                }
            }
        }

        #[test]
        fn equal_mass_bins_differ_by_at_most_one(n in 1_usize..200, k in 1_usize..20) {
            let answers: Vec<(f64, bool)> = (0..n).map(|i| (i as f64 / n as f64, true)).collect();
            let bins = reliability(&answers, Binning::EqualMass(k), Confidence::P95).unwrap();
            let masses = bins.iter().map(|bin| bin.n);
            prop_assert!(masses.clone().max().unwrap() - masses.min().unwrap() <= 1);
        }
    }

    #[test]
    fn zero_and_one_fall_into_outer_bins() {
        let bins =
            reliability(&[(0.0, false), (1.0, true)], Binning::EqualWidth(10), Confidence::P95).unwrap();
        assert_eq!((bins[0].low, bins[0].high), (0.0, 0.1));
        assert_eq!((bins[1].low, bins[1].high), (0.9, 1.0));
        assert_eq!(expected_error(&[(1.0, true); 7], Binning::EqualWidth(10)).unwrap(), Some(0.0));
    }

    #[test]
    fn rejects_values_that_are_not_probabilities() {
        for p in [-0.1, 1.000_001, 85.0, f64::NAN, f64::INFINITY] {
            let answers = [(0.5, true), (p, true)];
            assert!(brier(&answers).unwrap_err().to_string().starts_with("`p` is"), "{p}");
            for binning in [Binning::EqualWidth(10), Binning::EqualMass(10)] {
                assert!(expected_error(&answers, binning).is_err(), "{p}");
            }
        }
        let mut calibration = Calibration::new(10).unwrap();
        assert!(calibration.add(2.0, true).is_err());
        assert_eq!((calibration.n(), calibration.brier(), calibration.expected_error()), (0, None, None));
    }

    #[test]
    fn rejects_zero_bins_and_mismatched_merges() {
        assert_eq!(Calibration::new(0).unwrap_err().to_string(), "`bins` is 0, but must be from 1 to 100000");
        let other = Calibration::new(5).unwrap();
        let error = Calibration::new(10).unwrap().merge(&other).unwrap_err();
        assert_eq!(error.to_string(), "`bins` has 5 entries, but 10 are needed");
    }
}
