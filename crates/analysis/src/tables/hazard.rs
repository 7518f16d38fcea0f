//! Times to answer as tables.

use super::cells::{
    count_cell, estimate_cell, named_cells, prefixed_bounds_cells, table_from_named_cells, task_cell,
    trial_group_cells, truncated_count_cell,
};
use super::{Cell, Table};
use crate::{Bin, ChangePoint, HazardRow, TokenQuantile};

/// The table for people.
pub fn display_table(rows: &[HazardRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "trials",
        "correct",
        "incorrect",
        "truncated",
        "median tokens",
        "worse beyond",
        "right before",
        "right after",
    ]);
    for row in rows {
        let turn = row.stops_helping.as_ref();
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count_cell(row.n),
            count_cell(row.correct),
            count_cell(row.incorrect),
            truncated_count_cell(row.censored, row.truncation_known),
            token_quantile_cell(row.median),
            turn.map_or(Cell::Missing, |turn| count_cell(turn.beyond)),
            turn.map_or(Cell::Missing, |turn| estimate_cell(&turn.before)),
            turn.map_or(Cell::Missing, |turn| estimate_cell(&turn.after)),
        ]);
    }
    table
}

/// `512 (480 to 540)`; a bound that the data do not reach is open.
pub fn token_quantile_cell(median: TokenQuantile) -> Cell {
    let Some(tokens) = median.tokens else { return Cell::Missing };
    let end = |end: Option<u64>| end.map_or("?".to_owned(), |end| end.to_string());
    Cell::Shown(format!("{tokens} ({} to {})", end(median.low), end(median.high)))
}

/// The table for people, with a row for each bin of tokens.
pub fn display_bins_table(rows: &[HazardRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "tokens",
        "at risk",
        "correct",
        "incorrect",
        "truncated",
        "right hazard",
        "wrong hazard",
        "right of answers",
        "still thinking",
    ]);
    for (row, bin) in rows.iter().flat_map(|row| row.bins.iter().map(move |bin| (row, bin))) {
        let first = if bin.above == 0 { 0 } else { bin.above + 1 };
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            Cell::Shown(format!("{first} to {}", bin.up_to)),
            count_cell(bin.at_risk),
            count_cell(bin.correct),
            count_cell(bin.incorrect),
            truncated_count_cell(bin.censored, row.truncation_known),
            estimate_cell(&bin.correct_hazard),
            estimate_cell(&bin.incorrect_hazard),
            estimate_cell(&bin.accuracy),
            estimate_cell(&bin.survival),
        ]);
    }
    table
}

fn first_cells(row: &HazardRow) -> Vec<(String, Cell)> {
    trial_group_cells(&row.eval, row.task.as_ref(), row.truncation_known)
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[HazardRow]) -> Table {
    let optional = |number: Option<u64>| number.map_or(Cell::Missing, count_cell);
    let row = |row: &HazardRow| {
        let turn = row.stops_helping.as_ref();
        let of_turn = |value: fn(&ChangePoint) -> f64| Cell::optional(turn.map(value), 4);
        let counted = named_cells([
            ("n", count_cell(row.n)),
            ("without_tokens", count_cell(row.without_tokens)),
            ("correct", count_cell(row.correct)),
            ("incorrect", count_cell(row.incorrect)),
            ("censored", count_cell(row.censored)),
            ("median", optional(row.median.tokens)),
            ("median_low", optional(row.median.low)),
            ("median_high", optional(row.median.high)),
            ("worse_beyond", optional(turn.map(|turn| turn.beyond))),
            ("before", Cell::optional(turn.and_then(|turn| turn.before.point), 4)),
            ("before_n", optional(turn.map(|turn| turn.before_n))),
            ("after", Cell::optional(turn.and_then(|turn| turn.after.point), 4)),
            ("after_n", optional(turn.map(|turn| turn.after_n))),
            ("difference", of_turn(|turn| turn.difference)),
            ("difference_low", of_turn(|turn| turn.low)),
            ("difference_high", of_turn(|turn| turn.high)),
            ("finding", Cell::text(&row.finding)),
        ]);
        [first_cells(row), counted].concat()
    };
    table_from_named_cells(rows.iter().map(row).collect())
}

/// The table for programs, with a row for each bin of tokens.
pub fn export_bins_table(rows: &[HazardRow]) -> Table {
    let bin = |row: &HazardRow, bin: &Bin| {
        let counted = named_cells([
            ("above", count_cell(bin.above)),
            ("up_to", count_cell(bin.up_to)),
            ("at_risk", count_cell(bin.at_risk)),
            ("correct", count_cell(bin.correct)),
            ("incorrect", count_cell(bin.incorrect)),
            ("censored", count_cell(bin.censored)),
        ]);
        let shares = [
            ("correct_hazard", &bin.correct_hazard),
            ("incorrect_hazard", &bin.incorrect_hazard),
            ("accuracy", &bin.accuracy),
            ("survival", &bin.survival),
            ("answered_correct", &bin.answered_correct),
            ("answered_incorrect", &bin.answered_incorrect),
        ];
        let shares = shares.into_iter().flat_map(|(name, bounds)| prefixed_bounds_cells(name, bounds));
        first_cells(row).into_iter().chain(counted).chain(shares).collect()
    };
    table_from_named_cells(
        rows.iter().flat_map(|row| row.bins.iter().map(move |one| bin(row, one))).collect(),
    )
}
