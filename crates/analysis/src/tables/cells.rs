//! Cells that several tables have in common.

use reasonscape_points::EvalInfo;

use super::{Cell, Table};
use crate::Bounds;

/// A table of rows of named cells. All rows have the same names, which become the columns.
pub(crate) fn table_from_named_cells(rows: Vec<Vec<(String, Cell)>>) -> Table {
    let columns: Vec<String> = rows.first().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let mut table = Table::new(&columns);
    for row in rows {
        table.push(row.into_iter().map(|(_, cell)| cell).collect());
    }
    table
}

/// Cells with the names of their columns.
pub(crate) fn named_cells<const N: usize>(cells: [(&str, Cell); N]) -> Vec<(String, Cell)> {
    cells.map(|(name, cell)| (name.to_owned(), cell)).to_vec()
}

/// The first cells of every exported row about an evaluation.
pub(crate) fn eval_cells(eval: &EvalInfo) -> Vec<(String, Cell)> {
    named_cells([
        ("eval_id", Cell::text(&eval.eval_id)),
        ("name", Cell::text(&eval.name)),
        ("model", Cell::text(&eval.model)),
        ("template", Cell::text(&eval.template)),
        ("sampler", Cell::text(&eval.sampler)),
        ("groups", Cell::text(eval.groups.join(" "))),
    ])
}

/// The first cells of every exported row about a group of trials.
pub(crate) fn trial_group_cells(
    eval: &EvalInfo,
    task: Option<&String>,
    truncation_known: bool,
) -> Vec<(String, Cell)> {
    let mut first = eval_cells(eval);
    first.extend(named_cells([
        ("task", task.map_or(Cell::Missing, Cell::text)),
        ("truncation_known", Cell::text(truncation_known.to_string())),
    ]));
    first
}

/// The numbers of an estimate, for export.
pub(crate) fn bounds_cells(bounds: &Bounds) -> Vec<(String, Cell)> {
    named_cells([
        ("low", Cell::Number(bounds.low, 4)),
        ("high", Cell::Number(bounds.high, 4)),
        ("center", Cell::Number(bounds.center, 4)),
        ("margin", Cell::Number(bounds.margin, 4)),
        ("point", Cell::optional(bounds.point, 4)),
    ])
}

/// A proportion and its bounds under a name of their own, for export.
pub(crate) fn prefixed_bounds_cells(name: &str, bounds: &Bounds) -> Vec<(String, Cell)> {
    vec![
        (name.to_owned(), Cell::optional(bounds.point, 4)),
        (format!("{name}_low"), Cell::Number(bounds.low, 4)),
        (format!("{name}_high"), Cell::Number(bounds.high, 4)),
    ]
}

/// The task of a displayed row; without one, all of them together.
pub(crate) fn task_cell(task: Option<&String>) -> Cell {
    Cell::text(task.map_or("all", String::as_str))
}

/// A displayed proportion with its margin; missing where nothing was counted.
pub(crate) fn estimate_cell(bounds: &Bounds) -> Cell {
    match bounds.point {
        Some(_) => Cell::Shown(format!("{:.3} ± {:.3}", bounds.center, bounds.margin)),
        None => Cell::Missing,
    }
}

/// A displayed number of truncated trials; `?` where the log does not say.
pub(crate) fn truncated_count_cell(count: u64, is_known: bool) -> Cell {
    if is_known { count_cell(count) } else { Cell::Shown("?".to_owned()) }
}

/// A displayed truncation rate in percent; `?` where the log does not say.
pub(crate) fn truncation_rate_cell(rate: Option<f64>, is_known: bool) -> Cell {
    match rate {
        _ if !is_known => Cell::Shown("?".to_owned()),
        Some(rate) => Cell::Shown(format!("{:.1} %", 100.0 * rate)),
        None => Cell::Missing,
    }
}

/// A whole number.
pub(crate) fn count_cell(number: u64) -> Cell {
    Cell::Number(number as f64, 0)
}
