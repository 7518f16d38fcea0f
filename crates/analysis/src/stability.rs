//! How much the margin of a ReasonScore depends on the seed of its bootstrap.

use reasonscape_stats::StatsError;
use reasonscape_stats::score::{TaskBounds, stability};
use serde::Serialize;

/// The numbers of draws to compare, as in the ReasonScore v2 document.
const DRAWS: [usize; 5] = [100, 500, 1_000, 5_000, 10_000];
/// Seeds 0 to 9, as in the document.
const SEEDS: std::ops::Range<i64> = 0..10;
/// A margin is stable if its range over the seeds is below this many points (rule of the document).
const STABLE_BELOW: f64 = 0.5;
/// The draws of a ReasonScore.
const DEFAULT_DRAWS: usize = 5_000;

/// The margins of one model at several numbers of draws.
#[derive(Debug, Clone, Serialize)]
pub struct StabilityRow {
    /// The model or evaluation.
    pub name: String,
    /// One entry per number of draws.
    pub draws: Vec<MarginStability>,
}

/// How much a margin depends on the seed at one number of draws.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MarginStability {
    /// Number of draws.
    pub draws: usize,
    /// Mean margin over the seeds.
    pub margin_mean: f64,
    /// Standard deviation of the margin over the seeds (population form).
    pub margin_sd: f64,
    /// Largest minus smallest margin.
    pub margin_range: f64,
    /// Whether the range is below 0.5 points.
    pub stable: bool,
}

impl StabilityRow {
    /// Computes the score of these tasks with every number of draws and every seed.
    ///
    /// # Errors
    /// A [`StatsError`] when there is no task.
    pub fn new(name: &str, tasks: &[TaskBounds]) -> Result<Self, StatsError> {
        let draws = stability(tasks, &DRAWS, SEEDS)?
            .into_iter()
            .map(|found| MarginStability {
                draws: found.draws,
                margin_mean: found.margin_mean,
                margin_sd: found.margin_sd,
                margin_range: found.margin_range,
                stable: found.margin_range < STABLE_BELOW,
            })
            .collect();
        Ok(Self { name: name.to_owned(), draws })
    }

    /// Whether the margin is stable at the number of draws that a ReasonScore has.
    pub fn is_stable_by_default(&self) -> bool {
        self.draws.iter().all(|row| row.draws != DEFAULT_DRAWS || row.stable)
    }
}
