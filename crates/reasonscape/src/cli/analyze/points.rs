//! `reasonscape analyze points`: one row a point.

use reasonscape_stats::Mode;

use super::{Selected, Sure, bounds_cells, cells, count, named, note_missing, several, share};
use crate::analysis::{PointSummary, points, telling_coordinates};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// List the points, each with its counters and its estimate
///
/// The estimator is `C_I` unless told otherwise: what the model knows where it was not cut off.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape analyze points my-study --filter base_task=arithmetic --filter params.length=8..32"
)]
pub(super) struct Points {
    #[command(flatten)]
    selected: Selected,
    #[command(flatten)]
    sure: Sure,
}

impl Points {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let estimator = self.sure.estimator(self.selected.mode.unwrap_or(Mode::C_I))?;
        let (db, asked) = self.selected.open(global).await?;
        let rows = points(&db, &asked, estimator).await?;
        let table = if global.format == Format::Csv { for_programs(&rows) } else { for_people(&rows) };
        print(global.format, &table, &rows)?;
        global.caption(format_args!(
            "`correct` is by {}; `params` has the coordinates that differ between the points of a task",
            estimator.mode
        ));
        let empty = rows.iter().filter(|row| row.n == 0).count() as u64;
        let without_any = format!(", {} without any", several(empty, "point"));
        note_missing(&db, rows.iter().map(|row| (&row.eval_id, row.missing)), &without_any, global);
        Ok(())
    }
}

fn for_people(rows: &[PointSummary]) -> Table {
    let mut table =
        Table::new(&["eval", "task", "params", "correct", "n", "n_e", "n_t", "g", "missing", "low", "high"]);
    let telling = telling_coordinates(rows);
    for row in rows {
        let is_known = row.n > 0;
        let known = |number| if is_known { Cell::Number(number, 3) } else { Cell::Missing };
        table.push(vec![
            Cell::text(&row.label),
            Cell::text(&row.task),
            Cell::text(row.coordinates(&telling[row.task.as_str()])),
            share(&row.estimate),
            count(row.n),
            count(row.n_e),
            if row.truncation_known { count(row.n_t) } else { Cell::Shown("?".to_owned()) },
            Cell::Number(row.g, 1),
            count(row.missing),
            known(row.estimate.low),
            known(row.estimate.high),
        ]);
    }
    table
}

fn for_programs(rows: &[PointSummary]) -> Table {
    let row = |row: &PointSummary| {
        let counted = cells([
            ("eval_id", Cell::text(&row.eval_id)),
            ("model", Cell::text(&row.model)),
            ("template", Cell::text(&row.template)),
            ("sampler", Cell::text(&row.sampler)),
            ("task", Cell::text(&row.task)),
            ("params", Cell::text(row.params.to_string())),
            ("manifolds", Cell::text(row.manifolds.join(" "))),
            ("n", count(row.n)),
            ("n_e", count(row.n_e)),
            ("n_u", count(row.n_u)),
            ("n_t", count(row.n_t)),
            ("g", Cell::Number(row.g, 2)),
            ("missing", count(row.missing)),
            ("mode", Cell::text(row.mode)),
        ]);
        [counted, bounds_cells(&row.estimate)].concat()
    };
    named(rows.iter().map(row).collect())
}
