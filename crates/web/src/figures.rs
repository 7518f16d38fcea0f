//! The figures of analyses, as pages draw them and the API returns them.

use std::collections::BTreeSet;

use reasonscape_charts::Figure;

use super::analysis_cache::AnalysisCache;
use super::error::ApiError;
use super::params::{AnalysisQuery, by, number};
use super::query_string::Query;
use reasonscape_analysis::{AccuracyGrid, GroupBy, ThresholdRow};

/// Repeated parameters beyond this many are ignored: `x` (parameters) and `budget` (token limits).
const MAX_VALUES: usize = 32;

/// The kinds of figures.
pub(crate) const KINDS: [&str; 8] =
    ["surface", "projection", "threshold", "hazard", "histogram", "tokens", "compression", "size"];

/// The former name of `threshold`, which still works.
const FORMER_THRESHOLD: &str = "frontier"; // wording: allow

/// The token limits that a query names.
pub(crate) fn budgets(query: &Query) -> Result<Vec<u64>, ApiError> {
    let budget = |text: &str| {
        text.parse()
            .map_err(|_| ApiError::bad_request(format_args!("`budget={text}` is not a number of tokens")))
    };
    query.all("budget").take(MAX_VALUES).map(budget).collect()
}

/// The parameters in the query; `None` is the one that varies most.
fn axes(query: &Query) -> Vec<Option<&str>> {
    let named: Vec<Option<&str>> = query.all("x").take(MAX_VALUES).map(Some).collect();
    if named.is_empty() { vec![None] } else { named }
}

/// Accuracy along each of the parameters that a query names.
pub(crate) async fn projection_views(
    analyses: &AnalysisCache,
    query: &Query,
) -> Result<Vec<AccuracyGrid>, ApiError> {
    let selected = AnalysisQuery::from_query(query)?;
    let mut views = Vec::new();
    for x in axes(query) {
        views.extend(analyses.projection(&selected, x).await?.grids.iter().cloned());
    }
    Ok(views)
}

/// The figure of projections, with a line where accuracy falls to 50 %.
pub(crate) async fn projection_figure(
    analyses: &AnalysisCache,
    query: &Query,
    views: &[AccuracyGrid],
) -> Result<Figure, ApiError> {
    let selected = AnalysisQuery::from_query(query)?;
    let numeric = views.iter().map(|view| &view.axes[0]).filter(|axis| axis.is_numeric);
    let mut rows = Vec::new();
    for parameter in numeric.map(|axis| axis.parameter.as_str()).collect::<BTreeSet<_>>() {
        rows.extend(analyses.thresholds(&selected, Some(parameter)).await?.rows.iter().cloned());
    }
    let along: Vec<(&str, &str)> =
        views.iter().map(|view| (view.task.as_str(), view.axes[0].parameter.as_str())).collect();
    let figure = reasonscape_analysis::projection_figure(views, selected.confidence.level());
    Ok(reasonscape_analysis::threshold_lines(figure, &along, &rows))
}

/// The thresholds along each of the parameters in the query.
pub(crate) async fn threshold_rows(
    analyses: &AnalysisCache,
    query: &Query,
) -> Result<Vec<ThresholdRow>, ApiError> {
    let selected = AnalysisQuery::from_query(query)?;
    let mut rows = Vec::new();
    for x in axes(query) {
        rows.extend(analyses.thresholds(&selected, x).await?.rows.iter().cloned());
    }
    Ok(rows)
}

/// The figure of this kind.
pub(crate) async fn figure_for(
    analyses: &AnalysisCache,
    kind: &str,
    query: &Query,
) -> Result<Figure, ApiError> {
    let selected = AnalysisQuery::from_query(query)?;
    let by = by(query, GroupBy::Task)?;
    let confidence = selected.confidence;
    Ok(match kind {
        "surface" => reasonscape_analysis::surface_figure(
            &analyses.surface(&selected, query.get("x"), query.get("y")).await?.grids,
            confidence.level(),
        ),
        "projection" => projection_figure(analyses, query, &projection_views(analyses, query).await?).await?,
        "threshold" | FORMER_THRESHOLD => reasonscape_analysis::threshold_figure(
            &threshold_rows(analyses, query).await?,
            confidence.level(),
        ),
        "hazard" => reasonscape_analysis::hazard_figure(
            &analyses.hazard(&selected, by, number(query, "width")?).await?,
            confidence,
        ),
        "histogram" => reasonscape_analysis::histogram_figure(
            &analyses.hazard(&selected, by, number(query, "width")?).await?,
        ),
        "tokens" => reasonscape_analysis::tokens_figure(
            &analyses.tokens(&selected, by, number(query, "keep")?, &budgets(query)?).await?,
            confidence,
        ),
        "compression" => reasonscape_analysis::compression_figure(
            &*analyses.compression(&selected, by, number(query, "loop_bits")?, 0).await?,
            |ended| ended.bits_per_token,
            "bits per token",
        ),
        "size" => reasonscape_analysis::compression_figure(
            &*analyses.compression(&selected, by, number(query, "loop_bits")?, 0).await?,
            |ended| ended.compressed_size,
            "compressed bytes",
        ),
        _ => {
            return Err(ApiError::not_found(
                "unknown figure; expected surface, projection, threshold, hazard, histogram, tokens, compression or size",
            ));
        }
    })
}
