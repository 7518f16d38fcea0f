//! Tests that ended differently for two evaluations.

use std::collections::BTreeMap;

use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::col;
use futures_util::StreamExt;
use reasonscape_core::Status;

use super::{PointsDb, TrialNumber, column, text_column};
use crate::{Filter, PointsError};

/// The tests of a point that ended differently for two evaluations; there is one at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingPoint {
    /// The task.
    pub base_task: String,
    /// The coordinates, as canonical JSON.
    pub params: String,
    /// The tests in order.
    pub tests: Vec<DifferingTest>,
}

/// A test that ended differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferingTest {
    /// Which of the tests of its point.
    pub number: TrialNumber,
    /// How it ended for the first evaluation.
    pub a: Status,
    /// How it ended for the second.
    pub b: Status,
}

impl PointsDb {
    /// The tests that both evaluations were asked and that ended differently for them, by task and coordinates.
    ///
    /// Nothing is read but the identity and the status of the trials of these two.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub async fn differing(
        &self,
        a: &str,
        b: &str,
        filter: &Filter,
    ) -> Result<Vec<DifferingPoint>, PointsError> {
        let pairs = self.pairs(a, b, filter).await?.filter(col("status_a").not_eq(col("status_b")))?;
        let columns = ["base_task_a", "params_a", "index_a", "repeat_a", "status_a", "status_b"];
        let mut batches = pairs.select_columns(&columns)?.execute_stream().await?;
        let mut found: BTreeMap<(String, String), Vec<DifferingTest>> = BTreeMap::new();
        while let Some(batch) = batches.next().await {
            let batch = batch?;
            let [tasks, params] = ["base_task_a", "params_a"].map(|name| text_column(&batch, name));
            let (tasks, params) = (tasks.as_string::<i32>(), params.as_string::<i32>());
            let [index, repeat, status_a, status_b] =
                ["index_a", "repeat_a", "status_a", "status_b"].map(|name| column(&batch, name));
            let numbers = |column| cast(column, &DataType::Int64);
            let (index, repeat) = (numbers(&index)?, numbers(&repeat)?);
            let (status_a, status_b) = (numbers(&status_a)?, numbers(&status_b)?);
            let [index, repeat, status_a, status_b] =
                [&index, &repeat, &status_a, &status_b].map(|column| column.as_primitive::<Int64Type>());
            for row in 0..batch.num_rows() {
                let test = DifferingTest {
                    number: TrialNumber {
                        index: index.value(row).cast_unsigned(),
                        repeat: repeat.value(row).cast_unsigned() as u32,
                    },
                    a: status(status_a.value(row))?,
                    b: status(status_b.value(row))?,
                };
                let (task, params) = (tasks.value(row), params.value(row));
                found.entry((task.to_owned(), params.to_owned())).or_default().push(test);
            }
        }
        Ok(found
            .into_iter()
            .map(|((base_task, params), mut tests)| {
                tests.sort_unstable_by_key(|test| test.number);
                DifferingPoint { base_task, params, tests }
            })
            .collect())
    }
}

fn status(code: i64) -> Result<Status, PointsError> {
    let known = [Status::Incorrect, Status::Correct, Status::Truncated];
    let found = known.into_iter().find(|status| i64::from(status.code()) == code);
    found.ok_or_else(|| PointsError::Query(format!("{code} is no status; there are 0, 1 and 2")))
}
