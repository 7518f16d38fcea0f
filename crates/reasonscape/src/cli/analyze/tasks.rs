//! `reasonscape analyze tasks`: how the tasks were answered, and what is missing of them.

use reasonscape_stats::Mode;

use super::{Selected, Sure, bounds_cells, cells, count, named, share, some, truncated};
use crate::analysis::{TaskSummary, tasks};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// List the tasks: how they were answered, and what is missing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze tasks my-study --filter model=small-model")]
pub(super) struct Tasks {
    #[command(flatten)]
    selected: Selected,
    #[command(flatten)]
    sure: Sure,
}

impl Tasks {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let estimator = self.sure.estimator(self.selected.mode.unwrap_or(Mode::C_P))?;
        let (db, asked) = self.selected.open(global).await?;
        let rows = tasks(&db, &asked, estimator).await?;
        let table = if global.format == Format::Csv { for_programs(&rows) } else { for_people(&rows) };
        print(global.format, &table, &rows)?;
        global.caption(format_args!(
            "`correct` is by {}, all evaluations together: how hard the task is for these models",
            estimator.mode
        ));
        for row in rows.iter().filter(|row| !row.missing_evals.is_empty()) {
            global.note(format_args!("{} has no trial by {}", row.task, some(&row.missing_evals)));
        }
        Ok(())
    }
}

fn for_people(rows: &[TaskSummary]) -> Table {
    let mut table =
        Table::new(&["task", "evals", "points", "trials", "missing", "correct", "truncated", "mean tokens"]);
    for row in rows {
        let evals = match row.missing_evals.len() as u64 {
            0 => row.evals.to_string(),
            missing => format!("{} of {}", row.evals, row.evals + missing),
        };
        table.push(vec![
            Cell::text(&row.task),
            Cell::Shown(evals),
            count(row.points),
            count(row.n),
            count(row.missing),
            share(&row.correct),
            truncated(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
        ]);
    }
    table
}

fn for_programs(rows: &[TaskSummary]) -> Table {
    let row = |row: &TaskSummary| {
        let counted = cells([
            ("task", Cell::text(&row.task)),
            ("evals", count(row.evals)),
            ("missing_evals", Cell::text(row.missing_evals.join(" "))),
            ("points", count(row.points)),
            ("n", count(row.n)),
            ("n_e", count(row.n_e)),
            ("n_u", count(row.n_u)),
            ("n_t", count(row.n_t)),
            ("g", Cell::Number(row.g, 2)),
            ("missing", count(row.missing)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("mode", Cell::text(row.mode)),
        ]);
        [counted, bounds_cells(&row.correct)].concat()
    };
    named(rows.iter().map(row).collect())
}
