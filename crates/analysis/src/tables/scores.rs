//! The leaderboard as tables.

use super::cells::{count_cell, eval_cells, named_cells, table_from_named_cells, truncation_rate_cell};
use super::{Cell, Table};
use crate::{Leaderboard, ScoreRow};

/// The leaderboard as people read it.
pub fn display_table(board: &Leaderboard) -> Table {
    with_tasks(board, &board.tasks)
}

/// The same without the tasks, where one look has to do.
pub fn display_summary_table(board: &Leaderboard) -> Table {
    with_tasks(board, &[])
}

fn with_tasks(board: &Leaderboard, tasks: &[String]) -> Table {
    let fixed = ["rank", "name", "ReasonScore", "band", "truncated", "mean tokens", "score per 1k tokens"];
    let columns: Vec<&str> = fixed.into_iter().chain(tasks.iter().map(String::as_str)).collect();
    let mut table = Table::new(&columns);
    for row in &board.rows {
        let mark = if row.complete { "" } else { "*" };
        let mut shown = vec![
            Cell::Shown(row.place()),
            Cell::text(&row.label),
            Cell::Shown(format!("{:.0} ± {:.0}{mark}", row.score.center, row.score.margin)),
            // Not text, which may be folded: a band is one word.
            Cell::Shown(row.band.to_owned()),
            truncation_rate_cell(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
            Cell::optional(row.score_per_1k_tokens, 0),
        ];
        shown.extend(tasks.iter().map(|task| match row.tasks.get(task) {
            Some(task) => {
                let (center, margin) = (f64::midpoint(task.low, task.high), (task.high - task.low) / 2.0);
                Cell::Shown(format!("{center:.2} ± {margin:.2}"))
            }
            None => Cell::Missing,
        }));
        table.push(shown);
    }
    table
}

/// The leaderboard with every number, for spreadsheets.
pub fn export_table(board: &Leaderboard) -> Table {
    let row = |row: &ScoreRow| {
        let mut all = named_cells([
            ("rank", count_cell(row.rank as u64)),
            ("rank_best", count_cell(row.rank_best as u64)),
            ("rank_worst", count_cell(row.rank_worst as u64)),
        ]);
        all.extend(eval_cells(&row.eval));
        all.extend(named_cells([
            ("complete", Cell::text(row.complete.to_string())),
            ("center", Cell::Number(row.score.center, 1)),
            ("margin", Cell::Number(row.score.margin, 1)),
            ("ci_low", Cell::Number(row.score.ci_low, 1)),
            ("ci_high", Cell::Number(row.score.ci_high, 1)),
            ("band", Cell::text(row.band)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("score_per_1k_tokens", Cell::optional(row.score_per_1k_tokens, 1)),
            ("missing", count_cell(row.missing)),
            ("missing_points", count_cell(row.missing_points)),
            ("missing_tasks", Cell::text(row.missing_tasks.join(" "))),
            ("mode", Cell::text(row.mode)),
        ]));
        for name in &board.tasks {
            let task = row.tasks.get(name);
            let number = |number: Option<f64>| Cell::optional(number, 4);
            all.extend([
                (format!("{name}_n"), number(task.map(|task| task.n as f64))),
                (format!("{name}_n_e"), number(task.map(|task| task.n_e as f64))),
                (format!("{name}_n_u"), number(task.map(|task| task.n_u as f64))),
                (format!("{name}_n_t"), number(task.map(|task| task.n_t as f64))),
                (format!("{name}_g"), number(task.map(|task| task.g))),
                (format!("{name}_low"), number(task.map(|task| task.low))),
                (format!("{name}_high"), number(task.map(|task| task.high))),
            ]);
        }
        all
    };
    table_from_named_cells(board.rows.iter().map(row).collect())
}
