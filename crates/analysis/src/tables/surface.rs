//! Accuracy along one parameter or over two, as tables.

use reasonscape_points::Value;

use super::cells::{
    bounds_cells, count_cell, estimate_cell, eval_cells, named_cells, table_from_named_cells,
    truncated_count_cell,
};
use super::{Cell, Table};
use crate::AccuracyGrid;

/// The table for people.
pub fn display_table(views: &[AccuracyGrid]) -> Table {
    let mut table = Table::new(&["eval", "task", "at", "correct", "n", "truncated", "points", "low", "high"]);
    for view in views {
        for cell in &view.cells {
            let known = |number| if cell.n > 0 { Cell::Number(number, 3) } else { Cell::Missing };
            table.push(vec![
                Cell::text(&cell.label),
                Cell::text(&view.task),
                Cell::text(view.place(&cell.places)),
                estimate_cell(&cell.estimate),
                count_cell(cell.n),
                truncated_count_cell(cell.n_t, cell.truncation_known),
                count_cell(cell.points),
                known(cell.estimate.low),
                known(cell.estimate.high),
            ]);
        }
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(views: &[AccuracyGrid]) -> Table {
    let value = |value: &Value| match value {
        Value::Number(number) => Cell::Number(*number, 4),
        other => Cell::text(other.to_string()),
    };
    let mut rows = Vec::new();
    for view in views {
        for cell in &view.cells {
            let mut row = eval_cells(&cell.eval);
            row.push(("task".to_owned(), Cell::text(&view.task)));
            for (name, (axis, place)) in ["x", "y"].into_iter().zip(view.axes.iter().zip(&cell.places)) {
                row.push((format!("{name}_parameter"), Cell::text(&axis.parameter)));
                row.push((name.to_owned(), value(&axis.values[*place])));
            }
            row.extend(named_cells([
                ("points", count_cell(cell.points)),
                ("n", count_cell(cell.n)),
                ("n_e", count_cell(cell.n_e)),
                ("n_u", count_cell(cell.n_u)),
                ("n_t", count_cell(cell.n_t)),
                ("truncation_known", Cell::text(cell.truncation_known.to_string())),
                ("g", Cell::Number(cell.g, 2)),
                ("mode", Cell::text(view.mode)),
            ]));
            row.extend(bounds_cells(&cell.estimate));
            rows.push(row);
        }
    }
    table_from_named_cells(rows)
}
