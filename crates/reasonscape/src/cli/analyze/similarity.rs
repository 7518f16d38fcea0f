//! `reasonscape analyze similarity`: which models perform similarly.

use reasonscape_analysis::tables::similarity::{display_table, export_table};
use reasonscape_stats::Mode;
use reasonscape_stats::cluster::Linkage;

use super::plot::Plot;
use super::{Selected, Sure, several, some};
use crate::analysis::{Kinship, cluster_figure, kinship};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Format, print};

/// Group the evaluations by what they get right on each task, so that kin are seen
///
/// Two are as far apart as their accuracies differ on a typical task. The nearest are merged first; beside each distance
/// stands what chance alone would give. Those of one group cannot be told apart.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze similarity my-study --plot similarity.svg\n  \
    reasonscape analyze similarity my-study --shape --linkage ward")]
pub(super) struct Similarity {
    #[command(flatten)]
    selected: Selected,
    #[command(flatten)]
    sure: Sure,
    /// Compare the shape of profiles only: what each is good at, not how good it is.
    #[arg(long)]
    shape: bool,
    /// How the distance of two groups follows from those of their members.
    #[arg(long, value_enum, default_value_t)]
    linkage: Joining,
    #[command(flatten)]
    plot: Plot,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum Joining {
    #[default]
    Average,
    Complete,
    Single,
    Ward,
}

impl From<Joining> for Linkage {
    fn from(joining: Joining) -> Self {
        match joining {
            Joining::Average => Self::Average,
            Joining::Complete => Self::Complete,
            Joining::Single => Self::Single,
            Joining::Ward => Self::Ward,
        }
    }
}

impl Similarity {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        self.plot.check()?;
        let estimator = self.sure.estimator(self.selected.mode.unwrap_or(Mode::C_P))?;
        let (db, asked) = self.selected.open(global).await?;
        let found = kinship(&db, &asked, estimator, self.linkage.into(), self.shape).await?;
        let table = if global.format == Format::Csv { export_table(&found) } else { display_table(&found) };
        print(global.format, &table, &found)?;
        say_beside(&found, global);
        self.plot.draw(global, || cluster_figure(&found))
    }
}

/// What was found, in words.
fn say_beside(found: &Kinship, global: Global) {
    global.caption(format_args!(
        "`distance` is the root mean square difference over {} by {}; twins stay below `by chance` in {} % of cases",
        several(found.tasks.len() as u64, "task"),
        found.mode,
        (found.confidence * 1e6).round() / 1e4
    ));
    for kin in found.members.chunk_by(|a, b| a.group == b.group).filter(|kin| kin.len() > 1) {
        let labels: Vec<String> = kin.iter().map(|member| member.label.clone()).collect();
        global.caption(format_args!("cannot tell apart: {}", some(&labels)));
    }
    if let Some(last) = found.merges.last() {
        let groups = found.members.iter().map(|member| member.group).max().unwrap_or(0);
        if groups > 1 {
            let label = |id: &String| {
                let known = found.members.iter().find(|member| member.eval.eval_id == *id);
                known.map_or_else(|| id.clone(), |member| member.label.clone())
            };
            let side = |ids: &[String]| some(&ids.iter().map(label).collect::<Vec<_>>());
            global.caption(format_args!(
                "the widest gap, {:.3}, is between {} and {}",
                last.height,
                side(&last.a),
                side(&last.b)
            ));
        }
    }
    for out in &found.left_out {
        global.note(format_args!("{} lacks {} and is left out", out.label, some(&out.lacks)));
    }
}
