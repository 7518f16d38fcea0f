//! Lists points, each with its estimate.

use reasonscape_stats::Interval;
use reasonscape_stats::likelihood::PointSums;

use super::columns::{CountColumns, SumColumns, TextColumn, TextListColumn, collect_batch};
use super::{Estimator, PointsDb};
use crate::{BoxFuture, Filter, PointsError, SamplingRule, TrialCounts};

/// One point of one evaluation, with its counters and estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct PointEstimate {
    /// The evaluation.
    pub eval_id: String,
    /// The model.
    pub model: String,
    /// The prompt template.
    pub template: String,
    /// The sampling parameters.
    pub sampler: String,
    /// The task.
    pub base_task: String,
    /// The parameters, as canonical JSON.
    pub params: String,
    /// The manifolds that contain the point.
    pub manifolds: Vec<String>,
    /// The counters.
    pub counts: TrialCounts,
    /// The estimate with its confidence interval.
    pub estimate: Interval,
    /// Sums over the problems that enter the ReasonScore; `None` in a file of an earlier format without trials.
    pub sums: Option<PointSums>,
    /// Planned problems in the suite, if recorded.
    pub weight: Option<u64>,
    /// Which trials enter the ReasonScore, if not all.
    pub rule: Option<SamplingRule>,
}

impl PointEstimate {
    /// Points are sorted by these columns.
    fn order(&self) -> [&str; 5] {
        [&self.model, &self.template, &self.sampler, &self.base_task, &self.params]
    }
}

impl PointsDb {
    /// The points that a filter selects, each with its estimate. The usual estimator for single points is `C_I`.
    ///
    /// # Errors
    /// A [`PointsError`] if the counters of a file are inconsistent.
    pub fn query_points<'a>(
        &'a self,
        filter: &'a Filter,
        estimator: Estimator,
    ) -> BoxFuture<'a, Result<Vec<PointEstimate>, PointsError>> {
        Box::pin(async move {
            let batch = collect_batch(self.filtered(filter, false).await?).await?;
            let count_columns = CountColumns::new(&batch)?;
            let clusters = self.problem_clusters().await?;
            let sum_columns = SumColumns::new(&batch);
            let [eval_id, model, template, sampler, base_task, params] =
                ["eval_id", "model", "template", "sampler", "base_task", "params"]
                    .map(|name| TextColumn::new(&batch, name));
            let manifolds = TextListColumn::new(&batch, "manifolds");
            let mut points = (0..batch.num_rows())
                .map(|row| {
                    let mut counts = count_columns.row(row);
                    if let Some(clusters) = clusters {
                        let point =
                            [&eval_id, &base_task, &params].map(|column| column.value(row).to_owned());
                        counts.problems = clusters.get(&point).copied().unwrap_or_default();
                    }
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
                        sums: sum_columns.sums(row),
                        weight: sum_columns.weight(row),
                        rule: sum_columns.rule(row),
                    })
                })
                .collect::<Result<Vec<_>, PointsError>>()?;
            points.sort_by(|a, b| a.order().cmp(&b.order()));
            Ok(points)
        })
    }
}
