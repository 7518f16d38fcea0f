//! `reasonscape analyze cluster`: sets of models that can't be distinguished.

use reasonscape_analysis::model_sets;
use reasonscape_analysis::tables::model_sets::{display_table, export_table};
use reasonscape_points::Column;

use super::{StudyArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// List the sets of models that can't be distinguished, fewest tokens first
///
/// Models are sorted by ReasonScore; a set is a run of neighbors of which no pair differs in a paired test on the problems
/// that both answered, at 5 % after Holm's correction over all pairs. Sets may overlap. Inside a set, the model with the
/// fewest tokens comes first. For hierarchical clustering of task profiles, see `analyze similarity`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze cluster my-study\n  \
    reasonscape analyze cluster my-study --by base_task\n  \
    reasonscape analyze cluster my-study --by params.length --filter base_task=arithmetic")]
pub(super) struct Cluster {
    #[command(flatten)]
    study_args: StudyArgs,
    /// One list per task (`base_task`), `manifold`, parameter value (`params.NAME`) or facet of the models (`facets.NAME`).
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
}

impl Cluster {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let by: Option<Column> = self.by.as_deref().map(str::parse).transpose()?;
        let (db, query) = self.study_args.open(global).await?;
        let found = model_sets(&db, &query, by.as_ref()).await?;
        print_table(global, || display_table(&found), || export_table(&found), &found)?;
        let pairs = found.groups.iter().map(|group| group.pairs).max().unwrap_or(0);
        global.caption(format_args!(
            "models of a set don't differ at 5 % after Holm's correction over {}; the one with the fewest tokens comes first",
            pluralize(pairs, "pair")
        ));
        Ok(())
    }
}
