//! The variance of accuracy as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::VarianceRow;

/// The table for readers.
pub fn display_table(rows: &[VarianceRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "problems",
        "samples",
        "accuracy",
        "due to problems",
        "standard error",
        "twice the problems",
        "twice the samples",
        "variance between problems",
        "between samples",
    ]);
    for row in rows {
        let split = row.split.as_ref();
        let number = |value: Option<f64>| Cell::optional(value, 4);
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            Cell::count(row.problems),
            Cell::count(row.samples),
            Cell::estimate(&row.accuracy),
            split.map_or(Cell::Missing, |split| Cell::Formatted(split.proportion_text())),
            number(split.map(|split| split.standard_error)),
            number(split.map(|split| split.standard_error_twice_problems)),
            number(split.map(|split| split.standard_error_twice_samples)),
            number(split.map(|split| split.problems)),
            number(split.map(|split| split.sampling)),
        ]);
    }
    table
}

/// pass@k, pass^k and the majority vote for readers, one row per `k`.
pub fn display_pass_table(rows: &[VarianceRow]) -> Table {
    let mut table = Table::new(&["name", "task", "k", "pass@k", "pass^k", "maj@k", "problems"]);
    for row in rows {
        for pass in &row.pass {
            let is_all = pass.k == row.samples;
            table.push(vec![
                Cell::text(&row.group.label),
                Cell::task(row.group.task.as_ref()),
                Cell::count(pass.k),
                Cell::estimate(&pass.pass_at_k),
                Cell::estimate(&pass.pass_hat_k),
                // The vote of all samples.
                row.majority.as_ref().filter(|_| is_all).map_or(Cell::Missing, Cell::estimate),
                Cell::count(pass.problems),
            ]);
        }
    }
    table
}

/// The table for programs: every column, every digit. pass@k and pass^k are those of the largest number of samples.
pub fn export_table(rows: &[VarianceRow]) -> Table {
    let row = |row: &VarianceRow| {
        let split = row.split.as_ref();
        let pass = row.pass.last();
        let estimate = |cells: RowBuilder, name: &str, found: Option<&crate::IntervalEstimate>| {
            cells
                .optional_number(name, found.and_then(|found| found.point), 4)
                .optional_number(format!("{name}_low"), found.map(|found| found.low), 4)
                .optional_number(format!("{name}_high"), found.map(|found| found.high), 4)
        };
        let cells = RowBuilder::new()
            .trial_group(&row.group)
            .count("n", row.n)
            .count("problems", row.problems)
            .count("samples", row.samples)
            .estimate("accuracy", &row.accuracy)
            .optional_number("variance_problems", split.map(|split| split.problems), 4)
            .optional_number("variance_sampling", split.map(|split| split.sampling), 4)
            .optional_number("problem_proportion", split.map(|split| split.problem_proportion), 4)
            .optional_number(
                "problem_proportion_low",
                split.and_then(|split| split.problem_proportion_low),
                4,
            )
            .optional_number(
                "problem_proportion_high",
                split.and_then(|split| split.problem_proportion_high),
                4,
            )
            .optional_number("standard_error", split.map(|split| split.standard_error), 4)
            .optional_number(
                "standard_error_twice_problems",
                split.map(|split| split.standard_error_twice_problems),
                4,
            )
            .optional_number(
                "standard_error_twice_samples",
                split.map(|split| split.standard_error_twice_samples),
                4,
            );
        let cells = estimate(cells, "pass_at_k", pass.map(|pass| &pass.pass_at_k));
        let cells = estimate(cells, "pass_hat_k", pass.map(|pass| &pass.pass_hat_k));
        estimate(cells, "majority", row.majority.as_ref()).text("finding", &row.finding)
    };
    rows.iter().map(row).collect()
}
