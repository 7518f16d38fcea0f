//! `reasonscape tasks check`: are problems reproducible, distinct and free of shortcuts?

use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_core::check::{GuesserCheck, PointCheck, Report, TaskCheck, TaskPoint};
use reasonscape_core::{Json, Params, Range, Suite, Task, canonical_json, tasks};

use super::find;
use crate::error::CliError;
use crate::output::print;
use crate::{Global, suite};

/// Check the problems of a task or a suite for shortcuts
///
/// Generates problems at every point and checks that they are reproducible and distinct, that each setting changes them, and that
/// no blind guesser beats the stated guess probability by more than 5 percentage points. A blind guesser answers without
/// reasoning: always the same, by position, by what is mentioned first, last or most, by a logistic model of the words, or by a
/// trick of the task. It learns from half of the problems and is tested on the other half; the tests are corrected by Holm's
/// method. Exits with 1 if something is wrong.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape tasks check boolean\n  reasonscape tasks check r12 --problems 200"
)]
pub(super) struct Check {
    /// Task or suite to check [default: all tasks].
    ///
    /// A task is checked at its default and at the ends of each parameter, a suite at its points. A suite is built in or the path
    /// of a TOML file.
    name: Option<String>,
    /// Number of problems at each point.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(32..))]
    problems: u32,
    /// Global seed; another seed gives other problems.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    seed: i64,
    /// Print a row for each point.
    #[arg(long)]
    points: bool,
}

impl Check {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let suite = match self.name.as_deref() {
            Some(name) if tasks::by_name(name).is_none() && is_suite(name) => Some(suite::load(name)?),
            _ => None,
        };
        let points: Vec<(&dyn Task, Params)> = match (&suite, self.name.as_deref()) {
            (Some(suite), _) => {
                suite.points().iter().map(|point| (point.task, point.params.clone())).collect()
            }
            (None, Some(name)) => points_of(find(name)?),
            (None, None) => tasks::all().flat_map(points_of).collect(),
        };
        let report = Report::new(check_all(&points, self.problems as usize, self.seed));
        let table = if self.points { point_table(&report) } else { task_table(&report) };
        print(global, &table, &report)?;
        global.caption(
            "`guesser` is the blind guesser with the largest excess over the stated guess probability, `excess` in \
            percentage points; `leaks` counts the points at which one exceeds it by more than 5 points (Holm, 5 %)",
        );
        let failures = report.failures();
        for failure in &failures {
            global.note(failure);
        }
        match failures.len() {
            0 => Ok(()),
            1 => Err(CliError::Internal(anyhow::anyhow!("1 check failed"))),
            count => Err(CliError::Internal(anyhow::anyhow!("{count} checks failed"))),
        }
    }
}

/// Whether a name can only be a suite.
fn is_suite(name: &str) -> bool {
    Suite::built_in(name).is_some() || name.contains(['.', '/', '\\'])
}

/// The default of a task, and each parameter at its ends or words with the others at their default. Combinations that the task
/// refuses are left out.
fn points_of(task: &'static dyn Task) -> Vec<(&'static dyn Task, Params)> {
    let mut settings = vec![BTreeMap::new()];
    for parameter in task.parameters() {
        let values: Vec<Json> = match parameter.range {
            Range::Int { low, high, .. } => vec![Json::Int(low), Json::Int(high)],
            Range::Real { low, high, .. } => vec![Json::Float(low), Json::Float(high)],
            Range::Word { words, .. } => words.iter().map(|word| Json::from(*word)).collect(),
        };
        settings.extend(values.into_iter().map(|value| BTreeMap::from([(parameter.name.to_owned(), value)])));
    }
    let mut seen = HashSet::new();
    settings
        .into_iter()
        .filter_map(|given| Params::new(task, &Json::Object(given)).ok())
        .filter(|params| seen.insert(canonical_json(&params.to_json())))
        .map(|params| (task, params))
        .collect()
}

/// Checks the points on all processors. The order of the results is that of the points.
fn check_all(points: &[(&dyn Task, Params)], problems: usize, seed: i64) -> Vec<PointCheck> {
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, PointCheck)>> = Mutex::new(Vec::with_capacity(points.len()));
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get).min(points.len().max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((task, params)) = points.get(index) else { break };
                    let check =
                        PointCheck::new(&TaskPoint { task: *task, params }, problems, seed, Some(&clock));
                    found.lock().expect("no thread panics while it holds the lock").push((index, check));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no thread panics while it holds the lock");
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, check)| check).collect()
}

fn task_table(report: &Report) -> Table {
    let mut table = Table::new(&[
        "task", "points", "leaks", "guesser", "accuracy", "stated", "excess", "distinct", "overlap",
        "common", "same", "per s",
    ]);
    for task in &report.tasks {
        let mut row = vec![
            Cell::text(format!("{}@{}", task.task, task.version)),
            Cell::Number(task.points as f64, 0),
            Cell::Number(task.leaking_points as f64, 0),
        ];
        row.extend(guesser_cells(task.worst.as_ref()));
        row.extend([
            Cell::Number(task.min_distinct, 3),
            Cell::Number(task.max_overlap, 3),
            Cell::Number(task.most_common_proportion, 3),
            Cell::Number(points_with_equal_problems(task) as f64, 0),
            Cell::optional(task.problems_per_second, 0),
        ]);
        table.push(row);
    }
    table
}

fn points_with_equal_problems(task: &TaskCheck) -> usize {
    task.same_problems.iter().map(Vec::len).sum()
}

fn point_table(report: &Report) -> Table {
    let mut table = Table::new(&[
        "task", "params", "guesser", "accuracy", "stated", "excess", "distinct", "overlap", "common", "per s",
    ]);
    for point in &report.points {
        let mut row =
            vec![Cell::text(format!("{}@{}", point.task, point.version)), Cell::text(&point.params)];
        row.extend(guesser_cells(point.worst()));
        row.extend([
            Cell::Number(point.distinct, 3),
            Cell::Number(point.overlap, 3),
            Cell::Number(point.most_common_proportion, 3),
            Cell::optional(point.seconds_per_problem.map(|seconds| 1.0 / seconds.max(1e-9)), 0),
        ]);
        table.push(row);
    }
    table
}

/// Name, accuracy with its interval, stated guess probability and excess in percentage points.
fn guesser_cells(guesser: Option<&GuesserCheck>) -> [Cell; 4] {
    let Some(guesser) = guesser else { return std::array::from_fn(|_| Cell::Missing) };
    let [low, high] = guesser.accuracy_interval;
    [
        Cell::text(&guesser.guesser),
        Cell::Formatted(format!("{:.3} [{low:.3}, {high:.3}]", guesser.accuracy)),
        Cell::Number(guesser.stated, 3),
        Cell::Number(100.0 * guesser.excess, 1),
    ]
}
