//! `reasonscape analyze aggregate`: points pooled by any columns.

use reasonscape_analysis::tables::aggregate::{display_table, export_table};
use reasonscape_analysis::{aggregate, parse_group_by};
use reasonscape_points::Estimator;
use reasonscape_stats::Mode;

use super::{ConfidenceArgs, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::estimate::Modes;
use crate::output::print_table;

/// Pool points by any columns and estimate their accuracy: `aggregate()` of PointsDB
///
/// Points with the same values of the columns are pooled by adding their counters. `analyze points` has one row per
/// point instead.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape analyze aggregate my-study --by model,base_task,params.length\n  \
    reasonscape analyze aggregate my-study --by facets.size --mode C_P,E_P"
)]
pub(super) struct Aggregate {
    #[command(flatten)]
    study_args: StudyArgs,
    /// Columns to group by: `eval_id`, `model`, `template`, `sampler`, `base_task`, `params`, `manifold`, `params.NAME`,
    /// `facets.NAME`.
    #[arg(long, value_name = "COLUMNS", default_value = "model,base_task")]
    by: Vec<String>,
    /// Estimators: one or several of `E_I` `E_P` `E_O` `C_I` `C_P` `C_O` `K_I` `K_P` `K_O` with commas between them, or
    /// `all`.
    #[arg(long, default_value = "C_P")]
    mode: Modes,
    /// Compute the products of the C and K estimators everywhere, to reproduce published ReasonScape figures.
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
        let modes = &self.mode.0;
        let estimator = Estimator { confidence, is_literal: self.literal, ..Estimator::from(Mode::C_P) };
        let rows = aggregate(&db, &query, &group_by, modes, estimator).await?;
        print_table(
            global.format,
            || display_table(&rows, &group_by, modes),
            || export_table(&rows, &group_by, modes),
            &rows,
        )
    }
}
