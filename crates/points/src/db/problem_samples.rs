//! The samples of each problem, for analyses of repeats.

use std::collections::{BTreeMap, HashMap};

use datafusion::functions_aggregate::min_max::max;
use datafusion::logical_expr::{col, ident};
use reasonscape_core::normalize;
use reasonscape_stats::Outcome;
use reasonscape_stats::design_effect::ClusteredRate;

use super::PointsDb;
use super::columns::{IntColumn, OutcomeColumn, TextColumn, collect_batch, next_batch};
use crate::query_threads::execute_stream;
use crate::{BoxFuture, Filter, PointsError};

/// One problem of one evaluation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProblemSamples {
    /// The outcome of each sample.
    pub outcomes: Vec<Outcome>,
    /// The distinct answers after normalization, `None` for samples without one: how often each occurred, and whether it is
    /// correct.
    pub answers: BTreeMap<Option<String>, (u64, bool)>,
}

impl ProblemSamples {
    /// Number of samples and of correct ones.
    pub fn counts(&self) -> (u64, u64) {
        let correct = self.outcomes.iter().filter(|outcome| **outcome == Outcome::Correct).count();
        (self.outcomes.len() as u64, correct as u64)
    }
}

/// The problems of one evaluation on one task.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitProblems {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// The problems of each point, ordered by parameters and index.
    pub points: Vec<Vec<ProblemSamples>>,
}

/// The trials of points by problem; the key is evaluation, task and parameters.
pub(super) type ProblemClusters = HashMap<[String; 3], ClusteredRate>;

/// The number of problems of a point by number of samples and of correct samples.
const CLUSTERS: &str = "SELECT eval_id, base_task, params, n, correct, count(*) AS problems FROM (
    SELECT eval_id, base_task, params, count(*) AS n, sum(CASE WHEN status = 1 THEN 1 ELSE 0 END) AS correct
    FROM trials GROUP BY eval_id, base_task, params, \"index\"
) GROUP BY eval_id, base_task, params, n, correct";

/// Problems by parameters and index.
type Problems = BTreeMap<String, BTreeMap<i64, ProblemSamples>>;

impl PointsDb {
    /// The largest number of samples per problem among the trials that a filter selects.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn max_samples<'a>(&'a self, filter: &'a Filter) -> BoxFuture<'a, Result<u64, PointsError>> {
        Box::pin(async move {
            if !self.has_repeats {
                return Ok(1);
            }
            let trials = self.trials_of(filter).await?;
            let largest = trials.aggregate(vec![], vec![max(col("repeat")).alias("repeat")])?;
            let batch = collect_batch(largest).await?;
            let mut repeats = Vec::new();
            IntColumn::new(&batch, "repeat").append_to(&mut repeats, -1);
            Ok(repeats.first().map_or(0, |repeat| (repeat + 1).max(0) as u64))
        })
    }

    /// The trials of each point by problem; `None` if every problem has one sample.
    pub(super) async fn problem_clusters(&self) -> Result<Option<&ProblemClusters>, PointsError> {
        if !self.has_repeats {
            return Ok(None);
        }
        if let Some(found) = self.problem_clusters.get() {
            return Ok(Some(found));
        }
        let batch = collect_batch(self.session.sql(CLUSTERS).await?).await?;
        let [evals, tasks, params] =
            ["eval_id", "base_task", "params"].map(|name| TextColumn::new(&batch, name));
        let [n, correct, problems] = ["n", "correct", "problems"].map(|name| IntColumn::new(&batch, name));
        let mut found = ProblemClusters::new();
        for row in 0..batch.num_rows() {
            let key = [&evals, &tasks, &params].map(|column| column.value(row).to_owned());
            let rate = found.entry(key).or_default();
            for _ in 0..problems.value(row) {
                rate.add(n.value(row).max(0) as u64, correct.value(row).max(0) as u64)?;
            }
        }
        Ok(Some(self.problem_clusters.get_or_init(|| found)))
    }

    /// The samples of each problem among the trials that a filter selects, by evaluation and task.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn problem_samples<'a>(
        &'a self,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Vec<UnitProblems>, PointsError>> {
        Box::pin(async move {
            let columns = ["eval_id", "base_task", "params", "index", "status", "answer"];
            let trials = self.trials_of(filter).await?.select(columns.map(ident).to_vec())?;
            let mut batches = execute_stream(trials).await?;
            let mut units: BTreeMap<(String, String), Problems> = BTreeMap::new();
            while let Some(batch) = next_batch(&mut batches).await {
                let batch = batch?;
                let [evals, tasks, params, answers] =
                    ["eval_id", "base_task", "params", "answer"].map(|name| TextColumn::new(&batch, name));
                let (index, status) = (IntColumn::new(&batch, "index"), OutcomeColumn::new(&batch, "status"));
                for row in 0..batch.num_rows() {
                    let key = (evals.value(row).to_owned(), tasks.value(row).to_owned());
                    let points = units.entry(key).or_default();
                    let problems = match points.get_mut(params.value(row)) {
                        Some(problems) => problems,
                        None => points.entry(params.value(row).to_owned()).or_default(),
                    };
                    let problem = problems.entry(index.value(row)).or_default();
                    let outcome = status.value(row)?;
                    let answer = answers.optional(row).map(|answer| normalize(answer, true).into_owned());
                    let (count, correct) = problem.answers.entry(answer).or_default();
                    *count += 1;
                    *correct |= outcome == Outcome::Correct;
                    problem.outcomes.push(outcome);
                }
            }
            let unit = |((eval_id, base_task), points): ((String, String), Problems)| UnitProblems {
                eval_id,
                base_task,
                points: points.into_values().map(|problems| problems.into_values().collect()).collect(),
            };
            Ok(units.into_iter().map(unit).collect())
        })
    }
}
