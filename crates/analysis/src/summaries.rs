//! Summaries of evaluations, tasks and points.

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_points::{Column, Estimator, EvalInfo, PointsDb, PointsError, TrialCounts};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::IntervalEstimate;
use super::labels::eval_label;
use super::query::PointQuery;
use super::reliability::{Reliability, ReliabilityTable};
use super::totals::SuiteTotals;
use super::truncation::{is_known, truncation_is_known, truncation_rate};

/// An evaluation and its numbers of tasks, points and trials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Eval")]
pub struct EvalSummary {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// Tasks that have trials.
    pub tasks: u64,
    /// Tasks of the suite that have no trials.
    pub missing_tasks: Vec<String>,
    /// Points.
    pub points: u64,
    /// Trials that were answered.
    pub trials: u64,
    /// Trials that were planned and not answered.
    pub missing: u64,
    /// Points of its tasks that only other evaluations have.
    pub missing_points: u64,
    /// The proportion of truncated trials; null where the log has no reasons why responses ended.
    pub truncation_rate: Option<f64>,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// Mean tokens of a completion.
    pub tokens_mean: Option<f64>,
    /// The proportion of correct answers over all tasks.
    pub correct: IntervalEstimate,
    /// The estimator.
    pub mode: &'static str,
    /// Use of the token limit, refusals and unparsed responses.
    pub reliability: Reliability,
}

/// The selected evaluations, ordered by model, template and sampler.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn evals(
    db: &PointsDb,
    query: &PointQuery,
    estimator: Estimator,
) -> Result<Vec<EvalSummary>, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let reliability = ReliabilityTable::load(db, query).await?;
    totals
        .evals
        .into_iter()
        .map(|eval| {
            let total = eval.total();
            let truncation_known = truncation_is_known(db, [&eval.info.eval_id]);
            Ok(EvalSummary {
                tasks: eval.with_trials().count() as u64,
                missing_tasks: eval.without_trials(&totals.suite),
                points: eval.tasks.values().map(|task| task.points).sum(),
                trials: total.n,
                missing: total.missing(),
                missing_points: eval.missing_points(&totals.suite),
                truncation_rate: truncation_rate(&total).filter(|_| truncation_known),
                truncation_known,
                tokens_mean: total.completion_tokens.value(),
                correct: estimator.estimate(&total)?.into(),
                mode: estimator.mode.name(),
                reliability: reliability.of_eval(&eval.info.eval_id),
                eval: eval.info,
            })
        })
        .collect()
}

/// A task and its numbers of evaluations, points and trials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Task")]
pub struct TaskSummary {
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// Evaluations that have trials of it.
    pub evals: u64,
    /// Evaluations that have no trials of it.
    pub missing_evals: Vec<String>,
    /// Distinct points.
    pub points: u64,
    /// Trials that were answered or truncated.
    pub n: u64,
    /// Trials answered correctly.
    pub n_e: u64,
    /// Trials that were not truncated.
    pub n_u: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// Planned trials without an answer.
    pub missing: u64,
    /// The proportion of truncated trials; null where the log has no reasons why responses ended.
    pub truncation_rate: Option<f64>,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// Mean tokens of a completion.
    pub tokens_mean: Option<f64>,
    /// The proportion of correct answers over all evaluations.
    pub correct: IntervalEstimate,
    /// The estimator.
    pub mode: &'static str,
    /// Use of the token limit, refusals and unparsed responses.
    pub reliability: Reliability,
}

/// The selected tasks, by name.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn tasks(
    db: &PointsDb,
    query: &PointQuery,
    estimator: Estimator,
) -> Result<Vec<TaskSummary>, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let points = db.aggregate(&[Column::BaseTask, Column::Params], &query.filter, estimator).await?;
    let mut points_of: BTreeMap<String, u64> = BTreeMap::new();
    for point in points {
        *points_of.entry(point.key[0].to_string()).or_default() += 1;
    }
    let reliability = ReliabilityTable::load(db, query).await?;
    let names: BTreeSet<&String> = totals.evals.iter().flat_map(|eval| eval.tasks.keys()).collect();
    names
        .into_iter()
        .map(|task| {
            let mut total = TrialCounts::default();
            let mut missing_evals = Vec::new();
            for eval in &totals.evals {
                let counts = eval.tasks.get(task).map(|task| task.counts).unwrap_or_default();
                if counts.n == 0 {
                    missing_evals.push(eval.label.clone());
                }
                total += counts;
            }
            let answered = totals.evals.iter().filter(|eval| eval.tasks.contains_key(task));
            let truncation_known = truncation_is_known(db, answered.map(|eval| &eval.info.eval_id));
            Ok(TaskSummary {
                base_task: task.clone(),
                task: task.clone(),
                evals: (totals.evals.len() - missing_evals.len()) as u64,
                missing_evals,
                points: points_of.get(task).copied().unwrap_or(0),
                n: total.n,
                n_e: total.n_e,
                n_u: total.n_u(),
                n_t: total.n_t,
                g: total.g,
                missing: total.missing(),
                truncation_rate: truncation_rate(&total).filter(|_| truncation_known),
                truncation_known,
                tokens_mean: total.completion_tokens.value(),
                correct: estimator.estimate(&total)?.into(),
                mode: estimator.mode.name(),
                reliability: reliability.of_task(task),
            })
        })
        .collect()
}

/// A point of an evaluation.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Point")]
pub struct PointSummary {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The model.
    pub model: String,
    /// The template.
    pub template: String,
    /// The sampler.
    pub sampler: String,
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// The parameters.
    #[schemars(with = "serde_json::Map<String, Json>")]
    pub params: Json,
    /// The manifolds that the point lies on.
    pub manifolds: Vec<String>,
    /// Trials that were answered or truncated.
    pub n: u64,
    /// Trials answered correctly.
    pub n_e: u64,
    /// Trials that were not truncated.
    pub n_u: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// Planned trials without an answer.
    pub missing: u64,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// The proportion of correct answers.
    pub estimate: IntervalEstimate,
    /// The estimator.
    pub mode: &'static str,
}

impl PointSummary {
    /// The values of these parameters as text: `length=16 max_depth=2`.
    pub fn coordinates(&self, names: &BTreeSet<&str>) -> String {
        let value_text = |value: &Json| match value {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        };
        match &self.params {
            Json::Object(params) => {
                let chosen = params.iter().filter(|(name, _)| names.contains(name.as_str()));
                chosen
                    .map(|(name, value)| format!("{name}={}", value_text(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            other => value_text(other),
        }
    }
}

/// The parameters that differ between the points of a task, by task; all of them if there is only one point.
pub(crate) fn varying_params(points: &[PointSummary]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut values: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for point in points {
        let of_task = values.entry(&point.task).or_default();
        for (name, value) in point.params.as_object().into_iter().flatten() {
            of_task.entry(name).or_default().insert(value.to_string());
        }
    }
    values
        .into_iter()
        .map(|(task, of_task)| {
            let is_one_point = of_task.values().all(|values| values.len() == 1);
            let varying = of_task.into_iter().filter(|(_, values)| is_one_point || values.len() > 1);
            (task, varying.map(|(name, _)| name).collect())
        })
        .collect()
}

/// The selected points, by evaluation and task.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn points(
    db: &PointsDb,
    query: &PointQuery,
    estimator: Estimator,
) -> Result<Vec<PointSummary>, PointsError> {
    let found = db.query_points(&query.filter, estimator).await?;
    if found.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    let labels: BTreeMap<&str, String> =
        db.evals().iter().map(|eval| (eval.eval_id.as_str(), eval_label(db.evals(), eval))).collect();
    Ok(found
        .into_iter()
        .map(|point| PointSummary {
            label: labels.get(point.eval_id.as_str()).unwrap_or(&point.eval_id).clone(),
            truncation_known: truncation_is_known(db, [&point.eval_id]),
            eval_id: point.eval_id,
            model: point.model,
            template: point.template,
            sampler: point.sampler,
            base_task: point.base_task.clone(),
            task: point.base_task,
            params: serde_json::from_str(&point.params).unwrap_or(Json::String(point.params)),
            manifolds: point.manifolds,
            n: point.counts.n,
            n_e: point.counts.n_e,
            n_u: point.counts.n_u(),
            n_t: point.counts.n_t,
            g: point.counts.g,
            missing: point.counts.missing(),
            estimate: point.estimate.into(),
            mode: estimator.mode.name(),
        })
        .collect())
}
