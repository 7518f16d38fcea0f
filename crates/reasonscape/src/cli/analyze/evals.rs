//! `reasonscape analyze evals`: which evaluations there are, and what they lack.

use reasonscape_points::Estimator;
use reasonscape_stats::Mode;

use super::{Selected, bounds_cells, cells, count, eval_cells, named, note_missing, share, truncated};
use crate::analysis::{EvalSummary, evals};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// List the evaluations: how much of each is there, and what is missing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze evals my-study --filter groups=arch:moe")]
pub(super) struct Evals {
    #[command(flatten)]
    selected: Selected,
}

impl Evals {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (db, asked) = self.selected.open(global).await?;
        let estimator = Estimator::from(self.selected.mode.unwrap_or(Mode::C_P));
        let rows = evals(&db, &asked, estimator).await?;
        let table = if global.format == Format::Csv { for_programs(&rows) } else { for_people(&rows) };
        print(global.format, &table, &rows)?;
        global.caption(format_args!("`correct` is by {}, all tasks together", estimator.mode));
        for row in rows.iter().filter(|row| !row.missing_tasks.is_empty()) {
            global.note(format_args!("{} has no trial of {}", row.eval.name, row.missing_tasks.join(", ")));
        }
        note_missing(&db, rows.iter().map(|row| (&row.eval.eval_id, row.missing)), "", global);
        Ok(())
    }
}

fn for_people(rows: &[EvalSummary]) -> Table {
    let mut table = Table::new(&[
        "eval",
        "name",
        "tasks",
        "points",
        "trials",
        "missing",
        "correct",
        "truncated",
        "mean tokens",
        "model",
        "template",
        "sampler",
        "groups",
    ]);
    for row in rows {
        let tasks = match row.missing_tasks.len() as u64 {
            0 => row.tasks.to_string(),
            missing => format!("{} of {}", row.tasks, row.tasks + missing),
        };
        table.push(vec![
            Cell::text(&row.eval.eval_id),
            Cell::text(&row.eval.name),
            Cell::Shown(tasks),
            count(row.points),
            count(row.trials),
            count(row.missing),
            share(&row.correct),
            truncated(row.truncation_rate, row.truncation_known),
            Cell::optional(row.tokens_mean, 0),
            Cell::text(&row.eval.model),
            Cell::text(&row.eval.template),
            Cell::text(&row.eval.sampler),
            Cell::text(row.eval.groups.join(" ")),
        ]);
    }
    table
}

fn for_programs(rows: &[EvalSummary]) -> Table {
    let row = |row: &EvalSummary| {
        let counted = cells([
            ("tasks", count(row.tasks)),
            ("missing_tasks", Cell::text(row.missing_tasks.join(" "))),
            ("points", count(row.points)),
            ("trials", count(row.trials)),
            ("missing", count(row.missing)),
            ("missing_points", count(row.missing_points)),
            ("truncation_rate", Cell::optional(row.truncation_rate, 4)),
            ("tokens_mean", Cell::optional(row.tokens_mean, 1)),
            ("mode", Cell::text(row.mode)),
        ]);
        [eval_cells(&row.eval), counted, bounds_cells(&row.correct)].concat()
    };
    named(rows.iter().map(row).collect())
}
