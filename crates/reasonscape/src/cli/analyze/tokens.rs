//! `reasonscape analyze tokens`: what tokens buy.

use super::{OfTrials, cells, count, named, prefixed, several, share, task_cell, trials_cells};
use crate::analysis::{Limited, Spent, TokensOptions, TokensRow, in_percent, tokens, tokens_figure};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

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
    trials: OfTrials,
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
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        if !(self.keep > 0.0 && self.keep <= 1.0) {
            return Err(Failure::input(format_args!(
                "`--keep {}` is out of range; give a share above 0 and up to 1, as 0.95 for 95 %",
                self.keep
            )));
        }
        let OfTrials { pictured, by } = self.trials;
        let (estimator, db, asked) = pictured.open(global).await?;
        let shows_limits = self.curve || !self.budgets.is_empty();
        let options = TokensOptions { by, estimator, keep: self.keep, budgets: self.budgets };
        let rows = tokens(&db, &asked, &options).await?;
        let table = match (global.format, shows_limits) {
            (Format::Csv, false) => for_programs(&rows),
            (Format::Csv, true) => limits_for_programs(&rows),
            (_, false) => for_people(&rows, self.keep),
            (_, true) => limits_for_people(&rows),
        };
        print(global.format, &table, &rows)?;
        pictured.plot.draw(global, || tokens_figure(&rows, estimator.confidence))?;
        say_beside(&rows, global);
        Ok(())
    }
}

fn say_beside(rows: &[TokensRow], global: Global) {
    const FEW: usize = 6;
    let Some(first) = rows.first() else {
        global.note("nothing was answered yet; `reasonscape run` asks, `reasonscape evaluate` counts");
        return;
    };
    if rows.len() <= FEW {
        for row in rows {
            global.caption(format_args!("{}: {}", row.title(), row.finding));
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
        global.note(format_args!("{} without a count of tokens left out", several(without, "trial")));
    }
}

pub(crate) fn for_people(rows: &[TokensRow], keep: f64) -> Table {
    let mut table = Table::new(&[
        "name".to_owned(),
        "task".to_owned(),
        "trials".to_owned(),
        "accuracy".to_owned(),
        "mean tokens".to_owned(),
        format!("{} % of right by", in_percent(keep)),
        "accuracy then".to_owned(),
        "mean tokens then".to_owned(),
        "exact up to".to_owned(),
    ]);
    for row in rows {
        let (now, enough) = (row.now.as_ref(), row.enough.as_ref());
        let any = if row.truncation_known { "any" } else { "?" };
        let exact = row.exact_up_to.map_or(Cell::Shown(any.to_owned()), count);
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count(row.n),
            now.map_or(Cell::Missing, |now| share(&now.accuracy)),
            now.map_or(Cell::Missing, |now| spent(&now.mean_tokens)),
            enough.map_or(Cell::Missing, |enough| super::hazard::median(enough.tokens)),
            enough.map_or(Cell::Missing, |enough| share(&enough.at.accuracy)),
            enough.map_or(Cell::Missing, |enough| spent(&enough.at.mean_tokens)),
            if row.n == 0 { Cell::Missing } else { exact },
        ]);
    }
    table
}

/// `412 ± 20`, or the number alone where a single trial has no spread.
fn spent(spent: &Spent) -> Cell {
    Cell::Shown(match (spent.low, spent.high) {
        (Some(low), Some(high)) => format!("{:.0} ± {:.0}", spent.mean, (high - low) / 2.0),
        _ => format!("{:.0}", spent.mean),
    })
}

fn limits_for_people(rows: &[TokensRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "limit",
        "correct",
        "incorrect",
        "truncated",
        "accuracy",
        "mean tokens",
        "tokens a right answer",
    ]);
    for (row, limited) in rows.iter().flat_map(|row| row.budgets.iter().map(move |limited| (row, limited))) {
        let mark = if limited.exact { "" } else { "≥ " };
        let price = limited.tokens_per_correct.map_or(Cell::Missing, |price| {
            Cell::Shown(match (price.low, price.high) {
                (Some(low), Some(high)) => format!("{:.0} ({low:.0} to {high:.0})", price.mean),
                _ => format!("{:.0}", price.mean),
            })
        });
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count(limited.budget),
            Cell::Shown(format!("{mark}{:.0}", limited.n_e)),
            Cell::Number(limited.n_u - limited.n_e, 0),
            if row.truncation_known {
                Cell::Number(limited.n_t, 0)
            } else {
                Cell::Shown(format!("≥ {:.0}", limited.n_t))
            },
            share(&limited.accuracy),
            spent(&limited.mean_tokens),
            price,
        ]);
    }
    table
}

fn first_cells(row: &TokensRow) -> Vec<(String, Cell)> {
    let mut first = trials_cells(&row.eval, row.task.as_ref(), row.truncation_known);
    first.push(("mode".to_owned(), Cell::text(row.mode)));
    first
}

fn limited_cells(limited: &Limited) -> Vec<(String, Cell)> {
    let mut numbers = cells([
        ("budget", count(limited.budget)),
        ("n", Cell::Number(limited.n, 0)),
        ("n_e", Cell::Number(limited.n_e, 0)),
        ("n_u", Cell::Number(limited.n_u, 0)),
        ("n_t", Cell::Number(limited.n_t, 0)),
        ("g", Cell::Number(limited.g, 2)),
        ("exact", Cell::text(limited.exact.to_string())),
    ]);
    numbers.extend(prefixed("accuracy", &limited.accuracy));
    numbers.extend(spent_cells("mean_tokens", Some(limited.mean_tokens)));
    numbers.extend(spent_cells("tokens_per_correct", limited.tokens_per_correct));
    numbers
}

fn spent_cells(name: &str, spent: Option<Spent>) -> [(String, Cell); 3] {
    [
        (name.to_owned(), Cell::optional(spent.map(|spent| spent.mean), 1)),
        (format!("{name}_low"), Cell::optional(spent.and_then(|spent| spent.low), 1)),
        (format!("{name}_high"), Cell::optional(spent.and_then(|spent| spent.high), 1)),
    ]
}

fn limits_for_programs(rows: &[TokensRow]) -> Table {
    let limited = rows.iter().flat_map(|row| row.budgets.iter().map(move |limited| (row, limited)));
    named(limited.map(|(row, limited)| [first_cells(row), limited_cells(limited)].concat()).collect())
}

fn for_programs(rows: &[TokensRow]) -> Table {
    let optional = |number: Option<u64>| number.map_or(Cell::Missing, count);
    let row = |row: &TokensRow| {
        let (now, enough) = (row.now.as_ref(), row.enough.as_ref());
        let share_of =
            |limited: Option<&Limited>, value: fn(&Limited) -> f64| Cell::optional(limited.map(value), 4);
        let then = enough.map(|enough| &enough.at);
        let mut numbers = cells([
            ("n", count(row.n)),
            ("without_tokens", count(row.without_tokens)),
            ("exact_up_to", optional(row.exact_up_to)),
            ("accuracy_low", share_of(now, |now| now.accuracy.low)),
            ("accuracy_high", share_of(now, |now| now.accuracy.high)),
            ("keep", Cell::optional(enough.map(|enough| enough.keep), 2)),
            ("enough", optional(enough.and_then(|enough| enough.tokens.tokens))),
            ("enough_low", optional(enough.and_then(|enough| enough.tokens.low))),
            ("enough_high", optional(enough.and_then(|enough| enough.tokens.high))),
            ("then_accuracy_low", share_of(then, |then| then.accuracy.low)),
            ("then_accuracy_high", share_of(then, |then| then.accuracy.high)),
        ]);
        numbers.extend(spent_cells("mean_tokens", now.map(|now| now.mean_tokens)));
        numbers.extend(spent_cells("then_mean_tokens", then.map(|then| then.mean_tokens)));
        numbers.push(("finding".to_owned(), Cell::text(&row.finding)));
        [first_cells(row), numbers].concat()
    };
    named(rows.iter().map(row).collect())
}
