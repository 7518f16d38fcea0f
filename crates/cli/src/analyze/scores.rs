//! `reasonscape analyze scores`: the leaderboard.

use std::path::Path;

use reasonscape_analysis::tables::scores::{
    display_accuracy_table, display_summary_table, display_table, export_table,
};
use reasonscape_analysis::{
    Leaderboard, PointQuery, ScoreRow, StabilityRow, Ties, UNEQUAL_SAMPLING, leaderboard,
};
use reasonscape_points::PointsDb;
use reasonscape_stats::{Event, Mode, StatsError};

use super::{EstimatorArgs, StudyArgs, join_truncated};
use crate::Global;
use crate::board::{BoardArgs, note_implied_bootstrap};
use crate::error::CliError;
use crate::output::{Format, print_rendered, print_table, terminal_width};
use crate::score::print_stability;

/// Show the leaderboard: ReasonScores with 95 % confidence intervals, ranks and ties
///
/// Rank `=2-4` is a tie: tests on the problems that models share leave any rank from 2 to 4 possible. `*` marks an evaluation
/// with missing trials, which is scored on the rest. The column v2 is the published ReasonScore v2 with its margin; `†`
/// marks it where points were sampled unequally.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze scores my-study --method bootstrap --ties v2\n  \
    reasonscape analyze scores my-study --mode K_P --format json")]
pub(super) struct Scores {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    estimator_args: EstimatorArgs,
    #[command(flatten)]
    board_args: BoardArgs,
    /// Instead of the scores, show how much the margin depends on the bootstrap seed, at 100 to 10,000 draws.
    #[arg(long)]
    stability: bool,
}

impl Scores {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let options = self.board_args.options(self.estimator_args.estimator(Mode::C_P));
        let board = leaderboard(&db, &query, options).await?;
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
        print_board(&board, global)?;
        note_implied_bootstrap(&options, global);
        print_notes(&board, global);
        note_near_chance(&board, global);
        Ok(())
    }
}

/// Prints the leaderboard; where it doesn't fit with a column for each task, the tasks follow as a table of their own.
fn print_board(board: &Leaderboard, global: Global) -> Result<(), CliError> {
    let fits = || display_table(board).fits(usize::from(terminal_width()));
    if global.format != Format::Table || board.tasks.is_empty() || fits() {
        return print_table(global, || display_table(board), || export_table(board), &board.rows);
    }
    print_rendered(global, &display_summary_table(board))?;
    // As many evaluations side by side as fit.
    let mut rows = &board.rows[..board.rows.len().min(MAX_BY_TASK)];
    while !rows.is_empty() {
        let table = display_accuracy_table(&board.tasks, rows);
        let fitting = table.columns_that_fit(usize::from(terminal_width())).saturating_sub(1).max(1);
        let (shown, rest) = rows.split_at(fitting.min(rows.len()));
        print_rendered(global, &display_accuracy_table(&board.tasks, shown))?;
        rows = rest;
    }
    if board.rows.len() > MAX_BY_TASK {
        global.caption(format_args!(
            "{} more evaluations have their tasks in `--format csv`",
            board.rows.len() - MAX_BY_TASK
        ));
    }
    let what = match board.mode.event {
        Event::Correctness => "accuracy corrected for guessing, with its interval",
        Event::Equality => "raw accuracy, with its interval",
        Event::Calibrated => "accuracy corrected for guessing, with its calibrated interval",
    };
    global.caption(format_args!("by task: {what}, estimated by {}", board.mode));
    Ok(())
}

/// Prints the leaderboard of a study without its tasks.
pub(crate) async fn print_summary(folder: &Path, global: Global) -> Result<(), CliError> {
    let (db, query) = (PointsDb::open(folder).await?.storing_derived(), PointQuery::parse(&[])?);
    let board = leaderboard(&db, &query, Mode::C_P.into()).await?;
    if !board.rows.is_empty() {
        print_rendered(global, &display_summary_table(&board))?;
        print_notes(&board, global);
    }
    Ok(())
}

/// Evaluations whose tasks are shown.
const MAX_BY_TASK: usize = 12;

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
        global.caption(match board.ties {
            Ties::Paired => {
                "= is a tie: tests on shared problems don't tell these models apart; `reasonscape analyze cluster` lists the \
                 sets of such models"
            }
            Ties::V2 => {
                "= is a tie: intervals (v2) overlap; `reasonscape analyze compare` is a more sensitive test of two models"
            }
        });
    }
    for note in &board.notes {
        global.note(note);
    }
    if board.rows.iter().any(|row| row.unequal_sampling) {
        global.note(UNEQUAL_SAMPLING);
    }
    let from_counters: Vec<String> =
        board.rows.iter().filter(|row| row.from_counters).map(|row| row.label.clone()).collect();
    if !from_counters.is_empty() {
        global.note(format_args!(
            "‡ the trials of {} are not in the study: points enter the score by their counters",
            join_truncated(&from_counters)
        ));
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
}

/// Notes the tasks whose intervals are too narrow.
fn note_near_chance(board: &Leaderboard, global: Global) {
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
            "near chance the intervals of guess-corrected accuracies (C) are too narrow, here on {}; `--mode {calibrated}` gives \
             calibrated ones; the ReasonScore is not affected",
            join_truncated(&tasks)
        ));
    }
}
