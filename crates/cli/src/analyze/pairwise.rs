//! `reasonscape analyze pairwise`: everybody against everybody.

use reasonscape_analysis::tables::pairwise::{display_table, export_table};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::StudyArgs;
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
    /// How the probability is found: by quadrature, or by 10,000 draws a side as Python would draw them.
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// Seed of the draws.
    #[arg(long, value_name = "SEED", default_value_t = 42, allow_hyphen_values = true)]
    seed: i64,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum MethodArg {
    #[default]
    Exact,
    MonteCarlo,
}

/// Draws a side, as the method's document has it.
const DRAWS: usize = 10_000;

impl Pairwise {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let method = match self.method {
            MethodArg::Exact => Method::Exact,
            MethodArg::MonteCarlo => Method::MonteCarlo { draws: DRAWS, seed: self.seed },
        };
        let mode = self.study_args.mode.unwrap_or(Mode::C_P);
        let found = reasonscape_analysis::pairwise(&db, &query, mode, method).await?;
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
