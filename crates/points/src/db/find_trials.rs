//! Finds single trials by their problem.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::logical_expr::{Expr, col, ident, lit};

use super::{PointSet, PointsDb, StoredTrial, TrialNumber};
use crate::conditions::any_of;
use crate::{BoxFuture, PointsError};

/// Identifies a problem, independent of the evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestName<'a> {
    /// The task.
    pub base_task: &'a str,
    /// The parameters, as canonical JSON.
    pub params: &'a str,
    /// Index and repeat of the problem at its point.
    pub number: TrialNumber,
}

impl PointsDb {
    /// The trials of one evaluation on these problems, one for each; `None` where it has none.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trials_on<'a>(
        &'a self,
        eval_id: &'a str,
        tests: &'a [TestName<'a>],
    ) -> BoxFuture<'a, Result<Vec<Option<StoredTrial>>, PointsError>> {
        Box::pin(async move {
            let mut tasks: BTreeMap<&str, Vec<&TestName<'_>>> = BTreeMap::new();
            for test in tests {
                tasks.entry(test.base_task).or_default().push(test);
            }
            // Any of these indices at any of these points: reading a few trials too many is cheaper than an exact condition.
            let of_task = |(task, tests): (&str, Vec<&TestName<'_>>)| {
                let params: BTreeSet<&str> = tests.iter().map(|test| test.params).collect();
                let params: Vec<&str> = params.into_iter().collect();
                let numbers = tests.iter().filter_map(|test| i64::try_from(test.number.index).ok());
                let numbers: BTreeSet<i64> = numbers.collect();
                // Parquet pages are skipped by a range condition, not by a long list.
                let ends = numbers.first().zip(numbers.last());
                let between = ends.map(|(first, last)| ident("index").between(lit(*first), lit(*last)));
                let listed = ident("index").in_list(numbers.into_iter().map(lit).collect(), false);
                PointSet { eval_id, base_task: task, params: &params }
                    .with(Some(between.into_iter().fold(listed, Expr::and)))
            };
            let Some(condition) = any_of(tasks.into_iter().map(of_task).collect()) else {
                return Ok(Vec::new());
            };
            let found = self.stored_trials(condition, 0, usize::MAX >> 1).await?;
            let is = |trial: &StoredTrial, test: &TestName<'_>| {
                (trial.index, trial.repeat) == (test.number.index, test.number.repeat)
                    && trial.params == test.params
                    && trial.base_task == test.base_task
            };
            Ok(tests.iter().map(|test| found.iter().find(|trial| is(trial, test)).cloned()).collect())
        })
    }

    /// One trial.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trial<'a>(
        &'a self,
        eval_id: &'a str,
        base_task: &'a str,
        params: &'a str,
        index: u64,
        repeat: u32,
    ) -> BoxFuture<'a, Result<Option<StoredTrial>, PointsError>> {
        Box::pin(async move {
            // Files hold signed integers, so a larger index can't exist.
            let (Ok(index), Ok(repeat)) = (i64::try_from(index), i32::try_from(repeat)) else {
                return Ok(None);
            };
            let is_meant = ident("index").eq(lit(index)).and(col("repeat").eq(lit(repeat)));
            let points = PointSet { eval_id, base_task, params: &[params] };
            Ok(self.stored_trials(points.with(Some(is_meant)), 0, 1).await?.pop())
        })
    }
}
