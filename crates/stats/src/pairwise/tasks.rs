//! `P(A > B)` of every pair per task, and its mean over any selection of tasks.

use rayon::prelude::*;

use super::monte_carlo::{check_draws, draw, proportion_greater};
use super::quadrature::Grid;
use super::{Beta, Method, WinRates};
use crate::random::PyRandom;
use crate::{Confidence, Interval, StatsError};

/// The probability that one model is better than another, for every pair and each task.
///
/// ```
/// use reasonscape_stats::pairwise::{Method, task_win_rates, win_rates};
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = |correct| wilson(correct, 100.0, Confidence::P95);
/// let models = [[Some(proportion(90.0)?), Some(proportion(60.0)?)], [Some(proportion(80.0)?), Some(proportion(70.0)?)]];
/// let rates = task_win_rates(&models, Confidence::P95, Method::Exact)?;
/// assert!(rates.rate(0, 0, 1) > Some(0.9) && rates.rate(1, 0, 1) < Some(0.1));
/// assert_eq!(rates.average(), win_rates(&models, Confidence::P95, Method::Exact)?);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TaskWinRates {
    models: usize,
    tasks: Vec<TaskRates>,
}

/// One task: the models that have run it, and the rate of each pair `i < j` of these, row by row.
#[derive(Debug, Clone, PartialEq)]
struct TaskRates {
    models: Vec<usize>,
    rates: Vec<f64>,
}

impl TaskWinRates {
    /// Number of models.
    pub fn models(&self) -> usize {
        self.models
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// The probability that `a` is better than `b` on a task; `None` if one of them has not run it, or they are the same.
    ///
    /// # Panics
    /// When there is no such task.
    pub fn rate(&self, task: usize, a: usize, b: usize) -> Option<f64> {
        let TaskRates { models, rates } = &self.tasks[task];
        let index_of = |model: usize| models.iter().position(|&entrant| entrant == model);
        let (i, j) = (index_of(a)?, index_of(b)?);
        let above = |i: usize, j: usize| rates[i * models.len() - i * (i + 1) / 2 + j - i - 1];
        match i.cmp(&j) {
            std::cmp::Ordering::Less => Some(above(i, j)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(1.0 - above(j, i)),
        }
    }

    /// The mean over all tasks that both models of a pair have.
    pub fn average(&self) -> WinRates {
        self.average_over(&(0..self.tasks.len()).collect::<Vec<_>>())
    }

    /// The mean over these tasks, each counted as many times as it is listed.
    ///
    /// # Panics
    /// When there is no such task.
    pub fn average_over(&self, tasks: &[usize]) -> WinRates {
        let count = self.models;
        let mut sums = vec![0.0; count * count];
        let mut shared = vec![0; count * count];
        for &task in tasks {
            let TaskRates { models, rates } = &self.tasks[task];
            let mut rates = rates.iter();
            for (i, a) in models.iter().enumerate() {
                for (b, rate) in models[i + 1..].iter().zip(&mut rates) {
                    sums[a * count + b] += rate;
                    shared[a * count + b] += 1;
                }
            }
        }
        let mut rates = vec![None; count * count];
        for a in 0..count {
            for b in a + 1..count {
                let (upper, lower) = (a * count + b, b * count + a);
                shared[lower] = shared[upper];
                if shared[upper] > 0 {
                    let rate = sums[upper] / shared[upper] as f64;
                    (rates[upper], rates[lower]) = (Some(rate), Some(1.0 - rate));
                }
            }
        }
        WinRates { models: count, rates, shared }
    }
}

/// `P(A > B)` per task, with the arguments of [`win_rates`](super::win_rates), which averages it.
///
/// # Errors
/// A [`StatsError`] when there is no model or no task, rows differ in length, an interval is not within `[0, 1]`, or
/// the number of draws is 0.
pub fn task_win_rates<T: AsRef<[Option<Interval>]>>(
    models: &[T],
    confidence: Confidence,
    method: Method,
) -> Result<TaskWinRates, StatsError> {
    if let Method::MonteCarlo { draws, .. } = method {
        check_draws(draws)?;
    }
    let tasks = by_task(models, confidence)?
        .par_iter()
        .enumerate()
        .map(|(task, models)| TaskRates {
            models: models.iter().map(|entrant| entrant.model).collect(),
            rates: task_rates(models, task, method),
        })
        .collect();
    Ok(TaskWinRates { models: models.len(), tasks })
}

/// A model on a task that it has run.
struct ModelIntervals {
    model: usize,
    beta: Beta,
}

/// The validated Betas by task, each with its models in order.
fn by_task<T: AsRef<[Option<Interval>]>>(
    models: &[T],
    confidence: Confidence,
) -> Result<Vec<Vec<ModelIntervals>>, StatsError> {
    let expected = models.first().ok_or(StatsError::Empty { name: "models" })?.as_ref().len();
    if expected == 0 {
        return Err(StatsError::Empty { name: "tasks" });
    }
    let mut tasks: Vec<Vec<ModelIntervals>> =
        (0..expected).map(|_| Vec::with_capacity(models.len())).collect();
    for (model, row) in models.iter().enumerate() {
        let row = row.as_ref();
        if row.len() != expected {
            return Err(StatsError::WrongLength { name: "tasks", found: row.len(), expected });
        }
        for (task, interval) in tasks.iter_mut().zip(row) {
            if let Some(interval) = interval {
                task.push(ModelIntervals { model, beta: Beta::from_interval(*interval, confidence)? });
            }
        }
    }
    Ok(tasks)
}

/// `P(A > B)` of each pair of models of one task, the earlier against the later, in order.
fn task_rates(models: &[ModelIntervals], task: usize, method: Method) -> Vec<f64> {
    match method {
        Method::Exact => {
            let betas: Vec<Beta> = models.iter().map(|entrant| entrant.beta).collect();
            let grid = Grid::cover(&betas);
            let tables: Vec<_> = betas.par_iter().map(|beta| grid.tabulate(beta)).collect();
            // Equal Betas give exactly 0.5, whatever the rounding of the quadrature.
            pairs(models.len(), |i, j| if betas[i] == betas[j] { 0.5 } else { tables[i].exceeds(&tables[j]) })
        }
        Method::MonteCarlo { draws, seed } => {
            let all: Vec<Vec<f64>> = models
                .par_iter()
                .map(|entrant| {
                    let key = i128::from(seed).abs() << 64 | (task as i128) << 32 | entrant.model as i128;
                    draw(&entrant.beta, draws, &mut PyRandom::new(key))
                })
                .collect();
            pairs(models.len(), |i, j| proportion_greater(&all[i], &all[j]))
        }
    }
}

/// A value for each pair `i < j`, row by row, with rows computed in parallel.
fn pairs(count: usize, value: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
    let value = &value;
    (0..count).into_par_iter().flat_map_iter(|i| (i + 1..count).map(move |j| value(i, j))).collect()
}
