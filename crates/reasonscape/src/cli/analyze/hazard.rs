//! `reasonscape analyze hazard`: when models answer, and whether thinking longer helps.

use reasonscape_points::Estimator;

use super::{OfTrials, cells, count, cut_off, named, prefixed, several, share, task_cell, trials_cells};
use crate::analysis::{Bin, HazardOptions, HazardRow, ReachedAt, hazard, hazard_figure};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

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
    trials: OfTrials,
    /// Show a row for each bin of tokens.
    #[arg(long)]
    bins: bool,
    /// Tokens of a bin; without it, each bin is twice as wide as the one before.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..))]
    width: Option<u64>,
}

impl Hazard {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let OfTrials { pictured, by } = self.trials;
        let (Estimator { confidence, .. }, db, asked) = pictured.open(global).await?;
        let options = HazardOptions { by, width: self.width, confidence };
        let rows = hazard(&db, &asked, options).await?;
        let table = match (global.format, self.bins) {
            (Format::Csv, false) => for_programs(&rows),
            (Format::Csv, true) => bins_for_programs(&rows),
            (_, false) => for_people(&rows),
            (_, true) => bins_for_people(&rows),
        };
        print(global.format, &table, &rows)?;
        pictured.plot.draw(global, || hazard_figure(&rows, confidence))?;
        if pictured.selected.mode.is_some() {
            global.note(
                "`--mode` changes nothing here: answers are counted as they are, lucky guesses among them",
            );
        }
        say_beside(&rows, global);
        Ok(())
    }
}

fn say_beside(rows: &[HazardRow], global: Global) {
    const FEW: usize = 6;
    if rows.is_empty() {
        global.note("nothing was answered yet; `reasonscape run` asks, `reasonscape evaluate` counts");
        return;
    }
    if rows.len() <= FEW {
        for row in rows {
            global.caption(format_args!("{}: {}", row.title(), row.finding));
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
        global.note(format_args!("{} without a count of tokens left out", several(without, "trial")));
    }
}

pub(crate) fn for_people(rows: &[HazardRow]) -> Table {
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
            count(row.n),
            count(row.correct),
            count(row.incorrect),
            cut_off(row.censored, row.truncation_known),
            median(row.median),
            turn.map_or(Cell::Missing, |turn| count(turn.beyond)),
            turn.map_or(Cell::Missing, |turn| share(&turn.before)),
            turn.map_or(Cell::Missing, |turn| share(&turn.after)),
        ]);
    }
    table
}

/// `512 (480 to 540)`; a bound that the data do not reach is open.
pub(super) fn median(median: ReachedAt) -> Cell {
    let Some(tokens) = median.tokens else { return Cell::Missing };
    let end = |end: Option<u64>| end.map_or("?".to_owned(), |end| end.to_string());
    Cell::Shown(format!("{tokens} ({} to {})", end(median.low), end(median.high)))
}

fn bins_for_people(rows: &[HazardRow]) -> Table {
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
            count(bin.at_risk),
            count(bin.correct),
            count(bin.incorrect),
            cut_off(bin.censored, row.truncation_known),
            share(&bin.correct_hazard),
            share(&bin.incorrect_hazard),
            share(&bin.accuracy),
            share(&bin.survival),
        ]);
    }
    table
}

fn first_cells(row: &HazardRow) -> Vec<(String, Cell)> {
    trials_cells(&row.eval, row.task.as_ref(), row.truncation_known)
}

fn for_programs(rows: &[HazardRow]) -> Table {
    let optional = |number: Option<u64>| number.map_or(Cell::Missing, count);
    let row = |row: &HazardRow| {
        let turn = row.stops_helping.as_ref();
        let of_turn = |value: fn(&crate::analysis::Turn) -> f64| Cell::optional(turn.map(value), 4);
        let counted = cells([
            ("n", count(row.n)),
            ("without_tokens", count(row.without_tokens)),
            ("correct", count(row.correct)),
            ("incorrect", count(row.incorrect)),
            ("censored", count(row.censored)),
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
    named(rows.iter().map(row).collect())
}

fn bins_for_programs(rows: &[HazardRow]) -> Table {
    let bin = |row: &HazardRow, bin: &Bin| {
        let counted = cells([
            ("above", count(bin.above)),
            ("up_to", count(bin.up_to)),
            ("at_risk", count(bin.at_risk)),
            ("correct", count(bin.correct)),
            ("incorrect", count(bin.incorrect)),
            ("censored", count(bin.censored)),
        ]);
        let shares = [
            ("correct_hazard", &bin.correct_hazard),
            ("incorrect_hazard", &bin.incorrect_hazard),
            ("accuracy", &bin.accuracy),
            ("survival", &bin.survival),
            ("answered_correct", &bin.answered_correct),
            ("answered_incorrect", &bin.answered_incorrect),
        ];
        let shares = shares.into_iter().flat_map(|(name, bounds)| prefixed(name, bounds));
        first_cells(row).into_iter().chain(counted).chain(shares).collect()
    };
    named(rows.iter().flat_map(|row| row.bins.iter().map(move |one| bin(row, one))).collect())
}
