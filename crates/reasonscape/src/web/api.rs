//! The same for programs: JSON under `/api/v1`, described by `openapi.json`.

pub(super) mod analyses;
pub(super) mod comparison;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{Estimator, StoredTrial};
use reasonscape_stats::Mode;
use serde::Serialize;
use serde_json::Value;

use super::app::App;
use super::error::Problem;
use super::pages::trial::{Place, look_up};
use super::pages::trials::status_name;
use super::point_id::point_name;
use super::query_string::Query;
use super::response::{self, reply};
use super::trial_query::{MOST, PAGE, TrialName, Wanted};
use crate::analysis::{self, Asked, ScoreRow};

const DESCRIPTION: &str = include_str!("api/openapi.json");

/// Says that the server answers; it needs no token, so that whoever watches it has none.
pub(super) async fn health() -> Response {
    reply(response::TEXT, "ok\n".to_owned())
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let study = app.opened().await;
    let evals = study.as_ref().map_or(0, |study| study.db.evals().len());
    let text = app.metrics.text(evals, study.map_or(0, |study| study.trials));
    reply("text/plain; version=0.0.4; charset=utf-8", text)
}

/// The description, with the address where this server has what it describes.
pub(super) async fn openapi(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let mut document: Value = serde_json::from_str(DESCRIPTION).expect("the description is JSON");
    document["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    document["servers"] = serde_json::json!([{ "url": format!("{}/api/v1", app.base) }]);
    response::json(&document)
}

/// The mode that an address names.
pub(super) fn mode(query: &Query, usual: Mode) -> Result<Mode, Problem> {
    Ok(query.get("mode").map(str::parse).transpose()?.unwrap_or(usual))
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

pub(super) async fn leaderboard(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let board = study.board(mode(&query, Mode::C_P)?, &conditions(&query)).await?;
    response::json(&Board {
        mode: board.mode.name(),
        tasks: &board.tasks,
        rows: &board.rows,
        unscored: &board.unscored,
        near_chance: &board.near_chance,
    })
}

pub(super) async fn evals(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (asked, estimator) = (Asked::parse(&conditions(&query))?, Estimator::from(mode(&query, Mode::C_P)?));
    response::json(&analysis::evals(&app.study().await.db, &asked, estimator).await?)
}

pub(super) async fn tasks(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (asked, estimator) = (Asked::parse(&conditions(&query))?, Estimator::from(mode(&query, Mode::C_P)?));
    response::json(&analysis::tasks(&app.study().await.db, &asked, estimator).await?)
}

pub(super) async fn points(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (asked, estimator) = (Asked::parse(&conditions(&query))?, Estimator::from(mode(&query, Mode::C_I)?));
    response::json(&analysis::points(&app.study().await.db, &asked, estimator).await?)
}

/// A trial for programs: the columns of the table with coordinates as JSON and the status in a word, and the name of its
/// point in addresses.
fn for_programs(trial: &StoredTrial) -> Value {
    let mut value = serde_json::json!(trial);
    value["params"] = serde_json::from_str(&trial.params).unwrap_or(Value::Null);
    value["status"] = status_name(trial.status).into();
    value["point"] = point_name(&trial.params).into();
    value["bits_per_token"] = serde_json::json!(analysis::bits_per_token(trial));
    value
}

pub(super) async fn trials(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let wanted = Wanted::of(&query)?;
    let (offset, limit) = part(&query)?;
    let study = app.study().await;
    let listing = study.listing(&wanted).await?;
    let rows = study.rows(&wanted, offset, limit).await?;
    response::json(&serde_json::json!({
        "total": listing.total,
        "offset": offset,
        "rows": rows.iter().map(for_programs).collect::<Vec<_>>(),
    }))
}

/// Which part of a long list is wanted: rows to leave out first, and the most after them.
fn part(query: &Query) -> Result<(u64, usize), Problem> {
    let limit = number(query, "limit")?.unwrap_or(PAGE);
    if limit == 0 || limit > MOST {
        return Err(Problem::wrong(format_args!("`limit={limit}` is out of range; it is from 1 to {MOST}")));
    }
    Ok((number(query, "offset")?.unwrap_or(0), limit))
}

/// A number of an address.
pub(super) fn number<T: std::str::FromStr>(query: &Query, name: &str) -> Result<Option<T>, Problem> {
    let wrong = |text: &str| Problem::wrong(format_args!("`{name}={text}` is no number; give one from 0"));
    query.get(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

pub(super) async fn trial(
    State(app): State<Arc<App>>,
    Path(place): Path<Place>,
    uri: Uri,
) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let found = look_up(&app, &study, &place, &query).await?;
    let address = |name: Option<TrialName>| name.map(|name| super::pages::trial::path(&name));
    let mut value = for_programs(&found.trial);
    let said = found.said.as_ref();
    value["messages"] = serde_json::json!(said.map(|said| &said.messages));
    value["reasoning"] = serde_json::json!(said.and_then(|said| said.reasoning.as_ref()));
    value["reply"] = serde_json::json!(said.map(|said| &said.reply));
    value["surprise"] = serde_json::json!(found.surprise());
    value["previous"] = serde_json::json!(address(found.previous));
    value["next"] = serde_json::json!(address(found.next));
    response::json(&value)
}
