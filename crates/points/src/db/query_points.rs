//! Points one by one, each with its estimate.

use reasonscape_stats::Interval;

use super::columns::{CountColumns, TextColumn, TextListColumn, collect_batch};
use super::{Estimator, PointsDb};
use crate::{BoxFuture, Filter, PointsError, TrialCounts};

/// One point and what is known there.
#[derive(Debug, Clone, PartialEq)]
pub struct PointEstimate {
    /// The evaluation.
    pub eval_id: String,
    /// The model.
    pub model: String,
    /// How it was asked.
    pub template: String,
    /// How its tokens were chosen.
    pub sampler: String,
    /// The task.
    pub base_task: String,
    /// The coordinates, as canonical JSON.
    pub params: String,
    /// The manifolds that run through it.
    pub manifolds: Vec<String>,
    /// What was counted.
    pub counts: TrialCounts,
    /// What it supports.
    pub estimate: Interval,
}

impl PointEstimate {
    /// Points are listed in the order of these columns.
    fn order(&self) -> [&str; 5] {
        [&self.model, &self.template, &self.sampler, &self.base_task, &self.params]
    }
}

impl PointsDb {
    /// The points that a filter means, each with its estimate; `C_I` is what the seed takes here.
    ///
    /// # Errors
    /// A [`PointsError`] when the counters of a file contradict each other.
    pub fn query_points<'a>(
        &'a self,
        filter: &'a Filter,
        estimator: Estimator,
    ) -> BoxFuture<'a, Result<Vec<PointEstimate>, PointsError>> {
        Box::pin(async move {
            let batch = collect_batch(self.filtered(filter, false).await?).await?;
            let count_columns = CountColumns::new(&batch)?;
            let [eval_id, model, template, sampler, base_task, params] =
                ["eval_id", "model", "template", "sampler", "base_task", "params"]
                    .map(|name| TextColumn::new(&batch, name));
            let manifolds = TextListColumn::new(&batch, "manifolds");
            let mut points = (0..batch.num_rows())
                .map(|row| {
                    let counts = count_columns.row(row);
                    Ok(PointEstimate {
                        eval_id: eval_id.value(row).to_owned(),
                        model: model.value(row).to_owned(),
                        template: template.value(row).to_owned(),
                        sampler: sampler.value(row).to_owned(),
                        base_task: base_task.value(row).to_owned(),
                        params: params.value(row).to_owned(),
                        manifolds: manifolds.value(row),
                        estimate: estimator.estimate(&counts)?,
                        counts,
                    })
                })
                .collect::<Result<Vec<_>, PointsError>>()?;
            points.sort_by(|a, b| a.order().cmp(&b.order()));
            Ok(points)
        })
    }
}
