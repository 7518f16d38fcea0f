//! `reasonscape suite`: shows, validates and counts suites.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reasonscape_core::{Manifold, Suite, canonical_json};
use serde_json::{Value, json};

use super::{Global, read_input};
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Show or validate a suite of tasks
///
/// A suite is a TOML file of manifolds. Each manifold is a grid in the parameter space of a task: the product of its axes.
/// `quick` and `r12` are built in, in two versions: `quick` is the newest, `quick@1` the first.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  reasonscape suite count r12\n  reasonscape suite validate mine.toml")]
pub(super) struct SuiteCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the manifolds and their axes
    #[command(after_help = "Example:\n  reasonscape suite show quick")]
    Show(SuiteArg),
    /// Validate a suite; errors have line numbers
    #[command(after_help = "Example:\n  reasonscape suite validate mine.toml")]
    Validate(SuiteArg),
    /// Count points and problems per task
    #[command(
        after_help = "Examples:\n  reasonscape suite count r12\n  reasonscape suite count mine.toml --format json"
    )]
    Count(SuiteArg),
}

#[derive(Debug, clap::Args)]
struct SuiteArg {
    /// Built-in suite, or path of a TOML file.
    #[arg(value_name = "NAME")]
    name: String,
}

impl SuiteCommand {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        match self.action {
            Action::Show(suite_arg) => show(&suite_arg.load()?, global),
            Action::Count(suite_arg) => count(&suite_arg.load()?, global),
            Action::Validate(suite_arg) => {
                let suite = suite_arg.load()?;
                global.note(format_args!("`{}` is valid", suite_arg.name));
                count(&suite, global)
            }
        }
    }
}

impl SuiteArg {
    fn load(&self) -> Result<Suite, CliError> {
        load(&self.name)
    }
}

/// Loads a built-in suite, or a file. A name is only a path if it has an extension or a separator.
pub(super) fn load(name: &str) -> Result<Suite, CliError> {
    load_for(name, Suite::DEFAULT_VERSION)
}

/// Loads a suite in each version that it can mean: a study may have begun with any of them.
pub(super) fn load_versions(name: &str) -> Result<Vec<Suite>, CliError> {
    let mut suites = vec![load(name)?];
    let tasks = |suite: &Suite| -> Vec<String> {
        suite.manifolds.iter().map(|manifold| manifold.task.name().to_owned()).collect()
    };
    // Parameters of an own suite may be valid in one version only.
    for suite in (1..=Suite::NEWEST_VERSION).filter_map(|version| load_for(name, version).ok()) {
        if suites.iter().all(|known| tasks(known) != tasks(&suite)) {
            suites.push(suite);
        }
    }
    Ok(suites)
}

fn load_for(name: &str, version: u32) -> Result<Suite, CliError> {
    let path = Path::new(name);
    let is_path = path.extension().is_some() || path.components().count() > 1;
    let (title, text) = match Suite::built_in_for(name, version) {
        Some(text) => (format!("suite `{name}`"), text.to_owned()),
        None if is_path => read_input(path)?,
        None => {
            let known: Vec<&str> = Suite::built_in_names().collect();
            return Err(CliError::input(format!(
                "unknown suite `{name}`; expected {}, or the path of a TOML file, e.g. `mine.toml`",
                known.join(", ")
            )));
        }
    };
    Suite::parse_for(&text, version).map_err(|error| CliError::input(format!("{title}: {error}")))
}

/// The values that each varying parameter takes, in the order in which they first occur.
fn axes(manifold: &Manifold) -> Vec<(&'static str, Vec<String>)> {
    let points: Vec<_> = manifold.points.iter().map(reasonscape_core::Params::to_json).collect();
    manifold
        .task
        .parameters()
        .iter()
        .filter_map(|parameter| {
            let mut seen = BTreeSet::new();
            let values: Vec<String> = points
                .iter()
                .filter_map(|point| point.get(parameter.name).map(canonical_json))
                .map(|value| value.trim_matches('"').to_owned())
                .filter(|value| seen.insert(value.clone()))
                .collect();
            let default = parameter.range.default_value().to_string();
            let fixed_at_default = values.len() == 1 && values[0] == default.trim_matches('"');
            (!fixed_at_default).then_some((parameter.name, values))
        })
        .collect()
}

fn show(suite: &Suite, global: Global) -> Result<(), CliError> {
    let mut table = Table::new(&["manifold", "task", "points", "tests", "axes"]);
    for manifold in &suite.manifolds {
        let axes: Vec<String> =
            axes(manifold).iter().map(|(name, values)| format!("{name}: {}", values.join(" "))).collect();
        table.push(vec![
            Cell::text(&manifold.id),
            Cell::text(format!("{}@{}", manifold.task.family(), manifold.task.version())),
            Cell::Number(manifold.points.len() as f64, 0),
            Cell::Number((manifold.points.len() * manifold.count) as f64, 0),
            Cell::text(axes.join("; ")),
        ]);
    }
    let manifolds: Vec<Value> = suite
        .manifolds
        .iter()
        .map(|manifold| {
            let points: Vec<Value> = manifold
                .points
                .iter()
                .map(|params| {
                    serde_json::from_str(&canonical_json(&params.to_json())).expect("canonical JSON is JSON")
                })
                .collect();
            let views: Vec<Value> =
                manifold.views.iter().map(|view| json!({ "x": view.x, "y": view.y })).collect();
            json!({
                "id": manifold.id,
                "task": manifold.task.family(),
                "version": manifold.task.version(),
                "count": manifold.count,
                "points": points,
                "views": views,
            })
        })
        .collect();
    let json = json!({
        "name": suite.name,
        "description": suite.description,
        "seed": suite.seed,
        "manifolds": manifolds,
    });
    global.caption(format_args!("{}: {}", suite.name, suite.description));
    print(global, &table, &json)
}

fn count(suite: &Suite, global: Global) -> Result<(), CliError> {
    let mut by_task: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for point in suite.points() {
        let (points, tests) = by_task.entry(point.task.name()).or_default();
        *points += 1;
        *tests += point.count;
    }
    let points: usize = by_task.values().map(|(points, _)| points).sum();
    let tests: usize = by_task.values().map(|(_, tests)| tests).sum();

    let mut table = Table::new(&["task", "points", "tests"]);
    let rows = by_task.iter().map(|(task, counts)| (*task, *counts)).chain([("all", (points, tests))]);
    for (task, (points, tests)) in rows {
        table.push(vec![Cell::text(task), Cell::Number(points as f64, 0), Cell::Number(tests as f64, 0)]);
    }
    let tasks: BTreeMap<&str, Value> = by_task
        .iter()
        .map(|(task, (points, tests))| (*task, json!({ "points": points, "tests": tests })))
        .collect();
    print(global, &table, &json!({ "name": suite.name, "points": points, "tests": tests, "tasks": tasks }))
}
