//! Comparisons of evaluations.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_analysis::Pairwise;
use schemars::JsonSchema;
use serde::Serialize;

use super::TrialReply;
use crate::app::App;
use crate::comparison;
use crate::disagreements::Disagreement;
use crate::error::ApiError;
use crate::params::page_range;
use crate::query_string::Query;
use crate::response;

pub(crate) async fn pairwise(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let order = comparison::rating_order(&query)?;
    let found = comparison::pairwise(&app.study_for(&query).await?.analyses, &query).await?;
    response::json(&Pairwise::clone(&found).sorted(order))
}

pub(crate) async fn compare(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study_for(&query).await?;
    let pair = comparison::pair(&study.analyses, &query).await?;
    response::json(&*comparison::comparison(&study.analyses, &pair, &query).await?)
}

pub(crate) async fn model_sets(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study_for(&query).await?;
    response::json(&*comparison::model_sets(&study.analyses, &query).await?)
}

/// Problems with different outcomes for two evaluations.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Differences<'a> {
    /// The id of evaluation A.
    a: &'a str,
    /// The id of evaluation B.
    b: &'a str,
    /// The number of such problems.
    total: u64,
    /// The number of rows that were skipped.
    offset: u64,
    /// The rows of this page.
    rows: Vec<Difference<'a>>,
}

/// A problem with different outcomes.
#[derive(Serialize, JsonSchema)]
struct Difference<'a> {
    /// The trial of evaluation A.
    a: TrialReply<'a>,
    /// The trial of evaluation B.
    b: TrialReply<'a>,
}

pub(crate) async fn differences(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (which, (offset, limit)) = (Disagreement::from_query(&query)?, page_range(&query)?);
    let study = app.study_for(&query).await?;
    let pair = comparison::pair(&study.analyses, &query.only(&["a", "b"])).await?;
    let total = comparison::disagreements(&study.analyses, &pair, &query).await?.count(which);
    let rows = comparison::disagreement_rows(&study.analyses, &pair, &query, which, offset, limit).await?;
    let rows =
        rows.iter().map(|[a, b]| Difference { a: TrialReply::new(a), b: TrialReply::new(b) }).collect();
    response::json(&Differences { a: &pair.a, b: &pair.b, total, offset, rows })
}
