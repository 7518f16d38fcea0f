//! Where the curve crosses one half, with an interval by profile likelihood.

use super::Crossing;
use super::likelihood::{Curve, Data, Maximum};

/// The crossing in scaled units.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrossingEstimate {
    pub(super) crossing: Crossing,
    pub(super) x50: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl CrossingEstimate {
    const UNCLEAR: CrossingEstimate =
        CrossingEstimate { crossing: Crossing::Unclear, x50: None, low: None, high: None };
}

/// The loss of the best curve through one half at a given position, against the overall best curve.
pub(super) struct Profile<'a> {
    data: &'a Data,
    best: &'a Maximum,
    /// The allowed loss at the confidence level, as twice the log-likelihood.
    allowed: f64,
    /// Sign of the slope.
    sign: f64,
}

/// Bounds farther from the middle than this many half ranges are reported as missing.
const MAX_HALF_RANGES: f64 = 1e7;

impl<'a> Profile<'a> {
    pub(super) fn new(data: &'a Data, best: &'a Maximum, allowed: f64) -> Self {
        let sign = if best.curve.slope > 0.0 { 1.0 } else { -1.0 };
        Self { data, best, allowed, sign }
    }

    /// The threshold of a significant slope.
    pub(super) fn for_slope(&self) -> CrossingEstimate {
        let mut x50 = -self.best.curve.height / self.best.curve.slope;
        if !self.best.is_finite {
            // A step can be anywhere in its gap; report the middle.
            let [low, high] = [-1.0, 1.0].map(|direction| self.edge(x50, direction, 1e-6).unwrap_or(x50));
            x50 = f64::midpoint(low, high);
        }
        let crossing = match x50 {
            x50 if (-1.0..=1.0).contains(&x50) => Crossing::Crosses,
            x50 if (x50 > 0.0) == (self.sign < 0.0) => Crossing::AlwaysAbove,
            _ => Crossing::AlwaysBelow,
        };
        let [low, high] = [-1.0, 1.0].map(|direction| self.edge(x50, direction, self.allowed));
        CrossingEstimate { crossing, x50: Some(x50), low, high }
    }

    /// The threshold when a constant fits as well.
    pub(super) fn for_level(&self, level: &Maximum) -> CrossingEstimate {
        let ends = [-1.0, 1.0].map(|x| self.best.curve.at(x) > 0.0);
        let is_above = level.curve.height > 0.0;
        let lead = 2.0 * (level.log_likelihood - self.data.log_likelihood(Curve::LEVEL));
        if ends != [is_above; 2] || lead <= self.allowed {
            return CrossingEstimate::UNCLEAR;
        }
        let crossing = if is_above { Crossing::AlwaysAbove } else { Crossing::AlwaysBelow };
        // The threshold lies beyond the end at which the curve is lowest (or before that at which it is highest). The search
        // for the bound towards the data starts far out, where the curve is nearly constant.
        let direction = if is_above == (self.sign < 0.0) { -1.0 } else { 1.0 };
        let bound = self.edge(-direction * MAX_HALF_RANGES, direction, self.allowed);
        let (low, high) = if direction < 0.0 { (bound, None) } else { (None, bound) };
        CrossingEstimate { crossing, x50: None, low, high }
    }

    /// Twice the log-likelihood loss of the best curve through one half at `center`.
    fn loss(&self, center: f64) -> f64 {
        let curve = self.steepest_ascent(center);
        2.0 * (self.best.log_likelihood - self.data.log_likelihood(curve))
    }

    /// The best curve with the right sign of slope through one half at `center`.
    fn steepest_ascent(&self, center: f64) -> Curve {
        /// Grid points on the scale of `ln |slope|` before refining.
        const GRID_STEPS: i32 = 12;

        let through = |log_slope: f64| {
            let slope = self.sign * log_slope.exp();
            Curve { height: -slope * center, slope }
        };
        let gain = |log_slope: f64| self.data.log_likelihood(through(log_slope));
        let steepest = self.data.steepest().ln();
        // So flat that the log-odds at the farthest row are a millionth.
        let flattest = (1e-6 / (1.0 + center.abs())).ln();
        let grid_point =
            |step: i32| flattest + (steepest - flattest) * f64::from(step) / f64::from(GRID_STEPS);
        let top = (0..=GRID_STEPS)
            .max_by(|a, b| gain(grid_point(*a)).total_cmp(&gain(grid_point(*b))))
            .unwrap_or(0);
        let (mut low, mut high) = (grid_point((top - 1).max(0)), grid_point((top + 1).min(GRID_STEPS)));
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            let is_rising = self.sign * self.data.steepening(center, self.sign * middle.exp()) > 0.0;
            if is_rising { low = middle } else { high = middle }
        }
        let found = f64::midpoint(low, high);
        through(if gain(found) >= gain(grid_point(top)) { found } else { grid_point(top) })
    }

    /// The last position from `start` on, in `direction`, at which the loss is allowed; `None` if there is no end.
    fn edge(&self, start: f64, direction: f64, allowed: f64) -> Option<f64> {
        let (mut inside, mut step) = (start, 1.0 / 32.0);
        let mut outside = loop {
            let next = start + direction * step;
            if self.loss(next) > allowed {
                break next;
            }
            if step > 2.0 * MAX_HALF_RANGES {
                return None;
            }
            inside = next;
            step *= 2.0;
        };
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if self.loss(middle) > allowed {
                outside = middle;
            } else {
                inside = middle;
            }
            if (outside - inside).abs() <= 1e-13 * (1.0 + inside.abs()) {
                break;
            }
        }
        Some(inside)
    }
}
