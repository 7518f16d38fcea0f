//! Sets of models that can't be distinguished, as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::ModelSets;

/// The table for readers.
pub fn display_table(found: &ModelSets) -> Table {
    let mut table = Table::new(&[
        found.by.as_deref().unwrap_or("group"),
        "set",
        "name",
        "ReasonScore",
        "95 % CI",
        "mean tokens",
    ]);
    for group in &found.groups {
        for (number, set) in group.sets.iter().enumerate() {
            for member in set {
                table.push(vec![
                    Cell::text(group.label()),
                    Cell::count(number as u64 + 1),
                    Cell::text(&member.label),
                    Cell::Formatted(format!("{:.0}", member.reason_score.estimate)),
                    Cell::Formatted(member.reason_score.interval_label()),
                    Cell::optional(member.tokens_mean, 0),
                ]);
            }
        }
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &ModelSets) -> Table {
    let mut rows = Vec::new();
    for group in &found.groups {
        for (number, set) in group.sets.iter().enumerate() {
            for member in set {
                rows.push(
                    RowBuilder::new()
                        .text("by", found.by.as_deref().unwrap_or_default())
                        .text("group", group.label())
                        .count("set", number as u64 + 1)
                        .eval(&member.eval)
                        .number("reason_score", member.reason_score.estimate, 1)
                        .number("reason_score_low", member.reason_score.ci_low, 1)
                        .number("reason_score_high", member.reason_score.ci_high, 1)
                        .optional_number("tokens_mean", member.tokens_mean, 1),
                );
            }
        }
    }
    rows.into_iter().collect()
}
