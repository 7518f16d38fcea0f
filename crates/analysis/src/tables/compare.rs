//! A paired comparison as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{Comparison, ReasonScoreGap, p_value, verdict_label, verdict_name};

/// The table for readers.
pub fn display_table(found: &Comparison) -> Table {
    let mut table = Table::new(&[
        "task",
        "A vs. B",
        "A minus B",
        "95 % CI",
        "p",
        "only A correct",
        "only B correct",
        "pairs",
    ]);
    for task in &found.tasks {
        table.push(vec![
            Cell::text(&task.task),
            Cell::Formatted(verdict_label(task.verdict).to_owned()),
            task.difference.map_or(Cell::Missing, |difference| Cell::Formatted(format!("{difference:+.3}"))),
            Cell::Formatted(format!("{:+.3} to {:+.3}", task.low, task.high)),
            Cell::Formatted(p_value(task.p_adjusted)),
            Cell::count(task.b),
            Cell::count(task.c),
            Cell::count(task.pairs),
        ]);
    }
    let v2 = &found.score;
    let mark = if found.unequal_sampling.is_empty() { "" } else { "†" };
    let v2_difference = format!("{:+.0} ± {:.0}{mark}", v2.difference, v2.margin);
    let (difference, interval) = match &found.reason_score {
        Some(gap) => (format!("{:+.0}", gap.difference), Cell::Formatted(gap.interval_label())),
        None => (v2_difference.clone(), Cell::Missing),
    };
    table.push(vec![
        Cell::text("ReasonScore"),
        Cell::Formatted(verdict_label(found.verdict).to_owned()),
        Cell::Formatted(difference),
        interval,
        Cell::Formatted(p_value(found.p())),
        Cell::count(found.tasks.iter().map(|task| task.b).sum()),
        Cell::count(found.tasks.iter().map(|task| task.c).sum()),
        Cell::count(found.pairs),
    ]);
    if found.reason_score.is_some() {
        let mut cells = vec![Cell::text("v2"), Cell::Missing, Cell::Formatted(v2_difference)];
        cells.resize(8, Cell::Missing);
        table.push(cells);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Comparison) -> Table {
    let first = || RowBuilder::new().text("a", &found.a.eval_id).text("b", &found.b.eval_id);
    let mut rows = Vec::new();
    for task in &found.tasks {
        rows.push(
            first()
                .text("base_task", &task.task)
                .text("task", &task.task)
                .count("pairs", task.pairs)
                .count("only_a_right", task.b)
                .count("only_b_right", task.c)
                .count("unpaired_a", task.unpaired_a)
                .count("unpaired_b", task.unpaired_b)
                .optional_number("difference", task.difference, 4)
                .number("low", task.low, 4)
                .number("high", task.high, 4)
                .number("p", task.p, 4)
                .number("p_adjusted", task.p_adjusted, 4)
                .text("verdict", verdict_name(task.verdict))
                .optional_count("pairs_needed", task.pairs_needed)
                .cell("test_p", Cell::Missing)
                .reason_score_gap(None),
        );
    }
    rows.push(
        first()
            .text("base_task", "ReasonScore")
            .text("task", "ReasonScore")
            .count("pairs", found.pairs)
            .count("only_a_right", found.tasks.iter().map(|task| task.b).sum())
            .count("only_b_right", found.tasks.iter().map(|task| task.c).sum())
            .count("unpaired_a", found.unpaired_a)
            .count("unpaired_b", found.unpaired_b)
            .number("difference", found.score.difference, 1)
            .number("low", found.score.ci_low, 1)
            .number("high", found.score.ci_high, 1)
            .number("p", found.score.p, 4)
            .cell("p_adjusted", Cell::Missing)
            .text("verdict", verdict_name(found.verdict))
            .cell("pairs_needed", Cell::Missing)
            .optional_number("test_p", found.test.map(|test| test.p), 4)
            .reason_score_gap(found.reason_score.as_ref()),
    );
    rows.into_iter().collect()
}

impl RowBuilder {
    /// Adds the difference of the ReasonScores with its confidence interval.
    fn reason_score_gap(self, gap: Option<&ReasonScoreGap>) -> Self {
        self.optional_number("reason_score_difference", gap.map(|gap| gap.difference), 1)
            .optional_number("reason_score_low", gap.map(|gap| gap.ci_low), 1)
            .optional_number("reason_score_high", gap.map(|gap| gap.ci_high), 1)
    }
}
