//! A synthetic leaderboard of 37 models and 12 tasks, for studies of the score.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::TaskBounds;
use reasonscape_stats::{Confidence, Counters, Mode};

const MODELS: u32 = 37;

/// Difficulty on the logistic scale, number of options (0: free-form) and trials of each task.
///
/// Tasks differ in difficulty, guess rate and number of trials, because the ratio of the two methods depends on how
/// much they differ.
const TASKS: [(f64, u32, u32); 12] = [
    (-2.5, 2, 1500),
    (-2.0, 0, 1000),
    (-1.5, 4, 2500),
    (-1.0, 0, 2000),
    (-0.5, 2, 1000),
    (-0.5, 0, 3000),
    (0.0, 4, 1500),
    (0.0, 0, 2000),
    (0.5, 10, 1000),
    (0.5, 2, 3000),
    (1.0, 0, 1500),
    (1.5, 4, 2000),
];

/// The `C_P` bounds of each model on each task, models from weak to strong.
pub(crate) fn synthetic() -> Vec<Vec<TaskBounds>> {
    let mut rng = PyRandom::new(37);
    (0..MODELS)
        .map(|model| {
            let skill = 0.5 + 4.5 * f64::from(model) / f64::from(MODELS - 1);
            TASKS.map(|task| bounds(&mut rng, skill, task)).to_vec()
        })
        .collect()
}

/// Simulates one model on one task. A random model-task effect moves the difficulty by up to one, and the truncation
/// rate rises with difficulty.
fn bounds(rng: &mut PyRandom, skill: f64, (difficulty, options, trials): (f64, u32, u32)) -> TaskBounds {
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    let knows = logistic(skill - difficulty + rng.uniform(-1.0, 1.0));
    let truncation = 0.15 * (1.0 - knows);
    let chance = if options == 0 { 0.0 } else { 1.0 / f64::from(options) };
    let (mut truncated, mut correct) = (0_u32, 0_u32);
    for _ in 0..trials {
        if rng.random() < truncation {
            truncated += 1;
        } else if rng.random() < knows || rng.random() < chance {
            correct += 1;
        }
    }
    let guesses = f64::from(trials - truncated) * chance;
    let counters = Counters::new(f64::from(trials), f64::from(correct), f64::from(truncated), guesses)
        .expect("at most as many correct as completed");
    Mode::C_P.estimate(&counters, Confidence::P95).into()
}
