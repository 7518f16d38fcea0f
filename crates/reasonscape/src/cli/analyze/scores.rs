//! `reasonscape analyze scores`: the leaderboard.

use reasonscape_stats::{Event, Mode};

use super::{Selected, cells, count, eval_cells, named, some, truncated};
use crate::analysis::{Leaderboard, ScoreRow, leaderboard};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// Show the leaderboard: ReasonScores with their intervals, and the places that these support
///
/// `=2-4` is a tie: the interval overlaps with others, and the place may be any from 2 to 4. `*` marks an evaluation
/// that lacks something of its suite and is scored on what it has.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze scores my-study --mode K_P --format json")]
pub(super) struct Scores {
    #[command(flatten)]
    selected: Selected,
}

impl Scores {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (db, asked) = self.selected.open(global).await?;
        let board = leaderboard(&db, &asked, self.selected.mode.unwrap_or(Mode::C_P)).await?;
        if board.rows.is_empty() {
            return Err(Failure::input(format_args!(
                "no evaluation has a trial yet: {}; `reasonscape run` asks for them",
                some(&board.unscored)
            )));
        }
        let table = if global.format == Format::Csv { for_programs(&board) } else { for_people(&board) };
        print(global.format, &table, &board.rows)?;
        say_beside(&board, global);
        Ok(())
    }
}

/// Longer lists of what is missing are not read.
const MOST_MISSING: usize = 8;

/// What a reader of the numbers has to know.
fn say_beside(board: &Leaderboard, global: Global) {
    if board.mode != Mode::C_P {
        global.note(format_args!("bounds by {}: comparable only with scores by {0}", board.mode));
    }
    if board.rows.iter().any(ScoreRow::is_tied) {
        global.caption(
            "= is a tie: intervals overlap; `reasonscape analyze compare` looks closer at two of them",
        );
    }
    let incomplete: Vec<(&ScoreRow, String)> =
        board.rows.iter().filter_map(|row| row.lacks().map(|lacks| (row, lacks))).collect();
    for (row, lacks) in incomplete.iter().take(MOST_MISSING) {
        global.note(format_args!("* {} lacks {lacks}; it is scored on what it has", row.label));
    }
    if incomplete.len() > MOST_MISSING {
        global.note(format_args!(
            "* so do {} more; `--format json` says what",
            incomplete.len() - MOST_MISSING
        ));
    }
    for label in &board.unscored {
        global.note(format_args!("{label} has no trial yet and no score; `reasonscape run` asks for them"));
    }
    if !board.near_chance.is_empty() {
        let tasks: Vec<String> = board
            .near_chance
            .iter()
            .map(|(task, evals)| match evals.len() {
                1 => format!("{task} ({})", evals[0]),
                several => format!("{task} ({several} evaluations)"),
            })
            .collect();
        let calibrated = Mode { event: Event::Calibrated, ..board.mode };
        global.note(format_args!(
            "near chance the C intervals are too narrow, here on {}; `--mode {calibrated}` gives bounds that hold",
            some(&tasks)
        ));
    }
}

/// The leaderboard as people read it.
pub(crate) fn for_people(board: &Leaderboard) -> Table {
    with_tasks(board, &board.tasks)
}

/// The same without the tasks, where one look has to do.
pub(in crate::cli) fn standings(board: &Leaderboard) -> Table {
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
            truncated(row.truncation_rate, row.truncation_known),
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
pub(crate) fn for_programs(board: &Leaderboard) -> Table {
    let row = |row: &ScoreRow| {
        let mut all = cells([
            ("rank", count(row.rank as u64)),
            ("rank_best", count(row.rank_best as u64)),
            ("rank_worst", count(row.rank_worst as u64)),
        ]);
        all.extend(eval_cells(&row.eval));
        all.extend(cells([
            ("complete", Cell::text(row.complete.to_string())),
            ("center", Cell::Number(row.score.center, 1)),
            ("margin", Cell::Number(row.score.margin, 1)),
            ("ci_low", Cell::Number(row.score.ci_low, 1)),
            ("ci_high", Cell::Number(row.score.ci_high, 1)),
            ("band", Cell::text(row.band)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("score_per_1k_tokens", Cell::optional(row.score_per_1k_tokens, 1)),
            ("missing", count(row.missing)),
            ("missing_points", count(row.missing_points)),
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
    named(board.rows.iter().map(row).collect())
}
