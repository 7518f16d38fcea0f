//! One point: sums over its problems.

use std::iter::Sum;
use std::ops::Add;

use super::StopRule;
use crate::{Counters, Outcome};

/// Sums over the problems of a point. A problem enters by the mean of its samples, so several samples of one problem
/// count as one problem.
///
/// The value of a sample is `y`: 1 if correct, `-g/(1-g)` if incorrect, 0 if truncated, with `g` the probability of
/// guessing correctly. Its expectation is the probability of completing with a known answer, for every `g`.
///
/// ```
/// use reasonscape_stats::likelihood::PointSums;
/// use reasonscape_stats::{Counters, Outcome};
///
/// let mut sums = PointSums::default();
/// sums.add_problem(&[(Outcome::Correct, 0.25)]);
/// sums.add_problem(&[(Outcome::Incorrect, 0.25)]);
/// assert_eq!(sums, PointSums::from_counters(&Counters::new(2.0, 1.0, 0.0, 0.5)?));
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PointSums {
    /// Number of problems with at least one sample.
    pub problems: f64,
    /// Correct.
    pub q: f64,
    /// Completed.
    pub c: f64,
    /// Guess probability of completed samples. Infinite if a completed sample could not be answered incorrectly.
    pub gm: f64,
    /// `g/(1-g)` of incorrect samples.
    pub a: f64,
    /// `1/(1-g)` of incorrect samples.
    pub b: f64,
    /// Square of the problem's value, the mean of `y` over its samples.
    pub yy: f64,
}

impl PointSums {
    /// Adds a problem with its samples: outcome and probability of guessing correctly. Without samples it is ignored.
    ///
    /// A completed sample whose guess probability is not in `[0, 1)` makes the sums infinite, and [`effective_task`] an
    /// error.
    ///
    /// [`effective_task`]: super::effective_task
    pub fn add_problem(&mut self, samples: &[(Outcome, f64)]) {
        if samples.is_empty() {
            return;
        }
        let count = samples.len() as f64;
        let mut problem = Self { problems: 1.0, ..Self::default() };
        for &(outcome, guess) in samples {
            if outcome == Outcome::Truncated {
                continue;
            }
            problem.c += 1.0 / count;
            problem.gm += if (0.0..1.0).contains(&guess) { guess / count } else { f64::INFINITY };
            if outcome == Outcome::Correct {
                problem.q += 1.0 / count;
            } else {
                problem.a += guess / (1.0 - guess) / count;
                problem.b += 1.0 / (1.0 - guess) / count;
            }
        }
        problem.yy = (problem.q - problem.a).powi(2);
        *self = *self + problem;
    }

    /// The sums of a group of trials of which only counters are known: one sample per problem, and all with the same
    /// guess probability, the mean over completed trials.
    pub fn from_counters(counters: &Counters) -> Self {
        let completed = counters.n_u();
        let incorrect = completed - counters.n_e();
        let guess = if completed > 0.0 { counters.g() / completed } else { 0.0 };
        if guess >= 1.0 {
            let gm = f64::INFINITY;
            return Self { problems: counters.n(), q: counters.n_e(), c: completed, gm, ..Self::default() };
        }
        let odds = guess / (1.0 - guess);
        Self {
            problems: counters.n(),
            q: counters.n_e(),
            c: completed,
            gm: counters.g(),
            a: incorrect * odds,
            b: incorrect / (1.0 - guess),
            yy: counters.n_e() + incorrect * odds * odds,
        }
    }

    /// The mean value of a problem. Meaningful with `problems > 0`.
    pub(super) fn mean_value(&self) -> f64 {
        (self.q - self.a) / self.problems
    }

    /// The sum of squared deviations of problem values from their mean.
    pub(super) fn squared_deviations(&self) -> f64 {
        (self.yy - self.problems * self.mean_value().powi(2)).max(0.0)
    }
}

impl Add for PointSums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            problems: self.problems + other.problems,
            q: self.q + other.q,
            c: self.c + other.c,
            gm: self.gm + other.gm,
            a: self.a + other.a,
            b: self.b + other.b,
            yy: self.yy + other.yy,
        }
    }
}

impl Sum for PointSums {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

/// A point of a task with its weight in the suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedPoint {
    /// Sums over its problems; zero problems for a planned point without data.
    pub sums: PointSums,
    /// Planned count in the suite, however many trials were sampled. Only ratios matter.
    pub weight: f64,
    /// The rule by which the point was sampled; `None` if its size was fixed beforehand.
    pub stop_rule: Option<StopRule>,
}
