//! Pairwise comparisons as tables.

use super::cells::{count_cell, eval_cells, named_cells, table_from_named_cells};
use super::{Cell, Table};
use crate::Pairwise;

/// The table for people.
pub fn display_table(found: &Pairwise) -> Table {
    let fixed = ["#", "name", "Elo", "95 % interval", "expected wins", "rating"].map(str::to_owned);
    let opponents = (1..=found.evals.len()).map(|place| format!("vs {place}"));
    let mut table = Table::new(&fixed.into_iter().chain(opponents).collect::<Vec<_>>());
    for (place, (eval, rates)) in found.evals.iter().zip(&found.win_rates).enumerate() {
        let interval = eval.elo_low.zip(eval.elo_high);
        let mut row = vec![
            count_cell(place as u64 + 1),
            Cell::text(&eval.label),
            Cell::Number(eval.elo, 0),
            interval.map_or(Cell::Missing, |(low, high)| Cell::Shown(format!("{low:.0} to {high:.0}"))),
            Cell::Shown(format!("{:.2} of {}", eval.expected_wins, eval.opponents)),
            Cell::Shown(rating(eval.rating)),
        ];
        row.extend(rates.iter().map(|rate| Cell::optional(*rate, 3)));
        table.push(row);
    }
    table
}

/// A rating with the digits that matter, however small it is.
fn rating(rating: f64) -> String {
    if rating < 0.01 { format!("{rating:.1e}") } else { format!("{rating:.2}") }
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Pairwise) -> Table {
    let rows = found.evals.iter().zip(&found.win_rates).map(|(eval, rates)| {
        let mut row = eval_cells(&eval.eval);
        row.extend(named_cells([
            ("expected_wins", Cell::Number(eval.expected_wins, 3)),
            ("opponents", count_cell(eval.opponents as u64)),
            ("tasks", count_cell(eval.tasks as u64)),
            ("rating", Cell::Number(eval.rating, 4)),
            ("rating_low", Cell::optional(eval.rating_low, 4)),
            ("rating_high", Cell::optional(eval.rating_high, 4)),
            ("elo", Cell::Number(eval.elo, 1)),
            ("elo_low", Cell::optional(eval.elo_low, 1)),
            ("elo_high", Cell::optional(eval.elo_high, 1)),
            ("converged", Cell::text(found.converged.to_string())),
            ("mode", Cell::text(found.mode)),
            ("method", Cell::text(found.method)),
        ]));
        for (opponent, rate) in found.evals.iter().zip(rates) {
            row.push((format!("vs_{}", opponent.eval.eval_id), Cell::optional(*rate, 4)));
        }
        row
    });
    table_from_named_cells(rows.collect())
}
