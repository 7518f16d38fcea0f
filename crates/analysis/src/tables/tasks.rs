//! Tasks as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::TaskSummary;
use crate::labels::accuracy_label_of;

/// The table for readers.
pub fn display_table(rows: &[TaskSummary]) -> Table {
    let mut table = Table::new(&[
        "task",
        "evals",
        "points",
        "trials",
        "missing",
        accuracy_label_of(rows.iter().map(|row| row.mode)),
        "truncated",
        "mean tokens",
        "limit used",
        "refused",
        "unparsed",
    ]);
    for row in rows {
        let evals = match row.missing_evals.len() as u64 {
            0 => row.evals.to_string(),
            missing => format!("{} of {}", row.evals, row.evals + missing),
        };
        table.push(vec![
            Cell::text(&row.task),
            Cell::Formatted(evals),
            Cell::count(row.points),
            Cell::count(row.n),
            Cell::count(row.missing),
            Cell::estimate(&row.correct),
            Cell::truncation_rate(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
            Cell::utilization(&row.reliability),
            Cell::rate(row.reliability.refusal_rate),
            Cell::rate(row.reliability.unparsed_rate),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[TaskSummary]) -> Table {
    let row = |row: &TaskSummary| {
        RowBuilder::new()
            .text("base_task", &row.task)
            .text("task", &row.task)
            .count("evals", row.evals)
            .text("missing_evals", row.missing_evals.join(" "))
            .count("points", row.points)
            .count("n", row.n)
            .count("n_e", row.n_e)
            .count("n_u", row.n_u)
            .count("n_t", row.n_t)
            .number("g", row.g, 2)
            .count("missing", row.missing)
            .optional_number("truncation_rate", row.truncation_rate, 4)
            .optional_number("tokens_mean", row.tokens_mean, 1)
            .reliability(&row.reliability)
            .text("mode", row.mode)
            .interval(&row.correct)
    };
    rows.iter().map(row).collect()
}
