//! `reasonscape score`: ReasonScore of task bounds or counters from elsewhere.

mod input;

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_stats::score::{
    Bootstrap, Rank, ReasonScore, TaskBounds, min_max_score, ranks, reason_scores,
};
use reasonscape_stats::{Confidence, Mode};
use serde::Serialize;

use self::input::Evidence;
use super::{Global, InputFile, read_input};
use crate::error::CliError;
use crate::output::{Format, print};
use reasonscape_analysis::tables::{Cell, Table};

/// Compute the ReasonScore of task bounds or counters from elsewhere
///
/// Takes JSON or CSV. Each task has bounds (`low`, `high`) or counters (`n`, `n_e`, and `n_t`, `g` where they are not
/// 0). A `model` column or key makes it a leaderboard with rank intervals. A model that lacks a task of the others is
/// scored on what it has and marked `*`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"sort\": {\"low\": 0.8, \"high\": 0.9}, \"dates\": [0.5, 0.6]}' | reasonscape score -\n  \
    printf 'task,n,n_e,n_t,g\\nsort,128,100,5,0\\nshapes,128,70,0,16\\n' | reasonscape score -")]
pub(super) struct Score {
    #[command(flatten)]
    input: InputFile,
    /// Estimator that turns counters into bounds.
    #[arg(long, default_value = "C_P")]
    mode: Mode,
    /// `bootstrap` (the ReasonScore), or `min-max` (every task at its worst and at its best at once).
    #[arg(long, value_enum, default_value_t)]
    method: Method,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Method {
    #[default]
    Bootstrap,
    MinMax,
}

/// A model's score as programs read it.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    rank: usize,
    rank_best: usize,
    rank_worst: usize,
    center: f64,
    margin: f64,
    ci_low: f64,
    ci_high: f64,
    band: &'static str,
    meaning: &'static str,
    complete: bool,
    missing: Vec<String>,
    mode: &'static str,
    method: &'static str,
    tasks: BTreeMap<String, Bounds>,
}

/// The bounds that a task entered the score with.
#[derive(Debug, Serialize)]
struct Bounds {
    low: f64,
    high: f64,
}

impl Score {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let (name, text) = read_input(&self.input.path)?;
        let models = input::read(&name, &text).map_err(CliError::input)?;

        let bounds: Vec<Vec<TaskBounds>> = models
            .iter()
            .map(|model| model.tasks.values().map(|evidence| self.bounds(evidence)).collect())
            .collect();
        let scores = match self.method {
            Method::Bootstrap => reason_scores(&bounds, Bootstrap::default()),
            Method::MinMax => bounds.iter().map(|tasks| min_max_score(tasks)).collect(),
        }
        .map_err(|error| CliError::input(format!("{name}: {error}")))?;

        let suite: BTreeSet<&String> = models.iter().flat_map(|model| model.tasks.keys()).collect();
        let mut rows: Vec<Row> = models
            .iter()
            .zip(&bounds)
            .zip(scores.iter().zip(ranks(&scores)))
            .map(|((model, bounds), (score, rank))| {
                let tasks = model
                    .tasks
                    .keys()
                    .cloned()
                    .zip(bounds.iter().map(|task| Bounds { low: task.low(), high: task.high() }));
                let missing = suite.iter().filter(|task| !model.tasks.contains_key(**task));
                self.row(
                    model.name.clone(),
                    score,
                    rank,
                    missing.map(|task| (*task).clone()).collect(),
                    tasks.collect(),
                )
            })
            .collect();
        rows.sort_by_key(|row| row.rank);
        self.print(&rows, global)
    }

    fn bounds(&self, evidence: &Evidence) -> TaskBounds {
        match evidence {
            Evidence::Bounds(bounds) => *bounds,
            Evidence::Counters(counters) => self.mode.estimate(counters, Confidence::P95).into(),
        }
    }

    fn row(
        &self,
        model: Option<String>,
        score: &ReasonScore,
        rank: Rank,
        missing: Vec<String>,
        tasks: BTreeMap<String, Bounds>,
    ) -> Row {
        Row {
            model,
            rank: rank.rank,
            rank_best: rank.best,
            rank_worst: rank.worst,
            center: score.center(),
            margin: score.margin(),
            ci_low: score.ci_low,
            ci_high: score.ci_high,
            band: score.band().name(),
            meaning: score.band().meaning(),
            complete: missing.is_empty(),
            missing,
            mode: self.mode.name(),
            method: match self.method {
                Method::Bootstrap => "bootstrap",
                Method::MinMax => "min-max",
            },
            tasks,
        }
    }

    fn print(&self, rows: &[Row], global: Global) -> Result<(), CliError> {
        // One nameless model needs no places, and its JSON no list around it.
        let is_single = rows.len() == 1 && rows[0].model.is_none();
        let table = match (global.format, is_single) {
            (Format::Csv, _) => csv_table(rows),
            (_, true) => task_table(&rows[0]),
            (_, false) => leaderboard_table(rows),
        };
        if is_single { print(global.format, &table, &rows[0]) } else { print(global.format, &table, &rows) }?;
        if self.mode != Mode::C_P {
            global.note(format_args!("bounds by {}: comparable only with scores by {0}", self.mode));
        }
        for row in rows.iter().filter(|row| !row.complete) {
            let model = row.model.as_deref().unwrap_or("the model");
            global.note(format_args!("* {model} is scored without {}", row.missing.join(", ")));
        }
        Ok(())
    }
}

/// Every number of every model, for a spreadsheet.
fn csv_table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "rank",
        "rank_best",
        "rank_worst",
        "model",
        "center",
        "margin",
        "ci_low",
        "ci_high",
        "band",
        "complete",
        "tasks",
        "mode",
        "method",
    ]);
    for row in rows {
        table.push(vec![
            Cell::Number(row.rank as f64, 0),
            Cell::Number(row.rank_best as f64, 0),
            Cell::Number(row.rank_worst as f64, 0),
            row.model.as_ref().map_or(Cell::Missing, Cell::text),
            Cell::Number(row.center, 1),
            Cell::Number(row.margin, 1),
            Cell::Number(row.ci_low, 1),
            Cell::Number(row.ci_high, 1),
            Cell::text(row.band),
            Cell::text(row.complete.to_string()),
            Cell::Number(row.tasks.len() as f64, 0),
            Cell::text(row.mode),
            Cell::text(row.method),
        ]);
    }
    table
}

fn leaderboard_table(rows: &[Row]) -> Table {
    let mut table = Table::new(&["rank", "model", "ReasonScore", "95 % interval", "band", "tasks"]);
    for row in rows {
        let rank = if row.rank_best == row.rank_worst {
            row.rank.to_string()
        } else {
            format!("{}-{}", row.rank_best, row.rank_worst)
        };
        let mark = if row.complete { "" } else { "*" };
        table.push(vec![
            Cell::Formatted(rank),
            Cell::text(row.model.as_deref().unwrap_or("-")),
            Cell::Formatted(format!("{:.0} ± {:.0}{mark}", row.center, row.margin)),
            Cell::Formatted(format!("{:.0} to {:.0}", row.ci_low, row.ci_high)),
            Cell::text(row.band),
            Cell::Number(row.tasks.len() as f64, 0),
        ]);
    }
    table
}

/// The tasks that went in, and the score that came out.
fn task_table(row: &Row) -> Table {
    let mut table = Table::new(&["", "low", "high", "center ± margin"]);
    for (name, bounds) in &row.tasks {
        let (center, margin) = (f64::midpoint(bounds.low, bounds.high), (bounds.high - bounds.low) / 2.0);
        table.push(vec![
            Cell::text(name),
            Cell::Number(bounds.low, 3),
            Cell::Number(bounds.high, 3),
            Cell::Formatted(format!("{center:.3} ± {margin:.3}")),
        ]);
    }
    table.push(vec![
        Cell::text(format!("ReasonScore ({})", row.band)),
        Cell::Number(row.ci_low, 0),
        Cell::Number(row.ci_high, 0),
        Cell::Formatted(format!("{:.0} ± {:.0}", row.center, row.margin)),
    ]);
    table
}
