//! Power spectra of prompt populations, and tests of whether two populations differ.
//!
//! A prompt is a series of token lengths or character classes. Its power spectrum shows at which frequencies it varies,
//! and the spectra of many prompts characterize a generator. [`Population`] has their mean and spread;
//! [`Population::compare`] gives the distance between two populations and its p-value.

use std::cmp::Ordering;
use std::f64::consts::TAU;

use rayon::prelude::*;
use realfft::RealFftPlanner;

use crate::effect_size::quantile_of_sorted;
use crate::random::PyRandom;
use crate::{StatsError, in_range};

/// Minimum length of a series.
pub const MIN_SERIES_LEN: usize = 4;

/// The power of one series at each of its frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Periodogram {
    /// Cycles per step, from 0 to one half.
    pub frequencies: Vec<f64>,
    /// Power density: squared units of the series per cycle per step.
    pub power: Vec<f64>,
}

/// The power spectrum of one series.
///
/// The mean is removed and a periodic Hann window applied, which reduces leakage. One-sided density, as
/// `scipy.signal.periodogram(series, window="hann")`: `|X_k|^2 / Σ w^2`, doubled except at 0 and one half.
///
/// ```
/// use reasonscape_stats::spectrum::periodogram;
///
/// let series: Vec<f64> = (0..64).map(|step| f64::from(step % 8)).collect();
/// let found = periodogram(&series)?;
/// let loudest = (0..33).max_by(|a, b| found.power[*a].total_cmp(&found.power[*b])).unwrap();
/// assert_eq!(found.frequencies[loudest], 1.0 / 8.0);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when the series has fewer than four values, or a value beyond ±1e100.
pub fn periodogram(series: &[f64]) -> Result<Periodogram, StatsError> {
    let mut power = two_sided(series, &mut RealFftPlanner::new())?;
    let n = series.len();
    for (k, power) in power.iter_mut().enumerate() {
        if k > 0 && 2 * k < n {
            *power *= 2.0;
        }
    }
    let frequencies = (0..power.len()).map(|k| k as f64 / n as f64).collect();
    Ok(Periodogram { frequencies, power })
}

/// The density at frequencies 0 to one half, without doubling for the negative ones.
fn two_sided(series: &[f64], planner: &mut RealFftPlanner<f64>) -> Result<Vec<f64>, StatsError> {
    let n = series.len();
    if n < MIN_SERIES_LEN {
        let expected = "4 or more values long";
        return Err(StatsError::OutOfRange { name: "series", value: n as f64, expected });
    }
    for &value in series {
        in_range("series", value, -1e100..=1e100, "from -1e100 to 1e100")?;
    }
    let mean = series.iter().sum::<f64>() / n as f64;
    let mut squares = 0.0;
    let mut windowed: Vec<f64> = (0..n)
        .map(|step| {
            let weight = 0.5 - 0.5 * libm::cos(TAU * step as f64 / n as f64);
            squares += weight * weight;
            weight * (series[step] - mean)
        })
        .collect();
    let transform = planner.plan_fft_forward(n);
    let mut output = transform.make_output_vec();
    transform.process(&mut windowed, &mut output).expect("the buffers have the length of the transform");
    Ok(output.iter().map(|value| value.norm_sqr() / squares).collect())
}

/// The power of one series on a grid of `bins` equal cells from 0 to one half.
///
/// Each frequency of the series represents the band halfway to its neighbors; a cell has the mean density of the bands it
/// covers. Total power is preserved, so series of different lengths can be averaged.
fn on_grid(power: &[f64], n: usize, bins: usize) -> Vec<f64> {
    // In units in which the ends of bands and cells are integers: 4 n bins per cycle per step.
    let (width, end) = (2 * n, 2 * n * bins);
    let mut grid = vec![0.0; bins];
    let mut start = 0;
    for (k, power) in power.iter().enumerate() {
        let stop = ((4 * k + 2) * bins).min(end);
        while start < stop {
            let cell = start / width;
            let next = stop.min((cell + 1) * width);
            grid[cell] += 2.0 * power * ((next - start) as f64 / width as f64);
            start = next;
        }
    }
    grid
}

/// The spectra of many series, on a common grid.
///
/// ```
/// use reasonscape_stats::random::PyRandom;
/// use reasonscape_stats::spectrum::{PermutationTest, Population};
///
/// let mut rng = PyRandom::new(1);
/// let mut series = |period: f64| -> Vec<Vec<f64>> {
///     (0..30).map(|_| (0..50).map(|step| (f64::from(step) / period).sin() + rng.random()).collect()).collect()
/// };
/// let [slow, also_slow, fast] = [3.0, 3.0, 1.0].map(|period| Population::new(&series(period), 16).unwrap());
/// assert!(slow.compare(&also_slow, PermutationTest::default())?.p > 0.05);
/// assert!(slow.compare(&fast, PermutationTest::default())?.p < 0.01);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    bins: usize,
    /// One row of `bins` per series, sorted, so that sums don't depend on the input order.
    spectra: Vec<Vec<f64>>,
}

/// Options of the permutation test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermutationTest {
    /// Number of permutations.
    pub permutations: usize,
    /// Seed of the permutations.
    pub seed: u64,
}

impl Default for PermutationTest {
    fn default() -> Self {
        Self { permutations: 999, seed: 42 }
    }
}

/// The distance between two populations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralDifference {
    /// Root mean square over frequencies of the difference of the mean spectra, in decibels.
    pub distance_db: f64,
    /// The 95th percentile of the distance under the null hypothesis.
    pub chance_db: f64,
    /// p-value of the permutation test: `(count + 1) / (permutations + 1)`.
    pub p: f64,
    /// Number of permutations.
    pub permutations: usize,
}

impl Population {
    /// Spectra of `series` on a grid of `bins` cells.
    ///
    /// # Errors
    /// A [`StatsError`] when there is no series, one has fewer than four values or a value beyond ±1e100, or `bins` is
    /// not from 1 to 65536.
    pub fn new<S: AsRef<[f64]> + Sync>(series: &[S], bins: usize) -> Result<Self, StatsError> {
        Self::from_slices(&series.iter().map(AsRef::as_ref).collect::<Vec<_>>(), bins)
    }

    /// Non-generic part, so that the transforms are compiled once.
    fn from_slices(series: &[&[f64]], bins: usize) -> Result<Self, StatsError> {
        in_range("bins", bins as f64, 1.0..=65_536.0, "from 1 to 65536")?;
        if series.is_empty() {
            return Err(StatsError::Empty { name: "series" });
        }
        let mut spectra = series
            .par_iter()
            .map_init(RealFftPlanner::new, |planner, &series| {
                Ok(on_grid(&two_sided(series, planner)?, series.len(), bins))
            })
            .collect::<Result<Vec<_>, StatsError>>()?;
        spectra.par_sort_unstable_by(|a, b| by_values(a, b));
        Ok(Self { bins, spectra })
    }

    /// Number of series, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a population is never empty")]
    pub fn len(&self) -> usize {
        self.spectra.len()
    }

    /// The center of each cell of the grid, in cycles per step.
    pub fn frequencies(&self) -> Vec<f64> {
        (0..self.bins).map(|bin| (bin as f64 + 0.5) / (2 * self.bins) as f64).collect()
    }

    /// Mean power density over the series, one value per cell.
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = self.sum();
        scale(&mut mean, 1.0 / self.len() as f64);
        mean
    }

    /// The quantile of the power density at `proportion`, one value per cell; interpolated as in NumPy.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] when `proportion` is not from 0 to 1.
    pub fn quantile(&self, proportion: f64) -> Result<Vec<f64>, StatsError> {
        in_range("proportion", proportion, 0.0..=1.0, "from 0 to 1")?;
        Ok((0..self.bins)
            .map(|bin| {
                let mut values: Vec<f64> = self.spectra.iter().map(|spectrum| spectrum[bin]).collect();
                values.sort_unstable_by(f64::total_cmp);
                quantile_of_sorted(&values, proportion)
            })
            .collect())
    }

    /// The distance between the mean spectra of two populations, with a permutation test.
    ///
    /// The log-spectral distance: the root mean square over cells of the difference of the means in decibels. Cells without
    /// power count as 1e-9 of the mean power of both. For the p-value, the series of both are reassigned at random to two
    /// populations of the same sizes. The result doesn't depend on the order of series or populations. Assumes independent
    /// series.
    ///
    /// Source: B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9
    /// (2010).
    ///
    /// # Errors
    /// A [`StatsError`] when the grids differ, or the permutations are not from 1 to 10^7.
    pub fn compare(
        &self,
        other: &Population,
        test: PermutationTest,
    ) -> Result<SpectralDifference, StatsError> {
        if self.bins != other.bins {
            return Err(StatsError::WrongLength { name: "bins", found: other.bins, expected: self.bins });
        }
        in_range("permutations", test.permutations as f64, 1.0..=1e7, "from 1 to 10000000")?;
        let (small, large) = if self.precedes(other) { (self, other) } else { (other, self) };
        let pool: Vec<&[f64]> = small.spectra.iter().chain(&large.spectra).map(Vec::as_slice).collect();
        let total: Vec<f64> = small.sum().iter().zip(large.sum()).map(|(a, b)| a + b).collect();
        let comparison = Comparison::new(total, small.len(), large.len());
        let distance_db = comparison.distance(&small.sum());
        let mut by_chance: Vec<f64> = (0..test.permutations as u64)
            .into_par_iter()
            .map_init(
                || (Vec::new(), vec![0.0; self.bins]),
                |(places, sum), permutation| {
                    let mut rng = PyRandom::new((i128::from(test.seed) << 32) + i128::from(permutation));
                    places.clear();
                    places.extend(0..pool.len());
                    sum.fill(0.0);
                    for dealt in 0..small.len() {
                        places.swap(dealt, dealt + rng.index(pool.len() - dealt));
                        add(sum, pool[places[dealt]]);
                    }
                    comparison.distance(sum)
                },
            )
            .collect();
        // The same series summed in a different order may differ in the last bits.
        let as_far = by_chance.iter().filter(|distance| **distance >= distance_db * (1.0 - 1e-9)).count();
        by_chance.sort_unstable_by(f64::total_cmp);
        Ok(SpectralDifference {
            distance_db,
            chance_db: quantile_of_sorted(&by_chance, 0.95),
            p: (as_far + 1) as f64 / (test.permutations + 1) as f64,
            permutations: test.permutations,
        })
    }

    /// The smaller population first; equal sizes are ordered by their spectra.
    fn precedes(&self, other: &Population) -> bool {
        let spectra = || {
            let pairs = self.spectra.iter().zip(&other.spectra);
            pairs.map(|(a, b)| by_values(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        self.len().cmp(&other.len()).then_with(spectra).is_le()
    }

    fn sum(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.bins];
        for spectrum in &self.spectra {
            add(&mut sum, spectrum);
        }
        sum
    }
}

/// What is constant over permutations.
struct Comparison {
    /// Sum of all spectra.
    total: Vec<f64>,
    small: f64,
    large: f64,
    /// Power below which a cell counts as empty.
    floor: f64,
}

impl Comparison {
    fn new(total: Vec<f64>, small: usize, large: usize) -> Self {
        let mean = total.iter().sum::<f64>() / (total.len() * (small + large)) as f64;
        // Without any power, both sides take the logarithm of this floor.
        Self { total, small: small as f64, large: large as f64, floor: (1e-9 * mean).max(f64::MIN_POSITIVE) }
    }

    /// The distance if the spectra of the smaller population sum to `sum`.
    fn distance(&self, sum: &[f64]) -> f64 {
        let squares: f64 = self
            .total
            .iter()
            .zip(sum)
            .map(|(total, sum)| {
                let (a, b) =
                    ((sum / self.small).max(self.floor), ((total - sum) / self.large).max(self.floor));
                (10.0 * (a / b).log10()).powi(2)
            })
            .sum();
        (squares / sum.len() as f64).sqrt()
    }
}

fn add(sum: &mut [f64], row: &[f64]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += value;
    }
}

fn scale(values: &mut [f64], factor: f64) {
    for value in values {
        *value *= factor;
    }
}

/// Lexicographic order of two rows.
fn by_values(a: &[f64], b: &[f64]) -> Ordering {
    a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FEW: PermutationTest = PermutationTest { permutations: 49, seed: 42 };

    fn series() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(-9.0..9.0_f64, 4..40), 1..12)
    }

    proptest! {
        #[test]
        fn grid_power_equals_power_of_windowed_series(series in series(), bins in 1_usize..70) {
            for series in &series {
                let n = series.len();
                let mean = series.iter().sum::<f64>() / n as f64;
                let window = |step: usize| 0.5 - 0.5 * (TAU * step as f64 / n as f64).cos();
                let energy: f64 = (0..n).map(|step| (window(step) * (series[step] - mean)).powi(2)).sum();
                let squares: f64 = (0..n).map(|step| window(step).powi(2)).sum();
                let grid = Population::new(&[series], bins).unwrap().mean();
                let total: f64 = grid.iter().sum::<f64>() / (2 * bins) as f64;
                prop_assert!((total - energy / squares).abs() < 1e-9 * (1.0 + total), "{total}");
            }
        }

        #[test]
        fn result_is_independent_of_order(mut a in series(), b in series()) {
            let population = |series: &[Vec<f64>]| Population::new(series, 8).unwrap();
            let before = population(&a).compare(&population(&b), FEW).unwrap();
            a.reverse();
            prop_assert_eq!(population(&b).compare(&population(&a), FEW).unwrap(), before);
            prop_assert!(before.distance_db.is_finite() && before.distance_db >= 0.0);
            prop_assert!(0.0 < before.p && before.p <= 1.0);
        }

        #[test]
        fn quantiles_are_monotone(series in series()) {
            let population = Population::new(&series, 8).unwrap();
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|proportion| population.quantile(proportion).unwrap());
            for bin in 0..8 {
                prop_assert!(low[bin] <= middle[bin] && middle[bin] <= high[bin]);
            }
        }
    }

    #[test]
    fn population_equals_itself_and_its_double() {
        let mut rng = PyRandom::new(5);
        let series: Vec<Vec<f64>> = (0..20).map(|_| (0..30).map(|_| rng.random()).collect()).collect();
        let population = Population::new(&series, 16).unwrap();
        let same = population.compare(&population, FEW).unwrap();
        assert!(same.distance_db < 1e-9 && same.p == 1.0, "{same:?}");
        // Twice the amplitude is four times the power, 6 dB everywhere.
        let loud: Vec<Vec<f64>> =
            series.iter().map(|series| series.iter().map(|value| 2.0 * value).collect()).collect();
        let louder = population.compare(&Population::new(&loud, 16).unwrap(), FEW).unwrap();
        assert!((louder.distance_db - 10.0 * 4.0_f64.log10()).abs() < 1e-9, "{louder:?}");
    }

    #[test]
    fn zero_power_series_are_equal_and_differ_from_others() {
        let flat = Population::new(&[[3.0; 10], [5.0; 10]], 4).unwrap();
        assert_eq!(flat.compare(&flat, FEW).unwrap().distance_db, 0.0);
        let lively = Population::new(&[[0.0, 1.0, 0.0, 2.0, 0.0, 1.0]], 4).unwrap();
        let found = flat.compare(&lively, FEW).unwrap();
        assert!(found.distance_db > 50.0 && found.distance_db < 200.0, "{found:?}");
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |series: &[Vec<f64>], bins| Population::new(series, bins).unwrap_err().to_string();
        assert_eq!(message(&[], 4), "`series` is empty, but needs at least one entry");
        assert_eq!(message(&[vec![1.0; 3]], 4), "`series` is 3, but must be 4 or more values long");
        assert_eq!(message(&[vec![f64::NAN; 4]], 4), "`series` is NaN, but must be a finite number");
        assert_eq!(message(&[vec![1.0; 4]], 0), "`bins` is 0, but must be from 1 to 65536");
        let [four, eight] = [4, 8].map(|bins| Population::new(&[[1.0; 4]], bins).unwrap());
        assert!(four.compare(&eight, FEW).is_err());
        assert!(four.compare(&four, PermutationTest { permutations: 0, seed: 1 }).is_err());
    }
}
