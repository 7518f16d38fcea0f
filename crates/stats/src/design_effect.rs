//! Rates over clustered trials: several samples of the same problem.
//!
//! Five responses to one problem carry less information than responses to five problems. The design effect estimates how
//! much less: it compares the variance between clusters with that of independent trials.

use crate::interval::wilson_unchecked;
use crate::{Confidence, Interval, StatsError};

/// Sums over clusters: a few integers, whatever the number of trials, and the same in any order.
///
/// ```
/// use reasonscape_stats::{Confidence, wilson};
/// use reasonscape_stats::design_effect::ClusteredRate;
///
/// let mut rate = ClusteredRate::default();
/// // Ten problems with four samples each, always with the same outcome: equivalent to ten trials.
/// for task in 0..10 {
///     rate.add(4, if task < 7 { 4 } else { 0 })?;
/// }
/// assert_eq!(rate.effective_n(), Some(10.0));
/// let found = rate.interval(Confidence::P95);
/// assert_eq!(found.point, Some(0.7));
/// assert!((found.low - wilson(7.0, 10.0, Confidence::P95)?.low).abs() < 1e-15);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusteredRate {
    n: u64,
    k: u64,
    clusters: u64,
    /// Sum over clusters of successes squared.
    k_k: u128,
    /// Sum over clusters of successes times trials.
    k_n: u128,
    /// Sum over clusters of trials squared.
    n_n: u128,
}

impl ClusteredRate {
    /// Adds a cluster of `n` trials with `k` successes; a cluster without trials is ignored.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] when `k` exceeds `n`; the cluster is then not added.
    pub fn add(&mut self, n: u64, k: u64) -> Result<(), StatsError> {
        if k > n {
            return Err(StatsError::OutOfRange { name: "k", value: k as f64, expected: "`n` at most" });
        }
        let (wide_n, wide_k) = (u128::from(n), u128::from(k));
        self.n += n;
        self.k += k;
        self.clusters += u64::from(n > 0);
        self.k_k += wide_k * wide_k;
        self.k_n += wide_k * wide_n;
        self.n_n += wide_n * wide_n;
        Ok(())
    }

    /// Adds all clusters of `other`; no cluster may be in both.
    pub fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.k += other.k;
        self.clusters += other.clusters;
        self.k_k += other.k_k;
        self.k_n += other.k_n;
        self.n_n += other.n_n;
    }

    /// Trials.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Successes.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// Clusters that have trials.
    pub fn clusters(&self) -> u64 {
        self.clusters
    }

    /// The variance of the rate relative to independent trials; `None` if it can't be estimated: fewer than two clusters,
    /// only successes, or only failures.
    ///
    /// The cluster-robust variance `C / (C - 1) sum over clusters of (k_c - p n_c)^2 / n^2`, divided by
    /// `p (1 - p) / n`. Clamped to at least 1, since samples of one problem hardly vary more than independent trials, and to
    /// at most `sum n_c^2 / n`, the value for perfectly correlated trials.
    ///
    /// Sources: L. Kish, "Survey Sampling" (1965), section 5.4; K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986).
    pub fn design_effect(&self) -> Option<f64> {
        if self.clusters < 2 || self.k == 0 || self.k == self.n {
            return None;
        }
        let (n, clusters) = (self.n as f64, self.clusters as f64);
        let p = self.k as f64 / n;
        let residuals = self.k_k as f64 - 2.0 * p * self.k_n as f64 + p * p * self.n_n as f64;
        let effect = clusters / (clusters - 1.0) * residuals / (n * p * (1.0 - p));
        Some(effect.clamp(1.0, self.n_n as f64 / n))
    }

    /// The number of independent trials with the same information: `n / design effect`. Where there is no design effect it is the number
    /// of clusters, since all trials of a cluster may be equal. `None` without trials.
    pub fn effective_n(&self) -> Option<f64> {
        let one_per_cluster = self.clusters as f64;
        (self.n > 0).then(|| self.design_effect().map_or(one_per_cluster, |effect| self.n as f64 / effect))
    }

    /// Wilson's interval of the rate at the effective number of trials.
    ///
    /// Clusters of one trial each give the plain interval. Assumes that clusters are independent of each other.
    pub fn interval(&self, confidence: Confidence) -> Interval {
        self.effective_n().map_or(Interval::UNKNOWN, |effective| {
            let point = self.k as f64 / self.n as f64;
            Interval { point: Some(point), ..wilson_unchecked(point * effective, effective, confidence) }
        })
    }
}

/// The design effect of a mean: the variance of the mean of clustered values relative to that of independent ones.
///
/// Clamped like [`ClusteredRate::design_effect`]; the value for perfectly correlated values if all are equal. `clusters` has
/// the cluster of each value; without clusters the values are independent.
///
/// ```
/// use reasonscape_stats::design_effect::design_effect_of_mean;
///
/// assert_eq!(design_effect_of_mean(&[1.0, 1.0, 5.0, 5.0, 2.0, 2.0], &[1, 1, 2, 2, 3, 3]), 2.0);
/// assert_eq!(design_effect_of_mean(&[1.0, 5.0, 2.0], &[]), 1.0);
/// ```
pub fn design_effect_of_mean(values: &[f64], clusters: &[u64]) -> f64 {
    if clusters.len() != values.len() || values.is_empty() {
        return 1.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let mut residuals: Vec<(u64, f64)> =
        clusters.iter().zip(values).map(|(cluster, value)| (*cluster, value - mean)).collect();
    residuals.sort_by_key(|(cluster, _)| *cluster);
    let (mut count, mut between, mut sizes) = (0.0, 0.0, 0.0);
    for cluster in residuals.chunk_by(|a, b| a.0 == b.0) {
        count += 1.0;
        between += cluster.iter().map(|(_, residual)| residual).sum::<f64>().powi(2);
        sizes += (cluster.len() as f64).powi(2);
    }
    let total = residuals.iter().map(|(_, residual)| residual * residual).sum::<f64>();
    let max = sizes / n;
    if count < 2.0 || total <= 0.0 {
        return max;
    }
    // Both variances with their degrees of freedom: `C / (C - 1) between / n^2` over `total / (n - 1) / n`.
    (count / (count - 1.0) * between / total * (n - 1.0) / n).clamp(1.0, max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wilson;
    use proptest::prelude::*;

    fn clusters() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0_u64..9).prop_flat_map(|n| (Just(n), 0..=n)), 0..40)
    }

    fn clustered_rate(clusters: &[(u64, u64)]) -> ClusteredRate {
        let mut sums = ClusteredRate::default();
        for &(n, k) in clusters {
            sums.add(n, k).unwrap();
        }
        sums
    }

    proptest! {
        #[test]
        fn width_is_between_independent_and_fully_correlated(clusters in clusters()) {
            let sums = clustered_rate(&clusters);
            let found = sums.interval(Confidence::P95);
            let plain = wilson(sums.k() as f64, sums.n() as f64, Confidence::P95).unwrap();
            prop_assert!(found.low <= plain.low + 1e-12 && plain.high <= found.high + 1e-12);
            if let Some(effective) = sums.effective_n() {
                prop_assert!(1.0 - 1e-12 <= effective && effective <= sums.n() as f64);
                let point = found.point.unwrap();
                prop_assert!(found.low <= point && point <= found.high);
            }
        }

        #[test]
        fn merging_parts_equals_whole(mut clusters in clusters(), cut in 0.0..=1.0_f64) {
            let expected = clustered_rate(&clusters);
            clusters.reverse();
            let (first, second) = clusters.split_at((cut * clusters.len() as f64) as usize);
            let mut merged = clustered_rate(first);
            merged.merge(&clustered_rate(second));
            prop_assert_eq!(merged, expected);
        }
    }

    #[test]
    fn singleton_clusters_equal_independent_trials() {
        let sums = clustered_rate(&[(1, 1), (1, 0), (1, 1), (1, 1)]);
        assert_eq!(sums.effective_n(), Some(4.0));
        assert_eq!(sums.interval(Confidence::P95), wilson(3.0, 4.0, Confidence::P95).unwrap());
    }

    #[test]
    fn constant_clusters_count_as_one_trial_each() {
        assert_eq!(clustered_rate(&[(5, 5), (5, 5)]).effective_n(), Some(2.0));
        assert_eq!(clustered_rate(&[(5, 0), (3, 0), (2, 0)]).effective_n(), Some(3.0));
        assert_eq!(clustered_rate(&[(8, 3)]).effective_n(), Some(1.0));
        assert_eq!(clustered_rate(&[]).interval(Confidence::P95), Interval::UNKNOWN);
        assert_eq!(clustered_rate(&[(0, 0)]).effective_n(), None);
    }

    #[test]
    fn rejects_more_successes_than_trials() {
        let mut sums = ClusteredRate::default();
        assert_eq!(sums.add(2, 3).unwrap_err().to_string(), "`k` is 3, but must be `n` at most");
        assert_eq!(sums, ClusteredRate::default());
    }
}
