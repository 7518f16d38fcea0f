//! Simulated outcomes of 60 models on the 1,067 points of r12@1.

use rayon::prelude::*;
use reasonscape_stats::likelihood::{PointSums, WeightedPoint};
use reasonscape_stats::paired_score::PairedPoint;
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::TaskBounds;
use reasonscape_stats::{Confidence, Counters, Mode, Outcome};

pub(crate) const MODELS: usize = 60;
const TASKS: usize = 12;
const POINTS: usize = 1067;
/// Problems per point, for 4,000,000 trials.
const PROBLEMS: usize = 4_000_000 / MODELS / POINTS;

/// By model, task and point, the outcome on each problem.
pub(crate) struct LargeBoard {
    models: Vec<Vec<Vec<Vec<Outcome>>>>,
}

/// Every third task has four options.
fn guess(task: usize) -> f64 {
    if task.is_multiple_of(3) { 0.25 } else { 0.0 }
}

impl LargeBoard {
    /// `simulate` in peers/stats.py has the same rates.
    pub(crate) fn new() -> Self {
        Self { models: (0..MODELS).into_par_iter().map(simulate).collect() }
    }

    /// What a points file has.
    pub(crate) fn weighted_points(&self) -> Vec<Vec<Vec<WeightedPoint>>> {
        let weighted = |outcomes: &Vec<Outcome>, guess: f64| {
            let mut sums = PointSums::default();
            for &outcome in outcomes {
                sums.add_problem(&[(outcome, guess)]);
            }
            WeightedPoint { sums, weight: PROBLEMS as f64, stop_rule: None }
        };
        let tasks = |tasks: &Vec<Vec<Vec<Outcome>>>| {
            let tasks = tasks.iter().enumerate();
            tasks
                .map(|(task, points)| points.iter().map(|point| weighted(point, guess(task))).collect())
                .collect()
        };
        self.models.iter().map(tasks).collect()
    }

    /// The `C_P` bounds of pooled counters.
    pub(crate) fn bounds(points: &[Vec<Vec<WeightedPoint>>]) -> Vec<Vec<TaskBounds>> {
        let pooled = |points: &Vec<WeightedPoint>| {
            let sums: PointSums = points.iter().map(|point| point.sums).sum();
            let counters = Counters::new(sums.problems, sums.q, sums.problems - sums.c, sums.gm);
            Mode::C_P.estimate(&counters.expect("counts that fit"), Confidence::P95).into()
        };
        points.iter().map(|tasks| tasks.iter().map(pooled).collect()).collect()
    }

    /// The problems of two models, paired from their outcomes.
    pub(crate) fn paired(&self, a: usize, b: usize) -> Vec<Vec<PairedPoint>> {
        let tasks = self.models[a].iter().zip(&self.models[b]).enumerate();
        tasks
            .map(|(task, (a, b))| {
                let value = |outcome: Outcome| match outcome {
                    Outcome::Correct => 1.0,
                    Outcome::Incorrect => -guess(task) / (1.0 - guess(task)),
                    Outcome::Truncated => 0.0,
                };
                let points = a.iter().zip(b);
                points
                    .map(|(a, b)| {
                        let pairs = a.iter().zip(b).map(|(&a, &b)| (value(a), value(b)));
                        PairedPoint::from_pairs(1.0, pairs)
                    })
                    .collect()
            })
            .collect()
    }
}

fn simulate(model: usize) -> Vec<Vec<Vec<Outcome>>> {
    let mut rng = PyRandom::new(model as u32);
    let skill = 0.3 + 0.65 * model as f64 / MODELS as f64;
    (0..TASKS)
        .map(|task| {
            let points = POINTS / TASKS + usize::from(task < POINTS % TASKS);
            (0..points)
                .map(|point| {
                    let known = skill * (1.0 - 0.5 * point as f64 / points as f64);
                    (0..PROBLEMS)
                        .map(|_| match rng.random() {
                            x if x < known => Outcome::Correct,
                            x if x < 0.98 => Outcome::Incorrect,
                            _ => Outcome::Truncated,
                        })
                        .collect()
                })
                .collect()
        })
        .collect()
}
