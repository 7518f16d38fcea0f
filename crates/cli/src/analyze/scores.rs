//! `reasonscape analyze scores`: the leaderboard.

use reasonscape_analysis::tables::scores::{display_table, export_table};
use reasonscape_analysis::{Leaderboard, ScoreRow, StabilityRow, leaderboard};
use reasonscape_stats::{Event, Mode, StatsError};

use super::{EstimatorArgs, StudyArgs, join_truncated};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;
use crate::score::print_stability;

/// Show the leaderboard: ReasonScores with their intervals, and the places that these support
///
/// `=2-4` is a tie: the interval overlaps with others, and the place may be any from 2 to 4. `*` marks an evaluation
/// that lacks something of its suite and is scored on what it has.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze scores my-study --mode K_P --format json")]
pub(super) struct Scores {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    estimator_args: EstimatorArgs,
    /// Show how far the margin moves with the seed of the bootstrap, at 100 to 10,000 draws, instead of the scores.
    #[arg(long)]
    stability: bool,
}

impl Scores {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let board = leaderboard(&db, &query, self.estimator_args.estimator(Mode::C_P)).await?;
        if board.rows.is_empty() {
            return Err(CliError::input(format_args!(
                "no evaluation has a trial yet: {}; `reasonscape run` asks for them",
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

/// Longer lists of what is missing are not read.
const MAX_MISSING: usize = 8;

/// What a reader of the numbers has to know.
fn print_notes(board: &Leaderboard, global: Global) {
    if board.mode != Mode::C_P {
        global.note(format_args!("bounds by {}: comparable only with scores by {0}", board.mode));
    }
    if board.is_literal {
        global.note("bounds by the literal products: comparable only with scores computed so");
    }
    if board.rows.iter().any(ScoreRow::is_tied) {
        global.caption(
            "= is a tie: intervals overlap; `reasonscape analyze compare` looks closer at two of them",
        );
    }
    let incomplete: Vec<(&ScoreRow, String)> =
        board.rows.iter().filter_map(|row| row.describe_missing().map(|lacks| (row, lacks))).collect();
    for (row, lacks) in incomplete.iter().take(MAX_MISSING) {
        global.note(format_args!("* {} lacks {lacks}; it is scored on what it has", row.label));
    }
    if incomplete.len() > MAX_MISSING {
        global
            .note(format_args!("* so do {} more; `--format json` says what", incomplete.len() - MAX_MISSING));
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
            join_truncated(&tasks)
        ));
    }
}
