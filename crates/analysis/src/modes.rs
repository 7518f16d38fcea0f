//! The nine estimators side by side, to show the effects of truncation, guessing and calibration.

use std::collections::BTreeMap;

use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError};
use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_scores};
use reasonscape_stats::{Confidence, Interval, Mode};
use serde::Serialize;

use super::board_points::BoardPoints;
use super::query::PointQuery;
use super::totals::SuiteTotals;
use super::{IntervalEstimate, Score};

/// One evaluation by each mode.
#[derive(Debug, Clone, Serialize)]
pub struct ModesRow {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Whether every task of the suite has a trial.
    pub complete: bool,
    /// Whether the points of a task were sampled in other proportions than the suite's.
    pub unequal_sampling: bool,
    /// The ReasonScore v2 by mode.
    pub scores: BTreeMap<&'static str, Score>,
    /// The accuracy by task and mode.
    pub tasks: BTreeMap<String, BTreeMap<&'static str, IntervalEstimate>>,
}

/// Estimates each selected evaluation by each of these modes.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn modes(db: &PointsDb, query: &PointQuery, modes: &[Mode]) -> Result<Vec<ModesRow>, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let points = BoardPoints::load(db, &query.filter).await?;
    let mut rows: Vec<ModesRow> = Vec::new();
    // Intervals by row, task and mode.
    let mut intervals: Vec<Vec<Vec<Interval>>> = Vec::new();
    for eval in totals.evals.iter().filter(|eval| eval.with_trials().next().is_some()) {
        let mut tasks = BTreeMap::new();
        let mut of_tasks = Vec::new();
        for (name, task) in eval.with_trials() {
            let counters = task.counts.counters()?;
            let estimates: Vec<Interval> =
                modes.iter().map(|mode| mode.estimate(&counters, Confidence::P95)).collect();
            // The score is v2's, of pooled counters; accuracies cluster samples by problem.
            let mut by_mode = BTreeMap::new();
            for mode in modes {
                let accuracy = Estimator::from(*mode).estimate(&task.counts)?;
                by_mode.insert(mode.name(), IntervalEstimate::from(accuracy));
            }
            tasks.insert(name.clone(), by_mode);
            of_tasks.push(estimates);
        }
        rows.push(ModesRow {
            eval: eval.info.clone(),
            label: eval.label.clone(),
            complete: eval.without_trials(&totals.suite).is_empty(),
            unequal_sampling: points.is_sampled_unequally(&eval.info.eval_id),
            scores: BTreeMap::new(),
            tasks,
        });
        intervals.push(of_tasks);
    }
    for (index, mode) in modes.iter().enumerate() {
        let bounds: Vec<Vec<TaskBounds>> = intervals
            .iter()
            .map(|tasks| tasks.iter().map(|modes| TaskBounds::from(modes[index])).collect())
            .collect();
        for (row, score) in rows.iter_mut().zip(reason_scores(&bounds, Bootstrap::default())?) {
            row.scores.insert(mode.name(), score.into());
        }
    }
    Ok(rows)
}
