//! `reasonscape analyze frontier`: where a model breaks.

use super::surface::say_what_goes_along;
use super::{Pictured, cells, count, eval_cells, named};
use crate::analysis::{FrontierRow, frontier_figure, frontiers};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// Find where a model breaks: the value of a parameter at which half of the answers are known
///
/// For each evaluation and task a logistic curve is fitted by maximum likelihood, lucky guesses taken out; the interval
/// is by profile likelihood. `--mode` says what counts as success and what becomes of truncated trials, which fail
/// unless told otherwise.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze frontier my-study\n  \
    reasonscape analyze frontier my-study --x length --mode C_I --plot frontier.svg")]
pub(super) struct Frontier {
    #[command(flatten)]
    pictured: Pictured,
    /// Numeric parameter along which to look; of each task the one that varies most unless given.
    #[arg(long, value_name = "PARAMETER")]
    x: Option<String>,
}

impl Frontier {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (estimator, db, asked) = self.pictured.open(global).await?;
        let found = frontiers(&db, &asked, self.x.as_deref(), estimator).await?;
        let rows = &found.rows;
        let table = if global.format == Format::Csv { for_programs(rows) } else { for_people(rows) };
        print(global.format, &table, rows)?;
        global.caption("`half known` is the value at which half is known; `misfit p` is small where the curve fits badly");
        for row in rows.iter().filter(|row| !row.is_plain()).take(MOST_FINDINGS) {
            global.caption(format_args!("{} on {}: {}", row.label, row.task, row.finding));
        }
        let more = rows.iter().filter(|row| !row.is_plain()).count().saturating_sub(MOST_FINDINGS);
        if more > 0 {
            global.caption(format_args!(
                "{more} more do not simply cross; `--format json` has a sentence on each"
            ));
        }
        let mixed = rows.chunk_by(|a, b| a.task == b.task).map(|rows| &rows[0]);
        let mixed = mixed.filter(|row| !row.mixed.is_empty());
        let mixed =
            mixed.map(|row| format!("{} ({} with {})", row.task, row.mixed.join(", "), row.parameter));
        say_what_goes_along(&mixed.collect::<Vec<_>>(), global);
        for (task, reason) in &found.without {
            global.note(format_args!("{task} {reason} and is not shown"));
        }
        self.pictured.plot.draw(global, || frontier_figure(rows, estimator.confidence.level()))
    }
}

/// Longer lists of sentences are not read.
const MOST_FINDINGS: usize = 8;

pub(crate) fn for_people(rows: &[FrontierRow]) -> Table {
    let columns =
        ["eval", "task", "parameter", "half known", "low", "high", "crossing", "misfit p", "n", "tested"];
    let mut table = Table::new(&columns);
    for row in rows {
        let curve = row.curve.as_ref();
        let number = |number: Option<f64>| Cell::optional(number, 2);
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(&row.parameter),
            number(curve.and_then(|curve| curve.x50)),
            number(curve.and_then(|curve| curve.low)),
            number(curve.and_then(|curve| curve.high)),
            Cell::Shown(curve.map_or_else(|| "cannot tell".to_owned(), |curve| curve.crossing.to_string())),
            Cell::optional(curve.and_then(|curve| curve.lack_of_fit.p), 3),
            count(row.n),
            match row.tested.as_slice() {
                [] => Cell::Missing,
                [only] => Cell::Shown(only.to_string()),
                [first, .., last] => Cell::Shown(format!("{first} to {last}")),
            },
        ]);
    }
    table
}

fn for_programs(rows: &[FrontierRow]) -> Table {
    let row = |row: &FrontierRow| {
        let curve = row.curve.as_ref();
        let word = |word: Option<String>| word.map_or(Cell::Missing, Cell::Text);
        let number = |number: Option<f64>| Cell::optional(number, 4);
        let fit = curve.map(|curve| curve.lack_of_fit);
        let found = cells([
            ("task", Cell::text(&row.task)),
            ("parameter", Cell::text(&row.parameter)),
            ("mixed", Cell::text(row.mixed.join(" "))),
            ("tested_low", number(row.tested.first().copied())),
            ("tested_high", number(row.tested.last().copied())),
            ("tested_values", count(row.tested.len() as u64)),
            ("n", count(row.n)),
            ("crossing", word(curve.map(|curve| curve.crossing.to_string().replace(' ', "_")))),
            ("trend", word(curve.map(|curve| curve.trend.to_string()))),
            ("x50", number(curve.and_then(|curve| curve.x50))),
            ("low", number(curve.and_then(|curve| curve.low))),
            ("high", number(curve.and_then(|curve| curve.high))),
            ("intercept", number(curve.map(|curve| curve.intercept))),
            ("slope", number(curve.map(|curve| curve.slope))),
            ("slope_p", number(curve.map(|curve| curve.slope_p))),
            ("misfit_g2", number(fit.map(|fit| fit.g2))),
            ("misfit_degrees", number(fit.map(|fit| fit.degrees as f64))),
            ("misfit_p", number(fit.and_then(|fit| fit.p))),
            ("dispersion", number(fit.and_then(|fit| fit.dispersion))),
            ("finding", Cell::text(&row.finding)),
            ("mode", Cell::text(row.mode)),
        ]);
        [eval_cells(&row.eval), found].concat()
    };
    named(rows.iter().map(row).collect())
}
