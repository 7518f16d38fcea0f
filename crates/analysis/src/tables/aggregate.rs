//! Pooled points as tables.

use reasonscape_points::{Column, Value};
use reasonscape_stats::Mode;

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::AggregateRow;

/// The table for readers: keys, an estimate per mode, counters.
pub fn display_table(rows: &[AggregateRow], group_by: &[Column], modes: &[Mode]) -> Table {
    let names: Vec<String> = group_by.iter().map(ToString::to_string).collect();
    let counters = ["n", "n_u", "n_e", "n_t", "g", "points", "missing"];
    let columns: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .chain(modes.iter().map(|mode| mode.name()))
        .chain(counters)
        .collect();
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells: Vec<Cell> = names.iter().map(|name| key_cell(&row.key[name])).collect();
        cells.extend(modes.iter().map(|mode| Cell::estimate(&row.estimates[mode.name()])));
        cells.extend([row.n, row.n_u, row.n_e, row.n_t].map(Cell::count));
        cells.extend([Cell::Number(row.g, 1), Cell::count(row.points), Cell::count(row.missing)]);
        table.push(cells);
    }
    table
}

/// The table for programs: a row per key and mode.
pub fn export_table(rows: &[AggregateRow], group_by: &[Column], modes: &[Mode]) -> Table {
    let names: Vec<String> = group_by.iter().map(ToString::to_string).collect();
    let cells = |row: &AggregateRow, mode: &Mode| {
        let keys = names
            .iter()
            .fold(RowBuilder::new(), |cells, name| cells.cell(name.as_str(), key_cell(&row.key[name])));
        keys.count("points", row.points)
            .count("n", row.n)
            .count("n_u", row.n_u)
            .count("n_e", row.n_e)
            .count("n_t", row.n_t)
            .number("g", row.g, 2)
            .count("missing", row.missing)
            .text("mode", mode.name())
            .interval(&row.estimates[mode.name()])
    };
    rows.iter()
        .flat_map(|row| modes.iter().map(move |mode| (row, mode)))
        .map(|(row, mode)| cells(row, mode))
        .collect()
}

fn key_cell(value: &Value) -> Cell {
    match value {
        Value::Missing => Cell::Missing,
        Value::Number(number) => Cell::Formatted(number.to_string()),
        Value::Text(text) => Cell::text(text),
    }
}
