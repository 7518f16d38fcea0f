//! The leaderboard as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{Leaderboard, ScoreRow};

/// The leaderboard for readers.
pub fn display_table(board: &Leaderboard) -> Table {
    with_tasks(board, &board.tasks)
}

/// The leaderboard without its tasks.
pub fn display_summary_table(board: &Leaderboard) -> Table {
    with_tasks(board, &[])
}

/// The accuracy of these evaluations by task, with a task in each row: readable where the leaderboard has no space for it.
pub fn display_accuracy_table(tasks: &[String], rows: &[ScoreRow]) -> Table {
    let labels = rows.iter().map(|row| row.label.as_str());
    let columns: Vec<&str> = std::iter::once("task").chain(labels).collect();
    let mut table = Table::new(&columns);
    for task in tasks {
        let accuracies = rows.iter().map(|row| {
            row.tasks.get(task).map_or(Cell::Missing, |scores| Cell::short_estimate(&scores.accuracy))
        });
        table.push(std::iter::once(Cell::text(task)).chain(accuracies).collect());
    }
    table
}

fn with_tasks(board: &Leaderboard, tasks: &[String]) -> Table {
    let interval = interval_column(board);
    let fixed = [
        "rank",
        "name",
        "ReasonScore",
        interval.as_str(),
        "v2",
        "band",
        "truncated",
        "mean tokens",
        "score per 1k tokens",
    ];
    // Last, so that a narrow terminal drops these columns first.
    let reliability: &[&str] = if tasks.is_empty() { &[] } else { &["limit used", "refused", "unparsed"] };
    let columns: Vec<&str> = fixed
        .into_iter()
        .chain(tasks.iter().map(String::as_str))
        .chain(reliability.iter().copied())
        .collect();
    let mut table = Table::new(&columns);
    for row in &board.rows {
        let mut cells = vec![
            Cell::Formatted(row.rank_label()),
            Cell::text(&row.label),
            Cell::Formatted(row.score_label()),
            Cell::Formatted(row.reason_score.interval_label()),
            Cell::Formatted(row.v2_label()),
            // Not `Text`, which may be wrapped: a band is one word.
            Cell::Formatted(row.reason_score.band.to_owned()),
            Cell::truncation_rate(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
            Cell::optional(row.reason_score_per_1k_tokens, 0),
        ];
        cells.extend(tasks.iter().map(|task| match row.tasks.get(task) {
            Some(task) => Cell::estimate(&task.accuracy),
            None => Cell::Missing,
        }));
        if !tasks.is_empty() {
            cells.extend([
                Cell::utilization(&row.reliability),
                Cell::rate(row.reliability.refusal_rate),
                Cell::rate(row.reliability.unparsed_rate),
            ]);
        }
        table.push(cells);
    }
    table
}

/// The name of the column with the intervals of scores.
pub(crate) fn interval_column(board: &Leaderboard) -> String {
    board.rows.first().map_or_else(|| "95 % CI".to_owned(), |row| row.reason_score.interval_name())
}

/// The width of each interval with its causes, and the reliability of responses.
pub fn details_table(board: &Leaderboard) -> Table {
    let mut table = Table::new(&[
        "name",
        "interval (v2)",
        "cause",
        "token limit used",
        "above 90 % of limit",
        "truncated",
        "refused",
        "unparsed",
    ]);
    for row in &board.rows {
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(row.interval_class),
            Cell::text(row.interval_causes.join(", ")),
            Cell::utilization(&row.reliability),
            Cell::rate(row.reliability.near_limit_rate),
            Cell::truncation_rate(row.truncation_rate, row.truncation_known),
            Cell::rate(row.reliability.refusal_rate),
            Cell::rate(row.reliability.unparsed_rate),
        ]);
    }
    table
}

/// The table for programs: every column, every digit.
pub fn export_table(board: &Leaderboard) -> Table {
    let row = |row: &ScoreRow| {
        let mut cells = RowBuilder::new()
            .count("rank", row.rank as u64)
            .count("rank_best", row.rank_best as u64)
            .count("rank_worst", row.rank_worst as u64)
            .eval(&row.eval)
            .flag("complete", row.complete)
            .number("center", row.score.center, 1)
            .number("margin", row.score.margin, 1)
            .number("ci_low", row.score.ci_low, 1)
            .number("ci_high", row.score.ci_high, 1)
            .text("band", row.band)
            .text("interval_class", row.interval_class)
            .text("interval_causes", row.interval_causes.join("; "))
            .optional_number("truncation_rate", row.truncation_rate, 4)
            .optional_number("tokens_mean", row.tokens_mean, 1)
            .optional_number("score_per_1k_tokens", row.score_per_1k_tokens, 1)
            .reliability(&row.reliability)
            .count("missing", row.missing)
            .count("missing_points", row.missing_points)
            .text("missing_tasks", row.missing_tasks.join(" "))
            .text("mode", row.mode)
            .number("reason_score", row.reason_score.estimate, 1)
            .number("reason_score_low", row.reason_score.ci_low, 1)
            .number("reason_score_high", row.reason_score.ci_high, 1)
            .optional_number("reason_score_level", row.reason_score.level, 4)
            .text("reason_score_method", row.reason_score.method)
            .text("reason_score_band", row.reason_score.band)
            .optional_number("reason_score_per_1k_tokens", row.reason_score_per_1k_tokens, 1)
            .text("ties", row.ties)
            .flag("unequal_sampling", row.unequal_sampling)
            .flag("from_counters", row.from_counters);
        for name in &board.tasks {
            let task = row.tasks.get(name);
            for (counter, value) in [
                ("n", task.map(|task| task.n as f64)),
                ("n_e", task.map(|task| task.n_e as f64)),
                ("n_u", task.map(|task| task.n_u as f64)),
                ("n_t", task.map(|task| task.n_t as f64)),
                ("g", task.map(|task| task.g)),
                ("low", task.map(|task| task.low)),
                ("high", task.map(|task| task.high)),
                ("point", task.and_then(|task| task.accuracy.point)),
            ] {
                cells = cells.optional_number(format!("{name}_{counter}"), value, 4);
            }
        }
        cells
    };
    board.rows.iter().map(row).collect()
}
