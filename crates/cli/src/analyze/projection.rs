//! `reasonscape analyze projection`: accuracy along one parameter.

use reasonscape_analysis::tables::surface::{display_table, export_table};
use reasonscape_analysis::{AxisSelection, accuracy_grids, projection_figure, projection_finding};

use super::AccuracyPlotArgs;
use super::surface::print_notes;
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show accuracy by one parameter, pooled over the others
///
/// For each evaluation and task: accuracy at each value of the parameter.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze projection my-study --filter base_task=sort\n  \
    reasonscape analyze projection my-study --x length --plot length.svg")]
pub(super) struct Projection {
    #[command(flatten)]
    plot_args: AccuracyPlotArgs,
    /// Parameter [default: the one with the most values, per task].
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,
}

impl Projection {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (estimator, db, query) = self.plot_args.open(global).await?;
        let axes_wanted = AxisSelection { x: self.x.as_deref(), y: None, is_surface: false };
        let found = accuracy_grids(&db, &query, axes_wanted, estimator).await?;
        print_table(global, || display_table(&found.grids), || export_table(&found.grids), &found.grids)?;
        print_notes(&found, estimator, global);
        for view in &found.grids {
            if let Some(finding) = projection_finding(view) {
                global.caption(finding);
            }
        }
        self.plot_args
            .plot_args
            .plot
            .draw(global, || projection_figure(&found.grids, estimator.confidence.level()))
    }
}
