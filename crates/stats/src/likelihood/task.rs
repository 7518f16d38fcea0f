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
    /// Whether every planned point with a positive weight has data.
    pub is_complete: bool,
}

impl EffectiveTask {
    /// The probability of completing with a known answer, `(q - c g) / (1 - g)`: at most 1, and negative below chance.
    pub fn estimate(&self) -> f64 {
        (self.q - self.c * self.g) / (1.0 - self.g)
    }
}

/// Variances of one trial below this are rounding errors.
const MIN_VARIANCE: f64 = 1e-9;

/// How many problems of one sample stand beside the observed ones in the variance of a problem.
const PSEUDO_PROBLEMS: f64 = 4.0;

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

    let [mut q, mut c, mut gm, mut a, mut b, mut yy] = [0.0; 6];
    let (mut squared_weights, mut inverse_problems) = (0.0, 0.0);
    for (weight, sums) in &observed {
        let each = weight / sums.problems;
        squared_weights += weight * weight;
        inverse_problems += weight * each;
        q += each * sums.q;
        c += each * sums.c;
        gm += each * sums.gm;
        a += each * sums.a;
        b += each * sums.b;
        yy += each * sums.yy;
    }
    // The mean guess probability of guessed answers, estimated from incorrect ones. The mean over completed answers is
    // inconsistent when it varies with difficulty.
    let g = if b > 0.0 {
        a / b
    } else if c > 0.0 {
        gm / c
    } else {
        0.0
    };
    let odds = g / (1.0 - g);
    let s = (q - c * g) / (1.0 - g);
    let one_trial = (q + (c - q) * odds * odds - s * s).max(0.0);
    let has_variance = one_trial > MIN_VARIANCE;

    // The variance of one problem: that of one trial where each has one sample, less with several samples. A few problems with
    // equal means are no certainty, so some with one sample stand beside them.
    let value = q - a;
    let pseudo = PSEUDO_PROBLEMS * inverse_problems;
    let one_problem = ((yy - value * value).max(0.0) + pseudo * one_trial) / (1.0 + pseudo);

    let mut inverse_n = 0.0;
    for (weight, sums) in &observed {
        // The variance within the point relative to one trial of the task, with one pseudo-problem of the task: a few equal
        // outcomes don't pass for certainty.
        let relative = if has_variance {
            (sums.squared_deviations() + one_problem) / (sums.problems * one_trial)
        } else {
            1.0
        };
        inverse_n += weight * weight / sums.problems * relative;
    }
    // Planned points without data count as random points that differ from each other as much as trials do.
    let (mut missing, mut squared_missing) = (0.0, 0.0);
    for point in points.iter().filter(|point| point.sums.problems == 0.0) {
        let weight = point.weight / planned_weight;
        missing += weight;
        squared_missing += weight * weight;
    }
    inverse_n += squared_missing + missing * missing * squared_weights;

    // The penalty cancels the bias of `ln s` of order `1/n`.
    let clamped = s.clamp(FLOOR, 1.0);
    let penalty = if has_variance { (clamped * (1.0 - clamped) / one_trial).min(1.0) } else { 1.0 - g };
    let is_complete = missing == 0.0;
    Ok(Some(EffectiveTask { q, c, g, n: 1.0 / inverse_n, a: 0.5 * penalty, is_complete }))
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
