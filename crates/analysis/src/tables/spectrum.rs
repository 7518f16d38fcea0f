//! Power spectra as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{PopulationSummary, Spectra};

/// The ratio of two powers in decibels; `None` if one of them is zero.
fn power_ratio_db(a: f64, b: f64) -> Option<f64> {
    (a > 0.0 && b > 0.0).then(|| 10.0 * (a / b).log10())
}

/// The table for readers.
pub fn display_table(found: &Spectra) -> Table {
    let each = format!("{}s per cycle", found.series.step());
    let mut table = Table::new(&[
        "cycles",
        each.as_str(),
        "A mean",
        "A middle 80 %",
        "B mean",
        "B middle 80 %",
        "A / B (dB)",
    ]);
    for (cell, frequency) in found.frequencies.iter().enumerate() {
        let spread = |one: &PopulationSummary| {
            Cell::Formatted(format!("{:.3} to {:.3}", one.low[cell], one.high[cell]))
        };
        table.push(vec![
            Cell::Number(*frequency, 3),
            Cell::Number(1.0 / frequency, 1),
            Cell::Number(found.a.mean[cell], 3),
            spread(&found.a),
            Cell::Number(found.b.mean[cell], 3),
            spread(&found.b),
            Cell::optional(power_ratio_db(found.a.mean[cell], found.b.mean[cell]), 2),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Spectra) -> Table {
    let row = |(cell, frequency): (usize, &f64)| {
        RowBuilder::new()
            .number("frequency", *frequency, 6)
            .number("a_mean", found.a.mean[cell], 6)
            .number("a_low", found.a.low[cell], 6)
            .number("a_high", found.a.high[cell], 6)
            .number("b_mean", found.b.mean[cell], 6)
            .number("b_low", found.b.low[cell], 6)
            .number("b_high", found.b.high[cell], 6)
            .count("a_prompts", found.a.prompts as u64)
            .count("b_prompts", found.b.prompts as u64)
            .number("distance_db", found.distance_db, 6)
            .number("chance_db", found.chance_db, 6)
            .number("p", found.p, 6)
    };
    found.frequencies.iter().enumerate().map(row).collect()
}
