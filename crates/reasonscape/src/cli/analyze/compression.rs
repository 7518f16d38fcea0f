//! `reasonscape analyze compression`: how much thought a token holds.

use reasonscape_points::Estimator;

use super::{OfTrials, cells, count, named, prefixed, several, task_cell, trials_cells};
use crate::analysis::{
    Compression as Found, CompressionOptions, CompressionRow, Dominance, Ended, Spread, compression,
    compression_figure,
};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// Show how trials compress by how they ended, and which go round in circles
///
/// What a model thinks (or all it says, where it shows no thoughts) is compressed by gzip; the bits that are left per
/// token say how much is new in it. A long trial with hardly any is a loop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze compression my-study\n  \
    reasonscape analyze compression my-study --by eval --measure size --plot sizes.svg")]
pub(super) struct Compression {
    #[command(flatten)]
    trials: OfTrials,
    /// What the table and the picture show; JSON and CSV have both.
    #[arg(long, value_enum, default_value_t)]
    measure: Shown,
    /// Call a long trial a loop below this many bits per token, instead of a quarter of what is usual.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    loop_bits: Option<f64>,
    /// Examples of loops to show.
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Shown {
    /// Bits per token.
    #[default]
    Bits,
    /// Bytes after gzip.
    Size,
}

impl Shown {
    fn spread(self) -> fn(&Ended) -> Option<Spread> {
        match self {
            Self::Bits => |ended| ended.bits_per_token,
            Self::Size => |ended| ended.compressed_size,
        }
    }

    fn effect(self, row: &CompressionRow) -> Option<&Dominance> {
        match self {
            Self::Bits => row.bits_effect.as_ref(),
            Self::Size => row.size_effect.as_ref(),
        }
    }

    fn label(self) -> &'static str {
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

impl Compression {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        if let Some(bits) = self.loop_bits
            && !(bits.is_finite() && bits > 0.0)
        {
            return Err(Failure::input(format_args!(
                "`--loop-bits {bits}` is out of range; give a number of bits above 0, as 1.5"
            )));
        }
        let OfTrials { pictured, by } = self.trials;
        let (Estimator { confidence, .. }, db, asked) = pictured.open(global).await?;
        let options =
            CompressionOptions { by, confidence, loop_bits: self.loop_bits, examples: self.examples };
        let found = compression(&db, &asked, options).await?;
        let table = if global.format == Format::Csv {
            for_programs(&found)
        } else {
            for_people(&found, self.measure)
        };
        print(global.format, &table, &found)?;
        let measure = self.measure;
        pictured.plot.draw(global, || compression_figure(&found, measure.spread(), measure.label()))?;
        if pictured.selected.mode.is_some() {
            global.note("`--mode` changes nothing here: trials are sorted by how they ended");
        }
        say_beside(&found, measure, global);
        Ok(())
    }
}

fn say_beside(found: &Found, measure: Shown, global: Global) {
    const FEW: usize = 6;
    let rows = &found.rows;
    if rows.is_empty() {
        global.note("nothing was answered yet; `reasonscape run` asks, `reasonscape evaluate` counts");
        return;
    }
    global.caption(format_args!(
        "{}: median (quartiles); delta is Cliff's, right against wrong: 1 if every right answer has more",
        measure.label()
    ));
    if rows.len() <= FEW {
        for row in rows {
            global.caption(format_args!("{}: {}", row.title(), row.finding));
        }
    } else {
        let is_clear = |row: &&CompressionRow| row.bits_effect.is_some_and(|effect| effect.clear);
        let (clear, loops) =
            (rows.iter().filter(is_clear).count(), rows.iter().map(|row| row.loops.count).sum());
        global.caption(format_args!(
            "in {clear} of {} rows bits per token tell right from wrong answers; {} in circles",
            rows.len(),
            several(loops, "trial")
        ));
    }
    for example in &found.examples {
        let rule = rows.iter().find(|row| row.eval.eval_id == example.eval_id).map(|row| row.loops.rule);
        global.caption(format_args!(
            "loop: {} on {} {} test {}: {:.2} bits per token over {} tokens (a loop is below {:.2}), {}, key {}{}",
            example.label,
            example.task,
            example.params,
            example.index,
            example.bits_per_token,
            example.completion_tokens,
            rule.map_or(0.0, |rule| rule.bits_below),
            example.status,
            &example.cache_key[..12.min(example.cache_key.len())],
            example.words.as_ref().map_or(String::new(), |words| format!(": \"{words}\""))
        ));
    }
    let known: u64 = rows.iter().map(|row| row.loops.of).sum();
    let all: u64 = rows.iter().map(|row| row.n).sum();
    if known < all {
        global.note(format_args!(
            "{} without bits per token: no tokens counted, or nothing to compress",
            several(all - known, "trial")
        ));
    }
}

/// The table of bits per token.
pub(crate) fn bits_for_people(found: &Found) -> Table {
    for_people(found, Shown::Bits)
}

fn for_people(found: &Found, measure: Shown) -> Table {
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
    let spread = |ended: &Ended| {
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
            count(row.n),
            loops(row),
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

fn verdict(effect: &Dominance) -> &'static str {
    match (effect.clear, effect.delta > 0.0) {
        (false, _) => "cannot tell",
        (true, true) => "more",
        (true, false) => "fewer",
    }
}

/// `3 (1.0 to 8.5 %)`; nothing where no trial could be one.
fn loops(row: &CompressionRow) -> Cell {
    let loops = &row.loops;
    if loops.of == 0 {
        return Cell::Missing;
    }
    let [low, high] = [loops.share.low, loops.share.high].map(|share| 100.0 * share);
    Cell::Shown(format!("{} ({low:.1} to {high:.1} %)", loops.count))
}

fn for_programs(found: &Found) -> Table {
    let row = |row: &CompressionRow| {
        let mut numbers = trials_cells(&row.eval, row.task.as_ref(), row.truncation_known);
        numbers.push(("n".to_owned(), count(row.n)));
        for (name, ended) in
            [("correct", &row.correct), ("incorrect", &row.incorrect), ("truncated", &row.truncated)]
        {
            numbers.push((format!("{name}_n"), count(ended.n)));
            numbers.push((format!("{name}_with_bits"), count(ended.with_bits)));
            numbers.extend(spread_cells(&format!("{name}_bits"), ended.bits_per_token));
            numbers.extend(spread_cells(&format!("{name}_size"), ended.compressed_size));
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
        numbers.extend(cells([
            ("loops", count(row.loops.count)),
            ("loops_of", count(row.loops.of)),
            ("loop_bits_below", Cell::Number(row.loops.rule.bits_below, 4)),
            ("loop_tokens_from", Cell::Number(row.loops.rule.tokens_from, 0)),
        ]));
        numbers.extend(prefixed("loop_share", &row.loops.share));
        numbers.push(("finding".to_owned(), Cell::text(&row.finding)));
        numbers
    };
    named(found.rows.iter().map(row).collect())
}

fn spread_cells(name: &str, spread: Option<Spread>) -> Vec<(String, Cell)> {
    let of = |value: fn(&Spread) -> Option<f64>| Cell::optional(spread.as_ref().and_then(value), 4);
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
