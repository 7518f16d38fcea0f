//! Analyses as `reasonscape analyze` prints them, and their pictures as plotly draws them.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_figures::Figure;

use super::number;
use crate::analysis::{
    By, FrontierRow, View, compression_figure, frontier_figure, frontier_lines, hazard_figure,
    histogram_figure, projection_figure, surface_figure, tokens_figure,
};
use crate::web::analysis_cache::{Part, by};
use crate::web::app::{App, Snapshot};
use crate::web::chart;
use crate::web::error::Problem;
use crate::web::query_string::Query;
use crate::web::response;

/// Examples of loops, unless told otherwise.
const EXAMPLES: usize = 3;
/// More examples than these nobody reads.
const MOST_EXAMPLES: usize = 100;
/// Parameters that a picture is asked to look along, and limits that tokens are asked of.
const MOST_ASKED: usize = 32;

pub(in crate::web) async fn surface(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let found = app.study().await.surface(&Part::of(&query)?, query.get("x"), query.get("y")).await?;
    response::json(&found.views)
}

pub(in crate::web) async fn projection(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    response::json(&app.study().await.projection(&Part::of(&query)?, query.get("x")).await?.views)
}

pub(in crate::web) async fn frontier(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    response::json(&app.study().await.frontiers(&Part::of(&query)?, query.get("x")).await?.rows)
}

pub(in crate::web) async fn hazard(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (part, by, width) = (Part::of(&query)?, by(&query, By::Task)?, number(&query, "width")?);
    response::json(&*app.study().await.hazard(&part, by, width).await?)
}

pub(in crate::web) async fn tokens(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (part, by, keep) = (Part::of(&query)?, by(&query, By::Task)?, number(&query, "keep")?);
    response::json(&*app.study().await.tokens(&part, by, keep, &budgets(&query)?).await?)
}

fn budgets(query: &Query) -> Result<Vec<u64>, Problem> {
    let budget = |text: &str| {
        text.parse().map_err(|_| Problem::wrong(format_args!("`budget={text}` is no number of tokens")))
    };
    query.all("budget").take(MOST_ASKED).map(budget).collect()
}

pub(in crate::web) async fn compression(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let (part, by) = (Part::of(&query)?, by(&query, By::Task)?);
    let examples = number(&query, "examples")?.unwrap_or(EXAMPLES).min(MOST_EXAMPLES);
    let loop_bits = number(&query, "loop_bits")?;
    response::json(&*app.study().await.compression(&part, by, loop_bits, examples).await?)
}

/// A picture of one of the analyses. `columns` says how many panels stand side by side.
pub(in crate::web) async fn figure(
    State(app): State<Arc<App>>,
    Path(kind): Path<String>,
    uri: Uri,
) -> Result<Response, Problem> {
    let query = Query::of(&uri);
    let study = app.study().await;
    let columns: Option<usize> = number(&query, "columns")?;
    let dressed = |figure: Figure| match columns {
        Some(columns) => figure.columns(columns.clamp(1, 8)).chart(),
        None => figure.chart(),
    };
    if kind == "projection" {
        let views = projections(&study, &query).await?;
        let mut drawn = dressed(projected(&study, &query, &views).await?);
        let filters: Vec<&str> = query.all("filter").collect();
        chart::lead_to_trials(&mut drawn, &views, &app.base, &filters);
        return response::json(&drawn);
    }
    response::json(&dressed(drawn(&study, &kind, &query).await?))
}

/// The views along each of the parameters that an address names; without one, along the one that varies most.
pub(in crate::web) async fn projections(study: &Snapshot, query: &Query) -> Result<Vec<View>, Problem> {
    let part = Part::of(query)?;
    let mut views = Vec::new();
    for x in asked(query) {
        views.extend(study.projection(&part, x).await?.views.iter().cloned());
    }
    Ok(views)
}

/// The picture of projections, with a line where a model knows half.
pub(in crate::web) async fn projected(
    study: &Snapshot,
    query: &Query,
    views: &[View],
) -> Result<Figure, Problem> {
    let part = Part::of(query)?;
    let axes = views.iter().map(|view| &view.axes[0]).filter(|axis| axis.is_numeric);
    let mut rows = Vec::new();
    for parameter in axes.map(|axis| axis.parameter.as_str()).collect::<BTreeSet<_>>() {
        rows.extend(study.frontiers(&part, Some(parameter)).await?.rows.iter().cloned());
    }
    let along: Vec<(&str, &str)> =
        views.iter().map(|view| (view.task.as_str(), view.axes[0].parameter.as_str())).collect();
    Ok(frontier_lines(projection_figure(views, part.confidence.level()), &along, &rows))
}

/// The frontiers along each of the parameters that an address names.
pub(in crate::web) async fn fronts(study: &Snapshot, query: &Query) -> Result<Vec<FrontierRow>, Problem> {
    let part = Part::of(query)?;
    let mut rows = Vec::new();
    for x in asked(query) {
        rows.extend(study.frontiers(&part, x).await?.rows.iter().cloned());
    }
    Ok(rows)
}

fn asked(query: &Query) -> Vec<Option<&str>> {
    let named: Vec<Option<&str>> = query.all("x").take(MOST_ASKED).map(Some).collect();
    if named.is_empty() { vec![None] } else { named }
}

/// The picture of this kind.
pub(in crate::web) async fn drawn(study: &Snapshot, kind: &str, query: &Query) -> Result<Figure, Problem> {
    let part = Part::of(query)?;
    let by = by(query, By::Task)?;
    let confidence = part.confidence;
    Ok(match kind {
        "surface" => surface_figure(
            &study.surface(&part, query.get("x"), query.get("y")).await?.views,
            confidence.level(),
        ),
        "projection" => projected(study, query, &projections(study, query).await?).await?,
        "frontier" => frontier_figure(&fronts(study, query).await?, confidence.level()),
        "hazard" => hazard_figure(&study.hazard(&part, by, number(query, "width")?).await?, confidence),
        "histogram" => histogram_figure(&study.hazard(&part, by, number(query, "width")?).await?),
        "tokens" => tokens_figure(
            &study.tokens(&part, by, number(query, "keep")?, &budgets(query)?).await?,
            confidence,
        ),
        "compression" => compression_figure(
            &*study.compression(&part, by, number(query, "loop_bits")?, 0).await?,
            |ended| ended.bits_per_token,
            "bits per token",
        ),
        "size" => compression_figure(
            &*study.compression(&part, by, number(query, "loop_bits")?, 0).await?,
            |ended| ended.compressed_size,
            "compressed bytes",
        ),
        _ => {
            return Err(Problem::absent(
                "there is no such picture; there are surface, projection, frontier, hazard, histogram, tokens, \
                 compression and size",
            ));
        }
    })
}
