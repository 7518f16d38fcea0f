//! `reasonscape analyze modes`: the nine estimators side by side.

use reasonscape_analysis::tables::modes::{display_table, export_table};
use reasonscape_analysis::{GroupBy, UNEQUAL_SAMPLING, modes};

use super::{ModeArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show the nine estimators side by side
///
/// Columns: truncated trials are ignored (I), count as incorrect (P), or as correct (O). Rows: every correct answer counts
/// (E), scores are corrected for guessing (C), or the same with intervals calibrated near chance (K). Scores are ReasonScores
/// v2, `center ± margin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze modes my-study\n  \
    reasonscape analyze modes my-study --by task --filter model=small-model",
    mut_arg("mode", |mode| mode.help("Only this estimator, one of `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O` \
    [default: all nine]")))]
pub(super) struct Modes {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// ReasonScore v2 per evaluation, or accuracy per evaluation and task.
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
        let selected_modes = self.mode_args.matching_modes();
        let rows = modes(&db, &query, &selected_modes).await?;
        let by = GroupBy::from(self.by);
        print_table(
            global,
            || display_table(&rows, &selected_modes, by),
            || export_table(&rows, &selected_modes, by),
            &rows,
        )?;
        if matches!(by, GroupBy::Eval) && rows.iter().any(|row| row.unequal_sampling) {
            global.note(UNEQUAL_SAMPLING);
        }
        for row in rows.iter().filter(|row| !row.complete) {
            global.note(format_args!(
                "* {} has no trials of some tasks and is scored on the others",
                row.label
            ));
        }
        Ok(())
    }
}
