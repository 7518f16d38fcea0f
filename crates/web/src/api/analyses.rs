//! Analyses as `reasonscape analyze` prints them, and their figures for plotly.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_charts::Figure;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::chart;
use crate::error::ApiError;
use crate::figures::{budgets, figure_for, projection_figure, projection_views};
use crate::params::{AnalysisQuery, by, number};
use crate::query_string::Query;
use crate::response;
use reasonscape_analysis::GroupBy;

/// Default number of example loops.
const EXAMPLES: usize = 3;
/// Maximum number of example loops.
const MAX_EXAMPLES: usize = 100;

pub(crate) async fn surface(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (study, selected) = (app.study_for(&query).await?, AnalysisQuery::from_query(&query)?);
    response::json(&study.analyses.surface(&selected, query.get("x"), query.get("y")).await?.grids)
}

pub(crate) async fn projection(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (study, selected) = (app.study_for(&query).await?, AnalysisQuery::from_query(&query)?);
    response::json(&study.analyses.projection(&selected, query.get("x")).await?.grids)
}

pub(crate) async fn threshold(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (study, selected) = (app.study_for(&query).await?, AnalysisQuery::from_query(&query)?);
    response::json(&study.analyses.thresholds(&selected, query.get("x")).await?.rows)
}

pub(crate) async fn hazard(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, by, width) =
        (AnalysisQuery::from_query(&query)?, by(&query, GroupBy::Task)?, number(&query, "width")?);
    response::json(&*app.study_for(&query).await?.analyses.hazard(&selected, by, width).await?)
}

pub(crate) async fn tokens(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, by, keep) =
        (AnalysisQuery::from_query(&query)?, by(&query, GroupBy::Task)?, number(&query, "keep")?);
    response::json(
        &*app.study_for(&query).await?.analyses.tokens(&selected, by, keep, &budgets(&query)?).await?,
    )
}

pub(crate) async fn variance(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, by) = (AnalysisQuery::from_query(&query)?, by(&query, GroupBy::Task)?);
    response::json(&*app.study_for(&query).await?.analyses.variance(&selected, by).await?)
}

pub(crate) async fn compression(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let (selected, by) = (AnalysisQuery::from_query(&query)?, by(&query, GroupBy::Task)?);
    let examples = number(&query, "examples")?.unwrap_or(EXAMPLES).min(MAX_EXAMPLES);
    let loop_bits = number(&query, "loop_bits")?;
    response::json(
        &*app.study_for(&query).await?.analyses.compression(&selected, by, loop_bits, examples).await?,
    )
}

/// A figure for plotly.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Chart {
    /// The traces.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    data: Value,
    /// The layout.
    #[schemars(with = "serde_json::Map<String, Value>")]
    layout: Value,
    /// The configuration.
    #[schemars(with = "serde_json::Map<String, Value>")]
    config: Value,
}

impl Chart {
    fn from_value(mut chart: Value) -> Self {
        let mut take = |name: &str| chart[name].take();
        Self { data: take("data"), layout: take("layout"), config: take("config") }
    }
}

/// The figure of an analysis for plotly; `columns` is the number of panels per row.
pub(crate) async fn figure(
    State(app): State<Arc<App>>,
    Path(kind): Path<String>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study_for(&query).await?;
    let columns: Option<usize> = number(&query, "columns")?;
    let with_columns = |figure: Figure| match columns {
        Some(columns) => figure.columns(columns.clamp(1, 8)).chart(),
        None => figure.chart(),
    };
    if kind == "projection" {
        let views = projection_views(&study.analyses, &query).await?;
        let mut chart = with_columns(projection_figure(&study.analyses, &query, &views).await?);
        let filters: Vec<&str> = query.all("filter").collect();
        chart::lead_to_trials(&mut chart, &views, &app.base, &filters);
        return response::json(&Chart::from_value(chart));
    }
    response::json(&Chart::from_value(with_columns(figure_for(&study.analyses, &kind, &query).await?)))
}
