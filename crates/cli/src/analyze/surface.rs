//! `reasonscape analyze surface`: accuracy over two parameters.

use reasonscape_analysis::tables::surface::{display_table, export_table};
use reasonscape_analysis::{
    AccuracyGrid, AccuracyGridCell, AccuracyGrids, AxisSelection, accuracy_grids, surface_figure,
    surface_finding,
};
use reasonscape_points::Estimator;
use reasonscape_stats::{Event, Mode};

use super::AccuracyPlotArgs;
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show accuracy by two parameters, pooled over the others
///
/// For each evaluation and task: accuracy at each pair of values.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze surface my-study --filter base_task=arithmetic\n  \
    reasonscape analyze surface my-study --x length --y max_depth --plot surface.html")]
pub(super) struct Surface {
    #[command(flatten)]
    plot_args: AccuracyPlotArgs,
    /// Horizontal parameter [default: the one with the most values, per task].
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,
    /// Vertical parameter [default: of the others, the one with the most values, per task].
    #[arg(long, value_name = "PARAMETER")]
    y: Option<String>,
}

impl Surface {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (estimator, db, query) = self.plot_args.open(global).await?;
        let axes_wanted = AxisSelection { x: self.x.as_deref(), y: self.y.as_deref(), is_surface: true };
        let found = accuracy_grids(&db, &query, axes_wanted, estimator).await?;
        print_table(global, || display_table(&found.grids), || export_table(&found.grids), &found.grids)?;
        print_notes(&found, estimator, global);
        print_findings(&found.grids, global);
        self.plot_args
            .plot_args
            .plot
            .draw(global, || surface_figure(&found.grids, estimator.confidence.level()))
    }
}

/// More findings would hide the important ones.
const MAX_FINDINGS: usize = 8;

fn print_findings(views: &[AccuracyGrid], global: Global) {
    let all: Vec<(&AccuracyGrid, &[AccuracyGridCell])> =
        views.iter().flat_map(|view| view.by_eval().into_iter().map(move |cells| (view, cells))).collect();
    let clear: Vec<String> = all.iter().filter_map(|(view, cells)| surface_finding(view, cells)).collect();
    for finding in clear.iter().take(MAX_FINDINGS) {
        global.caption(finding);
    }
    if clear.len() > MAX_FINDINGS {
        global.caption(format_args!(
            "{} more have significant differences; narrow them down with `--filter`",
            clear.len() - MAX_FINDINGS
        ));
    }
    match (all.len() - clear.len(), all.as_slice()) {
        (0, _) => {}
        (1, [(view, cells)]) => {
            let label = cells.first().map_or("", |cell| cell.label.as_str());
            global.caption(format_args!("{label} on {}: no two points differ significantly", view.task));
        }
        (unclear, _) => global.caption(format_args!(
            "for {unclear} of {} evaluations and tasks no two points differ significantly",
            all.len()
        )),
    }
}

/// Prints the notes on the numbers.
pub(super) fn print_notes(found: &AccuracyGrids, estimator: Estimator, global: Global) {
    global.caption(format_args!("`correct` is estimated by {}", estimator.mode));
    let pooled = found.grids.iter().filter(|view| !view.pooled.is_empty());
    let pooled: Vec<String> =
        pooled.map(|view| format!("{} over {}", view.task, view.pooled.join(", "))).collect();
    if !pooled.is_empty() {
        global.caption(format_args!("pooled: {}", pooled.join("; ")));
    }
    let mixed = found.grids.iter().filter(|view| !view.mixed.is_empty()).map(|view| {
        let axes: Vec<&str> = view.axes.iter().map(|axis| axis.parameter.as_str()).collect();
        format!("{} ({} with {})", view.task, view.mixed.join(", "), axes.join(" and "))
    });
    note_confounded(&mixed.collect::<Vec<_>>(), global);
    for (task, reason) in &found.excluded {
        global.note(format_args!("{task} {reason} and is not shown"));
    }
    if found.grids.iter().flat_map(|view| &view.cells).any(|cell| cell.is_near_chance) {
        let calibrated = Mode { event: Event::Calibrated, ..estimator.mode };
        global.note(format_args!(
            "near chance the C intervals are too narrow; `--mode {calibrated}` gives calibrated ones"
        ));
    }
    let empty = found.grids.iter().flat_map(|view| &view.cells).filter(|cell| cell.n == 0).count();
    if empty > 0 {
        global.note(format_args!(
            "{empty} of these have no trials yet; `reasonscape run` sends the missing requests"
        ));
    }
}

/// Notes the parameters that are confounded with the ones shown, by task.
pub(super) fn note_confounded(mixed: &[String], global: Global) {
    if !mixed.is_empty() {
        global.note(format_args!(
            "confounded with other parameters, which may cause the effect: {}; hold them fixed with `--filter`",
            mixed.join("; ")
        ));
    }
}
