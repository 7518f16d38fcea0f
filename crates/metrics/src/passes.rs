//! pass@k and pass^k over problems with several samples.

use reasonscape_stats::repeats::{ProblemMean, pass_at_k, pass_hat_k};
use reasonscape_stats::{Confidence, Interval, StatsError};

/// pass@k and pass^k for one `k`, as means over the problems with at least `k` samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassEstimate {
    /// The number of samples.
    pub k: u64,
    /// Problems with at least `k` samples.
    pub problems: u64,
    /// Probability that at least one of `k` samples is correct.
    pub pass_at_k: Interval,
    /// Probability that all of `k` samples are correct.
    pub pass_hat_k: Interval,
}

/// pass@k and pass^k for powers of two up to the largest number of samples of a problem, and for that number itself.
///
/// Each problem is its number of samples and of correct ones. Problems are the sample that intervals refer to, so several
/// samples of one problem count as one cluster.
///
/// ```
/// use reasonscape_metrics::pass_estimates;
/// use reasonscape_stats::Confidence;
///
/// let found = pass_estimates(&[(4, 1), (4, 4), (4, 0)], Confidence::P95)?;
/// assert_eq!(found.iter().map(|one| one.k).collect::<Vec<_>>(), [1, 2, 4]);
/// assert_eq!(found[1].pass_at_k.point, Some((0.5 + 1.0 + 0.0) / 3.0));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a problem has more correct samples than samples.
pub fn pass_estimates(
    problems: &[(u64, u64)],
    confidence: Confidence,
) -> Result<Vec<PassEstimate>, StatsError> {
    let max = problems.iter().map(|(samples, _)| *samples).max().unwrap_or(0);
    let powers = (0..63).map(|power| 1_u64 << power).take_while(|k| *k < max);
    let counts = powers.chain((max > 0).then_some(max));
    counts
        .map(|k| {
            let (mut at_k, mut hat_k) = (ProblemMean::default(), ProblemMean::default());
            for (samples, correct) in problems.iter().filter(|(samples, _)| *samples >= k) {
                at_k.add(pass_at_k(*samples, *correct, k)?)?;
                hat_k.add(pass_hat_k(*samples, *correct, k)?)?;
            }
            Ok(PassEstimate {
                k,
                problems: at_k.problems(),
                pass_at_k: at_k.interval(confidence),
                pass_hat_k: hat_k.interval(confidence),
            })
        })
        .collect()
}
