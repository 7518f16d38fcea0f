//! Accuracy by one or two parameters as tables.

use reasonscape_points::Value;

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::AccuracyGrid;
use crate::labels::accuracy_label_of;

/// The table for readers.
pub fn display_table(grids: &[AccuracyGrid]) -> Table {
    let accuracy = accuracy_label_of(grids.iter().map(|grid| grid.mode));
    let mut table = Table::new(&["eval", "task", "at", accuracy, "n", "truncated", "points"]);
    for grid in grids {
        for cell in &grid.cells {
            table.push(vec![
                Cell::text(&cell.label),
                Cell::text(&grid.task),
                Cell::text(grid.coordinates(&cell.value_indices)),
                Cell::estimate(&cell.estimate),
                Cell::count(cell.n),
                Cell::truncated_count(cell.n_t, cell.truncation_known),
                Cell::count(cell.points),
            ]);
        }
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(grids: &[AccuracyGrid]) -> Table {
    let value = |value: &Value| match value {
        Value::Number(number) => Cell::Number(*number, 4),
        other => Cell::text(other.to_string()),
    };
    let mut rows = Vec::new();
    for grid in grids {
        for cell in &grid.cells {
            let mut row =
                RowBuilder::new().eval(&cell.eval).text("base_task", &grid.task).text("task", &grid.task);
            for (name, (axis, index)) in ["x", "y"].into_iter().zip(grid.axes.iter().zip(&cell.value_indices))
            {
                row = row
                    .text(format!("{name}_parameter"), &axis.parameter)
                    .cell(name, value(&axis.values[*index]));
            }
            row = row
                .count("points", cell.points)
                .count("n", cell.n)
                .count("n_e", cell.n_e)
                .count("n_u", cell.n_u)
                .count("n_t", cell.n_t)
                .flag("truncation_known", cell.truncation_known)
                .number("g", cell.g, 2)
                .text("mode", grid.mode)
                .interval(&cell.estimate);
            rows.push(row);
        }
    }
    rows.into_iter().collect()
}
