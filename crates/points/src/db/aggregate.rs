//! Sums points by group.

use std::cmp::Ordering;

use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::{col, lit, when};
use datafusion::prelude::{DataFrame, array_empty};
use datafusion::scalar::ScalarValue;
use reasonscape_stats::Interval;
use schemars::JsonSchema;
use serde::Serialize;

use super::columns::{COUNT_COLUMNS, CountColumns, IntColumn, TextColumn, collect_batch};
use super::{Estimator, PointsDb};
use crate::{BoxFuture, Column, Filter, PointsError, TrialCounts};

/// Maximum number of columns that points are grouped by.
const MAX_GROUP_COLUMNS: usize = 100;

/// The value of a parameter or of another column that points are grouped by.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ParameterValue")]
pub enum Value {
    /// The point has no such parameter, or the evaluation no such label.
    Missing,
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("-"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Points with the same values of the grouping columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The values, one per grouping column.
    pub key: Vec<Value>,
    /// Number of points.
    pub points: u64,
    /// The counters.
    pub counts: TrialCounts,
    /// The estimate with its confidence interval.
    pub estimate: Interval,
}

impl PointsDb {
    /// Sums the points that a filter selects, grouped by some columns and sorted by their values. The usual estimator
    /// for groups is `C_P`.
    ///
    /// # Errors
    /// A [`PointsError`] if the counters of a file are inconsistent, or if there are more than 100 columns.
    pub fn aggregate<'a>(
        &'a self,
        group_by: &'a [Column],
        filter: &'a Filter,
        estimator: Estimator,
    ) -> BoxFuture<'a, Result<Vec<Group>, PointsError>> {
        Box::pin(async move {
            if group_by.len() > MAX_GROUP_COLUMNS {
                return Err(PointsError::InvalidQuery(format!(
                    "too many columns to group by: {}; expected at most {MAX_GROUP_COLUMNS}",
                    group_by.len()
                )));
            }
            let points = self.filtered(filter, group_by.contains(&Column::Manifold)).await?;
            let clusters = self.problem_clusters().await?;
            // With repeats, points are looked up one by one and summed below.
            let point: &[Column] = match clusters {
                Some(_) => &[Column::EvalId, Column::BaseTask, Column::Params],
                None => &[],
            };
            let keys: Vec<_> = group_by
                .iter()
                .chain(point)
                .enumerate()
                .map(|(index, column)| column.expression().alias(format!("key {index}")))
                .collect();
            let mut sums: Vec<_> = COUNT_COLUMNS.iter().map(|name| sum(col(*name)).alias(*name)).collect();
            sums.push(sum(col("g")).alias("g"));
            sums.push(count_all().alias("points"));
            let batch = collect_batch(points.aggregate(keys, sums)?).await?;
            let count_columns = CountColumns::new(&batch)?;
            let keys: Vec<TextColumn> = (0..group_by.len() + point.len())
                .map(|index| TextColumn::new(&batch, &format!("key {index}")))
                .collect();
            let points = IntColumn::new(&batch, "points");
            let mut groups = Vec::new();
            for row in 0..batch.num_rows() {
                // Without grouping columns there is always one row, even if no point was selected.
                if points.value(row) == 0 {
                    continue;
                }
                let mut counts = count_columns.row(row);
                if let (Some(clusters), [eval, task, params]) = (clusters, &keys[group_by.len()..]) {
                    let point =
                        [eval, task, params].map(|key| key.optional(row).unwrap_or_default().to_owned());
                    counts.problems = clusters.get(&point).copied().unwrap_or_default();
                }
                let key = group_by
                    .iter()
                    .zip(&keys)
                    .map(|(column, key)| value(column, key.optional(row)))
                    .collect();
                let estimate = estimator.estimate(&counts)?;
                groups.push(Group { key, points: points.value(row) as u64, counts, estimate });
            }
            groups.sort_by(|a, b| compare_keys(&a.key, &b.key));
            merge_equal_keys(groups, &estimator)
        })
    }

    /// The points that a filter selects; by manifold, once for each manifold of a point.
    pub(super) async fn filtered(
        &self,
        filter: &Filter,
        by_manifold: bool,
    ) -> Result<DataFrame, PointsError> {
        let mut points = self.points.table("points").await?;
        if by_manifold {
            // Unnesting an empty list would drop its point.
            let manifolds =
                when(array_empty(col("manifolds")), lit(ScalarValue::Null)).otherwise(col("manifolds"))?;
            points = points.with_column("manifold", manifolds)?.unnest_columns(&["manifold"])?;
        }
        if let Some(condition) = filter.expression(by_manifold) {
            points = points.filter(condition)?;
        }
        Ok(points)
    }
}

/// Parses a parameter value: a number if it reads as one.
fn value(column: &Column, key: Option<&str>) -> Value {
    let Some(text) = key else { return Value::Missing };
    match (column, text.parse::<f64>()) {
        (Column::Param(_), Ok(number)) if number.is_finite() => Value::Number(number),
        _ => Value::Text(text.to_owned()),
    }
}

/// Merges groups whose keys are the same number written in two ways (1 and 1.0), which DataFusion keeps apart.
fn merge_equal_keys(groups: Vec<Group>, estimator: &Estimator) -> Result<Vec<Group>, PointsError> {
    let mut merged: Vec<Group> = Vec::with_capacity(groups.len());
    for group in groups {
        match merged.last_mut().filter(|last| last.key == group.key) {
            Some(last) => {
                last.points += group.points;
                last.counts += group.counts;
                last.estimate = estimator.estimate(&last.counts)?;
            }
            None => merged.push(group),
        }
    }
    Ok(merged)
}

fn type_order(value: &Value) -> u8 {
    match value {
        Value::Missing => 0,
        Value::Number(_) => 1,
        Value::Text(_) => 2,
    }
}

fn compare_keys(a: &[Value], b: &[Value]) -> Ordering {
    let order = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => type_order(a).cmp(&type_order(b)),
    };
    a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
