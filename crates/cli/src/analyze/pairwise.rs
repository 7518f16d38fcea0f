//! `reasonscape analyze pairwise`: win rates of all pairs of evaluations.

use reasonscape_analysis::tables::pairwise::{display_table, export_table, task_table};
use reasonscape_analysis::{MONTE_CARLO_DRAWS, RatingOrder};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::{ModeArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Compare all pairs of evaluations: win rates, expected wins, Bradley-Terry ratings
///
/// A win rate is the probability of being better than the other on a task, averaged over the tasks that both have.
/// The confidence interval of a rating shows how much it would vary with other tasks of the same kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze pairwise my-study\n  \
    reasonscape analyze pairwise my-study --method monte-carlo --seed 7")]
pub(super) struct Pairwise {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// How to compute the probabilities: by quadrature, or from 10,000 draws per side with Python's generator.
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// Random seed of `--method monte-carlo` [default: 42].
    #[arg(long, value_name = "SEED", allow_hyphen_values = true)]
    seed: Option<i64>,
    /// Show the probability that A is better than B on each task, one row per pair.
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
                    "`--seed` has no effect on the exact method; add `--method monte-carlo` or remove it",
                ));
            }
            (MethodArg::Exact, None) => Method::Exact,
            (MethodArg::MonteCarlo, seed) => {
                Method::MonteCarlo { draws: MONTE_CARLO_DRAWS, seed: seed.unwrap_or(42) }
            }
        };
        let (db, query) = self.study_args.open(global).await?;
        let mode = self.mode_args.mode(Mode::C_P);
        let order = match self.sort {
            SortArg::Elo => RatingOrder::Elo,
            SortArg::ExpectedWins => RatingOrder::ExpectedWins,
        };
        let found = reasonscape_analysis::pairwise(&db, &query, mode, method).await?.sorted(order);
        if self.per_task {
            print_table(global, || task_table(&found), || task_table(&found), &found)?;
            global.caption("probability that A is better than B on each task, and the mean over tasks");
            return Ok(());
        }
        print_table(global, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        Ok(())
    }
}

fn print_notes(found: &reasonscape_analysis::Pairwise, global: Global) {
    global.caption("`vs 2` is the win rate against number 2: the probability of being better on a task, averaged over tasks");
    for remark in found.remarks() {
        global.note(remark);
    }
}
