//! Problems with different outcomes for two evaluations.

use std::collections::BTreeMap;

use datafusion::logical_expr::col;
use reasonscape_core::Outcome;

use super::columns::{IntColumn, OutcomeColumn, TextColumn, next_batch};
use super::{PointsDb, TrialNumber};
use crate::query_threads::execute_stream;
use crate::{BoxFuture, Filter, PointsError};

/// The problems of a point with different outcomes for two evaluations; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointDisagreements {
    /// The task.
    pub base_task: String,
    /// The parameters, as canonical JSON.
    pub params: String,
    /// The problems, in order.
    pub tests: Vec<TestDisagreement>,
}

/// A problem with different outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestDisagreement {
    /// Index and repeat of the problem at its point.
    pub number: TrialNumber,
    /// The outcome for the first evaluation.
    pub a: Outcome,
    /// The outcome for the second evaluation.
    pub b: Outcome,
}

impl PointsDb {
    /// The problems that both evaluations have a trial of, with different outcomes, sorted by task and parameters.
    ///
    /// Reads only the identity and status columns of the two evaluations.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn disagreements<'a>(
        &'a self,
        a: &'a str,
        b: &'a str,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Vec<PointDisagreements>, PointsError>> {
        Box::pin(async move {
            let pairs = self.pairs(a, b, filter).await?.filter(col("status_a").not_eq(col("status_b")))?;
            let columns = ["base_task_a", "params_a", "index_a", "repeat_a", "status_a", "status_b"];
            let mut batches = execute_stream(pairs.select_columns(&columns)?).await?;
            let mut found: BTreeMap<(String, String), Vec<TestDisagreement>> = BTreeMap::new();
            while let Some(batch) = next_batch(&mut batches).await {
                let batch = batch?;
                let [tasks, params] = ["base_task_a", "params_a"].map(|name| TextColumn::new(&batch, name));
                let [index, repeat] = ["index_a", "repeat_a"].map(|name| IntColumn::new(&batch, name));
                let [outcome_a, outcome_b] =
                    ["status_a", "status_b"].map(|name| OutcomeColumn::new(&batch, name));
                let test = |row: usize| -> Result<TestDisagreement, PointsError> {
                    Ok(TestDisagreement {
                        number: TrialNumber {
                            index: index.value(row).cast_unsigned(),
                            repeat: repeat.value(row).cast_unsigned() as u32,
                        },
                        a: outcome_a.value(row)?,
                        b: outcome_b.value(row)?,
                    })
                };
                // Problems of one point are mostly adjacent.
                let mut start = 0;
                while start < batch.num_rows() {
                    let point = (tasks.value(start), params.value(start));
                    let is_other = |row: &usize| (tasks.value(*row), params.value(*row)) != point;
                    let end = (start + 1..batch.num_rows()).find(is_other).unwrap_or(batch.num_rows());
                    let tests = found.entry((point.0.to_owned(), point.1.to_owned())).or_default();
                    for row in start..end {
                        tests.push(test(row)?);
                    }
                    start = end;
                }
            }
            Ok(found
                .into_iter()
                .map(|((base_task, params), mut tests)| {
                    tests.sort_unstable_by_key(|test| test.number);
                    PointDisagreements { base_task, params, tests }
                })
                .collect())
        })
    }
}
