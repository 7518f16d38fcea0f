//! Token limits as tables.

use super::hazard::token_quantile_cell;
use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::labels::accuracy_label_of;
use crate::{BudgetOutcome, TokenCost, TokensRow, estimate_text, in_percent};

/// The table for readers.
pub fn display_table(rows: &[TokensRow], keep: f64) -> Table {
    let accuracy = accuracy_label_of(rows.iter().map(|row| row.mode));
    let mut table = Table::new(&[
        "name".to_owned(),
        "task".to_owned(),
        "trials".to_owned(),
        accuracy.to_owned(),
        "mean tokens".to_owned(),
        format!("tokens for {} % of correct", in_percent(keep)),
        format!("{accuracy} at that limit"),
        "mean tokens at that limit".to_owned(),
        "exact up to".to_owned(),
    ]);
    for row in rows {
        let (now, sufficient) = (row.now.as_ref(), row.sufficient.as_ref());
        let any = if row.group.truncation_known { "any" } else { "?" };
        let exact = row.exact_up_to.map_or(Cell::Formatted(any.to_owned()), Cell::count);
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            Cell::count(row.n),
            now.map_or(Cell::Missing, |now| Cell::estimate(&now.accuracy)),
            now.map_or(Cell::Missing, |now| token_cost_cell(&now.mean_tokens)),
            sufficient.map_or(Cell::Missing, |sufficient| token_quantile_cell(sufficient.tokens)),
            sufficient.map_or(Cell::Missing, |sufficient| Cell::estimate(&sufficient.at.accuracy)),
            sufficient.map_or(Cell::Missing, |sufficient| token_cost_cell(&sufficient.at.mean_tokens)),
            if row.n == 0 { Cell::Missing } else { exact },
        ]);
    }
    table
}

/// `412 (392 to 432)`; a single trial has no interval.
fn token_cost_cell(cost: &TokenCost) -> Cell {
    Cell::Formatted(match (cost.low, cost.high) {
        (Some(low), Some(high)) => estimate_text(cost.mean, low, high, 0),
        _ => format!("{:.0}", cost.mean),
    })
}

/// The table for readers, one row per token limit.
pub fn display_budgets_table(rows: &[TokensRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "token limit",
        "correct",
        "incorrect",
        "truncated",
        accuracy_label_of(rows.iter().map(|row| row.mode)),
        "mean tokens",
        "tokens per correct answer",
    ]);
    for (row, outcome) in rows.iter().flat_map(|row| row.budgets.iter().map(move |outcome| (row, outcome))) {
        let mark = if outcome.exact { "" } else { "≥ " };
        let price = outcome.tokens_per_correct.map_or(Cell::Missing, |price| {
            Cell::Formatted(match (price.low, price.high) {
                (Some(low), Some(high)) => estimate_text(price.mean, low, high, 0),
                _ => format!("{:.0}", price.mean),
            })
        });
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            Cell::count(outcome.budget),
            Cell::Formatted(format!("{mark}{:.0}", outcome.n_e)),
            Cell::Number(outcome.n_u - outcome.n_e, 0),
            if row.group.truncation_known {
                Cell::Number(outcome.n_t, 0)
            } else {
                Cell::Formatted(format!("≥ {:.0}", outcome.n_t))
            },
            Cell::estimate(&outcome.accuracy),
            token_cost_cell(&outcome.mean_tokens),
            price,
        ]);
    }
    table
}

/// The first columns of export tables.
fn trial_group(row: &TokensRow) -> RowBuilder {
    RowBuilder::new().trial_group(&row.group).text("mode", row.mode)
}

fn with_token_cost(row: RowBuilder, name: &str, cost: Option<TokenCost>) -> RowBuilder {
    row.optional_number(name, cost.map(|cost| cost.mean), 1)
        .optional_number(format!("{name}_low"), cost.and_then(|cost| cost.low), 1)
        .optional_number(format!("{name}_high"), cost.and_then(|cost| cost.high), 1)
}

/// The table for programs, one row per token limit.
pub fn export_budgets_table(rows: &[TokensRow]) -> Table {
    let budget_row = |row: &TokensRow, outcome: &BudgetOutcome| {
        let numbers = trial_group(row)
            .count("budget", outcome.budget)
            .number("n", outcome.n, 0)
            .number("n_e", outcome.n_e, 0)
            .number("n_u", outcome.n_u, 0)
            .number("n_t", outcome.n_t, 0)
            .number("g", outcome.g, 2)
            .flag("exact", outcome.exact)
            .estimate("accuracy", &outcome.accuracy);
        let numbers = with_token_cost(numbers, "mean_tokens", Some(outcome.mean_tokens));
        with_token_cost(numbers, "tokens_per_correct", outcome.tokens_per_correct)
    };
    rows.iter().flat_map(|row| row.budgets.iter().map(move |outcome| budget_row(row, outcome))).collect()
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[TokensRow]) -> Table {
    let row = |row: &TokensRow| {
        let (now, sufficient) = (row.now.as_ref(), row.sufficient.as_ref());
        let then = sufficient.map(|sufficient| &sufficient.at);
        let numbers = trial_group(row)
            .count("n", row.n)
            .count("without_tokens", row.without_tokens)
            .optional_count("exact_up_to", row.exact_up_to)
            .optional_number("accuracy", now.and_then(|now| now.accuracy.point), 4)
            .optional_number("accuracy_low", now.map(|now| now.accuracy.low), 4)
            .optional_number("accuracy_high", now.map(|now| now.accuracy.high), 4)
            .optional_number("keep", sufficient.map(|sufficient| sufficient.keep), 2)
            .optional_count("enough", sufficient.and_then(|sufficient| sufficient.tokens.tokens))
            .optional_count("enough_low", sufficient.and_then(|sufficient| sufficient.tokens.low))
            .optional_count("enough_high", sufficient.and_then(|sufficient| sufficient.tokens.high))
            .optional_number("then_accuracy", then.and_then(|then| then.accuracy.point), 4)
            .optional_number("then_accuracy_low", then.map(|then| then.accuracy.low), 4)
            .optional_number("then_accuracy_high", then.map(|then| then.accuracy.high), 4);
        let numbers = with_token_cost(numbers, "mean_tokens", now.map(|now| now.mean_tokens));
        let numbers = with_token_cost(numbers, "then_mean_tokens", then.map(|then| then.mean_tokens));
        numbers.text("finding", &row.finding)
    };
    rows.iter().map(row).collect()
}
