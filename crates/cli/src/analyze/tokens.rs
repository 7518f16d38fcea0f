//! `reasonscape analyze tokens`: accuracy and cost at smaller token limits.

use reasonscape_analysis::tables::tokens::{
    display_budgets_table, display_table, export_budgets_table, export_table,
};
use reasonscape_analysis::{TokensOptions, TokensRow, tokens, tokens_figure};

use super::{ModeArgs, TrialArgs, estimator, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Show accuracy and cost at smaller token limits
///
/// A smaller limit would truncate every trial that used more tokens and leave the others unchanged, so these numbers are
/// counted, not modeled. Tokens are completion tokens, including reasoning.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze tokens my-study\n  \
    reasonscape analyze tokens my-study --by eval --curve --plot tokens.html\n  \
    reasonscape analyze tokens my-study --budget 1024 --budget 2048")]
pub(super) struct Tokens {
    #[command(flatten)]
    trials: TrialArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// Show one row per limit.
    #[arg(long)]
    curve: bool,
    /// Show a row for this token limit, instead of powers of two (repeatable).
    #[arg(long = "budget", value_name = "TOKENS")]
    budgets: Vec<u64>,
    /// Proportion of the correct answers that a sufficient limit must keep.
    #[arg(long, value_name = "PROPORTION", default_value_t = 0.95, allow_hyphen_values = true)]
    keep: f64,
}

impl Tokens {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        if !(self.keep > 0.0 && self.keep <= 1.0) {
            return Err(CliError::input(format_args!(
                "`--keep {}` is out of range; expected a proportion above 0 and up to 1, e.g. 0.95 for 95 %",
                self.keep
            )));
        }
        let TrialArgs { plot_args, by } = self.trials;
        let (confidence, db, query) = plot_args.open(global).await?;
        let estimator = estimator(self.mode_args, confidence);
        let shows_limits = self.curve || !self.budgets.is_empty();
        let options = TokensOptions { by: by.into(), estimator, keep: self.keep, budgets: self.budgets };
        let rows = tokens(&db, &query, &options).await?;
        if shows_limits {
            print_table(global, || display_budgets_table(&rows), || export_budgets_table(&rows), &rows)?;
        } else {
            print_table(global, || display_table(&rows, self.keep), || export_table(&rows), &rows)?;
        }
        plot_args.plot.draw(global, || tokens_figure(&rows, estimator.confidence))?;
        print_notes(&rows, global);
        Ok(())
    }
}

fn print_notes(rows: &[TokensRow], global: Global) {
    const MAX_LISTED: usize = 6;
    let Some(first) = rows.first() else {
        global.note("no scored trials yet; `reasonscape run` sends the requests and scores the responses");
        return;
    };
    if rows.len() <= MAX_LISTED {
        for row in rows {
            global.caption(format_args!("{}: {}", row.group.title(), row.finding));
        }
    } else {
        let open = rows.iter().filter(|row| row.exact_up_to.is_some()).count();
        global.caption(format_args!(
            "in {open} of {} rows trials were truncated: a larger limit might give more correct answers, how many is \
             unknown",
            rows.len()
        ));
    }
    global.caption(format_args!("accuracy is estimated by {}; ≥ marks a lower bound", first.mode));
    let without: u64 = rows.iter().map(|row| row.without_tokens).sum();
    if without > 0 {
        global.note(format_args!("{} without a token count excluded", pluralize(without, "trial")));
    }
}
