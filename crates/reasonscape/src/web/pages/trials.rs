//! Trials, a page at a time.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_core::Status;
use reasonscape_points::{PointsDb, StoredTrial};
use serde::Serialize;
use serde_json::Value;

use super::{render, thousands, trial};
use crate::web::api::number;
use crate::web::app::App;
use crate::web::error::Problem;
use crate::web::query_string::Query;
use crate::web::sanitize::{excerpt, visible};
use crate::web::trial_query::{NAMES, PAGE, TrialName, Wanted};

/// Characters of an answer that a row shows.
pub(super) const SHOWN: usize = 60;

#[derive(Serialize)]
struct Page {
    evals: Vec<Choice>,
    tasks: Vec<Choice>,
    statuses: Vec<Choice>,
    text: String,
    params: String,
    filters: Vec<String>,
    is_filtered: bool,
    clear: String,
    rows: Vec<Row>,
    total: String,
    first: String,
    last: String,
    links: Links,
    /// What is wrong with the filter.
    problem: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) shown: String,
    pub(super) is_chosen: bool,
}

/// To other pages of a list.
#[derive(Serialize)]
pub(super) struct Links {
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    last: Option<String>,
}

impl Links {
    /// From a page, of so many.
    pub(super) fn of(number: u64, pages: u64, at: impl Fn(u64) -> String) -> Self {
        Self {
            first: (number > 1).then(|| at(1)),
            previous: (number > 1).then(|| at(number - 1)),
            next: (number < pages).then(|| at(number + 1)),
            last: (number < pages).then(|| at(pages)),
        }
    }
}

#[derive(Serialize)]
struct Row {
    status: &'static str,
    eval: String,
    task: String,
    params: String,
    index: u64,
    repeat: u32,
    answer: Option<String>,
    target: String,
    tokens: String,
    seconds: String,
    href: String,
}

pub(in crate::web) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let asked = Query::of(&uri);
    let query = asked.only(&NAMES);
    let study = app.study().await;
    let at = |page: u64| {
        let page = page.to_string();
        format!("{}/trials{}", app.base, query.with("page", (page != "1").then_some(&page)))
    };
    let number = number::<u64>(&asked, "page")?.unwrap_or(1).max(1);
    // What is wrong with a filter is said above the form that has it.
    let found = match Wanted::of(&query) {
        Ok(wanted) => study.listing(&wanted).await.map(|listing| (wanted, listing.total)),
        Err(problem) => Err(problem),
    };
    let (wanted, total, problem) = match found {
        Ok((wanted, total)) => (wanted, total, None),
        Err(problem) if problem.status.is_client_error() => (Wanted::default(), 0, Some(problem.message)),
        Err(problem) => return Err(problem),
    };
    let pages = total.div_ceil(PAGE as u64).max(1);
    let number = number.min(pages);
    let first = (number - 1) * PAGE as u64;
    let rows = if total == 0 { Arc::default() } else { study.rows(&wanted, first, PAGE).await? };
    let keep = query.with("page", (number > 1).then_some(&number.to_string()));
    let page = Page {
        evals: evals(&study.db, &query),
        tasks: tasks(&study.db, &query),
        statuses: [Status::Correct, Status::Incorrect, Status::Truncated]
            .map(|status| choice(&query, "status", status.name(), status.name()))
            .into(),
        text: query.get("text").unwrap_or_default().to_owned(),
        params: query.get("params").unwrap_or_default().to_owned(),
        filters: query.all("filter").map(ToOwned::to_owned).collect(),
        is_filtered: query != Query::default(),
        clear: format!("{}/trials", app.base),
        total: thousands(total),
        first: thousands(if rows.is_empty() { 0 } else { first + 1 }),
        last: thousands(first + rows.len() as u64),
        rows: rows.iter().map(|row| shown(&app, &study.db, row, &keep)).collect(),
        links: Links::of(number, pages, at),
        problem,
    };
    render(&app, "trials.html", "Trials", &study.remarks, &page)
}

pub(super) fn choice(query: &Query, name: &str, value: &str, shown: &str) -> Choice {
    Choice {
        value: value.to_owned(),
        shown: visible(shown).into_owned(),
        is_chosen: query.all(name).any(|chosen| chosen == value),
    }
}

pub(super) fn evals(db: &PointsDb, query: &Query) -> Vec<Choice> {
    db.evals().iter().map(|eval| choice(query, "eval", &eval.eval_id, &label(db, &eval.eval_id))).collect()
}

pub(super) fn tasks(db: &PointsDb, query: &Query) -> Vec<Choice> {
    let tasks: BTreeSet<&str> = db.sources().iter().map(|source| source.task.as_str()).collect();
    tasks.into_iter().map(|task| choice(query, "task", task, task)).collect()
}

/// What an evaluation is called.
pub(super) fn label(db: &PointsDb, eval_id: &str) -> String {
    let eval = db.evals().iter().find(|eval| eval.eval_id == eval_id);
    eval.map_or_else(|| eval_id.to_owned(), |eval| crate::analysis::label(db.evals(), eval))
}

/// The status in a word.
pub(in crate::web) fn status_name(code: u8) -> &'static str {
    let known = [Status::Incorrect, Status::Correct, Status::Truncated];
    known.into_iter().find(|status| status.code() == code).map_or("unknown", Status::name)
}

/// Coordinates as a person reads them: `depth=1 length=16`.
pub(super) fn coordinates(params: &str) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match serde_json::from_str::<Value>(params) {
        Ok(Value::Object(members)) => {
            let shown = members.iter().map(|(name, value)| format!("{name}={}", plain(value)));
            visible(&shown.collect::<Vec<_>>().join(" ")).into_owned()
        }
        _ => visible(params).into_owned(),
    }
}

fn shown(app: &App, db: &PointsDb, row: &StoredTrial, keep: &Query) -> Row {
    Row {
        status: status_name(row.status),
        eval: visible(&label(db, &row.eval_id)).into_owned(),
        task: visible(&row.base_task).into_owned(),
        params: coordinates(&row.params),
        index: row.index,
        repeat: row.repeat,
        answer: row.answer.as_ref().map(|answer| excerpt(answer, SHOWN)),
        target: excerpt(&row.target, SHOWN),
        tokens: row.completion_tokens.map_or_else(|| "–".to_owned(), thousands),
        seconds: format!("{:.1}", row.latency_ms as f64 / 1000.0),
        href: trial::address(app, &TrialName::from(row), keep),
    }
}
