//! `reasonscape analyze tokens`: what tokens buy.

use reasonscape_analysis::tables::tokens::{
    display_budgets_table, display_table, export_budgets_table, export_table,
};
use reasonscape_analysis::{TokensOptions, TokensRow, tokens, tokens_figure};

use super::{ModeArgs, TrialArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show what tokens buy: accuracy and cost, had the limit been smaller
///
/// A smaller limit cuts off every trial that used more and leaves the others as they are, so that this is counted, not
/// modelled. Tokens are those of the completion, reasoning included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze tokens my-study\n  \
    reasonscape analyze tokens my-study --by eval --curve --plot tokens.html\n  \
    reasonscape analyze tokens my-study --budget 1024 --budget 2048")]
pub(super) struct Tokens {
    #[command(flatten)]
    trials: TrialArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// Show a row for each limit.
    #[arg(long)]
    curve: bool,
    /// Look at this limit instead of powers of two, and show a row for it; may be repeated.
    #[arg(long = "budget", value_name = "TOKENS")]
    budgets: Vec<u64>,
    /// The share of right answers that a limit should keep to be called enough.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, allow_hyphen_values = true)]
    keep: f64,
}

impl Tokens {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        if !(self.keep > 0.0 && self.keep <= 1.0) {
            return Err(CliError::input(format_args!(
                "`--keep {}` is out of range; give a share above 0 and up to 1, as 0.95 for 95 %",
                self.keep
            )));
        }
        let TrialArgs { plot_args, by } = self.trials;
        let (confidence, db, query) = plot_args.open(global).await?;
        let estimator = self.mode_args.estimator(confidence);
        let shows_limits = self.curve || !self.budgets.is_empty();
        let options = TokensOptions { by: by.into(), estimator, keep: self.keep, budgets: self.budgets };
        let rows = tokens(&db, &query, &options).await?;
        if shows_limits {
            print_table(
                global.format,
                || display_budgets_table(&rows),
                || export_budgets_table(&rows),
                &rows,
            )?;
        } else {
            print_table(global.format, || display_table(&rows, self.keep), || export_table(&rows), &rows)?;
        }
        plot_args.plot.draw(global, || tokens_figure(&rows, estimator.confidence))?;
        print_notes(&rows, global);
        Ok(())
    }
}

fn print_notes(rows: &[TokensRow], global: Global) {
    const MAX_LISTED: usize = 6;
    let Some(first) = rows.first() else {
        global.note("nothing was answered yet; `reasonscape run` asks, `reasonscape evaluate` counts");
        return;
    };
    if rows.len() <= MAX_LISTED {
        for row in rows {
            global.caption(format_args!("{}: {}", row.group.title(), row.finding));
        }
    } else {
        let open = rows.iter().filter(|row| row.exact_up_to.is_some()).count();
        global.caption(format_args!(
            "in {open} of {} rows trials were cut off: a larger limit might give more right answers, how many is \
             unknown",
            rows.len()
        ));
    }
    global.caption(format_args!("accuracy is by {}; ≥ marks the least that a limit would give", first.mode));
    let without: u64 = rows.iter().map(|row| row.without_tokens).sum();
    if without > 0 {
        global.note(format_args!("{} without a count of tokens left out", pluralize(without, "trial")));
    }
}
