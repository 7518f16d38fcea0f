//! The difference between two groups at equal values of a covariate, by least squares.
//!
//! Bits per token fall with the length of a text, so comparing those of correct and incorrect answers mostly compares
//! lengths. A regression separates the two.

use std::collections::BTreeMap;

use crate::student_t::quantile;
use crate::{Confidence, StatsError, finite};

/// One observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The response.
    pub y: f64,
    /// The covariate that groups are adjusted for.
    pub x: f64,
    /// Whether it belongs to the first group.
    pub is_first: bool,
    /// The stratum, such as a task; each has a level of its own.
    pub stratum: u32,
    /// The cluster, such as a problem; observations of one cluster are not independent.
    pub cluster: u64,
}

/// The mean of the first group minus that of the second at equal `x` and stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdjustedDifference {
    /// The difference.
    pub difference: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// Observations of the first group.
    pub n_first: usize,
    /// Observations of the second group.
    pub n_second: usize,
}

impl AdjustedDifference {
    /// Whether the confidence interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Fits `y = level of the stratum + d [first group] + b1 x + b2 x^2` by least squares and returns `d`; `None` if the data
/// doesn't determine it, as without a value of `x` at which both groups could be compared.
///
/// The bounds are Student's with the cluster-robust (CR1) variance, which with one observation per cluster is the
/// heteroskedasticity-robust one (HC1), at the degrees of freedom of the residuals, and at most one less than there are
/// clusters. The square of `x` follows a
/// curved relation, which a line alone would turn into a difference of the groups. Assumes that the relation between `x`
/// and `y` is the same in both groups, and independent clusters.
///
/// Sources: H. White, Econometrica 48 (1980); K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986).
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::adjusted_difference::{Observation, adjusted_difference};
///
/// // `y` is `3 - x` in both groups, but the first group has larger `x`.
/// let rows: Vec<Observation> = (0..40)
///     .map(|i| {
///         let (x, is_first) = (f64::from(i % 10) + if i < 20 { 4.0 } else { 0.0 }, i < 20);
///         Observation { y: 3.0 - x, x, is_first, stratum: 0, cluster: i as u64 }
///     })
///     .collect();
/// let found = adjusted_difference(&rows, Confidence::P95)?.expect("the groups overlap");
/// assert!(found.difference.abs() < 1e-9);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::NotFinite`] when a number is not finite.
pub fn adjusted_difference(
    rows: &[Observation],
    confidence: Confidence,
) -> Result<Option<AdjustedDifference>, StatsError> {
    for row in rows {
        finite("y", row.y)?;
        finite("x", row.x)?;
    }
    let n_first = rows.iter().filter(|row| row.is_first).count();
    let n_second = rows.len() - n_first;
    if n_first == 0 || n_second == 0 {
        return Ok(None);
    }
    let mut strata: BTreeMap<u32, usize> = BTreeMap::new();
    for row in rows {
        *strata.entry(row.stratum).or_default() += 1;
    }
    // Centering x keeps it and its square from being nearly collinear.
    let center = rows.iter().map(|row| row.x).sum::<f64>() / rows.len() as f64;
    let column = |value: &dyn Fn(&Observation) -> f64| without_levels(rows, &strata, value);
    let mut group = column(&|row| f64::from(u8::from(row.is_first)));
    let mut y = column(&|row| row.y);
    let mut regressors = strata.len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut covariate in [column(&|row| row.x - center), column(&|row| (row.x - center).powi(2))] {
        let size = norm(&covariate);
        for other in &basis {
            subtract_projection(&mut covariate, other);
        }
        // A covariate that the others determine, such as the square of one that takes two values.
        if norm(&covariate) > 1e-9 * size {
            regressors += 1;
            basis.push(covariate);
        }
    }
    let size = norm(&group);
    for covariate in &basis {
        subtract_projection(&mut group, covariate);
        subtract_projection(&mut y, covariate);
    }
    regressors += 1;
    let freedom = rows.len().saturating_sub(regressors);
    if norm(&group) <= 1e-9 * size || size == 0.0 || freedom == 0 {
        return Ok(None);
    }
    let information = dot(&group, &group);
    let difference = dot(&group, &y) / information;
    let scores = rows.iter().zip(group.iter().zip(&y));
    let mut scores: Vec<(u64, f64)> =
        scores.map(|(row, (group, y))| (row.cluster, group * (y - difference * group))).collect();
    scores.sort_by_key(|(cluster, _)| *cluster);
    let (mut clusters, mut squares) = (0_usize, 0.0);
    for cluster in scores.chunk_by(|a, b| a.0 == b.0) {
        clusters += 1;
        squares += cluster.iter().map(|(_, score)| score).sum::<f64>().powi(2);
    }
    if clusters < 2 {
        return Ok(None);
    }
    let (n, degrees) = (rows.len() as f64, clusters as f64 - 1.0);
    let correction = clusters as f64 / degrees * (n - 1.0) / freedom as f64;
    let variance = correction * squares / information.powi(2);
    let reach = quantile(freedom.min(clusters - 1) as u64, confidence) * variance.sqrt();
    Ok(Some(AdjustedDifference {
        difference,
        low: difference - reach,
        high: difference + reach,
        n_first,
        n_second,
    }))
}

/// The values, minus the mean of their stratum.
fn without_levels(
    rows: &[Observation],
    strata: &BTreeMap<u32, usize>,
    value: &dyn Fn(&Observation) -> f64,
) -> Vec<f64> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for row in rows {
        *sums.entry(row.stratum).or_default() += value(row);
    }
    rows.iter().map(|row| value(row) - sums[&row.stratum] / strata[&row.stratum] as f64).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

/// Removes from `values` what is proportional to `direction`, twice because of rounding.
fn subtract_projection(values: &mut [f64], direction: &[f64]) {
    for _ in 0..2 {
        let factor = dot(values, direction) / dot(direction, direction);
        for (value, along) in values.iter_mut().zip(direction) {
            *value -= factor * along;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(y: f64, x: f64, is_first: bool, cluster: u64) -> Observation {
        Observation { y, x, is_first, stratum: 0, cluster }
    }

    #[test]
    fn removes_differences_that_follow_from_the_covariate() {
        let rows: Vec<Observation> = (0..60_u64)
            .map(|i| {
                let is_first = i % 2 == 0;
                let x = (i / 2) as f64 / 10.0 + if is_first { 1.0 } else { 0.0 };
                let wiggle = if i % 4 < 2 { 0.01 } else { -0.01 };
                row(5.0 - x + 0.2 * x * x + wiggle + if is_first { 0.5 } else { 0.0 }, x, is_first, i)
            })
            .collect();
        let found = adjusted_difference(&rows, Confidence::P95).unwrap().unwrap();
        assert!((found.difference - 0.5).abs() < 0.01 && found.is_clear(), "{found:?}");
        assert_eq!((found.n_first, found.n_second), (30, 30));
    }

    #[test]
    fn undetermined_differences_are_none() {
        let none = |rows: &[Observation]| adjusted_difference(rows, Confidence::P95).unwrap().is_none();
        assert!(none(&[]));
        assert!(none(&[row(1.0, 0.0, true, 0), row(2.0, 1.0, true, 1)]), "one group");
        assert!(none(&[row(1.0, 0.0, true, 0), row(2.0, 1.0, false, 1)]), "no degree of freedom");
        // The group is a function of the covariate.
        let split: Vec<Observation> =
            (0..20).map(|i| row(f64::from(i % 5), f64::from(u8::from(i < 10)), i < 10, i as u64)).collect();
        assert!(none(&split));
        assert!(adjusted_difference(&[row(f64::NAN, 0.0, true, 0)], Confidence::P95).is_err());
    }

    #[test]
    fn repeats_of_one_cluster_widen_the_interval() {
        let rows = |clusters: fn(u64) -> u64| -> Vec<Observation> {
            (0..80_u64)
                .map(|i| {
                    let problem = i / 4;
                    let y = ((problem * 37) % 11) as f64;
                    row(y, ((problem * 17) % 7) as f64, problem % 2 == 0, clusters(i))
                })
                .collect()
        };
        let width = |rows: &[Observation]| {
            let found = adjusted_difference(rows, Confidence::P95).unwrap().unwrap();
            found.high - found.low
        };
        assert!(width(&rows(|i| i / 4)) > 1.5 * width(&rows(|i| i)));
    }
}
