//! Means and rates over answers, with confidence intervals clustered by task.

use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::mean::Moments;
use reasonscape_stats::repeats::ProblemMean;
use reasonscape_stats::{Confidence, StatsError};

use super::summary::EstimateDetail;

/// An estimate with its details.
pub(super) type Estimate = (Option<f64>, EstimateDetail);

/// The group of each row. A group is identified by its first row, so that sums over groups have the order in which the
/// groups appear.
#[derive(Debug)]
pub(super) struct Groups {
    /// The first row of each row's group; empty if every group is a single row.
    first: Vec<u32>,
    rows: usize,
    count: usize,
}

impl Groups {
    /// Rows with the same key belong together; `rows` is how many keys there are.
    pub(super) fn new(rows: usize, keys: &(impl Iterator<Item = [u64; 2]> + Clone)) -> Self {
        /// Keys are sorted in this many parts, by their first bits: sorting all at once needs a quarter of the memory of
        /// the rows.
        const PARTS: u64 = 8;
        let mut first: Vec<u32> = Vec::new();
        let mut count = 0;
        let mut sorted: Vec<([u64; 2], u32)> = Vec::with_capacity(rows / PARTS as usize + rows / 50);
        for part in 0..PARTS {
            sorted.clear();
            sorted.extend(keys.clone().zip(0..).filter(|(key, _)| key[0] >> 61 == part));
            sorted.sort_unstable();
            for group in sorted.chunk_by(|one, other| one.0 == other.0) {
                count += 1;
                if group.len() > 1 && first.is_empty() {
                    first.extend(0..rows as u32);
                }
                for (_, row) in &group[1..] {
                    first[*row as usize] = group[0].1;
                }
            }
        }
        Self { first, rows, count }
    }

    /// Number of groups.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether every group is a single row.
    pub(super) fn are_single(&self) -> bool {
        self.count == self.rows
    }

    /// The first row of a row's group.
    pub(super) fn first(&self, row: usize) -> usize {
        self.first.get(row).map_or(row, |first| *first as usize)
    }

    /// The number of rows of each group, at the index of its first row; empty if every group is a single row.
    pub(super) fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.first.len()];
        for first in &self.first {
            sizes[*first as usize] += 1;
        }
        sizes
    }

    /// Sums the values of rows by group; groups without values are omitted.
    fn sums<T: Copy>(
        &self,
        values: impl Iterator<Item = Option<T>>,
        add: impl Fn(T, T) -> T,
        each: impl FnMut(T) -> Result<(), StatsError>,
    ) -> Result<(), StatsError> {
        if self.are_single() {
            return values.flatten().try_for_each(each);
        }
        let mut sums: Vec<Option<T>> = vec![None; self.first.len()];
        for (first, value) in self.first.iter().zip(values) {
            if let Some(value) = value {
                let sum = &mut sums[*first as usize];
                *sum = Some(sum.map_or(value, |sum| add(sum, value)));
            }
        }
        sums.into_iter().flatten().try_for_each(each)
    }

    /// The mean of the rows that have a value, with Student's interval.
    ///
    /// Its variance is the one between the `G` groups, `G / (G - 1) Σ_g (Σ_{i in g} (x_i - mean))² / n²`, at `G - 1`
    /// degrees of freedom; where every group is a single row this is `s² / n`. As the residuals add up to zero,
    /// it is the interval of the `G` values `mean + G / n Σ_{i in g} (x_i - mean)`.
    pub(super) fn mean(
        &self,
        values: impl Iterator<Item = Option<f64>> + Clone,
    ) -> Result<Estimate, StatsError> {
        let method = if self.are_single() { "student-t" } else { "student-t, clustered by task" };
        let mut total = Sum::default();
        let mut n = 0_u64;
        for value in values.clone().flatten() {
            total.add(value);
            n += 1;
        }
        if n == 0 {
            return Ok((None, EstimateDetail::no_values(method)));
        }
        let mean = total.value() / n as f64;
        let groups = if self.are_single() {
            n
        } else {
            let mut groups = 0;
            let marks = values.clone().map(|value| value.map(|_| ()));
            self.sums(
                marks,
                |(), ()| (),
                |()| {
                    groups += 1;
                    Ok(())
                },
            )?;
            groups
        };
        let mut moments = Moments::default();
        let residuals = values.map(|value| value.map(|value| value - mean));
        let weight = groups as f64 / n as f64;
        self.sums(residuals, |sum, value| sum + value, |sum| moments.add(weight * sum))?;
        match moments.interval(Confidence::P95) {
            None => Ok((Some(mean), EstimateDetail::without(n, method, "one task alone has no spread"))),
            Some(found) => {
                let reach = (found.high - found.low) / 2.0;
                Ok((Some(mean), EstimateDetail::between(n, mean - reach, mean + reach, method)))
            }
        }
    }

    /// The mean of values from 0 to 1, with Wilson's interval at the effective number of groups: unlike Student's, it
    /// stays within the range and has a width where all values are equal.
    pub(super) fn proportion(
        &self,
        values: impl Iterator<Item = Option<f64>> + Clone,
    ) -> Result<Estimate, StatsError> {
        let method = if self.are_single() { "wilson, effective n" } else { "wilson, clustered by task" };
        let (mean, detail) = self.mean(values.clone())?;
        let mut of_groups = ProblemMean::default();
        let counted = values.map(|value| value.map(|value| (value, 1.0)));
        self.sums(
            counted,
            |(sum, n), (value, one)| (sum + value, n + one),
            |(sum, n)| of_groups.add((sum / n).clamp(0.0, 1.0)),
        )?;
        let Some(mean) = mean.filter(|_| of_groups.problems() > 1) else {
            return Ok((mean, EstimateDetail { method, ..detail }));
        };
        let found = of_groups.interval(Confidence::P95);
        Ok((Some(mean), EstimateDetail::between(detail.n, found.low.min(mean), found.high.max(mean), method)))
    }

    /// The proportion of hits, with a Wilson interval for clustered trials.
    pub(super) fn rate(
        &self,
        values: impl Iterator<Item = Option<Counted>> + Clone,
    ) -> Result<Estimate, StatsError> {
        let (mut rows, mut plain) = (0_u64, self.are_single());
        for value in values.clone().flatten() {
            rows += u64::from(value.trials > 0);
            plain &= value.trials <= 1;
        }
        let method = if plain { "wilson" } else { "wilson, clustered by task" };
        let mut clustered = ClusteredRate::default();
        self.sums(values, Counted::plus, |counted| clustered.add(counted.trials, counted.hits))?;
        let found = clustered.interval(Confidence::P95);
        match found.point {
            None => Ok((None, EstimateDetail::no_values(method))),
            Some(proportion) => {
                Ok((Some(proportion), EstimateDetail::between(rows, found.low, found.high, method)))
            }
        }
    }
}

/// Hits among trials.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) hits: u64,
    pub(super) trials: u64,
}

impl Counted {
    fn plus(self, other: Self) -> Self {
        Self { hits: self.hits + other.hits, trials: self.trials + other.trials }
    }
}

impl From<bool> for Counted {
    fn from(hit: bool) -> Self {
        Self { hits: u64::from(hit), trials: 1 }
    }
}

/// A compensated (Neumaier) sum, accurate for millions of small numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_keeps_small_numbers_beside_large_ones() {
        let mut sum = Sum::default();
        for value in [1.0, 1e100, 1.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 2.0);
    }

    #[test]
    fn repeats_widen_the_interval() {
        let values: Vec<Option<f64>> = [1.0, 5.0, 2.0, 9.0].repeat(4).into_iter().map(Some).collect();
        let single = Groups::new(16, &(0..16).map(|row| [row, 0]));
        let fours = Groups::new(16, &(0..16).map(|row| [row % 4, 0]));
        let once = Groups::new(4, &(0..4).map(|row| [row, 0]));
        let width = |groups: &Groups, values: &[Option<f64>]| {
            let (_, detail) = groups.mean(values.iter().copied()).unwrap();
            detail.high.unwrap() - detail.low.unwrap()
        };
        assert!(width(&single, &values) < width(&fours, &values));
        // Copies of the same answers add no information.
        assert!((width(&fours, &values) - width(&once, &values[..4])).abs() < 1e-12);
    }
}
