//! A paired comparison as tables.

use super::cells::{count_cell, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::{Comparison, p_value, verdict_name};

/// The table for people.
pub fn display_table(found: &Comparison) -> Table {
    let mut table = Table::new(&[
        "task",
        "A is",
        "A less B",
        "95 % interval",
        "p",
        "only A right",
        "only B right",
        "pairs",
    ]);
    for task in &found.tasks {
        table.push(vec![
            Cell::text(&task.task),
            Cell::Shown(verdict_name(task.verdict).to_owned()),
            task.difference.map_or(Cell::Missing, |difference| Cell::Shown(format!("{difference:+.3}"))),
            Cell::Shown(format!("{:+.3} to {:+.3}", task.low, task.high)),
            Cell::Shown(p_value(task.p_adjusted)),
            count_cell(task.b),
            count_cell(task.c),
            count_cell(task.pairs),
        ]);
    }
    let score = &found.score;
    table.push(vec![
        Cell::text("ReasonScore"),
        Cell::Shown(verdict_name(found.verdict).to_owned()),
        Cell::Shown(format!("{:+.0}", score.difference)),
        Cell::Shown(format!("{:+.0} to {:+.0}", score.ci_low, score.ci_high)),
        Cell::Shown(p_value(score.p)),
        count_cell(found.tasks.iter().map(|task| task.b).sum()),
        count_cell(found.tasks.iter().map(|task| task.c).sum()),
        count_cell(found.pairs),
    ]);
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Comparison) -> Table {
    let ids = || named_cells([("a", Cell::text(&found.a.eval_id)), ("b", Cell::text(&found.b.eval_id))]);
    let mut rows = Vec::new();
    for task in &found.tasks {
        let row = named_cells([
            ("task", Cell::text(&task.task)),
            ("pairs", count_cell(task.pairs)),
            ("only_a_right", count_cell(task.b)),
            ("only_b_right", count_cell(task.c)),
            ("unpaired_a", count_cell(task.unpaired_a)),
            ("unpaired_b", count_cell(task.unpaired_b)),
            ("difference", Cell::optional(task.difference, 4)),
            ("low", Cell::Number(task.low, 4)),
            ("high", Cell::Number(task.high, 4)),
            ("p", Cell::Number(task.p, 4)),
            ("p_adjusted", Cell::Number(task.p_adjusted, 4)),
            ("verdict", Cell::text(verdict_name(task.verdict))),
            ("pairs_needed", task.pairs_needed.map_or(Cell::Missing, count_cell)),
        ]);
        rows.push([ids(), row].concat());
    }
    let score = named_cells([
        ("task", Cell::text("ReasonScore")),
        ("pairs", count_cell(found.pairs)),
        ("only_a_right", count_cell(found.tasks.iter().map(|task| task.b).sum())),
        ("only_b_right", count_cell(found.tasks.iter().map(|task| task.c).sum())),
        ("unpaired_a", count_cell(found.unpaired_a)),
        ("unpaired_b", count_cell(found.unpaired_b)),
        ("difference", Cell::Number(found.score.difference, 1)),
        ("low", Cell::Number(found.score.ci_low, 1)),
        ("high", Cell::Number(found.score.ci_high, 1)),
        ("p", Cell::Number(found.score.p, 4)),
        ("p_adjusted", Cell::Missing),
        ("verdict", Cell::text(verdict_name(found.verdict))),
        ("pairs_needed", Cell::Missing),
    ]);
    rows.push([ids(), score].concat());
    table_from_named_cells(rows)
}
