//! `reasonscape analyze pairwise`: everybody against everybody.

use reasonscape_analysis::tables::pairwise::{display_table, export_table, task_table};
use reasonscape_analysis::{MONTE_CARLO_DRAWS, RatingOrder};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::{ModeArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Compare all evaluations head to head: win rates, expected wins, Bradley-Terry ratings
///
/// A win rate is the probability that one is better than the other on a task, averaged over the tasks that both have.
/// The interval of a rating says how far it would move with other tasks of the kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze pairwise my-study\n  \
    reasonscape analyze pairwise my-study --method monte-carlo --seed 7")]
pub(super) struct Pairwise {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// How the probability is found: by quadrature, or by 10,000 draws a side as Python would draw them.
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// Seed of the draws of `--method monte-carlo` (default: 42).
    #[arg(long, value_name = "SEED", allow_hyphen_values = true)]
    seed: Option<i64>,
    /// Show the probability that A is better than B on each task, a row per pair.
    #[arg(long)]
    per_task: bool,
    /// Sort by Bradley-Terry rating or by expected wins.
    #[arg(long, value_enum, default_value_t)]
    sort: SortArg,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum SortArg {
    #[default]
    Elo,
    ExpectedWins,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum MethodArg {
    #[default]
    Exact,
    MonteCarlo,
}

impl Pairwise {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let method = match (self.method, self.seed) {
            (MethodArg::Exact, Some(_)) => {
                return Err(CliError::input(
                    "`--seed` has no effect on the exact method; add `--method monte-carlo` or leave it out",
                ));
            }
            (MethodArg::Exact, None) => Method::Exact,
            (MethodArg::MonteCarlo, seed) => {
                Method::MonteCarlo { draws: MONTE_CARLO_DRAWS, seed: seed.unwrap_or(42) }
            }
        };
        let (db, query) = self.study_args.open(global).await?;
        let mode = self.mode_args.mode.unwrap_or(Mode::C_P);
        let order = match self.sort {
            SortArg::Elo => RatingOrder::Elo,
            SortArg::ExpectedWins => RatingOrder::ExpectedWins,
        };
        let found = reasonscape_analysis::pairwise(&db, &query, mode, method).await?.sorted(order);
        if self.per_task {
            print_table(global.format, || task_table(&found), || task_table(&found), &found)?;
            global.caption("the probability that A is better than B on a task, and its mean over tasks");
            return Ok(());
        }
        print_table(global.format, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        Ok(())
    }
}

fn print_notes(found: &reasonscape_analysis::Pairwise, global: Global) {
    global.caption("`vs 2` is the mean probability of being better than number 2 on a task");
    for remark in found.remarks() {
        global.note(remark);
    }
}
