//! Intervals on an axis, in percent of its width.

use serde::Serialize;

/// An interval on an axis, in percent.
#[derive(Debug, Serialize)]
pub(super) struct IntervalBar {
    from: String,
    length: String,
    at: String,
    /// The text for screen readers.
    description: String,
}

/// The range of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Axis {
    /// Symmetric around zero, up to the largest of these, rounded up.
    pub(super) fn around_zero(ends: impl IntoIterator<Item = f64>, min: f64, max: f64) -> Self {
        let furthest = ends.into_iter().map(f64::abs).fold(min, f64::max);
        let unit = 10_f64.powf(furthest.log10().floor());
        let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
        let round = steps.into_iter().map(|step| step * unit).find(|end| furthest <= *end * (1.0 + 1e-9));
        let end = round.unwrap_or(furthest).min(max);
        Self { low: -end, high: end }
    }

    /// From the minimum to the maximum, rounded outward to hundreds.
    pub(super) fn of_hundreds(numbers: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) =
            numbers.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        if low > high {
            return Self { low: 0.0, high: 100.0 };
        }
        let low = (low / 100.0).floor() * 100.0;
        Self { low, high: ((high / 100.0).ceil() * 100.0).max(low + 100.0) }
    }

    /// The position of a number in percent from the left, clamped to the axis.
    fn percent_from_left(self, number: f64) -> f64 {
        (100.0 * (number - self.low) / (self.high - self.low)).clamp(0.0, 100.0)
    }

    pub(super) fn bar(self, low: f64, center: f64, high: f64, description: String) -> IntervalBar {
        let (from, to) = (self.percent_from_left(low), self.percent_from_left(high));
        IntervalBar {
            // A narrower bar would be invisible.
            from: format!("{:.2}%", from.min(99.2)),
            length: format!("{:.2}%", (to - from).max(0.8)),
            at: format!("{:.2}%", self.percent_from_left(center)),
            description,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_ends_at_round_numbers() {
        let end = |ends: &[f64]| Axis::around_zero(ends.iter().copied(), 0.01, 1.0).high;
        assert!((end(&[-0.131, 0.2]) - 0.2).abs() < 1e-12);
        assert!((end(&[-0.21, 0.2]) - 0.3).abs() < 1e-12);
        assert!((end(&[]) - 0.01).abs() < 1e-12);
        assert!((end(&[0.97]) - 1.0).abs() < 1e-12);
        assert_eq!(Axis::of_hundreds([1283.0, 1711.0]), Axis { low: 1200.0, high: 1800.0 });
        assert_eq!(Axis::of_hundreds([]), Axis { low: 0.0, high: 100.0 });
        assert_eq!(Axis::of_hundreds([500.0]), Axis { low: 500.0, high: 600.0 });
    }

    #[test]
    fn clamps_intervals_to_the_axis() {
        let axis = Axis { low: -10.0, high: 10.0 };
        let bar = axis.bar(-20.0, 0.0, 5.0, String::new());
        assert_eq!((bar.from.as_str(), bar.length.as_str(), bar.at.as_str()), ("0.00%", "75.00%", "50.00%"));
        // A bar without width stays visible and inside the axis.
        assert_eq!(axis.bar(10.0, 10.0, 10.0, String::new()).from, "99.20%");
    }
}
