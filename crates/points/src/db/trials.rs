//! The trials of one evaluation on one task.

use datafusion::common::JoinType;
use datafusion::logical_expr::{col, lit};
use datafusion::prelude::DataFrame;

use super::{PointsDb, QueryResult, StoredTrials};
use crate::query_threads::execute_stream;
use crate::{BoxFuture, Filter, PointsError};

impl PointsDb {
    /// The trials of an evaluation on a task at the points that a filter selects, sorted by parameters, index and repeat.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trials<'a>(
        &'a self,
        eval_id: &'a str,
        task: &'a str,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<StoredTrials, PointsError>> {
        Box::pin(async move {
            let is_meant = col("eval_id").eq(lit(eval_id)).and(col("base_task").eq(lit(task)));
            let mut trials = self.session.table("trials").await?.filter(is_meant)?;
            trials = self.at_points(trials, filter).await?;
            let order = ["params", "index", "repeat"].map(|name| col(name).sort(true, false)).to_vec();
            let stream = execute_stream(trials.sort(order)?).await?;
            Ok(StoredTrials { rows: QueryResult::new(stream) })
        })
    }

    /// Limits trials to the points that match a condition.
    pub(super) async fn at_points(
        &self,
        trials: DataFrame,
        filter: &Filter,
    ) -> Result<DataFrame, PointsError> {
        let Some(condition) = filter.expression(false) else { return Ok(trials) };
        let identity = ["eval_id", "base_task", "params"];
        let names = identity.map(|name| format!("point_{name}"));
        let chosen =
            identity.iter().zip(&names).map(|(name, alias)| col(*name).alias(alias)).collect::<Vec<_>>();
        let points = self.session.table("points").await?.filter(condition)?.select(chosen)?;
        let names = names.each_ref().map(String::as_str);
        Ok(trials.join(points, JoinType::LeftSemi, &identity, &names, None)?)
    }
}
