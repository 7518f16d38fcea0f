//! Which evaluations a query string compares, and the comparisons.

use std::sync::Arc;

use reasonscape_points::StoredTrial;
use reasonscape_stats::Mode;

use super::analysis_cache::{AnalysisCache, Pair};
use super::disagreements::{Disagreement, DisagreementList};
use super::error::ApiError;
use super::params::{mode, number};
use super::query_string::Query;
use super::trial_query::TrialQuery;
use reasonscape_analysis::{Comparison, MONTE_CARLO_DRAWS, ModelSets, Pairwise, RatingOrder};
use reasonscape_stats::pairwise::Method;

/// Evaluations compared by default; a larger matrix is not readable.
pub(crate) const MAX_EVALS: usize = 12;

/// The query parameters that select problems.
pub(crate) const TESTS: [&str; 3] = ["task", "params", "filter"];

/// Evaluations to be compared, by their ids.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ComparedEvals {
    pub(crate) ids: Vec<String>,
    /// The number of all evaluations, if these are only the best of them.
    pub(crate) best_of: Option<usize>,
}

/// The conditions that select the problems of a query.
pub(crate) fn test_conditions(query: &Query) -> Result<Vec<String>, ApiError> {
    Ok(TrialQuery::from_query(&query.only(&TESTS))?.conditions)
}

/// The evaluations that a query names, or else the best by ReasonScore.
pub(crate) async fn compared_evals(
    analyses: &AnalysisCache,
    query: &Query,
) -> Result<ComparedEvals, ApiError> {
    let mut ids = query.all("eval").map(|name| analyses.eval_id(name)).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    if !ids.is_empty() {
        return Ok(ComparedEvals { ids, best_of: None });
    }
    let board = analyses.order(mode(query, Mode::C_P)?, &test_conditions(query)?).await?;
    let best_of = Some(board.rows.len()).filter(|rows| *rows > MAX_EVALS);
    let ids = board.rows.iter().take(MAX_EVALS).map(|row| row.eval.eval_id.clone()).collect();
    Ok(ComparedEvals { ids, best_of })
}

/// Pairwise comparison of the selected evaluations.
pub(crate) async fn pairwise(analyses: &AnalysisCache, query: &Query) -> Result<Arc<Pairwise>, ApiError> {
    let evals = compared_evals(analyses, query).await?.ids;
    analyses.pairwise(mode(query, Mode::C_P)?, method(query)?, test_conditions(query)?, evals).await
}

/// The sets of the selected evaluations that can't be distinguished; `by` groups them.
pub(crate) async fn model_sets(analyses: &AnalysisCache, query: &Query) -> Result<Arc<ModelSets>, ApiError> {
    let evals = compared_evals(analyses, query).await?.ids;
    let by = query.get("by").filter(|by| !by.is_empty()).map(str::parse).transpose()?;
    analyses.model_sets(by, test_conditions(query)?, evals).await
}

/// The order of the ratings: `sort=elo` or `sort=expected-wins`.
pub(crate) fn rating_order(query: &Query) -> Result<RatingOrder, ApiError> {
    match query.get("sort") {
        None | Some("elo") => Ok(RatingOrder::Elo),
        Some("expected-wins") => Ok(RatingOrder::ExpectedWins),
        Some(other) => Err(ApiError::bad_request(format_args!(
            "`sort={other}` is unknown; expected `elo` or `expected-wins`"
        ))),
    }
}

/// How win probabilities are computed: `method=exact`, or `monte-carlo` with a `seed`.
fn method(query: &Query) -> Result<Method, ApiError> {
    match (query.get("method"), number(query, "seed")?) {
        (None | Some("exact"), None) => Ok(Method::Exact),
        (None | Some("exact"), Some(_)) => {
            Err(ApiError::bad_request("`seed` has no effect on the exact method; add `method=monte-carlo`"))
        }
        (Some("monte-carlo"), seed) => {
            Ok(Method::MonteCarlo { draws: MONTE_CARLO_DRAWS, seed: seed.unwrap_or(42) })
        }
        (Some(other), _) => Err(ApiError::bad_request(format_args!(
            "`method={other}` is unknown; expected `exact` or `monte-carlo`"
        ))),
    }
}

/// The two evaluations that a query names, or else the two with the highest rating.
pub(crate) async fn pair(analyses: &AnalysisCache, query: &Query) -> Result<Pair, ApiError> {
    let named = |name: &str| query.get(name).map(|name| analyses.eval_id(name)).transpose();
    let (a, b) = (named("a")?, named("b")?);
    if let (Some(a), Some(b)) = (&a, &b) {
        return Ok(Pair { a: a.clone(), b: b.clone() });
    }
    let ratings = pairwise(analyses, query).await?;
    let mut best = ratings.evals.iter().map(|eval| &eval.eval.eval_id);
    let mut best_but = |other: Option<&String>| {
        let found = best.find(|id| Some(*id) != other).cloned();
        found.ok_or_else(|| ApiError::bad_request("a comparison takes two evaluations; select both"))
    };
    let a = a.map_or_else(|| best_but(b.as_ref()), Ok)?;
    let b = b.map_or_else(|| best_but(Some(&a)), Ok)?;
    Ok(Pair { a, b })
}

/// Compares two evaluations on the problems that both answered.
pub(crate) async fn comparison(
    analyses: &AnalysisCache,
    pair: &Pair,
    query: &Query,
) -> Result<Arc<Comparison>, ApiError> {
    analyses.comparison(pair, mode(query, Mode::C_P)?, test_conditions(query)?).await
}

/// The problems with different outcomes for the two evaluations.
pub(crate) async fn disagreements(
    analyses: &AnalysisCache,
    pair: &Pair,
    query: &Query,
) -> Result<Arc<DisagreementList>, ApiError> {
    analyses.disagreements(pair, test_conditions(query)?).await
}

/// At most `max` of these problems after skipping `first`, with the trials of both evaluations.
pub(crate) async fn disagreement_rows(
    analyses: &AnalysisCache,
    pair: &Pair,
    query: &Query,
    which: Disagreement,
    first: u64,
    max: usize,
) -> Result<Arc<Vec<[StoredTrial; 2]>>, ApiError> {
    analyses.disagreement_rows(pair, test_conditions(query)?, which, first, max).await
}
