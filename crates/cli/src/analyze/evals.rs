//! `reasonscape analyze evals`: the evaluations and their missing trials.

use reasonscape_analysis::evals;
use reasonscape_analysis::tables::evals::{display_table, export_table};
use reasonscape_stats::Mode;

use super::{EstimatorArgs, StudyArgs, note_missing};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// List the evaluations, with trial counts, accuracy and missing trials
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze evals my-study --filter groups=arch:moe")]
pub(super) struct Evals {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    estimator_args: EstimatorArgs,
}

impl Evals {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let estimator = self.estimator_args.estimator(Mode::C_P);
        let rows = evals(&db, &query, estimator).await?;
        print_table(global, || display_table(&rows), || export_table(&rows), &rows)?;
        global.caption(format_args!("`correct` is estimated by {}, pooled over all tasks", estimator.mode));
        for row in rows.iter().filter(|row| !row.missing_tasks.is_empty()) {
            global.note(format_args!("{} has no trials of {}", row.eval.name, row.missing_tasks.join(", ")));
        }
        note_missing(&db, rows.iter().map(|row| (&row.eval.eval_id, row.missing)), "", global);
        Ok(())
    }
}
