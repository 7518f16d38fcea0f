//! Evaluations as tables.

use super::cells::{
    bounds_cells, count_cell, estimate_cell, eval_cells, named_cells, table_from_named_cells,
    truncation_rate_cell,
};
use super::{Cell, Table};
use crate::EvalSummary;

/// The table for people.
pub fn display_table(rows: &[EvalSummary]) -> Table {
    let mut table = Table::new(&[
        "eval",
        "name",
        "tasks",
        "points",
        "trials",
        "missing",
        "correct",
        "truncated",
        "mean tokens",
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
            Cell::Shown(tasks),
            count_cell(row.points),
            count_cell(row.trials),
            count_cell(row.missing),
            estimate_cell(&row.correct),
            truncation_rate_cell(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
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
        let counted = named_cells([
            ("tasks", count_cell(row.tasks)),
            ("missing_tasks", Cell::text(row.missing_tasks.join(" "))),
            ("points", count_cell(row.points)),
            ("trials", count_cell(row.trials)),
            ("missing", count_cell(row.missing)),
            ("missing_points", count_cell(row.missing_points)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("mode", Cell::text(row.mode)),
        ]);
        [eval_cells(&row.eval), counted, bounds_cells(&row.correct)].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}
