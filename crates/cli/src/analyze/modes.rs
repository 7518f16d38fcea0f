//! `reasonscape analyze modes`: the nine estimators side by side.

use reasonscape_analysis::tables::modes::{display_table, export_table};
use reasonscape_analysis::{GroupBy, modes};
use reasonscape_stats::Mode;

use super::{ModeArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show the nine estimators side by side
///
/// Across: truncated trials ignored (I), failed (P), passed (O). Down: every right answer counts (E), lucky guesses are
/// taken out (C), the same with bounds that hold near chance (K).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze modes my-study\n  \
    reasonscape analyze modes my-study --by task --filter model=small-model")]
pub(super) struct Modes {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// A ReasonScore for each evaluation, or a share for each of its tasks.
    #[arg(long, value_enum, default_value_t)]
    by: ModesBy,
}

// Unlike the other analyses, the default is by evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum ModesBy {
    #[default]
    Eval,
    Task,
}

impl From<ModesBy> for GroupBy {
    fn from(by: ModesBy) -> Self {
        match by {
            ModesBy::Eval => Self::Eval,
            ModesBy::Task => Self::Task,
        }
    }
}

impl Modes {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let selected_modes = self.mode_args.mode.map_or(Mode::ALL.to_vec(), |mode| vec![mode]);
        let rows = modes(&db, &query, &selected_modes).await?;
        let by = GroupBy::from(self.by);
        print_table(
            global.format,
            || display_table(&rows, &selected_modes, by),
            || export_table(&rows, &selected_modes, by),
            &rows,
        )?;
        for row in rows.iter().filter(|row| !row.complete) {
            global.note(format_args!("* {} lacks a task and is scored on what it has", row.label));
        }
        Ok(())
    }
}
