//! Accuracy along one parameter or over two, as tables.

use reasonscape_points::Value;

use super::row_builder::RowBuilder;
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
                Cell::estimate(&cell.estimate),
                Cell::count(cell.n),
                Cell::truncated_count(cell.n_t, cell.truncation_known),
                Cell::count(cell.points),
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
            let mut row = RowBuilder::new().eval(&cell.eval).text("task", &view.task);
            for (name, (axis, place)) in ["x", "y"].into_iter().zip(view.axes.iter().zip(&cell.places)) {
                row = row
                    .text(format!("{name}_parameter"), &axis.parameter)
                    .cell(name, value(&axis.values[*place]));
            }
            row = row
                .count("points", cell.points)
                .count("n", cell.n)
                .count("n_e", cell.n_e)
                .count("n_u", cell.n_u)
                .count("n_t", cell.n_t)
                .flag("truncation_known", cell.truncation_known)
                .number("g", cell.g, 2)
                .text("mode", view.mode)
                .interval(&cell.estimate);
            rows.push(row);
        }
    }
    rows.into_iter().collect()
}
