//! Points as tables.

use super::cells::{bounds_cells, count_cell, estimate_cell, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::PointSummary;
use crate::summaries::varying_params;

/// The table for people.
pub fn display_table(rows: &[PointSummary]) -> Table {
    let mut table =
        Table::new(&["eval", "task", "params", "correct", "n", "n_e", "n_t", "g", "missing", "low", "high"]);
    let telling = varying_params(rows);
    for row in rows {
        let is_known = row.n > 0;
        let known = |number| if is_known { Cell::Number(number, 3) } else { Cell::Missing };
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(row.coordinates(&telling[row.task.as_str()])),
            estimate_cell(&row.estimate),
            count_cell(row.n),
            count_cell(row.n_e),
            if row.truncation_known { count_cell(row.n_t) } else { Cell::Shown("?".to_owned()) },
            Cell::Number(row.g, 1),
            count_cell(row.missing),
            known(row.estimate.low),
            known(row.estimate.high),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[PointSummary]) -> Table {
    let row = |row: &PointSummary| {
        let counted = named_cells([
            ("eval_id", Cell::text(&row.eval_id)),
            ("model", Cell::text(&row.model)),
            ("template", Cell::text(&row.template)),
            ("sampler", Cell::text(&row.sampler)),
            ("task", Cell::text(&row.task)),
            ("params", Cell::text(row.params.to_string())),
            ("manifolds", Cell::text(row.manifolds.join(" "))),
            ("n", count_cell(row.n)),
            ("n_e", count_cell(row.n_e)),
            ("n_u", count_cell(row.n_u)),
            ("n_t", count_cell(row.n_t)),
            ("g", Cell::Number(row.g, 2)),
            ("missing", count_cell(row.missing)),
            ("mode", Cell::text(row.mode)),
        ]);
        [counted, bounds_cells(&row.estimate)].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}
