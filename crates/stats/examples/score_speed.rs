//! Time of the likelihood scores and of all paired tests of a large board. `benches/README.md` has the figures.
//!
//! ```text
//! cargo run --release -p reasonscape-stats --example score_speed
//! ```

use std::time::{Duration, Instant};

use rayon::prelude::*;
use reasonscape_stats::likelihood::{
    EffectiveTask, PointSums, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::paired_score::{PairedPoint, paired_score_test};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::{Bootstrap, ReasonScore, TaskBounds, reason_scores};
use reasonscape_stats::{Confidence, Counters, Mode, Outcome};

const MODELS: usize = 60;
const TASKS: usize = 12;
/// Points of r12.
const POINTS: usize = 1067;
/// Problems per point, for 4,000,000 trials.
const PROBLEMS: usize = 4_000_000 / MODELS / POINTS;

/// By task and point, the outcome on each problem.
type Model = Vec<Vec<Vec<Outcome>>>;

fn main() {
    let guess = |task: usize| if task.is_multiple_of(3) { 0.25 } else { 0.0 };
    let models: Vec<Model> = (0..MODELS).into_par_iter().map(simulate).collect();
    let points: Vec<Vec<Vec<WeightedPoint>>> = models
        .iter()
        .map(|tasks| {
            let tasks = tasks.iter().enumerate();
            tasks
                .map(|(task, points)| points.iter().map(|point| weighted(point, guess(task))).collect())
                .collect()
        })
        .collect();
    report("likelihood scores", || {
        let scores: Vec<f64> = points
            .par_iter()
            .map(|tasks| {
                let tasks: Vec<EffectiveTask> = tasks
                    .iter()
                    .map(|points| effective_task(points).expect("valid sums").expect("trials"))
                    .collect();
                likelihood_score(&tasks, Confidence::P95).expect("valid tasks").estimate
            })
            .collect();
        scores.iter().sum()
    });
    let bounds: Vec<Vec<TaskBounds>> =
        points.iter().map(|tasks| tasks.iter().map(|points| pooled(points)).collect()).collect();
    report("v2 bootstrap", || {
        let scores = reason_scores(&bounds, Bootstrap::default()).expect("tasks and draws");
        scores.iter().map(ReasonScore::center).sum()
    });
    let pairs: Vec<(usize, usize)> = (0..MODELS).flat_map(|a| (a + 1..MODELS).map(move |b| (a, b))).collect();
    report("all paired tests, from outcomes", || {
        let p_values: Vec<f64> = pairs
            .par_iter()
            .map(|&(a, b)| {
                let tasks: Vec<Vec<PairedPoint>> = (0..TASKS)
                    .map(|task| {
                        let values = [1.0, -guess(task) / (1.0 - guess(task)), 0.0];
                        let value = |outcome: Outcome| match outcome {
                            Outcome::Correct => values[0],
                            Outcome::Incorrect => values[1],
                            Outcome::Truncated => values[2],
                        };
                        let points = models[a][task].iter().zip(&models[b][task]);
                        points
                            .map(|(a, b)| {
                                let pairs = a.iter().zip(b).map(|(&a, &b)| (value(a), value(b)));
                                PairedPoint::from_pairs(1.0, pairs)
                            })
                            .collect()
                    })
                    .collect();
                paired_score_test(&tasks).expect("valid values").expect("shared problems").p_value
            })
            .collect();
        p_values.iter().sum()
    });
}

fn simulate(model: usize) -> Model {
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

fn weighted(outcomes: &[Outcome], guess: f64) -> WeightedPoint {
    let mut sums = PointSums::default();
    for &outcome in outcomes {
        sums.add_problem(&[(outcome, guess)]);
    }
    WeightedPoint { sums, weight: PROBLEMS as f64, stop_rule: None }
}

fn pooled(points: &[WeightedPoint]) -> TaskBounds {
    let sums: PointSums = points.iter().map(|point| point.sums).sum();
    let counters =
        Counters::new(sums.problems, sums.q, sums.problems - sums.c, sums.gm).expect("counts that fit");
    Mode::C_P.estimate(&counters, Confidence::P95).into()
}

/// Prints the minimum of ten runs: other load can only add to a time.
fn report(name: &str, mut run: impl FnMut() -> f64) {
    let mut shortest = Duration::MAX;
    let mut checksum = 0.0;
    for _ in 0..10 {
        let start = Instant::now();
        checksum = run();
        shortest = shortest.min(start.elapsed());
    }
    println!("{name}: {:.2} ms (checksum {checksum:.6})", shortest.as_secs_f64() * 1000.0);
}
