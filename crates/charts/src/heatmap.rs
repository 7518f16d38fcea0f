//! Shared by the renderers of heat maps: color range, values and labels of intervals.

use crate::model::{Bounds, Cell, Heatmap, Palette};
use crate::number::{drawable, interval, plain, shown};

impl Heatmap {
    /// The values at the ends of the color scale.
    pub(crate) fn color_range(&self) -> Bounds {
        let given =
            self.range.and_then(|range| Some(Bounds::new(drawable(range.low)?, drawable(range.high)?)));
        if let Some(range) = given.filter(|range| range.low < range.high) {
            return range;
        }
        let values = || self.cells.iter().filter_map(|cell| cell.value).filter_map(drawable);
        if self.palette == Palette::Diverging {
            let largest = values().fold(0.0f64, |largest, value| largest.max(value.abs()));
            let largest = if largest > 0.0 { largest } else { 1.0 };
            return Bounds::new(-largest, largest);
        }
        let (low, high) =
            values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low < high {
            Bounds::new(low, high)
        } else if low.is_finite() {
            Bounds::new(low - 0.5, low + 0.5)
        } else {
            Bounds::new(0.0, 1.0)
        }
    }

    /// A cell and its value, if it can be drawn.
    pub(crate) fn number_at(&self, row: usize, column: usize) -> Option<(&Cell, f64)> {
        let cell = self.cells.get(row * self.columns.len() + column)?;
        Some((cell, cell.value.and_then(drawable)?))
    }

    /// Whether some cell has no value.
    pub(crate) fn has_missing_cell(&self) -> bool {
        let width = self.columns.len();
        (0..self.rows.len() * width).any(|index| self.number_at(index / width, index % width).is_none())
    }
}

impl Cell {
    /// The label of the interval, shown below the value.
    pub(crate) fn interval_label(&self, percent: bool) -> Option<String> {
        let Bounds { low, high } = interval(self.interval)?;
        // With as many decimals as the value above it, if that is a number.
        let digits = self.text.trim_end_matches('%');
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let is_number = digits.replace('−', "-").parse::<f64>().is_ok();
        let end = |number: f64| match (is_number && number.abs() < 1e6, percent) {
            (true, true) => plain(number * 100.0, decimals),
            (true, false) => plain(number, decimals),
            (false, _) => shown(number, percent).trim_end_matches('%').to_owned(),
        };
        Some(format!("{} to {}", end(low), end(high)))
    }
}

/// The position of a value on the color scale, from 0 to 1.
pub(crate) fn color_fraction(range: Bounds, number: f64) -> f64 {
    ((number - range.low) / (range.high - range.low)).clamp(0.0, 1.0)
}
