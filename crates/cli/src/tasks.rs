//! `reasonscape tasks`: the tasks and their parameters.

mod check;

use reasonscape_core::{Range, Task, closest, json_schema, tasks};
use serde_json::{Value, json};

use super::Global;
use crate::error::CliError;
use crate::output::{print, print_text};
use reasonscape_analysis::tables::{Cell, Table};

/// List the tasks, or show the parameters of one
///
/// A task generates problems from difficulty parameters. Each parameter belongs to a dimension: length (working memory),
/// depth (structure), interference (attention), format (notation) or multi-step (sequence).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape tasks\n  reasonscape tasks arithmetic\n  \
    reasonscape tasks arithmetic --schema\n  reasonscape tasks check r12")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Tasks {
    #[command(subcommand)]
    action: Option<Action>,
    /// Task to show [default: list all].
    name: Option<String>,
    /// Print the JSON Schema of the parameters.
    #[arg(long, requires = "name")]
    schema: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    Check(check::Check),
}

impl Tasks {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        if let Some(Action::Check(check)) = self.action {
            return check.run(global);
        }
        match self.name {
            None => list(global),
            Some(name) if self.schema => print_text(&format!("{:#}\n", json_schema(find(&name)?))),
            Some(name) => describe(find(&name)?, global),
        }
    }
}

/// Finds a task; the error lists all tasks.
pub(super) fn find(name: &str) -> Result<&'static dyn Task, CliError> {
    tasks::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = tasks::all().map(Task::family).collect();
        let hint =
            closest(name, &known).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        CliError::input(format!("unknown task `{name}`{hint}; expected one of {}", known.join(", ")))
    })
}

fn list(global: Global) -> Result<(), CliError> {
    let mut table = Table::new(&["task", "answer", "parameters"]);
    for task in tasks::all() {
        let parameters: Vec<&str> = task.parameters().iter().map(|parameter| parameter.name).collect();
        table.push(vec![
            Cell::text(format!("{}@{}", task.family(), task.version())),
            Cell::text(task.answer_type().label()),
            Cell::text(parameters.join(", ")),
        ]);
    }
    let json: Vec<Value> = tasks::all().map(as_json).collect();
    print(global, &table, &json)
}

fn describe(task: &dyn Task, global: Global) -> Result<(), CliError> {
    let mut table = Table::new(&["parameter", "dimension", "values", "default", "meaning"]);
    for parameter in task.parameters() {
        let values = match parameter.range {
            Range::Int { low, high, .. } => format!("{low} to {high}"),
            Range::Real { low, high, .. } => format!("{low:.1} to {high:.1}"),
            Range::Word { words, .. } => words.join(", "),
        };
        table.push(vec![
            Cell::text(parameter.name),
            Cell::text(parameter.dimension.name()),
            Cell::text(values),
            Cell::text(parameter.range.default_value().to_string().trim_matches('"')),
            Cell::text(parameter.description),
        ]);
    }
    global.caption(format_args!("{}@{}: {}", task.family(), task.version(), task.description()));
    print(global, &table, &as_json(task))
}

fn as_json(task: &dyn Task) -> Value {
    let dimensions: serde_json::Map<String, Value> = task
        .parameters()
        .iter()
        .map(|parameter| (parameter.name.to_owned(), json!(parameter.dimension.name())))
        .collect();
    json!({
        "name": task.family(),
        "version": task.version(),
        "description": task.description(),
        "answer": task.answer_type().family(),
        "dimensions": dimensions,
        "parameters": json_schema(task)["properties"],
    })
}
