//! Tokens to an answer as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{Bin, HazardRow, TokenQuantile};

/// The table for readers.
pub fn display_table(rows: &[HazardRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "trials",
        "correct",
        "incorrect",
        "truncated",
        "median tokens",
        "accuracy drops beyond",
        "accuracy before",
        "accuracy after",
    ]);
    for row in rows {
        let change = row.stops_helping.as_ref();
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            Cell::count(row.n),
            Cell::count(row.correct),
            Cell::count(row.incorrect),
            Cell::truncated_count(row.censored, row.group.truncation_known),
            token_quantile_cell(row.median),
            change.map_or(Cell::Missing, |change| Cell::count(change.beyond)),
            change.map_or(Cell::Missing, |change| Cell::estimate(&change.before)),
            change.map_or(Cell::Missing, |change| Cell::estimate(&change.after)),
        ]);
    }
    table
}

/// `512 (480 to 540)`; an unknown end is `?`.
pub fn token_quantile_cell(median: TokenQuantile) -> Cell {
    let Some(tokens) = median.tokens else { return Cell::Missing };
    let end = |end: Option<u64>| end.map_or("?".to_owned(), |end| end.to_string());
    Cell::Formatted(format!("{tokens} ({} to {})", end(median.low), end(median.high)))
}

/// The table for readers, one row per bin of tokens.
pub fn display_bins_table(rows: &[HazardRow]) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "tokens",
        "at risk",
        "correct",
        "incorrect",
        "truncated",
        "correct hazard",
        "incorrect hazard",
        "accuracy",
        "no answer yet",
    ]);
    for (row, bin) in rows.iter().flat_map(|row| row.bins.iter().map(move |bin| (row, bin))) {
        let first = if bin.above == 0 { 0 } else { bin.above + 1 };
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            Cell::Formatted(format!("{first} to {}", bin.up_to)),
            Cell::count(bin.at_risk),
            Cell::count(bin.correct),
            Cell::count(bin.incorrect),
            Cell::truncated_count(bin.censored, row.group.truncation_known),
            Cell::estimate(&bin.correct_hazard),
            Cell::estimate(&bin.incorrect_hazard),
            Cell::estimate(&bin.accuracy),
            Cell::estimate(&bin.survival),
        ]);
    }
    table
}

/// The first columns of export tables.
fn trial_group(row: &HazardRow) -> RowBuilder {
    RowBuilder::new().trial_group(&row.group)
}

/// The table for programs: every column, every digit.
pub fn export_table(rows: &[HazardRow]) -> Table {
    let row = |row: &HazardRow| {
        let change = row.stops_helping.as_ref();
        trial_group(row)
            .count("n", row.n)
            .count("without_tokens", row.without_tokens)
            .count("correct", row.correct)
            .count("incorrect", row.incorrect)
            .count("censored", row.censored)
            .optional_count("median", row.median.tokens)
            .optional_count("median_low", row.median.low)
            .optional_count("median_high", row.median.high)
            .optional_count("worse_beyond", change.map(|change| change.beyond))
            .optional_number("before", change.and_then(|change| change.before.point), 4)
            .optional_count("before_n", change.map(|change| change.before_n))
            .optional_number("after", change.and_then(|change| change.after.point), 4)
            .optional_count("after_n", change.map(|change| change.after_n))
            .optional_number("difference", change.map(|change| change.difference), 4)
            .optional_number("difference_low", change.map(|change| change.low), 4)
            .optional_number("difference_high", change.map(|change| change.high), 4)
            .text("finding", &row.finding)
    };
    rows.iter().map(row).collect()
}

/// The table for programs, one row per bin of tokens.
pub fn export_bins_table(rows: &[HazardRow]) -> Table {
    let bin_row = |row: &HazardRow, bin: &Bin| {
        trial_group(row)
            .count("above", bin.above)
            .count("up_to", bin.up_to)
            .count("at_risk", bin.at_risk)
            .count("correct", bin.correct)
            .count("incorrect", bin.incorrect)
            .count("censored", bin.censored)
            .estimate("correct_hazard", &bin.correct_hazard)
            .estimate("incorrect_hazard", &bin.incorrect_hazard)
            .estimate("accuracy", &bin.accuracy)
            .estimate("survival", &bin.survival)
            .estimate("answered_correct", &bin.answered_correct)
            .estimate("answered_incorrect", &bin.answered_incorrect)
    };
    rows.iter().flat_map(|row| row.bins.iter().map(move |bin| bin_row(row, bin))).collect()
}
