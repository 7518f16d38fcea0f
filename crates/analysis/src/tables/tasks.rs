//! Tasks as tables.

use super::cells::{
    bounds_cells, count_cell, estimate_cell, named_cells, table_from_named_cells, truncation_rate_cell,
};
use super::{Cell, Table};
use crate::TaskSummary;

/// The table for people.
pub fn display_table(rows: &[TaskSummary]) -> Table {
    let mut table =
        Table::new(&["task", "evals", "points", "trials", "missing", "correct", "truncated", "mean tokens"]);
    for row in rows {
        let evals = match row.missing_evals.len() as u64 {
            0 => row.evals.to_string(),
            missing => format!("{} of {}", row.evals, row.evals + missing),
        };
        table.push(vec![
            Cell::text(&row.task),
            Cell::Shown(evals),
            count_cell(row.points),
            count_cell(row.n),
            count_cell(row.missing),
            estimate_cell(&row.correct),
            truncation_rate_cell(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[TaskSummary]) -> Table {
    let row = |row: &TaskSummary| {
        let counted = named_cells([
            ("task", Cell::text(&row.task)),
            ("evals", count_cell(row.evals)),
            ("missing_evals", Cell::text(row.missing_evals.join(" "))),
            ("points", count_cell(row.points)),
            ("n", count_cell(row.n)),
            ("n_e", count_cell(row.n_e)),
            ("n_u", count_cell(row.n_u)),
            ("n_t", count_cell(row.n_t)),
            ("g", Cell::Number(row.g, 2)),
            ("missing", count_cell(row.missing)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("mode", Cell::text(row.mode)),
        ]);
        [counted, bounds_cells(&row.correct)].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}
