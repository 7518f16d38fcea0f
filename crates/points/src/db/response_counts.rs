//! Refused and unparsed responses, which counters don't tell from other incorrect ones.

use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::{Expr, col, lit, when};

use super::PointsDb;
use super::columns::{IntColumn, TextColumn, collect_batch};
use crate::{BoxFuture, Filter, PointsError};

/// The responses of one evaluation on one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseCounts {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// Trials with a response.
    pub n: u64,
    /// Refused by a content filter.
    pub refused: u64,
    /// Completed, not refused, and no answer was found in it.
    pub unparsed: u64,
}

impl PointsDb {
    /// Counts refused and unparsed responses of the trials that a filter selects, by evaluation and task.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials can't be read.
    pub fn response_counts<'a>(
        &'a self,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Vec<ResponseCounts>, PointsError>> {
        Box::pin(async move {
            let is_refused = col("finish").eq(lit("content_filter"));
            let is_unparsed = col("status")
                .not_eq(lit(2))
                .and(col("answer").is_null())
                .and(is_refused.clone().is_not_true());
            let count = |condition: Expr, name: &str| -> Result<Expr, PointsError> {
                Ok(sum(when(condition, lit(1_i64)).otherwise(lit(0_i64))?).alias(name))
            };
            let trials = self.trials_of(filter).await?;
            let counted = trials.aggregate(
                vec![col("eval_id"), col("base_task")],
                vec![count_all().alias("n"), count(is_refused, "refused")?, count(is_unparsed, "unparsed")?],
            )?;
            let batch = collect_batch(counted).await?;
            let [evals, tasks] = ["eval_id", "base_task"].map(|name| TextColumn::new(&batch, name));
            let [n, refused, unparsed] =
                ["n", "refused", "unparsed"].map(|name| IntColumn::new(&batch, name));
            let mut found: Vec<ResponseCounts> = (0..batch.num_rows())
                .map(|row| ResponseCounts {
                    eval_id: evals.value(row).to_owned(),
                    base_task: tasks.value(row).to_owned(),
                    n: n.value(row) as u64,
                    refused: refused.value(row) as u64,
                    unparsed: unparsed.value(row) as u64,
                })
                .collect();
            found.sort_by(|a, b| (&a.eval_id, &a.base_task).cmp(&(&b.eval_id, &b.base_task)));
            Ok(found)
        })
    }
}
