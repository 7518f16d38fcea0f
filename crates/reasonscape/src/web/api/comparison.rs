//! Evaluations against each other.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde_json::json;

use super::{for_programs, part};
use crate::web::app::App;
use crate::web::disagreements::Right;
use crate::web::error::Problem;
use crate::web::query_string::Query;
use crate::web::response;

pub(in crate::web) async fn pairwise(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    response::json(&*app.study().await.contest(&Query::of(&uri)).await?)
}

pub(in crate::web) async fn compare(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let pair = study.pair(&query).await?;
    response::json(&*study.comparison(&pair, &query).await?)
}

pub(in crate::web) async fn differences(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (right, (offset, limit)) = (Right::of(&query)?, part(&query)?);
    let study = app.study().await;
    let pair = study.pair(&query.only(&["a", "b"])).await?;
    let total = study.differing(&pair, &query).await?.count(right);
    let rows = study.differing_rows(&pair, &query, right, offset, limit).await?;
    let rows: Vec<_> =
        rows.iter().map(|[a, b]| json!({ "a": for_programs(a), "b": for_programs(b) })).collect();
    response::json(&json!({ "a": pair.a, "b": pair.b, "total": total, "offset": offset, "rows": rows }))
}
