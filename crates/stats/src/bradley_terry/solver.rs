//! Maximizes the likelihood: Newman's sweeps, extrapolated in pairs (SQUAREM), with Newton's steps where that is slow.

use std::ops::RangeInclusive;

use super::newton::newton;
use super::win_counts::WinCounts;
use super::{MAX_ITERATIONS, TOLERANCE};

/// The state of the iteration, allocated once.
pub(super) struct Solver {
    pub(super) ratings: Vec<f64>,
    /// The logarithms of the ratings.
    logs: Vec<f64>,
    /// The logarithms before the last two sweeps, oldest first.
    before: [Vec<f64>; 2],
    pub(super) iterations: usize,
    /// Whether the last Newton or SQUAREM step increased the change of the next sweep.
    has_overshot: bool,
}

/// Newton's steps cost more than a sweep, so they start only after this many sweeps.
const SWEEPS_BEFORE_NEWTON: usize = 30;

impl Solver {
    pub(super) fn new(models: usize) -> Self {
        let logs = vec![0.0; models];
        let before = [logs.clone(), logs.clone()];
        Self { ratings: vec![1.0; models], before, logs, iterations: 0, has_overshot: false }
    }

    /// Sweeps until the ratings stop changing; returns whether they did.
    pub(super) fn run(&mut self, win_counts: &WinCounts) -> bool {
        if win_counts.models == 1 {
            return true;
        }
        while self.iterations < MAX_ITERATIONS {
            self.before[0].copy_from_slice(&self.logs);
            let moved_first = self.sweep(win_counts);
            self.before[1].copy_from_slice(&self.logs);
            if moved_first <= TOLERANCE || self.sweep(win_counts) <= TOLERANCE {
                return true;
            }
            let is_slow = self.iterations >= SWEEPS_BEFORE_NEWTON && !self.has_overshot;
            let has_jumped = (is_slow && self.newton_step(win_counts)) || self.extrapolate();
            self.has_overshot = has_jumped && self.sweep(win_counts) > moved_first;
            if self.has_overshot {
                // Too far: back to where the two sweeps had led.
                let [_, plain] = &self.before;
                self.logs.copy_from_slice(plain);
                self.update_ratings();
            }
        }
        false
    }

    /// Rates each model anew against the others as they stand, and gives the largest relative change.
    fn sweep(&mut self, win_counts: &WinCounts) -> f64 {
        /// Ratings stay among the numbers whose products are still finite.
        const RANGE: RangeInclusive<f64> = 1e-60..=1e60;
        let mut moved = 0.0_f64;
        for a in 0..win_counts.models {
            let row = a * win_counts.models..(a + 1) * win_counts.models;
            let rated =
                rate(self.ratings[a], &self.ratings, &win_counts.wins[row.clone()], &win_counts.losses[row]);
            // A rating held back at the edge is no maximum, however little it moves.
            let change =
                if RANGE.contains(&rated) { (rated / self.ratings[a] - 1.0).abs() } else { f64::INFINITY };
            moved = moved.max(change);
            self.ratings[a] = rated.clamp(*RANGE.start(), *RANGE.end());
        }
        // The likelihood knows ratios only; without this they would all drift together.
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

    /// Goes on in the direction of the last two sweeps as far as their shrinking says, if it says so.
    ///
    /// With `r` the first move and `v` the second less the first, SQUAREM's third scheme: to
    /// `x + 2 s r + s^2 v` with `s = |r| / |v|`. The place it starts from is left in `before[1]`.
    fn extrapolate(&mut self) -> bool {
        let [start, first] = &mut self.before;
        let (mut moves, mut bends) = (0.0, 0.0);
        for ((start, first), second) in start.iter().zip(&*first).zip(&self.logs) {
            moves += (first - start).powi(2);
            bends += (second - 2.0 * first + start).powi(2);
        }
        let stretch = (moves / bends).sqrt();
        // Two equal moves have no bend to extrapolate, and less than one would go back.
        if !(stretch > 1.0 && stretch < 1e3) {
            return false;
        }
        for ((start, first), log) in start.iter().zip(first).zip(&mut self.logs) {
            let (step, bend) = (*first - start, *log - 2.0 * *first + start);
            *first = *log;
            *log = (start + 2.0 * stretch * step + stretch * stretch * bend).clamp(-130.0, 130.0);
        }
        self.update_ratings();
        true
    }

    /// Goes where Newton's method says, if it says so. The place it starts from is left in `before[1]`.
    fn newton_step(&mut self, win_counts: &WinCounts) -> bool {
        let Some(step) = newton(&self.ratings, win_counts) else { return false };
        self.before[1].copy_from_slice(&self.logs);
        for (log, step) in self.logs.iter_mut().zip(step) {
            *log = (*log + step).clamp(-130.0, 130.0);
        }
        self.update_ratings();
        true
    }

    fn update_ratings(&mut self) {
        for (rating, log) in self.ratings.iter_mut().zip(&self.logs) {
            *rating = log.exp();
        }
    }
}

/// Newman's update of one rating.
///
/// Division is what takes the time, so two models share one: `1/x = y / (x y)` and `1/y = x / (x y)`.
fn rate(rating: f64, ratings: &[f64], wins: &[f64], losses: &[f64]) -> f64 {
    /// Running sums that the processor keeps side by side.
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
