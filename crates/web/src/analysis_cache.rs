//! The analyses of one study, each computed once however many requests need it.

use std::any::Any;
use std::sync::Arc;

use reasonscape_points::{Column, EvalInfo, Filter, PointsDb, PointsError, StoredTrial, TestName};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::disagreements::{Disagreement, DisagreementList};
use super::error::ApiError;
use super::params::AnalysisQuery;
use super::single_flight::SingleFlight;
use super::trial_query::{TrialIndex, TrialQuery};
use reasonscape_analysis::{
    AccuracyGrids, AxisSelection, BoardOptions, Comparison, Compression, CompressionOptions, GroupBy,
    HazardOptions, HazardRow, Leaderboard, ModelSets, Pairwise, PointQuery, TaskParameters, Thresholds, Ties,
    TokensOptions, TokensRow, VarianceOptions, VarianceRow,
};

/// The proportion of correct answers that a smaller token limit should keep, by default.
pub(crate) const KEEP: f64 = 0.95;

/// Two evaluations, by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) a: String,
    pub(crate) b: String,
}

/// Identifies one result. Each variant has one type of result.
#[derive(Debug, PartialEq)]
enum Key {
    Leaderboard { options: BoardOptions, conditions: Vec<String> },
    TrialIndex(TrialQuery),
    Trials { query: TrialQuery, first: u64, max: usize },
    Parameters { conditions: Vec<String> },
    AccuracyGrids { query: AnalysisQuery, x: Option<String>, y: Option<String>, is_surface: bool },
    Thresholds { query: AnalysisQuery, x: Option<String> },
    Hazard { query: AnalysisQuery, by: GroupBy, width: Option<u64> },
    Tokens { query: AnalysisQuery, by: GroupBy, keep: f64, budgets: Vec<u64> },
    Variance { query: AnalysisQuery, by: GroupBy },
    Compression { query: AnalysisQuery, by: GroupBy, loop_bits: Option<f64>, examples: usize },
    Pairwise { mode: Mode, method: Method, conditions: Vec<String>, evals: Vec<String> },
    ModelSets { by: Option<Column>, conditions: Vec<String>, evals: Vec<String> },
    Comparison { pair: Pair, mode: Mode, conditions: Vec<String> },
    Disagreements { pair: Pair, conditions: Vec<String> },
    DisagreementRows { pair: Pair, conditions: Vec<String>, which: Disagreement, first: u64, max: usize },
}

/// The points of a study and what was computed from them.
pub(crate) struct AnalysisCache {
    pub(crate) db: PointsDb,
    results: SingleFlight<Key, Arc<dyn Any + Send + Sync>>,
}

impl AnalysisCache {
    pub(crate) fn new(db: PointsDb) -> Self {
        let is_same_kind = |a: &Key, b: &Key| std::mem::discriminant(a) == std::mem::discriminant(b);
        Self { db, results: SingleFlight::with_kinds(is_same_kind) }
    }

    async fn get<T: Any + Send + Sync, E>(
        &self,
        key: Key,
        work: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let work = async || work().await.map(|result| Arc::new(result) as Arc<dyn Any + Send + Sync>);
        let result = self.results.get(key, work).await?;
        Ok(result.downcast().expect("each kind of key has one type of result"))
    }

    /// The evaluations by score. Without ranks, which would need all trials.
    pub(crate) async fn order(
        &self,
        mode: Mode,
        conditions: &[String],
    ) -> Result<Arc<Leaderboard>, ApiError> {
        self.leaderboard(BoardOptions { ties: Some(Ties::V2), ..mode.into() }, conditions).await
    }

    /// The leaderboard of the points that meet these conditions.
    pub(crate) async fn leaderboard(
        &self,
        options: BoardOptions,
        conditions: &[String],
    ) -> Result<Arc<Leaderboard>, ApiError> {
        let point_query = PointQuery::parse(conditions)?;
        let key = Key::Leaderboard { options, conditions: conditions.to_vec() };
        Ok(self
            .get(key, async || reasonscape_analysis::leaderboard(&self.db, &point_query, options).await)
            .await?)
    }

    /// Which trials a query selects, and where they are.
    pub(crate) async fn trial_index(&self, query: &TrialQuery) -> Result<Arc<TrialIndex>, ApiError> {
        let work = async || TrialIndex::build(&self.db, query).await;
        Ok(self.get(Key::TrialIndex(query.clone()), work).await?)
    }

    /// At most `max` of the selected trials, after skipping `first`.
    pub(crate) async fn trials(
        &self,
        query: &TrialQuery,
        first: u64,
        max: usize,
    ) -> Result<Arc<Vec<StoredTrial>>, ApiError> {
        let index = self.trial_index(query).await?;
        let key = Key::Trials { query: query.clone(), first, max };
        Ok(self.get(key, async || index.rows(&self.db, first, max).await).await?)
    }

    /// The parameters that vary, task by task.
    pub(crate) async fn parameters(
        &self,
        conditions: &[String],
    ) -> Result<Arc<Vec<TaskParameters>>, ApiError> {
        let point_query = PointQuery::parse(conditions)?;
        let key = Key::Parameters { conditions: conditions.to_vec() };
        Ok(self.get(key, async || reasonscape_analysis::parameters(&self.db, &point_query).await).await?)
    }

    /// Accuracy over two parameters.
    pub(crate) async fn surface(
        &self,
        query: &AnalysisQuery,
        x: Option<&str>,
        y: Option<&str>,
    ) -> Result<Arc<AccuracyGrids>, ApiError> {
        self.views(query, AxisSelection { x, y, is_surface: true }).await
    }

    /// Accuracy along one parameter.
    pub(crate) async fn projection(
        &self,
        query: &AnalysisQuery,
        x: Option<&str>,
    ) -> Result<Arc<AccuracyGrids>, ApiError> {
        self.views(query, AxisSelection { x, y: None, is_surface: false }).await
    }

    async fn views(
        &self,
        query: &AnalysisQuery,
        along: AxisSelection<'_>,
    ) -> Result<Arc<AccuracyGrids>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        let key = Key::AccuracyGrids {
            query: query.clone(),
            x: along.x.map(ToOwned::to_owned),
            y: along.y.map(ToOwned::to_owned),
            is_surface: along.is_surface,
        };
        let work = async || {
            reasonscape_analysis::accuracy_grids(&self.db, &point_query, along, query.estimator()).await
        };
        Ok(self.get(key, work).await?)
    }

    /// The values of a parameter at which accuracy falls to 50 %.
    pub(crate) async fn thresholds(
        &self,
        query: &AnalysisQuery,
        x: Option<&str>,
    ) -> Result<Arc<Thresholds>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        let key = Key::Thresholds { query: query.clone(), x: x.map(ToOwned::to_owned) };
        let work =
            async || reasonscape_analysis::thresholds(&self.db, &point_query, x, query.estimator()).await;
        Ok(self.get(key, work).await?)
    }

    /// Tokens used until trials answered.
    pub(crate) async fn hazard(
        &self,
        query: &AnalysisQuery,
        by: GroupBy,
        width: Option<u64>,
    ) -> Result<Arc<Vec<HazardRow>>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        if width == Some(0) {
            return Err(ApiError::bad_request(
                "`width=0` is out of range; expected at least 1 token per bin",
            ));
        }
        let options = HazardOptions { by, width, confidence: query.confidence };
        let key = Key::Hazard { query: query.clone(), by, width };
        Ok(self
            .get(key, async || reasonscape_analysis::hazard(&self.db, &point_query, options).await)
            .await?)
    }

    /// Outcomes under smaller token limits.
    pub(crate) async fn tokens(
        &self,
        query: &AnalysisQuery,
        by: GroupBy,
        keep: Option<f64>,
        budgets: &[u64],
    ) -> Result<Arc<Vec<TokensRow>>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        let keep = keep.unwrap_or(KEEP);
        if !(keep > 0.0 && keep <= 1.0) {
            return Err(ApiError::bad_request(format_args!(
                "`keep={keep}` is out of range; expected a proportion above 0 and up to 1, such as 0.95"
            )));
        }
        let options = TokensOptions { by, estimator: query.estimator(), keep, budgets: budgets.to_vec() };
        let key = Key::Tokens { query: query.clone(), by, keep, budgets: budgets.to_vec() };
        Ok(self
            .get(key, async || reasonscape_analysis::tokens(&self.db, &point_query, &options).await)
            .await?)
    }

    /// Where the variance of accuracy comes from.
    pub(crate) async fn variance(
        &self,
        query: &AnalysisQuery,
        by: GroupBy,
    ) -> Result<Arc<Vec<VarianceRow>>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        let options = VarianceOptions { by, confidence: query.confidence };
        let key = Key::Variance { query: query.clone(), by };
        Ok(self
            .get(key, async || reasonscape_analysis::variance(&self.db, &point_query, options).await)
            .await?)
    }

    /// How compressible the responses are.
    pub(crate) async fn compression(
        &self,
        query: &AnalysisQuery,
        by: GroupBy,
        loop_bits: Option<f64>,
        examples: usize,
    ) -> Result<Arc<Compression>, ApiError> {
        let point_query = PointQuery::parse(&query.conditions)?;
        if let Some(bits) = loop_bits
            && !(bits.is_finite() && bits > 0.0)
        {
            return Err(ApiError::bad_request(format_args!(
                "`loop_bits={bits}` is out of range; expected a number of bits above 0, such as 1.5"
            )));
        }
        let options = CompressionOptions { by, confidence: query.confidence, loop_bits, examples };
        let key = Key::Compression { query: query.clone(), by, loop_bits, examples };
        Ok(self
            .get(key, async || reasonscape_analysis::compression(&self.db, &point_query, options).await)
            .await?)
    }

    /// The id of the evaluation with this id, name or model.
    pub(crate) fn eval_id(&self, name: &str) -> Result<String, ApiError> {
        let known: Vec<&EvalInfo> = self.db.evals().iter().collect();
        Ok(reasonscape_analysis::find_eval(&known, name)?.eval_id.clone())
    }

    /// Pairwise comparison of these evaluations.
    pub(crate) async fn pairwise(
        &self,
        mode: Mode,
        method: Method,
        conditions: Vec<String>,
        evals: Vec<String>,
    ) -> Result<Arc<Pairwise>, ApiError> {
        let names: Vec<&str> = evals.iter().map(String::as_str).collect();
        let point_query = PointQuery::parse(&conditions)?.for_evals(&names);
        let key = Key::Pairwise { mode, method, conditions, evals: evals.clone() };
        let work = async || reasonscape_analysis::pairwise(&self.db, &point_query, mode, method).await;
        Ok(self.get(key, work).await?)
    }

    /// The sets of these evaluations that can't be distinguished.
    pub(crate) async fn model_sets(
        &self,
        by: Option<Column>,
        conditions: Vec<String>,
        evals: Vec<String>,
    ) -> Result<Arc<ModelSets>, ApiError> {
        let names: Vec<&str> = evals.iter().map(String::as_str).collect();
        let point_query = PointQuery::parse(&conditions)?.for_evals(&names);
        let key = Key::ModelSets { by: by.clone(), conditions, evals: evals.clone() };
        let work = async || reasonscape_analysis::model_sets(&self.db, &point_query, by.as_ref()).await;
        Ok(self.get(key, work).await?)
    }

    /// Compares two evaluations on the problems that both answered.
    pub(crate) async fn comparison(
        &self,
        pair: &Pair,
        mode: Mode,
        conditions: Vec<String>,
    ) -> Result<Arc<Comparison>, ApiError> {
        let point_query = PointQuery::parse(&conditions)?;
        let key = Key::Comparison { pair: pair.clone(), mode, conditions };
        let work =
            async || reasonscape_analysis::compare(&self.db, &point_query, [&pair.a, &pair.b], mode).await;
        Ok(self.get(key, work).await?)
    }

    /// The problems with different outcomes for the two evaluations.
    pub(crate) async fn disagreements(
        &self,
        pair: &Pair,
        conditions: Vec<String>,
    ) -> Result<Arc<DisagreementList>, ApiError> {
        let filter = Filter::parse(&conditions)?.for_tests();
        let key = Key::Disagreements { pair: pair.clone(), conditions };
        let work = async || {
            let points = self.db.disagreements(&pair.a, &pair.b, &filter).await?;
            Ok::<_, PointsError>(DisagreementList::new(points))
        };
        Ok(self.get(key, work).await?)
    }

    /// At most `max` of these problems after skipping `first`, with the trials of both evaluations.
    pub(crate) async fn disagreement_rows(
        &self,
        pair: &Pair,
        conditions: Vec<String>,
        which: Disagreement,
        first: u64,
        max: usize,
    ) -> Result<Arc<Vec<[StoredTrial; 2]>>, ApiError> {
        let list = self.disagreements(pair, conditions.clone()).await?;
        let key = Key::DisagreementRows { pair: pair.clone(), conditions, which, first, max };
        let work = async || {
            let tests: Vec<TestName<'_>> =
                list.tests(which).skip(usize::try_from(first).unwrap_or(usize::MAX)).take(max).collect();
            let of_a = self.db.trials_on(&pair.a, &tests).await?;
            let of_b = self.db.trials_on(&pair.b, &tests).await?;
            // Files may have been replaced since the tests were listed.
            let rows = of_a.into_iter().zip(of_b).filter_map(|(a, b)| Some([a?, b?]));
            Ok::<_, PointsError>(rows.collect::<Vec<_>>())
        };
        Ok(self.get(key, work).await?)
    }
}
