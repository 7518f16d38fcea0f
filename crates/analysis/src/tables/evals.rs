//! Evaluations as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::EvalSummary;
use crate::labels::accuracy_label_of;

/// The table for readers.
pub fn display_table(rows: &[EvalSummary]) -> Table {
    let mut table = Table::new(&[
        "eval",
        "name",
        "tasks",
        "points",
        "trials",
        "missing",
        accuracy_label_of(rows.iter().map(|row| row.mode)),
        "truncated",
        "mean tokens",
        "limit used",
        "refused",
        "unparsed",
        "model",
        "template",
        "sampler",
        "groups",
    ]);
    for row in rows {
        let tasks = match row.missing_tasks.len() as u64 {
            0 => row.tasks.to_string(),
            missing => format!("{} of {}", row.tasks, row.tasks + missing),
        };
        table.push(vec![
            Cell::text(&row.eval.eval_id),
            Cell::text(&row.eval.name),
            Cell::Formatted(tasks),
            Cell::count(row.points),
            Cell::count(row.trials),
            Cell::count(row.missing),
            Cell::estimate(&row.correct),
            Cell::truncation_rate(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
            Cell::utilization(&row.reliability),
            Cell::rate(row.reliability.refusal_rate),
            Cell::rate(row.reliability.unparsed_rate),
            Cell::text(&row.eval.model),
            Cell::text(&row.eval.template),
            Cell::text(&row.eval.sampler),
            Cell::text(row.eval.groups.join(" ")),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[EvalSummary]) -> Table {
    let row = |row: &EvalSummary| {
        RowBuilder::new()
            .eval(&row.eval)
            .count("tasks", row.tasks)
            .text("missing_tasks", row.missing_tasks.join(" "))
            .count("points", row.points)
            .count("trials", row.trials)
            .count("missing", row.missing)
            .count("missing_points", row.missing_points)
            .optional_number("truncation_rate", row.truncation_rate, 4)
            .optional_number("tokens_mean", row.tokens_mean, 1)
            .reliability(&row.reliability)
            .text("mode", row.mode)
            .interval(&row.correct)
    };
    rows.iter().map(row).collect()
}
