//! The stability of margins as a table.

use super::{Cell, Table};
use crate::StabilityRow;

/// One row per model and number of draws; names are only repeated for programs.
pub fn stability_table(rows: &[StabilityRow], is_export: bool) -> Table {
    let mut table = if is_export {
        Table::new(&["name", "draws", "margin_mean", "margin_sd", "margin_range", "stable"])
    } else {
        Table::new(&["name", "draws", "margin", "sd", "Δ over seeds", "stable (Δ < 0.5)"])
    };
    for row in rows {
        for (index, entry) in row.draws.iter().enumerate() {
            let name = if is_export || index == 0 { row.name.as_str() } else { "" };
            let decimals = if is_export { 6 } else { 2 };
            table.push(vec![
                Cell::text(name),
                Cell::Number(entry.draws as f64, 0),
                Cell::Number(entry.margin_mean, decimals),
                Cell::Number(entry.margin_sd, decimals),
                Cell::Number(entry.margin_range, decimals),
                Cell::text(if entry.stable { "yes" } else { "no" }),
            ]);
        }
    }
    table
}
