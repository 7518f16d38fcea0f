//! Groups of similar models as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{ClusteredModel, ModelClusters};

/// The table for readers.
pub fn display_table(found: &ModelClusters) -> Table {
    let fixed = ["group", "eval", "nearest", "distance", "by chance", "n"];
    let columns: Vec<&str> = fixed.into_iter().chain(found.tasks.iter().map(String::as_str)).collect();
    let mut table = Table::new(&columns);
    for member in &found.members {
        let nearest = member.nearest.as_ref();
        let mut row = vec![
            Cell::count(member.group as u64),
            Cell::text(&member.label),
            nearest.map_or(Cell::Missing, |nearest| Cell::text(&nearest.label)),
            Cell::optional(nearest.map(|nearest| nearest.distance), 3),
            Cell::optional(nearest.map(|nearest| nearest.by_chance), 3),
            Cell::count(member.n),
        ];
        row.extend(
            member
                .profile
                .iter()
                .zip(&member.margins)
                .map(|(value, margin)| Cell::Formatted(format!("{value:.2} ± {margin:.2}"))),
        );
        table.push(row);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &ModelClusters) -> Table {
    let row = |member: &ClusteredModel| {
        let nearest = member.nearest.as_ref();
        let mut row = RowBuilder::new()
            .eval(&member.eval)
            .count("group", member.group as u64)
            .optional_text("nearest", nearest.map(|nearest| &nearest.eval_id))
            .optional_number("distance", nearest.map(|nearest| nearest.distance), 4)
            .optional_number("by_chance", nearest.map(|nearest| nearest.by_chance), 4)
            .count("n", member.n)
            .text("mode", found.mode);
        for (task, (value, error)) in found.tasks.iter().zip(member.profile.iter().zip(&member.errors)) {
            row = row.number(task, *value, 4).number(format!("{task}_error"), *error, 4);
        }
        row
    };
    found.members.iter().map(row).collect()
}
