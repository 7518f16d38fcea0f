//! Groups of similar models as tables.

use super::cells::{count_cell, eval_cells, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::{Member, ModelClusters};

/// The table for people.
pub fn display_table(found: &ModelClusters) -> Table {
    let fixed = ["group", "eval", "nearest", "distance", "by chance", "n"];
    let columns: Vec<&str> = fixed.into_iter().chain(found.tasks.iter().map(String::as_str)).collect();
    let mut table = Table::new(&columns);
    for member in &found.members {
        let nearest = member.nearest.as_ref();
        let mut row = vec![
            count_cell(member.group as u64),
            Cell::text(&member.label),
            nearest.map_or(Cell::Missing, |nearest| Cell::text(&nearest.label)),
            Cell::optional(nearest.map(|nearest| nearest.distance), 3),
            Cell::optional(nearest.map(|nearest| nearest.by_chance), 3),
            count_cell(member.n),
        ];
        row.extend(
            member
                .profile
                .iter()
                .zip(&member.margins)
                .map(|(value, margin)| Cell::Shown(format!("{value:.2} ± {margin:.2}"))),
        );
        table.push(row);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &ModelClusters) -> Table {
    let row = |member: &Member| {
        let nearest = member.nearest.as_ref();
        let mut all = eval_cells(&member.eval);
        all.extend(named_cells([
            ("group", count_cell(member.group as u64)),
            ("nearest", nearest.map_or(Cell::Missing, |nearest| Cell::text(&nearest.eval_id))),
            ("distance", Cell::optional(nearest.map(|nearest| nearest.distance), 4)),
            ("by_chance", Cell::optional(nearest.map(|nearest| nearest.by_chance), 4)),
            ("n", count_cell(member.n)),
            ("mode", Cell::text(found.mode)),
        ]));
        for (task, (value, error)) in found.tasks.iter().zip(member.profile.iter().zip(&member.errors)) {
            all.push((task.clone(), Cell::Number(*value, 4)));
            all.push((format!("{task}_error"), Cell::Number(*error, 4)));
        }
        all
    };
    table_from_named_cells(found.members.iter().map(row).collect())
}
