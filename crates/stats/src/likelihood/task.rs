//! One task: its points as one sample of an effective size.

use super::WeightedPoint;
use crate::score::FLOOR;
use crate::{StatsError, non_negative};

/// A task as a sample of `n` independent trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveTask {
    /// Weighted proportion of correct trials.
    pub q: f64,
    /// Weighted proportion of completed trials.
    pub c: f64,
    /// Mean guess probability of the answers that were guessed.
    pub g: f64,
    /// Effective number of trials.
    pub n: f64,
    /// Penalty of the likelihood.
    pub a: f64,
    /// Whether every planned point has data.
    pub is_complete: bool,
}

impl EffectiveTask {
    /// The probability of completing with a known answer, `(q - c g) / (1 - g)`: at most 1, and negative below chance.
    pub fn estimate(&self) -> f64 {
        (self.q - self.c * self.g) / (1.0 - self.g)
    }
}

/// Combines the points of a task with the suite's weights; `None` if no point with a positive weight has data.
///
/// # Errors
/// A [`StatsError`] when a weight or a sum is negative or not finite, when a completed answer can't be incorrect (`g = 1`),
/// or when a point with a stop rule doesn't end at a round of its rule.
pub fn effective_task(points: &[WeightedPoint]) -> Result<Option<EffectiveTask>, StatsError> {
    let mut observed = Vec::with_capacity(points.len());
    let (mut planned_weight, mut observed_weight) = (0.0, 0.0);
    for point in points {
        let weight = non_negative("weight", point.weight)?;
        planned_weight += weight;
        validate(point)?;
        if point.sums.problems > 0.0 {
            let sums = match point.stop_rule {
                Some(rule) => rule.unbiased(&point.sums)?,
                None => point.sums,
            };
            observed_weight += weight;
            observed.push((weight, sums));
        }
    }
    if observed_weight <= 0.0 {
        return Ok(None);
    }
    for (weight, _) in &mut observed {
        *weight /= observed_weight;
    }

    let [mut q, mut c, mut gm, mut a, mut b, mut inv] = [0.0; 6];
    for (weight, sums) in &observed {
        let each = weight / sums.problems;
        q += each * sums.q;
        c += each * sums.c;
        gm += each * sums.gm;
        a += each * sums.a;
        b += each * sums.b;
        inv += each * weight;
    }
    // One pseudo-trial at the mean over completed trials: without an incorrect answer nothing is known about guesses.
    let denominator = b + inv * c;
    let g = if denominator > 0.0 { (a + inv * gm) / denominator } else { 0.0 };
    if g >= 1.0 {
        return Err(guess_of_one());
    }
    let odds = g / (1.0 - g);
    let s = (q - c * g) / (1.0 - g);
    let one_trial = (q + (c - q) * odds * odds - s * s).max(0.0);
    // Each point's variance is estimated with one pseudo-trial of the task.
    let spread = |problems: f64, deviations: f64| (deviations + one_trial) / problems;
    let mut variance = 0.0;
    for (weight, sums) in &observed {
        variance += weight * weight * spread(sums.problems, sums.squared_deviations()) / sums.problems;
    }
    let is_complete = observed.len() == points.len();
    if !is_complete {
        let mut squared_weights = 0.0;
        let (mut between, mut within) = (0.0, 0.0);
        for (weight, sums) in &observed {
            squared_weights += weight * weight;
            between += weight * (sums.mean_value() - s).powi(2);
            within +=
                weight * (1.0 - weight) * spread(sums.problems, sums.squared_deviations()) / sums.problems;
        }
        let between_points = if squared_weights < 0.999 {
            ((between - within).max(0.0) / (1.0 - squared_weights)).min(one_trial)
        } else {
            one_trial
        };
        let (mut missing, mut squared_missing) = (0.0, 0.0);
        for point in points.iter().filter(|point| point.sums.problems == 0.0) {
            let weight = point.weight / planned_weight;
            missing += weight;
            squared_missing += weight * weight;
        }
        variance += between_points * (squared_missing + missing * missing * squared_weights);
    }
    let n = if one_trial > 1e-12 && variance > 0.0 { one_trial / variance } else { 1.0 / inv };
    let clamped = s.clamp(FLOOR, 1.0);
    let ratio = if one_trial > 1e-9 { (clamped * (1.0 - clamped) / one_trial).min(1.0) } else { 1.0 - g };
    Ok(Some(EffectiveTask { q, c, g, n, a: 0.5 * ratio, is_complete }))
}

fn validate(point: &WeightedPoint) -> Result<(), StatsError> {
    let sums = &point.sums;
    if sums.gm == f64::INFINITY {
        return Err(guess_of_one());
    }
    let named = [
        ("problems", sums.problems),
        ("q", sums.q),
        ("c", sums.c),
        ("gm", sums.gm),
        ("a", sums.a),
        ("b", sums.b),
        ("yy", sums.yy),
    ];
    for (name, value) in named {
        non_negative(name, value)?;
    }
    let limit = sums.problems * (1.0 + 1e-9);
    if sums.c > limit || sums.q > sums.c * (1.0 + 1e-9) + 1e-9 {
        return Err(StatsError::TooManyOutcomes {
            n: sums.problems,
            n_e: sums.q,
            n_t: sums.problems - sums.c,
        });
    }
    Ok(())
}

fn guess_of_one() -> StatsError {
    StatsError::OutOfRange {
        name: "g",
        value: 1.0,
        expected: "below 1: a correct answer would prove nothing",
    }
}
