//! `reasonscape analyze tasks`: accuracy per task over all evaluations.

use reasonscape_analysis::tables::tasks::{display_table, export_table};
use reasonscape_analysis::tasks;
use reasonscape_stats::Mode;

use super::{EstimateListArgs, join_truncated};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// List the tasks, with trial counts, accuracy and missing evaluations
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze tasks my-study --filter model=small-model")]
pub(super) struct Tasks {
    #[command(flatten)]
    list_args: EstimateListArgs,
}

impl Tasks {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (estimator, db, query) = self.list_args.open(Mode::C_P, global).await?;
        let rows = tasks(&db, &query, estimator).await?;
        print_table(global, || display_table(&rows), || export_table(&rows), &rows)?;
        global.caption(format_args!(
            "`correct` is estimated by {}, pooled over all evaluations: how hard the task is for these models",
            estimator.mode
        ));
        for row in rows.iter().filter(|row| !row.missing_evals.is_empty()) {
            global.note(format_args!("{} has no trials of {}", row.task, join_truncated(&row.missing_evals)));
        }
        Ok(())
    }
}
