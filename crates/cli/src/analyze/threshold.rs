//! `reasonscape analyze threshold`: the difficulty at which accuracy drops to half.

use reasonscape_analysis::tables::threshold::{display_table, export_table};
use reasonscape_analysis::{threshold_figure, thresholds};

use super::AccuracyPlotArgs;
use super::surface::note_confounded;
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Find the parameter value at which accuracy, corrected for guessing, drops to half
///
/// Fits a logistic curve for each evaluation and task by maximum likelihood, with a profile likelihood confidence interval.
/// `--mode` sets what counts as a success, and how truncated trials count (by default, as incorrect).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze threshold my-study\n  \
    reasonscape analyze threshold my-study --x length --mode C_I --plot threshold.svg")]
pub(super) struct Threshold {
    #[command(flatten)]
    plot_args: AccuracyPlotArgs,
    /// Numeric parameter [default: the one with the most values, per task].
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,
}

impl Threshold {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (estimator, db, query) = self.plot_args.open(global).await?;
        let found = thresholds(&db, &query, self.x.as_deref(), estimator).await?;
        let rows = &found.rows;
        print_table(global, || display_table(rows), || export_table(rows), rows)?;
        global.caption("`half known` is the value at which the model knows half of the answers; a small `misfit p` means a poor fit");
        for row in rows.iter().filter(|row| !row.crosses_and_fits()).take(MAX_FINDINGS) {
            global.caption(format_args!("{} on {}: {}", row.label, row.task, row.finding));
        }
        let more = rows.iter().filter(|row| !row.crosses_and_fits()).count().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            global
                .caption(format_args!("{more} more have no clear threshold; `--format json` explains each"));
        }
        let mixed = rows.chunk_by(|a, b| a.task == b.task).map(|rows| &rows[0]);
        let mixed = mixed.filter(|row| !row.mixed.is_empty());
        let mixed =
            mixed.map(|row| format!("{} ({} with {})", row.task, row.mixed.join(", "), row.parameter));
        note_confounded(&mixed.collect::<Vec<_>>(), global);
        for (task, reason) in &found.excluded {
            global.note(format_args!("{task} {reason} and is not shown"));
        }
        self.plot_args.plot_args.plot.draw(global, || threshold_figure(rows, estimator.confidence.level()))
    }
}

/// More findings would hide the important ones.
const MAX_FINDINGS: usize = 8;
