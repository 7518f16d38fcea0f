//! `reasonscape analyze similarity`: which models perform similarly.

use reasonscape_analysis::tables::similarity::{display_table, export_table};
use reasonscape_analysis::{ModelClusters, cluster_models, similarity_figure};
use reasonscape_stats::cluster::Linkage;

use super::plot::Plot;
use super::{ConfidenceArgs, ModeArgs, StudyArgs, estimator, join_truncated, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Cluster the evaluations by their accuracy per task, to find similar models
///
/// The distance of two evaluations is the root mean square difference of their accuracies over tasks. The closest are
/// merged first. Each distance is shown with the upper bound for equally able models (`by chance`); evaluations within a
/// group do not differ significantly.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze similarity my-study --plot similarity.svg\n  \
    reasonscape analyze similarity my-study --shape --linkage ward")]
pub(super) struct Similarity {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    #[command(flatten)]
    confidence_args: ConfidenceArgs,
    /// Only compare the shape of the profiles: strengths and weaknesses, not overall accuracy.
    #[arg(long)]
    shape: bool,
    /// How to compute the distance between groups from that of their members.
    #[arg(long, value_enum, default_value_t)]
    linkage: LinkageArg,
    #[command(flatten)]
    plot: Plot,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum LinkageArg {
    #[default]
    Average,
    Complete,
    Single,
    Ward,
}

impl From<LinkageArg> for Linkage {
    fn from(linkage: LinkageArg) -> Self {
        match linkage {
            LinkageArg::Average => Self::Average,
            LinkageArg::Complete => Self::Complete,
            LinkageArg::Single => Self::Single,
            LinkageArg::Ward => Self::Ward,
        }
    }
}

impl Similarity {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        self.plot.check()?;
        let estimator = estimator(self.mode_args, self.confidence_args.confidence()?);
        let (db, query) = self.study_args.open(global).await?;
        let found = cluster_models(&db, &query, estimator, self.linkage.into(), self.shape).await?;
        print_table(global, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        self.plot.draw(global, || similarity_figure(&found))
    }
}

/// Prints the findings.
fn print_notes(found: &ModelClusters, global: Global) {
    global.caption(format_args!(
        "`distance` is the root mean square difference over {}, estimated by {}; equally able models stay below `by chance` \
         in {} % of cases",
        pluralize(found.tasks.len() as u64, "task"),
        found.mode,
        (found.confidence * 1e6).round() / 1e4
    ));
    for group in found.members.chunk_by(|a, b| a.group == b.group).filter(|group| group.len() > 1) {
        let labels: Vec<String> = group.iter().map(|member| member.label.clone()).collect();
        global.caption(format_args!("no significant difference: {}", join_truncated(&labels)));
    }
    if let Some(last) = found.merges.last() {
        let groups = found.members.iter().map(|member| member.group).max().unwrap_or(0);
        if groups > 1 {
            let label = |id: &String| {
                let known = found.members.iter().find(|member| member.eval.eval_id == *id);
                known.map_or_else(|| id.clone(), |member| member.label.clone())
            };
            let side = |ids: &[String]| join_truncated(&ids.iter().map(label).collect::<Vec<_>>());
            global.caption(format_args!(
                "the widest gap, {:.3}, is between {} and {}",
                last.height,
                side(&last.a),
                side(&last.b)
            ));
        }
    }
    for out in &found.left_out {
        global.note(format_args!(
            "{} has no trials of {} and is excluded",
            out.label,
            join_truncated(&out.lacks)
        ));
    }
}
