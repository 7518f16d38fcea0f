//! `reasonscape analyze projection`: accuracy along one parameter.

use super::surface::{for_people, for_programs, say_beside};
use super::{Pictured, some};
use crate::analysis::{Along, View, projection_figure, views};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Format, print};

/// Show accuracy along one parameter, everything else pooled
///
/// For each evaluation and task: the share of correct answers at each value of the parameter. The estimator is `C_P`
/// unless told otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze projection my-study --filter base_task=sort\n  \
    reasonscape analyze projection my-study --x length --plot length.svg")]
pub(super) struct Projection {
    #[command(flatten)]
    pictured: Pictured,
    /// Parameter along which to look; of each task the one that varies most unless given.
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,
}

impl Projection {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (estimator, db, asked) = self.pictured.open(global).await?;
        let along = Along { x: self.x.as_deref(), y: None, is_surface: false };
        let found = views(&db, &asked, along, estimator).await?;
        let table =
            if global.format == Format::Csv { for_programs(&found.views) } else { for_people(&found.views) };
        print(global.format, &table, &found.views)?;
        say_beside(&found, estimator, global);
        for view in &found.views {
            if let Some(finding) = finding(view) {
                global.caption(finding);
            }
        }
        self.pictured.plot.draw(global, || projection_figure(&found.views, estimator.confidence.level()))
    }
}

/// Where an evaluation stands at the last value as against the first.
fn finding(view: &View) -> Option<String> {
    let last = view.axes[0].values.len().checked_sub(1).filter(|last| *last > 0)?;
    let [mut lower, mut higher, mut unclear] = [Vec::new(), Vec::new(), Vec::new()];
    for cells in view.by_eval() {
        let at = |place: usize| cells.iter().find(|cell| cell.places[0] == place && cell.n > 0);
        let (Some(start), Some(end)) = (at(0), at(last)) else { continue };
        let list = if start.estimate.low > end.estimate.high {
            &mut lower
        } else if start.estimate.high < end.estimate.low {
            &mut higher
        } else {
            &mut unclear
        };
        list.push(start.label.clone());
    }
    let parts: Vec<String> =
        [("falls for", lower), ("rises for", higher), ("shows no clear change for", unclear)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| format!("{word} {}", some(&names)))
            .collect();
    let ends = [view.place(&[0]), view.place(&[last])];
    (!parts.is_empty())
        .then(|| format!("on {}, from {} to {}, accuracy {}", view.task, ends[0], ends[1], parts.join("; ")))
}
