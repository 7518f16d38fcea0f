//! Maximizes the likelihood: Newman's sweeps, followed by Newton steps near the maximum.

use std::ops::RangeInclusive;

use super::newton::newton;
use super::win_counts::WinCounts;
use super::{MAX_ITERATIONS, TOLERANCE};

/// The state of the iteration, allocated once.
pub(super) struct Solver {
    pub(super) ratings: Vec<f64>,
    /// The logarithms of the ratings.
    logs: Vec<f64>,
    pub(super) iterations: usize,
}

/// Sweeps before the first Newton step: from equal ratings, Newton's method overshoots.
const SWEEPS_BEFORE_NEWTON: usize = 6;

impl Solver {
    pub(super) fn new(models: usize) -> Self {
        Self { ratings: vec![1.0; models], logs: vec![0.0; models], iterations: 0 }
    }

    /// Sweeps until the ratings converge; returns whether they did.
    pub(super) fn run(&mut self, win_counts: &WinCounts) -> bool {
        if win_counts.models == 1 {
            return true;
        }
        let mut has_overshot = false;
        while self.iterations < MAX_ITERATIONS {
            let moved = self.sweep(win_counts);
            if moved <= TOLERANCE {
                return true;
            }
            let use_newton = self.iterations >= SWEEPS_BEFORE_NEWTON && !has_overshot;
            has_overshot = false;
            if use_newton && let Some(step) = newton(&self.ratings, win_counts) {
                let before = self.logs.clone();
                for (log, step) in self.logs.iter_mut().zip(step) {
                    *log = (*log + step).clamp(-130.0, 130.0);
                }
                self.update_ratings();
                let moved_after = self.sweep(win_counts);
                if moved_after <= TOLERANCE {
                    return true;
                }
                has_overshot = moved_after > moved;
                if has_overshot {
                    self.logs = before;
                    self.update_ratings();
                }
            }
        }
        false
    }

    /// Updates each rating given the current others, and returns the largest relative change.
    fn sweep(&mut self, win_counts: &WinCounts) -> f64 {
        /// Ratings stay in a range whose products are finite.
        const RANGE: RangeInclusive<f64> = 1e-60..=1e60;
        let mut moved = 0.0_f64;
        for a in 0..win_counts.models {
            let row = a * win_counts.models..(a + 1) * win_counts.models;
            let rated =
                rate(self.ratings[a], &self.ratings, &win_counts.wins[row.clone()], &win_counts.losses[row]);
            // A rating clamped to the range is not at its maximum, even if it doesn't change.
            let change =
                if RANGE.contains(&rated) { (rated / self.ratings[a] - 1.0).abs() } else { f64::INFINITY };
            moved = moved.max(change);
            self.ratings[a] = rated.clamp(*RANGE.start(), *RANGE.end());
        }
        // The likelihood depends on ratios only; without normalization all ratings would drift together.
        for (rating, log) in self.ratings.iter().zip(&mut self.logs) {
            *log = rating.ln();
        }
        let mean = self.logs.iter().sum::<f64>() / win_counts.models as f64;
        let scale = (-mean).exp();
        for (rating, log) in self.ratings.iter_mut().zip(&mut self.logs) {
            *rating *= scale;
            *log -= mean;
        }
        self.iterations += 1;
        moved
    }

    fn update_ratings(&mut self) {
        for (rating, log) in self.ratings.iter_mut().zip(&self.logs) {
            *rating = log.exp();
        }
    }
}

/// Newman's update of one rating.
///
/// Division dominates the cost, so two models share one: `1/x = y / (x y)` and `1/y = x / (x y)`.
fn rate(rating: f64, ratings: &[f64], wins: &[f64], losses: &[f64]) -> f64 {
    /// Independent running sums, for vectorization.
    const LANES: usize = 4;
    let (groups, rest) = ratings.as_chunks::<{ 2 * LANES }>();
    let (win_groups, rest_wins) = wins.as_chunks::<{ 2 * LANES }>();
    let (loss_groups, rest_losses) = losses.as_chunks::<{ 2 * LANES }>();
    let (mut won, mut lost) = ([0.0; LANES], [0.0; LANES]);
    for ((others, wins), losses) in groups.iter().zip(win_groups).zip(loss_groups) {
        for i in 0..LANES {
            let j = i + LANES;
            let (x, y) = (rating + others[i], rating + others[j]);
            let inverse = 1.0 / (x * y);
            won[i] += (wins[i] * others[i] * y + wins[j] * others[j] * x) * inverse;
            lost[i] += (losses[i] * y + losses[j] * x) * inverse;
        }
    }
    let (mut won, mut lost) = (won.iter().sum::<f64>(), lost.iter().sum::<f64>());
    for ((other, wins), losses) in rest.iter().zip(rest_wins).zip(rest_losses) {
        won += wins * other / (rating + other);
        lost += losses / (rating + other);
    }
    won / lost
}
