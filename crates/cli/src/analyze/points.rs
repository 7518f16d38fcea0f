//! `reasonscape analyze points`: one row per point.

use reasonscape_analysis::points;
use reasonscape_analysis::tables::points::{display_table, export_table};
use reasonscape_stats::Mode;

use super::{EstimateListArgs, note_missing, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// List the points with their counters and accuracy (`query_points()` of PointsDB)
///
/// Unlike other analyses, the default estimator is `C_I`, which ignores truncated trials. `analyze aggregate` pools points.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape analyze points my-study --filter base_task=arithmetic --filter params.length=8..32",
    mut_arg("mode", |mode| mode.help("Estimator, one of `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O` \
    [default: C_I]"))
)]
pub(super) struct Points {
    #[command(flatten)]
    list_args: EstimateListArgs,
}

impl Points {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (estimator, db, query) = self.list_args.open(Mode::C_I, global).await?;
        let rows = points(&db, &query, estimator).await?;
        print_table(global, || display_table(&rows), || export_table(&rows), &rows)?;
        global.caption(format_args!(
            "`correct` is estimated by {}; `params` lists the parameters that vary between the points of a task",
            estimator.mode
        ));
        let empty = rows.iter().filter(|row| row.n == 0).count() as u64;
        let without_any = format!(", {} without any trial", pluralize(empty, "point"));
        note_missing(&db, rows.iter().map(|row| (&row.eval_id, row.missing)), &without_any, global);
        Ok(())
    }
}
