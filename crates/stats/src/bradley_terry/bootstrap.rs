//! Bootstrap intervals of ratings over tasks.

use rayon::prelude::*;

use super::{Convergence, fit_win_rates};
use crate::pairwise::TaskWinRates;
use crate::random::PyRandom;
use crate::score::middle_95;
use crate::{StatsError, in_range};

/// Number of resamples of the tasks, and the seed.
///
/// ```
/// use reasonscape_stats::bradley_terry::TaskBootstrap;
///
/// assert_eq!(TaskBootstrap::default(), TaskBootstrap { replicates: 1000, seed: 42 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskBootstrap {
    /// Number of resamples.
    pub replicates: usize,
    /// Replicate `i` draws from `random.Random((seed << 32) + i)`: no two share a stream, whatever the seeds.
    pub seed: u64,
}

impl Default for TaskBootstrap {
    fn default() -> Self {
        Self { replicates: 1000, seed: 42 }
    }
}

/// The central 95 % of the resampled ratings, in the order of the models.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingIntervals {
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
    /// Number of resamples.
    pub replicates: usize,
    /// Number of resamples without a finite maximum, because some models were unbeaten. Their ratings are those of
    /// [`Convergence::Unbounded`]; if there are many, the outer bounds depend on the added tie.
    pub unbounded: usize,
}

impl RatingIntervals {
    /// The interval of a model on the Elo scale, lower bound first.
    ///
    /// # Panics
    /// When there is no such model.
    pub fn elo(&self, model: usize) -> [f64; 2] {
        [self.low[model], self.high[model]].map(super::elo)
    }
}

/// Resamples the tasks with replacement, averages the win rates over them and fits the ratings again.
///
/// Replicate `i` takes `randrange(tasks)` of `random.Random((seed << 32) + i)` once per task. The bounds are a model's
/// sorted ratings at 0-based index `floor(0.025 n)` and `floor(0.975 n)`. The interval covers the choice of tasks; how
/// precisely each task was measured is already in the win rates. Assumes that the tasks are a sample from a larger
/// population; with a few tasks the interval is rough.
///
/// Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
///
/// ```
/// use reasonscape_stats::bradley_terry::{TaskBootstrap, fit_win_rates, rating_intervals};
/// use reasonscape_stats::pairwise::{Method, task_win_rates};
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = |correct| wilson(correct, 100.0, Confidence::P95).map(Some);
/// let models = [[proportion(90.0)?, proportion(60.0)?, proportion(72.0)?], [proportion(80.0)?, proportion(66.0)?, proportion(70.0)?]];
/// let rates = task_win_rates(&models, Confidence::P95, Method::Exact)?;
/// let (fitted, intervals) =
///     (fit_win_rates(&rates.average())?, rating_intervals(&rates, TaskBootstrap::default())?);
/// assert!(intervals.low[0] < fitted.ratings[0] && fitted.ratings[0] < intervals.high[0]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when there are fewer than two tasks, or no replicate.
pub fn rating_intervals(rates: &TaskWinRates, options: TaskBootstrap) -> Result<RatingIntervals, StatsError> {
    in_range("replicates", options.replicates as f64, 1.0..=1e8, "from 1 to 100000000")?;
    in_range("tasks", rates.tasks() as f64, 2.0..=1e9, "2 or more to resample tasks")?;
    let fits = (0..options.replicates as u64)
        .into_par_iter()
        .map(|replicate| {
            let mut rng = PyRandom::new((i128::from(options.seed) << 32) + i128::from(replicate));
            let tasks: Vec<usize> = (0..rates.tasks()).map(|_| rng.index(rates.tasks())).collect();
            fit_win_rates(&rates.average_over(&tasks))
        })
        .collect::<Result<Vec<_>, StatsError>>()?;
    let mut intervals = RatingIntervals {
        low: Vec::with_capacity(rates.models()),
        high: Vec::with_capacity(rates.models()),
        replicates: options.replicates,
        unbounded: fits.iter().filter(|fit| matches!(fit.convergence, Convergence::Unbounded { .. })).count(),
    };
    let mut ratings = vec![0.0; options.replicates];
    for model in 0..rates.models() {
        for (rating, fit) in ratings.iter_mut().zip(&fits) {
            *rating = fit.ratings[model];
        }
        let (low, high) = middle_95(&mut ratings);
        intervals.low.push(low);
        intervals.high.push(high);
    }
    Ok(intervals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::{Method, task_win_rates};
    use crate::{Confidence, Interval};

    const FEW: TaskBootstrap = TaskBootstrap { replicates: 60, seed: 7 };

    /// Models whose accuracies differ by task, one of them with a missing task.
    fn rates(models: usize, tasks: usize) -> TaskWinRates {
        let proportion = |m: usize, t: usize| {
            let low = 0.3 + 0.04 * (m as f64) + 0.05 * ((m * 7 + t * 3) % 5) as f64;
            ((m, t) != (1, 0)).then_some(Interval { low, high: low + 0.1, point: None })
        };
        let rows: Vec<Vec<_>> = (0..models).map(|m| (0..tasks).map(|t| proportion(m, t)).collect()).collect();
        task_win_rates(&rows, Confidence::P95, Method::Exact).unwrap()
    }

    #[test]
    fn result_is_independent_of_thread_count() {
        let rates = rates(6, 5);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| rating_intervals(&rates, FEW).unwrap())
        };
        assert_eq!(on(1), on(4));
    }

    #[test]
    fn agreeing_tasks_give_zero_width_intervals() {
        let same = Some(Interval { low: 0.5, high: 0.6, point: None });
        let better = Some(Interval { low: 0.52, high: 0.62, point: None });
        let rates = task_win_rates(&[[better; 4], [same; 4]], Confidence::P95, Method::Exact).unwrap();
        let found = rating_intervals(&rates, FEW).unwrap();
        assert!((found.high[0] / found.low[0] - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.unbounded, 0);
    }

    #[test]
    fn counts_unbounded_resamples() {
        let (high, low) = ((0.9, 0.91), (0.1, 0.11));
        let proportion = |(low, high)| Some(Interval { low, high, point: None });
        let rows = [
            [proportion(high), proportion(high), proportion(low)],
            [proportion(low), proportion(low), proportion(high)],
        ];
        let rates = task_win_rates(&rows, Confidence::P95, Method::Exact).unwrap();
        let found = rating_intervals(&rates, FEW).unwrap();
        // All three draws are of tasks that A wins, or all three of the one that B wins: 1/3 of the resamples.
        assert!((10..35).contains(&found.unbounded), "{}", found.unbounded);
        assert!(found.low.iter().chain(&found.high).all(|rating| rating.is_finite()));
        assert!(found.high[0] > 1.0 && found.low[0] < 1.0);
    }

    #[test]
    fn rejects_input_that_cannot_be_resampled() {
        let message = |tasks, replicates| {
            rating_intervals(&rates(3, tasks), TaskBootstrap { replicates, seed: 1 }).unwrap_err().to_string()
        };
        assert_eq!(message(1, 10), "`tasks` is 1, but must be 2 or more to resample tasks");
        assert_eq!(message(3, 0), "`replicates` is 0, but must be from 1 to 100000000");
    }
}
