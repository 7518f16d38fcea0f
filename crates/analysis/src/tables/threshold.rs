//! Where models break, as tables.

use super::cells::{count_cell, eval_cells, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::ThresholdRow;

/// The table for people.
pub fn display_table(rows: &[ThresholdRow]) -> Table {
    let columns =
        ["eval", "task", "parameter", "half known", "low", "high", "crossing", "misfit p", "n", "tested"];
    let mut table = Table::new(&columns);
    for row in rows {
        let curve = row.curve.as_ref();
        let number = |number: Option<f64>| Cell::optional(number, 2);
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(&row.parameter),
            number(curve.and_then(|curve| curve.x50)),
            number(curve.and_then(|curve| curve.low)),
            number(curve.and_then(|curve| curve.high)),
            Cell::Shown(curve.map_or_else(|| "cannot tell".to_owned(), |curve| curve.crossing.to_string())),
            Cell::optional(curve.and_then(|curve| curve.lack_of_fit.p), 3),
            count_cell(row.n),
            match row.tested.as_slice() {
                [] => Cell::Missing,
                [only] => Cell::Shown(only.to_string()),
                [first, .., last] => Cell::Shown(format!("{first} to {last}")),
            },
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[ThresholdRow]) -> Table {
    let row = |row: &ThresholdRow| {
        let curve = row.curve.as_ref();
        let word = |word: Option<String>| word.map_or(Cell::Missing, Cell::Text);
        let number = |number: Option<f64>| Cell::optional(number, 4);
        let fit = curve.map(|curve| curve.lack_of_fit);
        let found = named_cells([
            ("task", Cell::text(&row.task)),
            ("parameter", Cell::text(&row.parameter)),
            ("mixed", Cell::text(row.mixed.join(" "))),
            ("tested_low", number(row.tested.first().copied())),
            ("tested_high", number(row.tested.last().copied())),
            ("tested_values", count_cell(row.tested.len() as u64)),
            ("n", count_cell(row.n)),
            ("crossing", word(curve.map(|curve| curve.crossing.to_string().replace(' ', "_")))),
            ("trend", word(curve.map(|curve| curve.trend.to_string()))),
            ("x50", number(curve.and_then(|curve| curve.x50))),
            ("low", number(curve.and_then(|curve| curve.low))),
            ("high", number(curve.and_then(|curve| curve.high))),
            ("intercept", number(curve.map(|curve| curve.intercept))),
            ("slope", number(curve.map(|curve| curve.slope))),
            ("slope_p", number(curve.map(|curve| curve.slope_p))),
            ("misfit_g2", number(fit.map(|fit| fit.g2))),
            ("misfit_degrees", number(fit.map(|fit| fit.degrees as f64))),
            ("misfit_p", number(fit.and_then(|fit| fit.p))),
            ("dispersion", number(fit.and_then(|fit| fit.dispersion))),
            ("finding", Cell::text(&row.finding)),
            ("mode", Cell::text(row.mode)),
        ]);
        [eval_cells(&row.eval), found].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}
