//! The API: JSON under `/api/v1`, described by `openapi.json`.

pub(crate) mod analyses;
pub(crate) mod comparison;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{Estimator, StoredTrial};
use reasonscape_stats::Mode;
use serde::Serialize;
use serde_json::Value;

use super::app::App;
use super::error::ApiError;
use super::labels::status_name;
use super::params::{mode, page_range};
use super::point_id::point_id;
use super::query_string::Query;
use super::response::{self, reply};
use super::trial_lookup::{TrialPath, find_trial, trial_path};
use super::trial_query::{TrialName, TrialQuery};
use reasonscape_analysis::{PointQuery, ScoreRow};

const DESCRIPTION: &str = include_str!("api/openapi.json");

/// The health check; it needs no token.
pub(crate) async fn health() -> Response {
    reply(response::TEXT, "ok\n".to_owned())
}

pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let study = app.opened().await;
    let evals = study.as_ref().map_or(0, |study| study.analyses.db.evals().len());
    let text = app.metrics.text(evals, study.map_or(0, |study| study.trials));
    reply("text/plain; version=0.0.4; charset=utf-8", text)
}

/// The description, with the base URL of this server.
pub(crate) async fn openapi(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let mut document: Value = serde_json::from_str(DESCRIPTION).expect("the description is JSON");
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document["servers"] = serde_json::json!([{ "url": format!("{}/api/v1", app.base) }]);
    response::json(&document)
}

fn conditions(query: &Query) -> Vec<String> {
    query.all("filter").map(ToOwned::to_owned).collect()
}

#[derive(Serialize)]
struct Board<'a> {
    mode: &'static str,
    tasks: &'a [String],
    rows: &'a [ScoreRow],
    unscored: &'a [String],
    near_chance: &'a std::collections::BTreeMap<String, Vec<String>>,
}

pub(crate) async fn leaderboard(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study().await;
    let board = study.analyses.leaderboard(mode(&query, Mode::C_P)?, &conditions(&query)).await?;
    response::json(&Board {
        mode: board.mode.name(),
        tasks: &board.tasks,
        rows: &board.rows,
        unscored: &board.unscored,
        near_chance: &board.near_chance,
    })
}

/// The points that a request selects, and how accuracy is estimated from them.
fn point_query(uri: &Uri, default_mode: Mode) -> Result<(PointQuery, Estimator), ApiError> {
    let query = Query::from_uri(uri);
    Ok((PointQuery::parse(&conditions(&query))?, Estimator::from(mode(&query, default_mode)?)))
}

pub(crate) async fn evals(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let (selected, estimator) = point_query(&uri, Mode::C_P)?;
    let db = &app.study().await.analyses.db;
    response::json(&reasonscape_analysis::evals(db, &selected, estimator).await?)
}

pub(crate) async fn tasks(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let (selected, estimator) = point_query(&uri, Mode::C_P)?;
    let db = &app.study().await.analyses.db;
    response::json(&reasonscape_analysis::tasks(db, &selected, estimator).await?)
}

pub(crate) async fn points(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let (selected, estimator) = point_query(&uri, Mode::C_I)?;
    let db = &app.study().await.analyses.db;
    response::json(&reasonscape_analysis::points(db, &selected, estimator).await?)
}

/// A trial as JSON: the columns of the table with parameters as JSON, the name of the status, and the id of its
/// point in addresses.
fn trial_json(trial: &StoredTrial) -> Value {
    let mut value = serde_json::json!(trial);
    value["params"] = serde_json::from_str(&trial.params).unwrap_or(Value::Null);
    value["status"] = status_name(trial.status).into();
    value["point"] = point_id(&trial.params).into();
    value["bits_per_token"] = serde_json::json!(reasonscape_analysis::bits_per_token(trial));
    value
}

pub(crate) async fn trials(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let selected = TrialQuery::from_query(&query)?;
    let (offset, limit) = page_range(&query)?;
    let study = app.study().await;
    let index = study.analyses.trial_index(&selected).await?;
    let rows = study.analyses.trials(&selected, offset, limit).await?;
    response::json(&serde_json::json!({
        "total": index.total,
        "offset": offset,
        "rows": rows.iter().map(trial_json).collect::<Vec<_>>(),
    }))
}

pub(crate) async fn trial(
    State(app): State<Arc<App>>,
    Path(path): Path<TrialPath>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study().await;
    let found = find_trial(&app, &study, &path, &query).await?;
    let address = |name: Option<TrialName>| name.map(|name| trial_path(&name));
    let mut value = trial_json(&found.trial);
    let transcript = found.transcript.as_ref();
    value["messages"] = serde_json::json!(transcript.map(|transcript| &transcript.messages));
    value["reasoning"] = serde_json::json!(transcript.and_then(|transcript| transcript.reasoning.as_ref()));
    value["reply"] = serde_json::json!(transcript.map(|transcript| &transcript.reply));
    value["surprise"] = serde_json::json!(found.logprob_stats());
    value["previous"] = serde_json::json!(address(found.previous));
    value["next"] = serde_json::json!(address(found.next));
    response::json(&value)
}
