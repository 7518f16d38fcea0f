//! `reasonscape analyze compression`: compressed size of the reasoning, and repetition loops.

use reasonscape_analysis::tables::compression::{
    CompressionMeasure, display_table, entropy_table, export_entropy_table, export_table,
};
use reasonscape_analysis::{
    Compression as Found, CompressionOptions, CompressionRow, compression, compression_figure,
    entropy_by_parameter,
};

use super::{TrialArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::print_table;

/// Measure how well reasoning compresses, by outcome, and find repetition loops
///
/// The reasoning of each trial (or the whole reply, if there is no separate reasoning) is compressed with gzip. Bits per
/// token measure how much of it is new; a long trial with very few is a repetition loop.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze compression my-study\n  \
    reasonscape analyze compression my-study --by eval --measure size --plot sizes.svg\n  \
    reasonscape analyze compression my-study --filter base_task=arithmetic --x length")]
pub(super) struct Compression {
    #[command(flatten)]
    trials: TrialArgs,
    /// Measure of the table and the figure; JSON and CSV contain both.
    #[arg(long, value_enum, default_value_t)]
    measure: MeasureArg,
    /// Count a long trial as a loop below this many bits per token [default: a quarter of the typical value].
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    loop_bits: Option<f64>,
    /// Number of example loops to show.
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// Show bits per token by this parameter instead, and compare models at equal values.
    #[arg(long, value_name = "PARAMETER", conflicts_with_all = ["by", "measure", "loop_bits", "examples", "plot"])]
    x: Option<String>,
}

/// The measure of the table and the figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum MeasureArg {
    /// Bits per token.
    #[default]
    Bits,
    /// Bytes after gzip.
    Size,
}

impl From<MeasureArg> for CompressionMeasure {
    fn from(measure: MeasureArg) -> Self {
        match measure {
            MeasureArg::Bits => Self::Bits,
            MeasureArg::Size => Self::Size,
        }
    }
}

impl Compression {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        if let Some(bits) = self.loop_bits
            && !(bits.is_finite() && bits > 0.0)
        {
            return Err(CliError::input(format_args!(
                "`--loop-bits {bits}` is out of range; expected a number above 0, e.g. 1.5"
            )));
        }
        if let Some(parameter) = &self.x {
            let (confidence, db, query) = self.trials.plot_args.open(global).await?;
            let found = entropy_by_parameter(&db, &query, parameter, confidence).await?;
            print_table(global, || entropy_table(&found), || export_entropy_table(&found), &found)?;
            global.caption("bits per token: median (quartiles) of all trials, truncated ones included");
            for finding in found.findings() {
                global.caption(finding);
            }
            return Ok(());
        }
        let measure = CompressionMeasure::from(self.measure);
        let TrialArgs { plot_args, by } = self.trials;
        let (confidence, db, query) = plot_args.open(global).await?;
        let options = CompressionOptions {
            by: by.into(),
            confidence,
            loop_bits: self.loop_bits,
            examples: self.examples,
        };
        let found = compression(&db, &query, options).await?;
        print_table(global, || display_table(&found, measure), || export_table(&found), &found)?;
        plot_args.plot.draw(global, || compression_figure(&found, measure.quartiles(), measure.label()))?;
        print_notes(&found, measure, global);
        Ok(())
    }
}

fn print_notes(found: &Found, measure: CompressionMeasure, global: Global) {
    const MAX_LISTED: usize = 6;
    let rows = &found.rows;
    if rows.is_empty() {
        global.note("no scored trials yet; `reasonscape run` sends the requests and scores the responses");
        return;
    }
    global.caption(format_args!(
        "{}: median (quartiles); at equal length: bits per token of correct answers relative to incorrect ones of the same \
         length, by regression; delta is Cliff's delta of correct versus incorrect trials: 1 if every correct one has more, \
         mostly because of length",
        measure.label()
    ));
    if rows.len() <= MAX_LISTED {
        for row in rows {
            global.caption(format_args!("{}: {}", row.group.title(), row.finding));
        }
    } else {
        let is_clear = |row: &&CompressionRow| row.equal_length_effect.is_some_and(|effect| effect.clear);
        let (clear, loops) =
            (rows.iter().filter(is_clear).count(), rows.iter().map(|row| row.loops.count).sum());
        global.caption(format_args!(
            "in {clear} of {} rows bits per token differ between correct and incorrect answers of equal length; repetition loops: {}",
            rows.len(),
            pluralize(loops, "trial")
        ));
    }
    for example in &found.examples {
        let rule =
            rows.iter().find(|row| row.group.eval.eval_id == example.eval_id).map(|row| row.loops.rule);
        global.caption(format_args!(
            "loop: {} on {} {} problem {}: {:.2} bits per token over {} tokens (a loop is below {:.2}), {}, key {}{}",
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
            "{} without bits per token: no token count, or no text",
            pluralize(all - known, "trial")
        ));
    }
}
