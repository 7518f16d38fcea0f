//! Power spectra as tables.

use super::cells::{count_cell, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::{PopulationSummary, Spectra};

/// How much louder A is than B; nothing where one of them is silent.
fn power_ratio_db(a: f64, b: f64) -> Option<f64> {
    (a > 0.0 && b > 0.0).then(|| 10.0 * (a / b).log10())
}

/// The table for people.
pub fn display_table(found: &Spectra) -> Table {
    let each = format!("{}s a cycle", found.series.step());
    let mut table = Table::new(&[
        "cycles",
        each.as_str(),
        "A mean",
        "A middle 80 %",
        "B mean",
        "B middle 80 %",
        "A over B dB",
    ]);
    for (cell, frequency) in found.frequencies.iter().enumerate() {
        let spread =
            |one: &PopulationSummary| Cell::Shown(format!("{:.3} to {:.3}", one.low[cell], one.high[cell]));
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
        let number = |number: f64| Cell::Number(number, 6);
        named_cells([
            ("frequency", number(*frequency)),
            ("a_mean", number(found.a.mean[cell])),
            ("a_low", number(found.a.low[cell])),
            ("a_high", number(found.a.high[cell])),
            ("b_mean", number(found.b.mean[cell])),
            ("b_low", number(found.b.low[cell])),
            ("b_high", number(found.b.high[cell])),
            ("a_prompts", count_cell(found.a.prompts as u64)),
            ("b_prompts", count_cell(found.b.prompts as u64)),
            ("distance_db", number(found.distance_db)),
            ("chance_db", number(found.chance_db)),
            ("p", number(found.p)),
        ])
    };
    table_from_named_cells(found.frequencies.iter().enumerate().map(row).collect())
}
