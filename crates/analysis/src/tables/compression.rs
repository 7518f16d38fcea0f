//! Compressed sizes as tables.

use super::row_builder::RowBuilder;
use super::{Cell, Table};
use crate::{
    Compression, CompressionRow, EffectSize, EntropyByParameter, EntropyRow, OutcomeStats, QuartileSummary,
};

/// The measure that the table and the figure show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CompressionMeasure {
    /// Bits per token.
    #[default]
    Bits,
    /// Bytes after gzip.
    Size,
}

impl CompressionMeasure {
    /// The quartiles of the trials of one outcome.
    pub fn quartiles(self) -> fn(&OutcomeStats) -> Option<QuartileSummary> {
        match self {
            Self::Bits => |stats| stats.bits_per_token,
            Self::Size => |stats| stats.compressed_size,
        }
    }

    fn effect(self, row: &CompressionRow) -> Option<&EffectSize> {
        match self {
            Self::Bits => row.bits_effect.as_ref(),
            Self::Size => row.size_effect.as_ref(),
        }
    }

    /// The name of the measure.
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

/// The table for readers.
pub fn display_table(found: &Compression, measure: CompressionMeasure) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        "correct",
        "incorrect",
        "truncated",
        "repetition loops",
        "at equal length",
        "correct have",
        "Cliff's delta, not adjusted",
        "trials",
    ]);
    let quartiles_cell = |stats: &OutcomeStats| {
        let decimals = measure.decimals();
        measure.quartiles()(stats).map_or(Cell::Missing, |quartiles| {
            Cell::Formatted(format!(
                "{:.decimals$} ({:.decimals$} to {:.decimals$})",
                quartiles.median, quartiles.lower, quartiles.upper
            ))
        })
    };
    for row in &found.rows {
        let (effect, adjusted) = (measure.effect(row), row.equal_length_effect.as_ref());
        table.push(vec![
            Cell::text(&row.group.label),
            Cell::task(row.group.task.as_ref()),
            quartiles_cell(&row.correct),
            quartiles_cell(&row.incorrect),
            if row.group.truncation_known { quartiles_cell(&row.truncated) } else { Cell::unknown() },
            loops_cell(row),
            adjusted.map_or(Cell::Missing, |effect| Cell::Formatted(effect.percent_text())),
            adjusted.map_or(Cell::Missing, |effect| Cell::Formatted(effect.verdict().to_owned())),
            effect.map_or(Cell::Missing, |effect| {
                Cell::Formatted(format!("{:+.2} ({:+.2} to {:+.2})", effect.delta, effect.low, effect.high))
            }),
            Cell::count(row.n),
        ]);
    }
    table
}

/// Bits per token by a parameter.
pub fn entropy_table(found: &EntropyByParameter) -> Table {
    let mut table = Table::new(&[
        "name",
        "task",
        found.parameter.as_str(),
        "bits per token",
        "CI of the median",
        "trials",
    ]);
    for row in &found.rows {
        let bits = &row.bits_per_token;
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.base_task),
            Cell::Formatted(row.value.to_string()),
            Cell::Formatted(format!("{:.1} ({:.1} to {:.1})", bits.median, bits.lower, bits.upper)),
            bits.median_low
                .zip(bits.median_high)
                .map_or(Cell::Missing, |(low, high)| Cell::Formatted(format!("{low:.1} to {high:.1}"))),
            Cell::count(row.n),
        ]);
    }
    table
}

/// Bits per token by a parameter, for programs.
pub fn export_entropy_table(found: &EntropyByParameter) -> Table {
    let row = |row: &EntropyRow| {
        let cells = RowBuilder::new()
            .eval(&row.eval)
            .text("base_task", &row.base_task)
            .text("parameter", &found.parameter)
            .number("value", row.value, 4)
            .count("n", row.n);
        with_quartiles(cells, "bits", Some(row.bits_per_token))
    };
    found.rows.iter().map(row).collect()
}

/// `3 (1.0 to 8.5 %)`; missing if no trial has bits per token.
fn loops_cell(row: &CompressionRow) -> Cell {
    let loops = &row.loops;
    if loops.of == 0 {
        return Cell::Missing;
    }
    let [low, high] = [loops.proportion.low, loops.proportion.high].map(|proportion| 100.0 * proportion);
    Cell::Formatted(format!("{} ({low:.1} to {high:.1} %)", loops.count))
}

/// The table for programs: every column, every digit.
pub fn export_table(found: &Compression) -> Table {
    let row = |row: &CompressionRow| {
        let mut cells = RowBuilder::new().trial_group(&row.group).count("n", row.n);
        for (outcome, stats) in
            [("correct", &row.correct), ("incorrect", &row.incorrect), ("truncated", &row.truncated)]
        {
            cells = cells
                .count(format!("{outcome}_n"), stats.n)
                .count(format!("{outcome}_with_bits"), stats.with_bits);
            cells = with_quartiles(cells, &format!("{outcome}_bits"), stats.bits_per_token);
            cells = with_quartiles(cells, &format!("{outcome}_size"), stats.compressed_size);
        }
        for (measure, effect) in [("bits", row.bits_effect), ("size", row.size_effect)] {
            cells = cells
                .optional_number(format!("{measure}_delta"), effect.map(|effect| effect.delta), 4)
                .optional_number(format!("{measure}_delta_low"), effect.map(|effect| effect.low), 4)
                .optional_number(format!("{measure}_delta_high"), effect.map(|effect| effect.high), 4)
                .optional_number(format!("{measure}_auc"), effect.map(|effect| effect.auc), 4);
        }
        let adjusted = row.equal_length_effect;
        cells
            .optional_number("equal_length_ratio", adjusted.map(|effect| effect.ratio), 4)
            .optional_number("equal_length_ratio_low", adjusted.map(|effect| effect.low), 4)
            .optional_number("equal_length_ratio_high", adjusted.map(|effect| effect.high), 4)
            .optional_number("length_correlation", adjusted.and_then(|effect| effect.length_correlation), 4)
            .count("loops", row.loops.count)
            .count("loops_of", row.loops.of)
            .number("loop_bits_below", row.loops.rule.bits_below, 4)
            .number("loop_tokens_from", row.loops.rule.tokens_from, 0)
            .estimate("loop_share", &row.loops.proportion)
            .text("finding", &row.finding)
    };
    found.rows.iter().map(row).collect()
}

fn with_quartiles(row: RowBuilder, name: &str, quartiles: Option<QuartileSummary>) -> RowBuilder {
    let quartiles = quartiles.as_ref();
    row.optional_number(format!("{name}_smallest"), quartiles.map(|found| found.smallest), 4)
        .optional_number(format!("{name}_lower"), quartiles.map(|found| found.lower), 4)
        .optional_number(format!("{name}_median"), quartiles.map(|found| found.median), 4)
        .optional_number(format!("{name}_median_low"), quartiles.and_then(|found| found.median_low), 4)
        .optional_number(format!("{name}_median_high"), quartiles.and_then(|found| found.median_high), 4)
        .optional_number(format!("{name}_upper"), quartiles.map(|found| found.upper), 4)
        .optional_number(format!("{name}_largest"), quartiles.map(|found| found.largest), 4)
}
