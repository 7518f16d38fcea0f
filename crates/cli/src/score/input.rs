//! Reads intervals and counters of tasks from JSON (three layouts) or CSV.

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_core::{Json, closest_within};
use reasonscape_stats::Counters;
use reasonscape_stats::score::TaskBounds;

/// The data of a model.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) name: Option<String>,
    pub(super) tasks: BTreeMap<String, Evidence>,
}

/// The data of a task.
#[derive(Debug, Clone, Copy)]
pub(super) enum Evidence {
    Bounds(TaskBounds),
    Counters(Counters),
}

/// The parsed document.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) models: Vec<Model>,
    /// Unknown columns or keys.
    pub(super) ignored: BTreeSet<String>,
}

/// The fields of a task.
const FIELDS: [&str; 12] =
    ["task", "base_task", "model", "n", "n_e", "n_u", "n_t", "g", "guess", "guess_accum", "low", "high"];
/// Other fields that this program writes, so that its own output can be read back without a warning.
const OWN_OUTPUT: [&str; 42] = [
    "point",
    "reason_score",
    "reason_score_low",
    "reason_score_high",
    "reason_score_level",
    "reason_score_method",
    "reason_score_band",
    "reason_score_per_1k_tokens",
    "ties",
    "unequal_sampling",
    "from_counters",
    "tasks",
    "rank",
    "rank_best",
    "rank_worst",
    "center",
    "margin",
    "ci_low",
    "ci_high",
    "band",
    "meaning",
    "complete",
    "missing",
    "mode",
    "method",
    "draws",
    "seed",
    "literal",
    "interval_class",
    "interval_causes",
    "eval_id",
    "template",
    "sampler",
    "name",
    "groups",
    "params",
    "manifolds",
    "planned",
    "points",
    "truncation_rate",
    "tokens_mean",
    "score",
];

const SHAPES: &str = "expected {\"task\": {\"low\": …, \"high\": …}}, {\"task\": {\"n\": …, \"n_e\": …}}, or a list of \
                      objects with `task` (and `model`)";

/// Parses a document; `name` is its name in errors. JSON starts with a bracket, anything else is CSV.
///
/// # Errors
/// The problem and where it is.
pub(super) fn read(name: &str, text: &str) -> Result<Input, String> {
    let mut board = Board::default();
    let read = if text.trim_start().starts_with(['{', '[']) { read_json } else { read_csv };
    read(text, &mut board).map_err(|problem| format!("{name}: {problem}"))?;
    if board.models.is_empty() {
        return Err(format!("no task in {name}; {SHAPES}"));
    }
    Ok(Input { models: board.models, ignored: board.ignored })
}

/// Models in the order of the document.
#[derive(Debug, Default)]
struct Board {
    models: Vec<Model>,
    ignored: BTreeSet<String>,
}

impl Board {
    /// Checks the names of columns or keys: a likely misspelling is an error, other unknown names are collected.
    fn check_names<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), String> {
        for name in names.into_iter().filter(|name| !FIELDS.contains(name) && !OWN_OUTPUT.contains(name)) {
            let lower = name.to_lowercase();
            let meant = match FIELDS.into_iter().find(|field| *field == lower) {
                // Two edits would match many unrelated short words.
                None => closest_within(&lower, &FIELDS, if lower.len() > 4 { 2 } else { 1 })
                    .filter(|field| field.len() > 4 || lower.len() <= 4),
                same => same,
            };
            if let Some(meant) = meant {
                return Err(format!("unknown column `{name}`; did you mean `{meant}`?"));
            }
            self.ignored.insert(name.to_owned());
        }
        Ok(())
    }

    /// Adds the data of a task. Counters of the same task are pooled; a second interval is an error.
    fn add(&mut self, model: Option<&str>, task: &str, evidence: Evidence) -> Result<(), String> {
        let index =
            self.models.iter().position(|known| known.name.as_deref() == model).unwrap_or_else(|| {
                self.models.push(Model { name: model.map(str::to_owned), tasks: BTreeMap::new() });
                self.models.len() - 1
            });
        let tasks = &mut self.models[index].tasks;
        let pooled = match (tasks.get(task), evidence) {
            (None, evidence) => evidence,
            (Some(Evidence::Counters(before)), Evidence::Counters(more)) => {
                Evidence::Counters(*before + more)
            }
            (Some(_), _) => {
                return Err(format!(
                    "duplicate task `{task}`; intervals cannot be pooled, expected counters or a single row"
                ));
            }
        };
        tasks.insert(task.to_owned(), pooled);
        Ok(())
    }
}

/// Builds the data of a task from its fields.
fn evidence(field: impl Fn(&str) -> Result<Option<f64>, String>) -> Result<Evidence, String> {
    let required = |name: &str| field(name)?.ok_or_else(|| format!("`{name}` is missing"));
    let (n, n_u, n_t) = (field("n")?, field("n_u")?, field("n_t")?);
    if n.is_none() && n_u.is_none() && n_t.is_none() && field("n_e")?.is_none() {
        if field("low")?.is_none() && field("high")?.is_none() {
            return Err("no interval (`low`, `high`) and no counters (`n`, `n_e`, `n_t`, `g`)".to_owned());
        }
        return TaskBounds::new(required("low")?, required("high")?)
            .map(Evidence::Bounds)
            .map_err(|error| error.to_string());
    }
    let (n, n_t) = match (n, n_u, n_t) {
        (Some(n), Some(n_u), Some(n_t)) if n_u != n - n_t => {
            return Err(format!("`n_u` is {n_u}, but `n` - `n_t` is {}; remove one of the three", n - n_t));
        }
        (Some(n), Some(n_u), None) if n_u > n => {
            return Err(format!("`n_u` is {n_u}, more than `n` = {n}"));
        }
        (Some(n), _, Some(n_t)) => (n, n_t),
        (Some(n), Some(n_u), None) => (n, n - n_u),
        (Some(n), None, None) => (n, 0.0),
        (None, Some(n_u), Some(n_t)) => (n_u + n_t, n_t),
        (None, ..) => return Err("`n` is missing; expected `n`, or both `n_u` and `n_t`".to_owned()),
    };
    let mut g = None;
    for name in ["g", "guess", "guess_accum"] {
        match (g, field(name)?) {
            (Some((known, value)), Some(other)) if value != other => {
                return Err(format!(
                    "`{known}` is {value} and `{name}` is {other}, but they mean the same; remove one"
                ));
            }
            (None, Some(value)) => g = Some((name, value)),
            _ => {}
        }
    }
    Counters::new(n, required("n_e")?, n_t, g.map_or(0.0, |(_, value)| value))
        .map(Evidence::Counters)
        .map_err(|error| error.to_string())
}

fn read_json(text: &str, board: &mut Board) -> Result<(), String> {
    match Json::parse(text).map_err(|error| error.to_string())? {
        Json::Array(rows) => {
            for (i, row) in rows.iter().enumerate() {
                read_row(row, board).map_err(|problem| format!("entry {}: {problem}", i + 1))?;
            }
            Ok(())
        }
        row if row.get("tasks").is_some() => read_row(&row, board),
        Json::Object(tasks) => read_tasks(None, &tasks, board),
        _ => unreachable!("the text starts with a bracket"),
    }
}

/// A row with its `task`, or a model with all its `tasks`.
fn read_row(row: &Json, board: &mut Board) -> Result<(), String> {
    let name = |key: &str| match row.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("`{key}` is {}, but must be a string", other.kind())),
    };
    let model = name("model")?;
    if let Json::Object(fields) = row {
        board.check_names(fields.keys().map(String::as_str))?;
    }
    match row.get("tasks") {
        Some(Json::Object(tasks)) => read_tasks(model, tasks, board),
        Some(other) => Err(format!("`tasks` is {}, but must be an object", other.kind())),
        None => {
            let task = match name("task")? {
                Some(task) => task,
                None => name("base_task")?.ok_or_else(|| format!("`task` is missing; {SHAPES}"))?,
            };
            let evidence =
                json_evidence(row, board).map_err(|problem| format!("task `{task}`: {problem}"))?;
            board.add(model, task, evidence)
        }
    }
}

fn read_tasks(model: Option<&str>, tasks: &BTreeMap<String, Json>, board: &mut Board) -> Result<(), String> {
    for (task, value) in tasks {
        let evidence = json_evidence(value, board).map_err(|problem| format!("task `{task}`: {problem}"))?;
        board.add(model, task, evidence)?;
    }
    Ok(())
}

fn json_evidence(value: &Json, board: &mut Board) -> Result<Evidence, String> {
    let number = |name: &str, value: &Json| match value {
        Json::Int(integer) => Ok(*integer as f64),
        Json::Float(number) => Ok(*number),
        other => Err(format!("`{name}` is {}, but must be a number", other.kind())),
    };
    match value {
        Json::Array(bounds) if bounds.len() == 2 => evidence(|name| match name {
            "low" => number("low", &bounds[0]).map(Some),
            "high" => number("high", &bounds[1]).map(Some),
            _ => Ok(None),
        }),
        Json::Object(fields) => {
            board.check_names(fields.keys().map(String::as_str))?;
            evidence(|name| match fields.get(name) {
                None | Some(Json::Null) => Ok(None),
                Some(value) => number(name, value).map(Some),
            })
        }
        other => Err(format!("found {}, expected an object or a list of two numbers", other.kind())),
    }
}

fn read_csv(text: &str, board: &mut Board) -> Result<(), String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let task_column =
        ["task", "base_task"].into_iter().find(|name| headers.iter().any(|header| header == *name));
    let Some(task_column) = task_column else {
        let found: Vec<&str> = headers.iter().collect();
        return Err(format!(
            "neither JSON nor CSV with a `task` column (the first line has: {}); expected a header such as \
             `task,low,high` or `task,n,n_e,n_t,g`",
            found.join(", ").chars().take(80).collect::<String>()
        ));
    };
    board.check_names(&headers)?;
    for record in reader.records() {
        let record = record.map_err(|error| match error.kind() {
            csv::ErrorKind::UnequalLengths { pos: Some(position), expected_len, len } => {
                format!(
                    "line {}: found {len} cells, expected {expected_len} as in the header",
                    position.line()
                )
            }
            _ => error.to_string(),
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |name: &str| {
            let column = headers.iter().position(|header| header == name)?;
            record.get(column).filter(|cell| !cell.is_empty())
        };
        let number = |name: &str| {
            cell(name)
                .map(|cell| cell.parse().map_err(|_| format!("`{name}` is `{cell}`, but must be a number")))
                .transpose()
        };
        let task = cell(task_column).ok_or_else(|| format!("line {line}: `{task_column}` is empty"))?;
        evidence(number)
            .and_then(|evidence| board.add(cell("model"), task, evidence))
            .map_err(|problem| format!("line {line}: {problem}"))?;
    }
    Ok(())
}
