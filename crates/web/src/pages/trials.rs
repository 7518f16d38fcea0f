//! The list of trials, in pages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_core::Outcome;
use reasonscape_points::{PointsDb, StoredTrial};
use serde::Serialize;

use super::MAX_ANSWER_LEN;
use super::choices::{Choice, Links, choice, evals, tasks};
use super::render;
use crate::app::App;
use crate::error::ApiError;
use crate::labels::{coordinates, eval_label, thousands};
use crate::params::number;
use crate::query_string::Query;
use crate::sanitize::excerpt;
use crate::trial_lookup::trial_href;
use crate::trial_query::{NAMES, PAGE_SIZE, TrialName, TrialQuery};

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
    /// The error in the filter.
    problem: Option<String>,
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

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let full_query = Query::from_uri(&uri);
    let query = full_query.only(&NAMES);
    let study = app.study().await;
    let at = |page: u64| {
        let page = page.to_string();
        format!("{}/trials{}", app.base, query.with("page", (page != "1").then_some(&page)))
    };
    let number = number::<u64>(&full_query, "page")?.unwrap_or(1).max(1);
    // An error in a filter is shown above its form.
    let found = match TrialQuery::from_query(&query) {
        Ok(selected) => study.analyses.trial_index(&selected).await.map(|index| (selected, index.total)),
        Err(problem) => Err(problem),
    };
    let (selected, total, problem) = match found {
        Ok((selected, total)) => (selected, total, None),
        Err(problem) if problem.status.is_client_error() => (TrialQuery::default(), 0, Some(problem.message)),
        Err(problem) => return Err(problem),
    };
    let pages = total.div_ceil(PAGE_SIZE as u64).max(1);
    let number = number.min(pages);
    let first = (number - 1) * PAGE_SIZE as u64;
    let rows =
        if total == 0 { Arc::default() } else { study.analyses.trials(&selected, first, PAGE_SIZE).await? };
    let keep = query.with("page", (number > 1).then_some(&number.to_string()));
    let page = Page {
        evals: evals(&study.analyses.db, &query),
        tasks: tasks(&study.analyses.db, &query),
        statuses: [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated]
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
        rows: rows.iter().map(|row| trial_row(&app, &study.analyses.db, row, &keep)).collect(),
        links: Links::new(number, pages, at),
        problem,
    };
    render(&app, "trials.html", "Trials", &study.remarks, &page)
}

fn trial_row(app: &App, db: &PointsDb, row: &StoredTrial, keep: &Query) -> Row {
    Row {
        status: row.status_name(),
        eval: eval_label(db, &row.eval_id),
        task: row.base_task.clone(),
        params: coordinates(&row.params),
        index: row.index,
        repeat: row.repeat,
        answer: row.answer.as_ref().map(|answer| excerpt(answer, MAX_ANSWER_LEN)),
        target: excerpt(&row.target, MAX_ANSWER_LEN),
        tokens: row.completion_tokens.map_or_else(|| "–".to_owned(), thousands),
        seconds: format!("{:.1}", row.latency_ms as f64 / 1000.0),
        href: trial_href(app, &TrialName::from(row), keep),
    }
}
