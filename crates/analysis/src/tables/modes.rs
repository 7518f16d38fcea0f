//! The nine estimators as tables.

use reasonscape_stats::{Assumption, Event, Mode};

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{GroupBy, ModesRow};

/// The families of modes, which define a success; one row each.
const FAMILIES: [(Event, &str); 3] =
    [(Event::Equality, "E raw"), (Event::Correctness, "C corrected"), (Event::Calibrated, "K calibrated")];

/// The treatments of truncated trials; one column each.
const COLUMNS: [(Assumption, &str); 3] = [
    (Assumption::Independence, "I truncated ignored"),
    (Assumption::Pessimism, "P truncated failed"),
    (Assumption::Optimism, "O truncated passed"),
];

fn table_with_modes(first: &[&str], what: &str, wanted: &[Mode]) -> Table {
    let across =
        COLUMNS.iter().filter(|(assumption, _)| wanted.iter().any(|mode| mode.assumption == *assumption));
    let across: Vec<String> = across.map(|(_, name)| format!("{what}{name}")).collect();
    Table::new(&first.iter().copied().chain(across.iter().map(String::as_str)).collect::<Vec<_>>())
}

/// The requested modes by family.
fn families(wanted: &[Mode]) -> impl Iterator<Item = (&'static str, Vec<Mode>)> {
    FAMILIES.into_iter().filter_map(|(event, name)| {
        let modes: Vec<Mode> = COLUMNS
            .iter()
            .map(|(assumption, _)| Mode { event, assumption: *assumption })
            .filter(|mode| wanted.contains(mode))
            .collect();
        (!modes.is_empty()).then_some((name, modes))
    })
}

/// The table for readers: ReasonScores v2 of evaluations, or accuracies of their tasks.
pub fn display_table(rows: &[ModesRow], wanted: &[Mode], by: GroupBy) -> Table {
    match by {
        GroupBy::Eval => score_table(rows, wanted),
        GroupBy::Task => task_table(rows, wanted),
    }
}

fn score_table(rows: &[ModesRow], wanted: &[Mode]) -> Table {
    let mut table = table_with_modes(&["name", "family"], "v2, ", wanted);
    for row in rows {
        let mark = match (row.complete, row.unequal_sampling) {
            (true, false) => "",
            (false, false) => "*",
            (true, true) => "†",
            (false, true) => "*†",
        };
        for (family, modes) in families(wanted) {
            let mut cells = vec![Cell::text(&row.label), Cell::text(family)];
            cells.extend(modes.iter().map(|mode| {
                let score = row.scores[mode.name()];
                Cell::Formatted(format!("{:.0} ± {:.0}{mark}", score.center, score.margin))
            }));
            table.push(cells);
        }
    }
    table
}

fn task_table(rows: &[ModesRow], wanted: &[Mode]) -> Table {
    let mut table = table_with_modes(&["name", "task", "family"], "", wanted);
    for row in rows {
        for (task, estimates) in &row.tasks {
            for (family, modes) in families(wanted) {
                let mut cells = vec![Cell::text(&row.label), Cell::text(task), Cell::text(family)];
                cells.extend(modes.iter().map(|mode| Cell::estimate(&estimates[mode.name()])));
                table.push(cells);
            }
        }
    }
    table
}

/// The table for programs: one row per mode, ready to pivot.
pub fn export_table(rows: &[ModesRow], wanted: &[Mode], by: GroupBy) -> Table {
    let mut table_rows = Vec::new();
    for row in rows {
        let first = RowBuilder::new()
            .eval(&row.eval)
            .flag("complete", row.complete)
            .flag("unequal_sampling", row.unequal_sampling);
        for mode in wanted {
            match by {
                GroupBy::Eval => {
                    let score = row.scores[mode.name()];
                    let interval = [score.center, score.margin, score.ci_low, score.ci_high];
                    table_rows.push(with_interval(first.clone(), *mode, interval));
                }
                GroupBy::Task => table_rows.extend(row.tasks.iter().map(|(task, estimates)| {
                    let accuracy = estimates[mode.name()];
                    let interval = [accuracy.center, accuracy.margin, accuracy.low, accuracy.high];
                    let task = first.clone().text("base_task", task).text("task", task);
                    with_interval(task, *mode, interval).optional_number("point", accuracy.point, 4)
                })),
            }
        }
    }
    table_rows.into_iter().collect()
}

fn with_interval(row: RowBuilder, mode: Mode, [center, margin, low, high]: [f64; 4]) -> RowBuilder {
    row.text("mode", mode.name())
        .number("center", center, 4)
        .number("margin", margin, 4)
        .number("low", low, 4)
        .number("high", high, 4)
}
