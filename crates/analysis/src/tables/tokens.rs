//! Token limits as tables.

use super::cells::{
    count_cell, estimate_cell, named_cells, prefixed_bounds_cells, table_from_named_cells, task_cell,
    trial_group_cells,
};
use super::hazard::token_quantile_cell;
use super::{Cell, Table};
use crate::{BudgetOutcome, TokenCost, TokensRow, in_percent};

/// The table for people.
pub fn display_table(rows: &[TokensRow], keep: f64) -> Table {
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
        let exact = row.exact_up_to.map_or(Cell::Shown(any.to_owned()), count_cell);
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count_cell(row.n),
            now.map_or(Cell::Missing, |now| estimate_cell(&now.accuracy)),
            now.map_or(Cell::Missing, |now| token_cost_cell(&now.mean_tokens)),
            enough.map_or(Cell::Missing, |enough| token_quantile_cell(enough.tokens)),
            enough.map_or(Cell::Missing, |enough| estimate_cell(&enough.at.accuracy)),
            enough.map_or(Cell::Missing, |enough| token_cost_cell(&enough.at.mean_tokens)),
            if row.n == 0 { Cell::Missing } else { exact },
        ]);
    }
    table
}

/// `412 ± 20`, or the number alone where a single trial has no spread.
fn token_cost_cell(cost: &TokenCost) -> Cell {
    Cell::Shown(match (cost.low, cost.high) {
        (Some(low), Some(high)) => format!("{:.0} ± {:.0}", cost.mean, (high - low) / 2.0),
        _ => format!("{:.0}", cost.mean),
    })
}

/// The table for people, with a row for each token limit.
pub fn display_budgets_table(rows: &[TokensRow]) -> Table {
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
    for (row, outcome) in rows.iter().flat_map(|row| row.budgets.iter().map(move |outcome| (row, outcome))) {
        let mark = if outcome.exact { "" } else { "≥ " };
        let price = outcome.tokens_per_correct.map_or(Cell::Missing, |price| {
            Cell::Shown(match (price.low, price.high) {
                (Some(low), Some(high)) => format!("{:.0} ({low:.0} to {high:.0})", price.mean),
                _ => format!("{:.0}", price.mean),
            })
        });
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count_cell(outcome.budget),
            Cell::Shown(format!("{mark}{:.0}", outcome.n_e)),
            Cell::Number(outcome.n_u - outcome.n_e, 0),
            if row.truncation_known {
                Cell::Number(outcome.n_t, 0)
            } else {
                Cell::Shown(format!("≥ {:.0}", outcome.n_t))
            },
            estimate_cell(&outcome.accuracy),
            token_cost_cell(&outcome.mean_tokens),
            price,
        ]);
    }
    table
}

fn first_cells(row: &TokensRow) -> Vec<(String, Cell)> {
    let mut first = trial_group_cells(&row.eval, row.task.as_ref(), row.truncation_known);
    first.push(("mode".to_owned(), Cell::text(row.mode)));
    first
}

fn budget_cells(outcome: &BudgetOutcome) -> Vec<(String, Cell)> {
    let mut numbers = named_cells([
        ("budget", count_cell(outcome.budget)),
        ("n", Cell::Number(outcome.n, 0)),
        ("n_e", Cell::Number(outcome.n_e, 0)),
        ("n_u", Cell::Number(outcome.n_u, 0)),
        ("n_t", Cell::Number(outcome.n_t, 0)),
        ("g", Cell::Number(outcome.g, 2)),
        ("exact", Cell::text(outcome.exact.to_string())),
    ]);
    numbers.extend(prefixed_bounds_cells("accuracy", &outcome.accuracy));
    numbers.extend(token_cost_cells("mean_tokens", Some(outcome.mean_tokens)));
    numbers.extend(token_cost_cells("tokens_per_correct", outcome.tokens_per_correct));
    numbers
}

fn token_cost_cells(name: &str, cost: Option<TokenCost>) -> [(String, Cell); 3] {
    [
        (name.to_owned(), Cell::optional(cost.map(|cost| cost.mean), 1)),
        (format!("{name}_low"), Cell::optional(cost.and_then(|cost| cost.low), 1)),
        (format!("{name}_high"), Cell::optional(cost.and_then(|cost| cost.high), 1)),
    ]
}

/// The table for programs, with a row for each token limit.
pub fn export_budgets_table(rows: &[TokensRow]) -> Table {
    let outcome = rows.iter().flat_map(|row| row.budgets.iter().map(move |outcome| (row, outcome)));
    table_from_named_cells(
        outcome.map(|(row, outcome)| [first_cells(row), budget_cells(outcome)].concat()).collect(),
    )
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[TokensRow]) -> Table {
    let optional = |number: Option<u64>| number.map_or(Cell::Missing, count_cell);
    let row = |row: &TokensRow| {
        let (now, enough) = (row.now.as_ref(), row.enough.as_ref());
        let share_of = |outcome: Option<&BudgetOutcome>, value: fn(&BudgetOutcome) -> f64| {
            Cell::optional(outcome.map(value), 4)
        };
        let then = enough.map(|enough| &enough.at);
        let mut numbers = named_cells([
            ("n", count_cell(row.n)),
            ("without_tokens", count_cell(row.without_tokens)),
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
        numbers.extend(token_cost_cells("mean_tokens", now.map(|now| now.mean_tokens)));
        numbers.extend(token_cost_cells("then_mean_tokens", then.map(|then| then.mean_tokens)));
        numbers.push(("finding".to_owned(), Cell::text(&row.finding)));
        [first_cells(row), numbers].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}
