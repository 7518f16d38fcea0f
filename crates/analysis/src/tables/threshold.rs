//! Thresholds as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::ThresholdRow;

/// The table for readers.
pub fn display_table(rows: &[ThresholdRow]) -> Table {
    let columns = ["eval", "task", "parameter", "value at 50 % (CI)", "misfit p", "n", "tested"];
    let mut table = Table::new(&columns);
    for row in rows {
        let curve = row.curve.as_ref();
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(&row.parameter),
            Cell::Formatted(row.threshold_text()),
            Cell::optional(curve.and_then(|curve| curve.lack_of_fit.p), 3),
            Cell::count(row.n),
            match row.tested.as_slice() {
                [] => Cell::Missing,
                [only] => Cell::Formatted(only.to_string()),
                [first, .., last] => Cell::Formatted(format!("{first} to {last}")),
            },
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[ThresholdRow]) -> Table {
    let row = |row: &ThresholdRow| {
        let curve = row.curve.as_ref();
        let fit = curve.map(|curve| curve.lack_of_fit);
        RowBuilder::new()
            .eval(&row.eval)
            .text("base_task", &row.task)
            .text("task", &row.task)
            .text("parameter", &row.parameter)
            .text("mixed", row.mixed.join(" "))
            .optional_number("tested_low", row.tested.first().copied(), 4)
            .optional_number("tested_high", row.tested.last().copied(), 4)
            .count("tested_values", row.tested.len() as u64)
            .count("n", row.n)
            .optional_text("crossing", curve.map(|curve| curve.crossing.to_string().replace(' ', "_")))
            .optional_text("trend", curve.map(|curve| curve.trend.to_string()))
            .optional_number("x50", curve.and_then(|curve| curve.x50), 4)
            .optional_number("low", curve.and_then(|curve| curve.low), 4)
            .optional_number("high", curve.and_then(|curve| curve.high), 4)
            .optional_text(
                "not_reached",
                curve.and_then(|curve| curve.not_reached).map(|side| side.to_string()),
            )
            .optional_number("intercept", curve.map(|curve| curve.intercept), 4)
            .optional_number("slope", curve.map(|curve| curve.slope), 4)
            .optional_number("slope_p", curve.map(|curve| curve.slope_p), 4)
            .optional_number("misfit_g2", fit.map(|fit| fit.g2), 4)
            .optional_number("misfit_degrees", fit.map(|fit| fit.degrees as f64), 4)
            .optional_number("misfit_p", fit.and_then(|fit| fit.p), 4)
            .optional_number("dispersion", fit.and_then(|fit| fit.dispersion), 4)
            .text("finding", &row.finding)
            .text("mode", row.mode)
    };
    rows.iter().map(row).collect()
}
