//! Points as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::PointSummary;
use crate::labels::accuracy_label_of;
use crate::summaries::varying_params;

/// The table for readers.
pub fn display_table(rows: &[PointSummary]) -> Table {
    let accuracy = accuracy_label_of(rows.iter().map(|row| row.mode));
    let mut table = Table::new(&["eval", "task", "params", accuracy, "n", "n_e", "n_t", "g", "missing"]);
    let varying = varying_params(rows);
    for row in rows {
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(row.coordinates(&varying[row.task.as_str()])),
            Cell::estimate(&row.estimate),
            Cell::count(row.n),
            Cell::count(row.n_e),
            Cell::truncated_count(row.n_t, row.truncation_known),
            Cell::Number(row.g, 1),
            Cell::count(row.missing),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[PointSummary]) -> Table {
    let row = |row: &PointSummary| {
        RowBuilder::new()
            .text("eval_id", &row.eval_id)
            .text("model", &row.model)
            .text("template", &row.template)
            .text("sampler", &row.sampler)
            .text("base_task", &row.task)
            .text("task", &row.task)
            .text("params", row.params.to_string())
            .text("manifolds", row.manifolds.join(" "))
            .count("n", row.n)
            .count("n_e", row.n_e)
            .count("n_u", row.n_u)
            .count("n_t", row.n_t)
            .number("g", row.g, 2)
            .count("missing", row.missing)
            .text("mode", row.mode)
            .interval(&row.estimate)
    };
    rows.iter().map(row).collect()
}
