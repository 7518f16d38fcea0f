//! `reasonscape analyze scores`: the leaderboard.

use reasonscape_analysis::tables::scores::{display_table, export_table};
use reasonscape_analysis::{Leaderboard, ScoreRow, StabilityRow, leaderboard};
use reasonscape_stats::{Event, Mode, StatsError};

use super::{EstimatorArgs, StudyArgs, join_truncated};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;
use crate::score::print_stability;

/// Show the leaderboard: ReasonScores with intervals, ranks and ties
///
/// Rank `=2-4` is a tie: the interval of the score overlaps with others, so the rank may be anything from 2 to 4. `*` marks an evaluation with missing trials, which is scored on the rest.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze scores my-study --mode K_P --format json")]
pub(super) struct Scores {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    estimator_args: EstimatorArgs,
    /// Instead of the scores, show how much the margin depends on the bootstrap seed, at 100 to 10,000 draws.
    #[arg(long)]
    stability: bool,
}

impl Scores {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let board = leaderboard(&db, &query, self.estimator_args.estimator(Mode::C_P)).await?;
        if board.rows.is_empty() {
            return Err(CliError::input(format_args!(
                "no evaluation has a scored trial: {}; `reasonscape run` sends the requests and scores the responses",
                join_truncated(&board.unscored)
            )));
        }
        if self.stability {
            let rows = board
                .rows
                .iter()
                .map(|row| StabilityRow::new(&row.label, &row.task_bounds()?))
                .collect::<Result<Vec<_>, StatsError>>()
                .map_err(|error| CliError::Internal(error.into()))?;
            return print_stability(&rows, global);
        }
        print_table(global.format, || display_table(&board), || export_table(&board), &board.rows)?;
        print_notes(&board, global);
        Ok(())
    }
}

/// Evaluations with missing trials that are named one by one.
const MAX_MISSING: usize = 8;

/// Prints the notes on the numbers.
fn print_notes(board: &Leaderboard, global: Global) {
    if board.mode != Mode::C_P {
        global
            .note(format_args!("estimated by {}: only comparable with scores estimated by {0}", board.mode));
    }
    if board.is_literal {
        global.note("estimated with `--literal`: only comparable with other scores estimated with it");
    }
    if board.rows.iter().any(ScoreRow::is_tied) {
        global.caption(
            "= is a tie: intervals overlap; `reasonscape analyze compare` is a more sensitive test of two models",
        );
    }
    let incomplete: Vec<(&ScoreRow, String)> =
        board.rows.iter().filter_map(|row| row.describe_missing().map(|lacks| (row, lacks))).collect();
    for (row, lacks) in incomplete.iter().take(MAX_MISSING) {
        global.note(format_args!("* {} lacks {lacks}; it is scored on the rest", row.label));
    }
    if incomplete.len() > MAX_MISSING {
        global.note(format_args!(
            "* {} more are incomplete; `--format json` lists what is missing",
            incomplete.len() - MAX_MISSING
        ));
    }
    for label in &board.unscored {
        global.note(format_args!(
            "{label} has no trials yet, so it has no score; `reasonscape run` sends the requests"
        ));
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
            "near chance the C intervals are too narrow, here on {}; `--mode {calibrated}` gives calibrated ones",
            join_truncated(&tasks)
        ));
    }
}
