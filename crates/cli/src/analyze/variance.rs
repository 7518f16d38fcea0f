//! `reasonscape analyze variance`: variance between problems and between samples.

use reasonscape_analysis::tables::variance::{display_pass_table, display_table, export_table};
use reasonscape_analysis::{VarianceOptions, VarianceRow, variance};

use super::{ConfidenceArgs, GroupByArg, StudyArgs};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show whether more problems or more samples would narrow intervals, and pass@k
///
/// Splits the variance of accuracy into that between problems of a point and that between samples of one problem. Needs a
/// study with several samples per problem (`repeats` in study.toml).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze variance my-study\n  \
    reasonscape analyze variance my-study --by eval --pass")]
pub(super) struct Variance {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    confidence_args: ConfidenceArgs,
    /// One row per evaluation, or per evaluation and task.
    #[arg(long, value_enum, default_value_t)]
    by: GroupByArg,
    /// Show pass@k, pass^k and the majority vote (maj@k) instead.
    #[arg(long)]
    pass: bool,
}

impl Variance {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let confidence = self.confidence_args.confidence()?;
        let (db, query) = self.study_args.open(global).await?;
        let rows = variance(&db, &query, VarianceOptions { by: self.by.into(), confidence }).await?;
        let display = || if self.pass { display_pass_table(&rows) } else { display_table(&rows) };
        print_table(global, display, || export_table(&rows), &rows)?;
        print_notes(&rows, global);
        Ok(())
    }
}

fn print_notes(rows: &[VarianceRow], global: Global) {
    const MAX_LISTED: usize = 6;
    if rows.is_empty() {
        global.note("no scored trials yet; `reasonscape run` sends the requests and scores the responses");
        return;
    }
    if rows.iter().all(|row| row.samples <= 1) {
        global
            .note("one sample per problem: set `repeats` in study.toml to sample each problem several times");
        return;
    }
    for row in rows.iter().take(MAX_LISTED) {
        global.caption(format_args!("{}: {}", row.group.title(), row.finding));
    }
    if rows.len() > MAX_LISTED {
        global.caption(format_args!(
            "{} more rows; `--format json` has the findings of all",
            rows.len() - MAX_LISTED
        ));
    }
}
