//! Benchmarks of ReasonScape; see README.md in this folder.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Confidence, Counters, Interval, Mode};

/// A synthetic leaderboard, always the same: the `C_P` interval of each model on each task,
/// from about 5000 trials.
///
/// The models' true accuracies are spread evenly from 0.2 to 0.98, and each task shifts them by up to 0.1; 2 % of the trials
/// are truncated, and a guess succeeds with probability 1/4.
///
/// # Panics
/// Never: the counts are integers within their bounds.
pub fn leaderboard(models: usize, tasks: usize) -> Vec<Vec<Interval>> {
    let mut rng = PyRandom::new(42);
    let mut cell = |model: usize| {
        let spread = model as f64 / (models.max(2) - 1) as f64;
        let share = (0.2 + 0.78 * spread + rng.uniform(-0.1, 0.1)).clamp(0.02, 0.99);
        let n = rng.randint(4500, 5500) as f64;
        let n_t = (0.02 * n).floor();
        let g = (n - n_t) / 4.0;
        let n_e = (share * (n - n_t - g) + g).floor();
        let counters = Counters::new(n, n_e, n_t, g).expect("counts within their bounds");
        Mode::C_P.estimate(&counters, Confidence::P95)
    };
    (0..models).map(|model| (0..tasks).map(|_| cell(model)).collect()).collect()
}
