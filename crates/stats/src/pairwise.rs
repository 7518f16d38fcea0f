//! Pairwise win rates: the probability that one model is better than another, per task and overall.
//!
//! Each task's interval becomes a [`Beta`], and a model wins a task with the probability that its accuracy is higher.
//! [`win_rates`] averages this over tasks for all pairs at once, exactly or by Monte Carlo; [`expected_wins`] sums it
//! over opponents, and [`bradley_terry`](crate::bradley_terry) fits ratings to it.
//!
//! Source: ReasonScape, "Pairwise Win Rate Statistical Methodology". Assumes that two models err independently on a
//! task; a paired test on the same trials can detect smaller differences.

mod beta;
mod monte_carlo;
mod quadrature;
mod tasks;

use crate::{Confidence, Interval, StatsError};
pub use beta::{Beta, MAX_TRIALS, MEAN_FLOOR};
pub use monte_carlo::probability_greater_monte_carlo;
use quadrature::Grid;
pub use tasks::{TaskWinRates, task_win_rates};

/// How `P(A > B)` is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Quadrature, to 9 digits or better; needs no seed.
    #[default]
    Exact,
    /// Monte Carlo, as in the source document, so that results can be reproduced with Python's standard library.
    MonteCarlo {
        /// Draws per side; the source document uses 10,000, for an error of about 0.005.
        draws: usize,
        /// Seed of `random.Random`.
        seed: i64,
    },
}

/// The probability that an accuracy distributed as `a` exceeds one distributed as `b`.
///
/// `P(A > B) = int f_A(x) F_B(x) dx`, by Gauss-Legendre quadrature on panels that follow both Betas. The error is
/// below 1e-9 at 1e12 trials and below 1e-13 at a million. The two directions add up to exactly 1.
///
/// ```
/// use reasonscape_stats::pairwise::{Beta, probability_greater};
///
/// let (better, worse) = (Beta::new(81.0, 21.0)?, Beta::new(71.0, 31.0)?);
/// assert_eq!(format!("{:.4}", probability_greater(&better, &worse)), "0.9476");
/// assert_eq!(probability_greater(&better, &better), 0.5);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
pub fn probability_greater(a: &Beta, b: &Beta) -> f64 {
    if a == b {
        return 0.5;
    }
    // Always compute the same direction, so that the other is its exact complement.
    let in_order = (a.alpha(), a.beta()) < (b.alpha(), b.beta());
    let (first, second) = if in_order { (a, b) } else { (b, a) };
    let grid = Grid::cover(&[*first, *second]);
    let probability = grid.tabulate(first).exceeds(&grid.tabulate(second));
    if in_order { probability } else { 1.0 - probability }
}

/// The win rates of all pairs of models: a square matrix without a diagonal.
///
/// `rate(a, b) + rate(b, a)` is exactly 1.
///
/// ```
/// use reasonscape_stats::pairwise::{Method, win_rates};
/// use reasonscape_stats::{Confidence, Interval};
///
/// let models = [[Some(Interval::UNKNOWN)], [Some(Interval::UNKNOWN)], [None]];
/// let rates = win_rates(&models, Confidence::P95, Method::Exact)?;
/// assert_eq!(rates.row(0), [None, Some(0.5), None]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WinRates {
    models: usize,
    rates: Vec<Option<f64>>,
    shared: Vec<usize>,
}

impl WinRates {
    /// Number of models.
    pub fn models(&self) -> usize {
        self.models
    }

    /// The mean probability that `a` beats `b` on a task; `None` if they have no common task, or are the same.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn rate(&self, a: usize, b: usize) -> Option<f64> {
        self.row(a)[b]
    }

    /// The rates of `a` against each model.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn row(&self, a: usize) -> &[Option<f64>] {
        &self.rates[a * self.models..][..self.models]
    }

    /// The number of tasks that the rate of `a` against `b` is based on.
    ///
    /// # Panics
    /// If there is no such model.
    pub fn shared_tasks(&self, a: usize, b: usize) -> usize {
        self.shared[a * self.models..][..self.models][b]
    }
}

/// The win rate of every model against every other: the mean of `P(A > B)` over their common tasks.
///
/// `models[m][t]` is the interval of model `m` on task `t`, or `None` where it has not run the task; `confidence` is the
/// level of these intervals. With Monte Carlo, a model's draws on a task are used for all its pairs: they are `draws`
/// values of `betavariate(alpha, beta)` of `random.Random(abs(seed) << 64 | t << 32 | m)`.
///
/// ```
/// use reasonscape_stats::pairwise::{Method, expected_wins, win_rates};
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = |correct| wilson(correct, 100.0, Confidence::P95);
/// let models = [
///     vec![Some(proportion(90.0)?), Some(proportion(70.0)?)],
///     vec![Some(proportion(80.0)?), Some(proportion(70.0)?)],
///     vec![Some(proportion(80.0)?), None],
/// ];
/// let rates = win_rates(&models, Confidence::P95, Method::Exact)?;
/// assert_eq!(format!("{:.3}", rates.rate(0, 1).expect("two shared tasks")), "0.737");
/// assert_eq!(rates.rate(1, 2), Some(0.5));
/// assert_eq!(rates.shared_tasks(1, 2), 1);
/// assert_eq!(expected_wins(&rates)[0], rates.rate(0, 1).unwrap_or(0.0) + rates.rate(0, 2).unwrap_or(0.0));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when there is no model or no task, rows differ in length, an interval is not within `[0, 1]`, or
/// the number of draws is 0.
pub fn win_rates<T: AsRef<[Option<Interval>]>>(
    models: &[T],
    confidence: Confidence,
    method: Method,
) -> Result<WinRates, StatsError> {
    Ok(task_win_rates(models, confidence, method)?.average())
}

/// The expected number of opponents that each model beats: the sum of its win rates.
///
/// An opponent without a common task adds nothing, so models that lack tasks are not comparable by this number.
///
/// ```
/// use reasonscape_stats::pairwise::{Method, expected_wins, win_rates};
/// use reasonscape_stats::{Confidence, Interval};
///
/// let rates = win_rates(&vec![vec![Some(Interval::UNKNOWN)]; 5], Confidence::P95, Method::Exact)?;
/// assert_eq!(expected_wins(&rates), [2.0; 5]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
pub fn expected_wins(rates: &WinRates) -> Vec<f64> {
    (0..rates.models()).map(|model| rates.row(model).iter().flatten().sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high, point: None }
    }

    fn beta(alpha: f64, beta: f64) -> Beta {
        Beta::new(alpha, beta).unwrap()
    }

    /// Intervals of all widths, some of them without any.
    fn any_interval() -> impl Strategy<Value = Interval> {
        (0.0..=1.0_f64, prop_oneof![Just(0.0), -12.0..0.0_f64])
            .prop_map(|(low, digits)| interval(low, (low + (1.0 - low) * 10_f64.powf(digits)).min(1.0)))
    }

    proptest! {
        #[test]
        fn both_directions_sum_to_one_exactly(a in any_interval(), b in any_interval()) {
            let models = [[Some(a), Some(b), None], [Some(b), Some(a), Some(b)]];
            for method in [Method::Exact, Method::MonteCarlo { draws: 50, seed: 7 }] {
                let rates = win_rates(&models, Confidence::P95, method).unwrap();
                let (forth, back) = (rates.rate(0, 1).unwrap(), rates.rate(1, 0).unwrap());
                prop_assert_eq!(forth + back, 1.0);
            }
            let fit = |interval| Beta::from_interval(interval, Confidence::P95).unwrap();
            let (a, b) = (fit(a), fit(b));
            prop_assert_eq!(probability_greater(&a, &b) + probability_greater(&b, &a), 1.0);
            prop_assert_eq!(probability_greater(&a, &a), 0.5);
        }

        #[test]
        fn win_rate_is_monotone_in_correct_and_incorrect_counts(
            shapes in [0.0..6.0_f64, 0.0..6.0_f64, 0.0..6.0_f64, 0.0..6.0_f64],
            more in 1.0..3.0_f64,
        ) {
            let [a, b, c, d] = shapes.map(|digits| 10_f64.powf(digits));
            let (before, other) = (beta(a, b), beta(c, d));
            let correct = probability_greater(&beta(a * more, b), &other);
            let lowered = probability_greater(&beta(a, b * more), &other);
            let before = probability_greater(&before, &other);
            prop_assert!(lowered <= before + 1e-11 && before <= correct + 1e-11);
        }

        #[test]
        fn rate_depends_only_on_its_pair(cells in prop::collection::vec(any_interval(), 8)) {
            let models: Vec<_> = cells.iter().map(|&cell| [Some(cell)]).collect();
            let together = win_rates(&models, Confidence::P95, Method::Exact).unwrap();
            let alone = win_rates(&models[..2], Confidence::P95, Method::Exact).unwrap();
            let difference = together.rate(0, 1).unwrap() - alone.rate(0, 1).unwrap();
            prop_assert!(difference.abs() < 1e-9, "{difference}");
        }
    }

    #[test]
    fn result_is_independent_of_thread_count() {
        let models: Vec<Vec<_>> = (0..9)
            .map(|m| (0..5).map(|t| (m != t).then(|| interval(0.1 * f64::from(m), 0.95))).collect())
            .collect();
        for method in [Method::Exact, Method::MonteCarlo { draws: 100, seed: 1 }] {
            let on = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| win_rates(&models, Confidence::P95, method).unwrap())
            };
            assert_eq!(on(1), on(4));
        }
    }

    #[test]
    fn win_rate_is_mean_over_tasks() {
        let models: Vec<Vec<_>> = (0..4)
            .map(|m| (0..3).map(|t| (m != t).then(|| interval(0.1 * f64::from(m), 0.95))).collect())
            .collect();
        let tasks = task_win_rates(&models, Confidence::P95, Method::Exact).unwrap();
        let rates = tasks.average();
        for a in 0..4 {
            for b in 0..4 {
                let of_tasks: Vec<f64> = (0..3).filter_map(|t| tasks.rate(t, a, b)).collect();
                assert_eq!(of_tasks.len(), if a == b { 0 } else { rates.shared_tasks(a, b) });
                if let Some(rate) = rates.rate(a, b) {
                    let mean = of_tasks.iter().sum::<f64>() / of_tasks.len() as f64;
                    assert!((rate - mean).abs() < 1e-15, "{a} {b}: {rate} {mean}");
                }
            }
        }
        // A task that is listed twice counts twice.
        let drawn = tasks.average_over(&[2, 2, 1]).rate(0, 3).unwrap();
        let expected = (2.0 * tasks.rate(2, 0, 3).unwrap() + tasks.rate(1, 0, 3).unwrap()) / 3.0;
        assert!((drawn - expected).abs() < 1e-15);
    }

    #[test]
    fn no_rate_without_a_shared_task() {
        let known = Some(interval(0.4, 0.6));
        let rates = win_rates(&[[known, None], [None, known]], Confidence::P95, Method::Exact).unwrap();
        assert_eq!((rates.rate(0, 1), rates.rate(0, 0), rates.shared_tasks(0, 1)), (None, None, 0));
        assert_eq!(expected_wins(&rates), [0.0, 0.0]);
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |models: &[Vec<Option<Interval>>], method| {
            win_rates(models, Confidence::P95, method).unwrap_err().to_string()
        };
        let fine = Some(interval(0.1, 0.2));
        assert_eq!(message(&[], Method::Exact), "`models` is empty, but needs at least one entry");
        assert_eq!(message(&[vec![]], Method::Exact), "`tasks` is empty, but needs at least one entry");
        assert_eq!(
            message(&[vec![fine], vec![fine, None]], Method::Exact),
            "`tasks` has 2 entries, but 1 are needed"
        );
        assert_eq!(
            message(&[vec![Some(interval(0.1, f64::NAN))]], Method::Exact),
            "`high` is NaN, but must be a finite number"
        );
        assert_eq!(
            message(&[vec![fine]], Method::MonteCarlo { draws: 0, seed: 1 }),
            "`draws` is 0, but must be from 1 to 100000000"
        );
    }
}
