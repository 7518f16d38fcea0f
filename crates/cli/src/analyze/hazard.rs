//! `reasonscape analyze hazard`: survival analysis of the time to answer, in tokens.

use reasonscape_analysis::tables::hazard::{
    display_bins_table, display_table, export_bins_table, export_table,
};
use reasonscape_analysis::{HazardOptions, HazardRow, hazard, hazard_figure};

use super::{TrialArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show how many tokens models use before they answer, and where more tokens stop helping
///
/// A survival analysis: truncated trials are censored at their last token. Tokens are completion tokens, including
/// reasoning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze hazard my-study\n  \
    reasonscape analyze hazard my-study --filter model=small-model --filter base_task=sort --bins \
    --plot hazard.svg")]
pub(super) struct Hazard {
    #[command(flatten)]
    trials: TrialArgs,
    /// Show one row per token bin.
    #[arg(long)]
    bins: bool,
    /// Width of a bin in tokens [default: each bin is twice as wide as the one before].
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    width: Option<u64>,
}

impl Hazard {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let TrialArgs { plot_args, by } = self.trials;
        let (confidence, db, query) = plot_args.open(global).await?;
        let options = HazardOptions { by: by.into(), width: self.width, confidence };
        let rows = hazard(&db, &query, options).await?;
        if self.bins {
            print_table(global, || display_bins_table(&rows), || export_bins_table(&rows), &rows)?;
        } else {
            print_table(global, || display_table(&rows), || export_table(&rows), &rows)?;
        }
        plot_args.plot.draw(global, || hazard_figure(&rows, confidence))?;
        print_notes(&rows, global);
        Ok(())
    }
}

fn print_notes(rows: &[HazardRow], global: Global) {
    const MAX_LISTED: usize = 6;
    if rows.is_empty() {
        global.note("no scored trials yet; `reasonscape run` sends the requests and scores the responses");
        return;
    }
    if rows.len() <= MAX_LISTED {
        for row in rows {
            global.caption(format_args!("{}: {}", row.group.title(), row.finding));
        }
    } else {
        let turns = rows.iter().filter(|row| row.stops_helping.is_some()).count();
        let unknown = rows.iter().filter(|row| row.finding.starts_with("cannot tell")).count();
        global.caption(format_args!(
            "in {turns} of {} rows answers beyond some number of tokens are significantly less accurate, in {} they are \
             not, and for {unknown} the data cannot tell",
            rows.len(),
            rows.len() - turns - unknown
        ));
    }
    if rows.iter().any(|row| row.stops_helping.is_some()) {
        global.caption(
            "late answers may be worse because harder problems take longer; `--filter params.NAME=` compares equal difficulty",
        );
    }
    let without: u64 = rows.iter().map(|row| row.without_tokens).sum();
    if without > 0 {
        global.note(format_args!("{} without a token count excluded", pluralize(without, "trial")));
    }
}
