//! `reasonscape analyze aggregate`: accuracy of points pooled by any columns.

use reasonscape_analysis::tables::aggregate::{display_table, export_table};
use reasonscape_analysis::{aggregate, parse_group_by};
use reasonscape_points::Estimator;
use reasonscape_stats::Mode;

use super::{ConfidenceArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::mode::ModesArgs;
use crate::output::print_table;

/// Pool points by any columns and estimate accuracy (`aggregate()` of PointsDB)
///
/// The counters of points with the same values in the columns are added. `analyze points` prints one row per point.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape analyze aggregate my-study --by model,base_task,params.length\n  \
    reasonscape analyze aggregate my-study --by facets.size --mode C_P,E_P"
)]
pub(super) struct Aggregate {
    #[command(flatten)]
    study_args: StudyArgs,
    /// Columns to group by, comma-separated: `eval_id`, `model`, `template`, `sampler`, `base_task`, `params`, `manifold`, `params.NAME`,
    /// `facets.NAME`.
    #[arg(long, value_name = "COLUMNS", default_value = "model,base_task")]
    by: Vec<String>,
    #[command(flatten)]
    modes_args: ModesArgs,
    /// Always compute the full products of the C and K estimators, to reproduce published ReasonScape numbers.
    #[arg(long)]
    literal: bool,
    #[command(flatten)]
    confidence_args: ConfidenceArgs,
}

impl Aggregate {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let group_by = parse_group_by(&self.by)?;
        let confidence = self.confidence_args.confidence()?;
        let (db, query) = self.study_args.open(global).await?;
        let modes = &self.modes_args.modes(Mode::C_P);
        let estimator = Estimator { confidence, is_literal: self.literal, ..Estimator::from(Mode::C_P) };
        let rows = aggregate(&db, &query, &group_by, modes, estimator).await?;
        print_table(
            global,
            || display_table(&rows, &group_by, modes),
            || export_table(&rows, &group_by, modes),
            &rows,
        )
    }
}
