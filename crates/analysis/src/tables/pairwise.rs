//! Pairwise comparisons as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::Pairwise;

/// The table for readers.
pub fn display_table(found: &Pairwise) -> Table {
    let fixed = ["#", "name", "Elo", "bootstrap interval", "expected wins", "rating"].map(str::to_owned);
    let opponents = (1..=found.evals.len()).map(|index| format!("vs {index}"));
    let mut table = Table::new(&fixed.into_iter().chain(opponents).collect::<Vec<_>>());
    for (index, (eval, rates)) in found.evals.iter().zip(&found.win_rates).enumerate() {
        let interval = eval.elo_low.zip(eval.elo_high);
        let mut row = vec![
            Cell::count(index as u64 + 1),
            Cell::text(&eval.label),
            Cell::Number(eval.elo, 0),
            interval.map_or(Cell::Missing, |(low, high)| Cell::Formatted(format!("{low:.0} to {high:.0}"))),
            Cell::Formatted(format!("{:.2} of {}", eval.expected_wins, eval.opponents)),
            Cell::Formatted(rating(eval.rating)),
        ];
        row.extend(rates.iter().map(|rate| Cell::optional(*rate, 3)));
        table.push(row);
    }
    table
}

/// P(A > B) of each pair on each task.
pub fn task_table(found: &Pairwise) -> Table {
    let columns = ["A", "B", "mean"].into_iter().chain(found.tasks.iter().map(String::as_str));
    let mut table = Table::new(&columns.collect::<Vec<_>>());
    for (a, eval) in found.evals.iter().enumerate() {
        for (b, opponent) in found.evals.iter().enumerate().skip(a + 1) {
            let mut row = vec![
                Cell::text(&eval.label),
                Cell::text(&opponent.label),
                Cell::optional(found.win_rates[a][b], 3),
            ];
            row.extend(found.tasks.iter().map(|task| Cell::optional(found.task_win_rates[task][a][b], 3)));
            table.push(row);
        }
    }
    table
}

/// A rating with two decimals, or in scientific notation if it is small.
fn rating(rating: f64) -> String {
    if rating < 0.01 { format!("{rating:.1e}") } else { format!("{rating:.2}") }
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Pairwise) -> Table {
    let rows = found.evals.iter().zip(&found.win_rates).map(|(eval, rates)| {
        let mut row = RowBuilder::new()
            .eval(&eval.eval)
            .number("expected_wins", eval.expected_wins, 3)
            .count("opponents", eval.opponents as u64)
            .count("tasks", eval.tasks as u64)
            .number("rating", eval.rating, 4)
            .optional_number("rating_low", eval.rating_low, 4)
            .optional_number("rating_high", eval.rating_high, 4)
            .number("elo", eval.elo, 1)
            .optional_number("elo_low", eval.elo_low, 1)
            .optional_number("elo_high", eval.elo_high, 1)
            .flag("converged", found.converged)
            .text("mode", found.mode)
            .text("method", found.method);
        for (opponent, rate) in found.evals.iter().zip(rates) {
            row = row.optional_number(format!("vs_{}", opponent.eval.eval_id), *rate, 4);
        }
        row
    });
    rows.collect()
}
