//! Compressed sizes as tables.

use super::cells::{
    count_cell, named_cells, prefixed_bounds_cells, table_from_named_cells, task_cell, trial_group_cells,
};
use super::{Cell, Table};
use crate::{Compression, CompressionRow, EffectSize, OutcomeStats, QuartileSummary};

/// What the table and the figure show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Bits per token.
    #[default]
    Bits,
    /// Bytes after gzip.
    Size,
}

impl Measure {
    /// The quartiles of trials that ended alike.
    pub fn spread(self) -> fn(&OutcomeStats) -> Option<QuartileSummary> {
        match self {
            Self::Bits => |ended| ended.bits_per_token,
            Self::Size => |ended| ended.compressed_size,
        }
    }

    fn effect(self, row: &CompressionRow) -> Option<&EffectSize> {
        match self {
            Self::Bits => row.bits_effect.as_ref(),
            Self::Size => row.size_effect.as_ref(),
        }
    }

    /// What it is called.
    pub fn label(self) -> &'static str {
        match self {
            Self::Bits => "bits per token",
            Self::Size => "compressed bytes",
        }
    }

    fn decimals(self) -> usize {
        match self {
            Self::Bits => 1,
            Self::Size => 0,
        }
    }
}

/// The table for people.
pub fn display_table(found: &Compression, measure: Measure) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "trials",
        "loops",
        "delta",
        "correct have",
        "correct",
        "incorrect",
        "truncated",
    ]);
    let spread = |ended: &OutcomeStats| {
        let decimals = measure.decimals();
        measure.spread()(ended).map_or(Cell::Missing, |spread| {
            Cell::Shown(format!(
                "{:.decimals$} ({:.decimals$} to {:.decimals$})",
                spread.median, spread.lower, spread.upper
            ))
        })
    };
    for row in &found.rows {
        let effect = measure.effect(row);
        table.push(vec![
            Cell::text(&row.label),
            task_cell(row.task.as_ref()),
            count_cell(row.n),
            loops_cell(row),
            effect.map_or(Cell::Missing, |effect| {
                Cell::Shown(format!("{:+.2} ({:+.2} to {:+.2})", effect.delta, effect.low, effect.high))
            }),
            effect.map_or(Cell::Missing, |effect| Cell::Shown(verdict(effect).to_owned())),
            spread(&row.correct),
            spread(&row.incorrect),
            if row.truncation_known { spread(&row.truncated) } else { Cell::Shown("?".to_owned()) },
        ]);
    }
    table
}

fn verdict(effect: &EffectSize) -> &'static str {
    match (effect.clear, effect.delta > 0.0) {
        (false, _) => "cannot tell",
        (true, true) => "more",
        (true, false) => "fewer",
    }
}

/// `3 (1.0 to 8.5 %)`; nothing where no trial could be one.
fn loops_cell(row: &CompressionRow) -> Cell {
    let loops = &row.loops;
    if loops.of == 0 {
        return Cell::Missing;
    }
    let [low, high] = [loops.share.low, loops.share.high].map(|share| 100.0 * share);
    Cell::Shown(format!("{} ({low:.1} to {high:.1} %)", loops.count))
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Compression) -> Table {
    let row = |row: &CompressionRow| {
        let mut numbers = trial_group_cells(&row.eval, row.task.as_ref(), row.truncation_known);
        numbers.push(("n".to_owned(), count_cell(row.n)));
        for (name, ended) in
            [("correct", &row.correct), ("incorrect", &row.incorrect), ("truncated", &row.truncated)]
        {
            numbers.push((format!("{name}_n"), count_cell(ended.n)));
            numbers.push((format!("{name}_with_bits"), count_cell(ended.with_bits)));
            numbers.extend(quartile_cells(&format!("{name}_bits"), ended.bits_per_token));
            numbers.extend(quartile_cells(&format!("{name}_size"), ended.compressed_size));
        }
        for (name, effect) in [("bits", row.bits_effect), ("size", row.size_effect)] {
            for (what, value) in [
                ("delta", effect.map(|effect| effect.delta)),
                ("delta_low", effect.map(|effect| effect.low)),
                ("delta_high", effect.map(|effect| effect.high)),
                ("auc", effect.map(|effect| effect.auc)),
            ] {
                numbers.push((format!("{name}_{what}"), Cell::optional(value, 4)));
            }
        }
        numbers.extend(named_cells([
            ("loops", count_cell(row.loops.count)),
            ("loops_of", count_cell(row.loops.of)),
            ("loop_bits_below", Cell::Number(row.loops.rule.bits_below, 4)),
            ("loop_tokens_from", Cell::Number(row.loops.rule.tokens_from, 0)),
        ]));
        numbers.extend(prefixed_bounds_cells("loop_share", &row.loops.share));
        numbers.push(("finding".to_owned(), Cell::text(&row.finding)));
        numbers
    };
    table_from_named_cells(found.rows.iter().map(row).collect())
}

fn quartile_cells(name: &str, spread: Option<QuartileSummary>) -> Vec<(String, Cell)> {
    let of = |value: fn(&QuartileSummary) -> Option<f64>| Cell::optional(spread.as_ref().and_then(value), 4);
    [
        ("smallest", of(|spread| Some(spread.smallest))),
        ("lower", of(|spread| Some(spread.lower))),
        ("median", of(|spread| Some(spread.median))),
        ("median_low", of(|spread| spread.median_low)),
        ("median_high", of(|spread| spread.median_high)),
        ("upper", of(|spread| Some(spread.upper))),
        ("largest", of(|spread| Some(spread.largest))),
    ]
    .map(|(what, cell)| (format!("{name}_{what}"), cell))
    .to_vec()
}
