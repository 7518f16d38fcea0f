//! The API: JSON under `/api/v1`, described by the OpenAPI document that [`openapi`] generates.

pub(crate) mod analyses;
pub(crate) mod comparison;
pub(crate) mod openapi;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{Estimator, StoredTrial};
use reasonscape_providers::TranscriptMessage;
use reasonscape_stats::Mode;
use schemars::JsonSchema;
use serde::Serialize;

use super::app::App;
use super::error::ApiError;
use super::params::{board_options, estimator, is_literal, page_range};
use super::point_id::point_id;
use super::query_string::Query;
use super::response::{self, reply};
use super::trial_lookup::{TrialPath, find_trial, trial_path};
use super::trial_query::TrialQuery;
use reasonscape_analysis::{LogprobStats, PointQuery, ScoreRow, parse_group_by};

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

fn conditions(query: &Query) -> Vec<String> {
    query.all("filter").map(ToOwned::to_owned).collect()
}

/// The leaderboard.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Leaderboard")]
struct Board<'a> {
    /// The estimator.
    mode: &'static str,
    /// How scores and intervals are computed: `likelihood` or `bootstrap`.
    method: &'static str,
    /// How ties are found: `paired` or `v2`.
    ties: &'static str,
    /// Why scores or ties are not computed as usual.
    notes: &'a [String],
    /// The tasks of the suite, by name.
    tasks: &'a [String],
    /// The evaluations, by rank.
    rows: &'a [ScoreRow],
    /// Evaluations without a trial, which have no score.
    unscored: &'a [String],
    /// Evaluations by task whose accuracy is near chance, where their confidence intervals are too narrow.
    near_chance: &'a BTreeMap<String, Vec<String>>,
}

pub(crate) async fn leaderboard(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study_for(&query).await?;
    let board = study.analyses.leaderboard(board_options(&query)?, &conditions(&query)).await?;
    response::json(&Board {
        mode: board.mode.name(),
        method: board.method.name(),
        ties: board.ties.name(),
        notes: &board.notes,
        tasks: &board.tasks,
        rows: &board.rows,
        unscored: &board.unscored,
        near_chance: &board.near_chance,
    })
}

/// The points that a request selects, and how accuracy is estimated from them.
fn point_query(query: &Query, default_mode: Mode) -> Result<(PointQuery, Estimator), ApiError> {
    Ok((PointQuery::parse(&conditions(query))?, estimator(query, default_mode)?))
}

pub(crate) async fn evals(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, estimator) = point_query(&query, Mode::C_P)?;
    let db = &app.study_for(&query).await?.analyses.db;
    response::json(&reasonscape_analysis::evals(db, &selected, estimator).await?)
}

pub(crate) async fn tasks(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, estimator) = point_query(&query, Mode::C_P)?;
    let db = &app.study_for(&query).await?.analyses.db;
    response::json(&reasonscape_analysis::tasks(db, &selected, estimator).await?)
}

pub(crate) async fn points(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, estimator) = point_query(&query, Mode::C_I)?;
    let db = &app.study_for(&query).await?.analyses.db;
    response::json(&reasonscape_analysis::points(db, &selected, estimator).await?)
}

pub(crate) async fn aggregate(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let selected = PointQuery::parse(&conditions(&query))?;
    let mut columns: Vec<String> = query.all("by").map(ToOwned::to_owned).collect();
    if columns.is_empty() {
        columns = vec!["model,base_task".to_owned()];
    }
    let group_by = parse_group_by(&columns)?;
    let mut modes = Vec::new();
    for name in query.all("mode").flat_map(|names| names.split(',')).map(str::trim) {
        let named = if name == "all" { Mode::ALL.to_vec() } else { vec![name.parse()?] };
        for mode in named {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
    }
    if modes.is_empty() {
        modes.push(Mode::C_P);
    }
    let estimator = Estimator { is_literal: is_literal(&query)?, ..Estimator::from(Mode::C_P) };
    let db = &app.study_for(&query).await?.analyses.db;
    response::json(&reasonscape_analysis::aggregate(db, &selected, &group_by, &modes, estimator).await?)
}

/// A trial.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Trial")]
struct TrialReply<'a> {
    #[serde(flatten)]
    trial: &'a StoredTrial,
    /// The id of the point in URLs.
    point: String,
    /// Bits of the compressed text per token, if the tokens are known.
    bits_per_token: Option<f64>,
}

impl<'a> TrialReply<'a> {
    fn new(trial: &'a StoredTrial) -> Self {
        let bits_per_token = reasonscape_analysis::bits_per_token(trial);
        Self { trial, point: point_id(&trial.params), bits_per_token }
    }
}

/// A page of trials.
#[derive(Serialize, JsonSchema)]
struct Trials<'a> {
    /// The number of trials that match.
    total: u64,
    /// The number of trials that were skipped.
    offset: u64,
    /// The trials of this page.
    rows: Vec<TrialReply<'a>>,
}

pub(crate) async fn trials(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let selected = TrialQuery::from_query(&query)?;
    let (offset, limit) = page_range(&query)?;
    let study = app.study_for(&query).await?;
    let index = study.analyses.trial_index(&selected).await?;
    let rows = study.analyses.trials(&selected, offset, limit).await?;
    let rows = rows.iter().map(TrialReply::new).collect();
    response::json(&Trials { total: index.total, offset, rows })
}

/// A trial with its transcript.
#[derive(Serialize, JsonSchema)]
struct TrialDetail<'a> {
    #[serde(flatten)]
    trial: TrialReply<'a>,
    /// The prompt, if the cache has it.
    messages: Option<&'a [TranscriptMessage]>,
    /// The reasoning, if the API returned it apart from the reply.
    reasoning: Option<&'a str>,
    /// The reply, if the cache has it.
    reply: Option<&'a str>,
    /// The surprisal of the reply, if log-probabilities were requested.
    surprise: Option<LogprobStats>,
    /// The path of the previous trial in the list, below the base URL of the server.
    previous: Option<String>,
    /// The path of the next trial in the list.
    next: Option<String>,
}

pub(crate) async fn trial(
    State(app): State<Arc<App>>,
    Path(path): Path<TrialPath>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study_for(&query).await?;
    let found = find_trial(&app, &study, &path, &query).await?;
    let transcript = found.transcript.as_ref();
    response::json(&TrialDetail {
        trial: TrialReply::new(&found.trial),
        messages: transcript.map(|transcript| transcript.messages.as_slice()),
        reasoning: transcript.and_then(|transcript| transcript.reasoning.as_deref()),
        reply: transcript.map(|transcript| transcript.reply.as_str()),
        surprise: found.logprob_stats(),
        previous: found.previous.as_ref().map(trial_path),
        next: found.next.as_ref().map(trial_path),
    })
}
