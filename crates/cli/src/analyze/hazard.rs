//! `reasonscape analyze hazard`: when models answer, and whether thinking longer helps.

use reasonscape_analysis::tables::hazard::{
    display_bins_table, display_table, export_bins_table, export_table,
};
use reasonscape_analysis::{HazardOptions, HazardRow, hazard, hazard_figure};

use super::{TrialArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show how long models think before they answer, and where thinking longer stops helping
///
/// A trial that was cut off would have answered later: it counts as thinking for as long as it was watched. Tokens are
/// those of the completion, reasoning included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze hazard my-study\n  \
    reasonscape analyze hazard my-study --filter model=small-model --filter base_task=sort --bins \
    --plot hazard.svg")]
pub(super) struct Hazard {
    #[command(flatten)]
    trials: TrialArgs,
    /// Show a row for each bin of tokens.
    #[arg(long)]
    bins: bool,
    /// Tokens of a bin; without it, each bin is twice as wide as the one before.
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
            print_table(global.format, || display_bins_table(&rows), || export_bins_table(&rows), &rows)?;
        } else {
            print_table(global.format, || display_table(&rows), || export_table(&rows), &rows)?;
        }
        plot_args.plot.draw(global, || hazard_figure(&rows, confidence))?;
        print_notes(&rows, global);
        Ok(())
    }
}

fn print_notes(rows: &[HazardRow], global: Global) {
    const MAX_LISTED: usize = 6;
    if rows.is_empty() {
        global.note("nothing was answered yet; `reasonscape run` asks, `reasonscape evaluate` counts");
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
            "in {turns} of {} rows answers beyond some number of tokens are right clearly less often, in {} they are \
             not clearly worse, and {unknown} cannot be told",
            rows.len(),
            rows.len() - turns - unknown
        ));
    }
    if rows.iter().any(|row| row.stops_helping.is_some()) {
        global.caption(
            "late answers may be worse because hard tests take longer; `--filter params.NAME=` compares like with like",
        );
    }
    let without: u64 = rows.iter().map(|row| row.without_tokens).sum();
    if without > 0 {
        global.note(format_args!("{} without a count of tokens left out", pluralize(without, "trial")));
    }
}
