//! Evaluations against each other.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde_json::json;

use super::trial_json;
use crate::app::App;
use crate::comparison;
use crate::disagreements::Disagreement;
use crate::error::ApiError;
use crate::params::page_range;
use crate::query_string::Query;
use crate::response;

pub(crate) async fn pairwise(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    response::json(&*comparison::pairwise(&app.study().await.analyses, &Query::from_uri(&uri)).await?)
}

pub(crate) async fn compare(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study().await;
    let pair = comparison::pair(&study.analyses, &query).await?;
    response::json(&*comparison::comparison(&study.analyses, &pair, &query).await?)
}

pub(crate) async fn differences(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (which, (offset, limit)) = (Disagreement::from_query(&query)?, page_range(&query)?);
    let study = app.study().await;
    let pair = comparison::pair(&study.analyses, &query.only(&["a", "b"])).await?;
    let total = comparison::disagreements(&study.analyses, &pair, &query).await?.count(which);
    let rows = comparison::disagreement_rows(&study.analyses, &pair, &query, which, offset, limit).await?;
    let rows: Vec<_> = rows.iter().map(|[a, b]| json!({ "a": trial_json(a), "b": trial_json(b) })).collect();
    response::json(&json!({ "a": pair.a, "b": pair.b, "total": total, "offset": offset, "rows": rows }))
}
