//! The likelihood of a logistic curve with a guess floor, and its maximization.

use super::{LackOfFit, Row, checked};
use crate::{StatsError, chi_square};

/// Rows, pooled and sorted, with `x` shifted and scaled to the range -1 to 1.
pub(super) struct Data {
    rows: Vec<Row>,
    center: f64,
    half_range: f64,
    /// The smallest distance between two values of `x`, scaled.
    gap: f64,
}

/// `height + slope x` in scaled `x`: the log-odds of knowing the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    pub(super) height: f64,
    pub(super) slope: f64,
}

impl Curve {
    /// The constant one half.
    pub(super) const LEVEL: Curve = Curve { height: 0.0, slope: 0.0 };

    pub(super) fn at(self, x: f64) -> f64 {
        self.height + self.slope * x
    }
}

/// The result of the maximization.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maximum {
    pub(super) curve: Curve,
    pub(super) log_likelihood: f64,
    /// False if the likelihood keeps increasing as the curve becomes steeper.
    pub(super) is_finite: bool,
}

/// The sigmoid of `eta` and of `-eta`, each to full relative precision.
fn sigmoids(eta: f64) -> (f64, f64) {
    let small = (-eta.abs()).exp();
    let (larger, smaller) = (1.0 / (1.0 + small), small / (1.0 + small));
    if eta >= 0.0 { (larger, smaller) } else { (smaller, larger) }
}

/// `ln` of the sigmoid of `eta`.
fn ln_sigmoid(eta: f64) -> f64 {
    eta.min(0.0) - (-eta.abs()).exp().ln_1p()
}

/// `count ln(count / expected)`, 0 for a count of 0.
fn deviance_part(count: f64, expected: f64) -> f64 {
    if count > 0.0 { count * (count / expected).ln() } else { 0.0 }
}

/// `(count - expected)^2 / expected`, 0 when both are.
fn pearson_part(count: f64, expected: f64) -> f64 {
    if count == expected { 0.0 } else { (count - expected).powi(2) / expected }
}

impl Data {
    pub(super) fn new(rows: &[Row]) -> Result<Self, StatsError> {
        let mut pooled = rows.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
        pooled.retain(|row| row.n > 0.0);
        // Sort by all fields, so that the sums don't depend on the input order.
        pooled.sort_unstable_by(|a, b| {
            let keys = |row: &Row| [row.x + 0.0, row.guess + 0.0, row.n, row.successes];
            keys(a)
                .iter()
                .zip(keys(b))
                .map(|(a, b)| a.total_cmp(&b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        pooled.dedup_by(|next, pooled_row| {
            let is_same = next.x == pooled_row.x && next.guess == pooled_row.guess;
            if is_same {
                pooled_row.n += next.n;
                pooled_row.successes += next.successes;
            }
            is_same
        });
        let gaps = pooled.windows(2).map(|pair| pair[1].x - pair[0].x).filter(|gap| *gap > 0.0);
        let Some(gap) = gaps.reduce(f64::min) else {
            let found = usize::from(!pooled.is_empty());
            return Err(StatsError::TooFewValues { name: "x", found, needed: 2 });
        };
        let (first, last) = (pooled[0].x, pooled[pooled.len() - 1].x);
        let (center, half_range) = (f64::midpoint(first, last), (last - first) / 2.0);
        for row in &mut pooled {
            row.x = (row.x - center) / half_range;
        }
        Ok(Self { rows: pooled, center, half_range, gap: gap / half_range })
    }

    /// The parameter in the caller's units.
    pub(super) fn unscale(&self, x: f64) -> f64 {
        self.center + self.half_range * x
    }

    /// Intercept and slope in the caller's units.
    pub(super) fn in_units(&self, curve: Curve) -> (f64, f64) {
        let slope = curve.slope / self.half_range;
        (curve.height - slope * self.center, slope)
    }

    /// The maximum useful slope: at half a gap from the crossing the curve is 0 or 1 to all digits.
    pub(super) fn steepest(&self) -> f64 {
        70.0 / self.gap
    }

    pub(super) fn log_likelihood(&self, curve: Curve) -> f64 {
        self.rows
            .iter()
            .map(|row| {
                let eta = curve.at(row.x);
                let right = if row.guess > 0.0 {
                    // Computed from the failures, which keeps precision where nearly everything is correct.
                    (-(1.0 - row.guess) * sigmoids(eta).1).ln_1p()
                } else {
                    ln_sigmoid(eta)
                };
                let failures = row.n - row.successes;
                let mut sum = 0.0;
                if row.successes > 0.0 {
                    sum += row.successes * right;
                }
                if failures > 0.0 {
                    sum += failures * ((-row.guess).ln_1p() + ln_sigmoid(-eta));
                }
                sum
            })
            .sum()
    }

    /// The derivative of the log-likelihood with respect to the steepness of a curve through one half at `center`.
    pub(super) fn steepening(&self, center: f64, slope: f64) -> f64 {
        self.rows.iter().map(|row| score(row, slope * (row.x - center)) * (row.x - center)).sum()
    }

    /// Newton's method with step halving, in both coordinates or (`is_level`) in the height alone.
    pub(super) fn maximize(&self, start: Curve, is_level: bool) -> Result<Maximum, StatsError> {
        /// Most fits need ten steps; those that diverge need some dozens.
        const MAX_STEPS: u32 = 1000;

        let mut curve = start;
        let mut here = self.log_likelihood(curve);
        for _ in 0..MAX_STEPS {
            let step = self.step(curve, is_level);
            // The predicted gain; a long step with no predicted gain leads to infinity.
            let size = step.height.abs() + step.slope.abs();
            if step.predicted_gain <= 1e-20 * (1.0 + here.abs()) || self.is_diverging(curve) {
                return Ok(Maximum {
                    curve,
                    log_likelihood: here,
                    is_finite: size < 1e-3 && !self.is_diverging(curve),
                });
            }
            // Below the rounding error of the likelihood, progress shows in the gradient alone.
            let is_below_rounding = step.predicted_gain <= 1e-13 * (1.0 + here.abs());
            let mut part = 1.0;
            let next = loop {
                let next = Curve {
                    height: curve.height + part * step.height,
                    slope: curve.slope + part * step.slope,
                };
                let there = self.log_likelihood(next);
                if there > here || is_below_rounding {
                    break Some((next, there));
                }
                part /= 2.0;
                if part < 1e-12 {
                    break None;
                }
            };
            let Some((next, there)) = next else {
                // No higher value within rounding: this is the maximum.
                return Ok(Maximum { curve, log_likelihood: here, is_finite: size < 1e-3 });
            };
            (curve, here) = (next, there);
        }
        Err(StatsError::NotConverged { name: "logistic fit", steps: u64::from(MAX_STEPS) })
    }

    /// Whether the curve is so steep, or so far from one half everywhere, that it must be diverging.
    fn is_diverging(&self, curve: Curve) -> bool {
        curve.slope.abs() > self.steepest() || curve.height.abs() - curve.slope.abs() > 40.0
    }

    /// Newton's step, with the sign of the curvature fixed so that it always goes uphill.
    fn step(&self, curve: Curve, is_level: bool) -> Step {
        // Center slopes where the information is. Otherwise the rounding errors of a row with most of the trials would drown
        // what the other rows contribute to the slope.
        let (mut sum, mut weights) = (0.0, f64::MIN_POSITIVE);
        for row in &self.rows {
            let weight = observed_information(row, curve.at(row.x)).abs();
            weights += weight;
            sum += weight * row.x;
        }
        let middle = sum / weights;
        let mut gradient = [0.0; 2];
        let mut hessian = Hessian { height: 0.0, cross: 0.0, slope: 0.0 };
        for row in &self.rows {
            let (eta, offset) = (curve.at(row.x), row.x - middle);
            let (score, information) = (score(row, eta), observed_information(row, eta));
            hessian.height += information;
            gradient[0] += score;
            if !is_level {
                gradient[1] += score * offset;
                hessian.cross += information * offset;
                hessian.slope += information * offset * offset;
            }
        }
        // Scale the limit with the curve's steepness, so that a cliff between close values is reached in a few steps.
        let [height, slope] = hessian.ascent_step(gradient, 5.0 + curve.height.abs() + curve.slope.abs());
        let predicted_gain = (gradient[0] * height + gradient[1] * slope).max(0.0);
        Step { height: height - slope * middle, slope, predicted_gain }
    }

    pub(super) fn lack_of_fit(&self, curve: Curve) -> Result<LackOfFit, StatsError> {
        let (mut g2, mut pearson) = (0.0, 0.0);
        for row in &self.rows {
            let (known, unknown) = sigmoids(curve.at(row.x));
            let right = row.n * (row.guess + (1.0 - row.guess) * known).max(f64::MIN_POSITIVE);
            let wrong = row.n * ((1.0 - row.guess) * unknown).max(f64::MIN_POSITIVE);
            let failures = row.n - row.successes;
            g2 += 2.0 * (deviance_part(row.successes, right) + deviance_part(failures, wrong));
            pearson += pearson_part(row.successes, right) + pearson_part(failures, wrong);
        }
        let g2 = g2.max(0.0);
        let degrees = self.rows.len() as u64 - 2;
        let p = if degrees > 0 { Some(chi_square::survival(g2, degrees)?) } else { None };
        Ok(LackOfFit { g2, pearson, degrees, p })
    }
}

struct Step {
    height: f64,
    slope: f64,
    /// Twice the predicted gain in log-likelihood.
    predicted_gain: f64,
}

/// The negative Hessian of the log-likelihood in height and slope.
struct Hessian {
    height: f64,
    cross: f64,
    slope: f64,
}

impl Hessian {
    /// Along each principal axis, the gradient over the absolute curvature, so that plateaus and saddles are left uphill.
    ///
    /// Near a maximum this is Newton's step; elsewhere it is at most `max_len` along each axis.
    fn ascent_step(&self, gradient: [f64; 2], max_len: f64) -> [f64; 2] {
        let angle = (2.0 * self.cross).atan2(self.height - self.slope) / 2.0;
        let (sine, cosine) = angle.sin_cos();
        let mean = f64::midpoint(self.height, self.slope);
        let radius = ((self.height - self.slope) / 2.0).hypot(self.cross);
        let larger = if mean >= 0.0 { mean + radius } else { mean - radius };
        // Computed from the product of both, to keep its precision.
        let smaller = (self.height * self.slope - self.cross * self.cross) / larger;
        let (first, second) = if mean >= 0.0 { (larger, smaller) } else { (smaller, larger) };
        let along = |axis: [f64; 2], hessian: f64| {
            let rise = axis[0] * gradient[0] + axis[1] * gradient[1];
            let step = if rise == 0.0 { 0.0 } else { rise / hessian.abs() };
            let step = if step.is_finite() { step.clamp(-max_len, max_len) } else { max_len.copysign(rise) };
            axis.map(|part| part * step)
        };
        let (one, other) = (along([cosine, sine], first), along([-sine, cosine], second));
        [one[0] + other[0], one[1] + other[1]]
    }
}

/// The derivative of a row's log-likelihood with respect to its log-odds.
fn score(row: &Row, eta: f64) -> f64 {
    let (known, unknown) = sigmoids(eta);
    row.successes * known_part(row, known) * unknown - (row.n - row.successes) * known
}

/// The negative second derivative of a row's log-likelihood with respect to its log-odds.
fn observed_information(row: &Row, eta: f64) -> f64 {
    let (known, unknown) = sigmoids(eta);
    let part = known_part(row, known);
    known * unknown * (row.n - row.successes)
        + row.successes * part * unknown * (part * unknown - (unknown - known))
}

/// The proportion of the correct answers that are known, not guessed.
fn known_part(row: &Row, known: f64) -> f64 {
    if row.guess > 0.0 {
        let known = (1.0 - row.guess) * known;
        known / (row.guess + known)
    } else {
        1.0
    }
}
