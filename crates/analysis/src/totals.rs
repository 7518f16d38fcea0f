//! Counters summed by evaluation and task, and what is missing.

use std::collections::BTreeMap;

use reasonscape_points::{Column, EvalInfo, PointsDb, PointsError, TrialCounts};
use reasonscape_stats::Mode;

use crate::labels::eval_label;
use crate::query::PointQuery;

/// The counters of evaluations on the tasks of their suite.
#[derive(Debug)]
pub(super) struct SuiteTotals {
    /// The selected evaluations, ordered by model, template and sampler.
    pub(super) evals: Vec<EvalTotals>,
    /// The tasks of the suite by name, with the number of points that any evaluation of the study has.
    pub(super) suite: BTreeMap<String, u64>,
}

/// One evaluation.
#[derive(Debug)]
pub(super) struct EvalTotals {
    pub(super) info: EvalInfo,
    /// Its name in tables.
    pub(super) label: String,
    /// Its tasks by name, including those without trials.
    pub(super) tasks: BTreeMap<String, TaskTotals>,
}

/// One evaluation on one task.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TaskTotals {
    pub(super) points: u64,
    pub(super) counts: TrialCounts,
}

impl SuiteTotals {
    /// Sums the points that the query selects; an error if there are none.
    pub(super) async fn load(db: &PointsDb, query: &PointQuery) -> Result<Self, PointsError> {
        let groups =
            db.aggregate(&[Column::EvalId, Column::BaseTask], &query.filter, Mode::C_P.into()).await?;
        if groups.is_empty() {
            return Err(query.no_match_error(db).await);
        }
        let mut tasks_by_eval: BTreeMap<String, BTreeMap<String, TaskTotals>> = BTreeMap::new();
        for group in groups {
            let [eval_id, task] = &group.key[..] else { unreachable!("grouped by two columns") };
            let totals = TaskTotals { points: group.points, counts: group.counts };
            tasks_by_eval.entry(eval_id.to_string()).or_default().insert(task.to_string(), totals);
        }
        let evals = db
            .evals()
            .iter()
            .filter_map(|info| {
                let tasks = tasks_by_eval.remove(&info.eval_id)?;
                Some(EvalTotals { info: info.clone(), label: eval_label(db.evals(), info), tasks })
            })
            .collect();
        let points = db
            .aggregate(&[Column::BaseTask, Column::Params], &query.filter.for_tests(), Mode::C_P.into())
            .await?;
        let mut suite: BTreeMap<String, u64> = BTreeMap::new();
        for point in points {
            *suite.entry(point.key[0].to_string()).or_default() += 1;
        }
        Ok(Self { evals, suite })
    }
}

impl EvalTotals {
    /// The sum over tasks.
    pub(super) fn total(&self) -> TrialCounts {
        let mut total = TrialCounts::default();
        for task in self.tasks.values() {
            total += task.counts;
        }
        total
    }

    /// The tasks with trials, by name.
    pub(super) fn with_trials(&self) -> impl Iterator<Item = (&String, &TaskTotals)> {
        self.tasks.iter().filter(|(_, task)| task.counts.n > 0)
    }

    /// The tasks of the suite without trials.
    pub(super) fn without_trials(&self, suite: &BTreeMap<String, u64>) -> Vec<String> {
        let has_trials = |task: &&String| self.tasks.get(*task).is_some_and(|task| task.counts.n > 0);
        suite.keys().filter(|task| !has_trials(task)).cloned().collect()
    }

    /// Points of its tasks that only other evaluations have.
    pub(super) fn missing_points(&self, suite: &BTreeMap<String, u64>) -> u64 {
        let missing = |(task, totals): (&String, &TaskTotals)| {
            suite.get(task).map_or(0, |points| points.saturating_sub(totals.points))
        };
        self.tasks.iter().map(missing).sum()
    }
}
