//! Points pooled by any columns, with any of the estimators: the `aggregate()` of the source documents.

use std::collections::BTreeMap;

use reasonscape_points::{Column, Estimator, PointsDb, PointsError, Value};
use reasonscape_stats::Mode;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{IntervalEstimate, PointQuery};

/// Points with equal values of the columns that they are grouped by.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AggregateRow {
    /// The value of each column, by its name.
    #[serde(flatten)]
    pub key: BTreeMap<String, Value>,
    /// Number of points.
    pub points: u64,
    /// Trials that were answered or truncated.
    pub n: u64,
    /// Trials that were not truncated.
    pub n_u: u64,
    /// Trials answered correctly.
    pub n_e: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// Planned trials without a response.
    pub missing: u64,
    /// The interval of each estimator, by its name.
    pub estimates: BTreeMap<&'static str, IntervalEstimate>,
    /// Whether bounds are computed by the literal products everywhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub literal: bool,
}

/// Pools the selected points by some columns. Rows are ordered by their keys.
///
/// # Errors
/// A [`PointsError`] when the study can't be read, nothing matches, or no mode is given.
pub async fn aggregate(
    db: &PointsDb,
    query: &PointQuery,
    group_by: &[Column],
    modes: &[Mode],
    estimator: Estimator,
) -> Result<Vec<AggregateRow>, PointsError> {
    let groups = db.aggregate(group_by, &query.filter, estimator).await?;
    if groups.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    groups
        .into_iter()
        .map(|group| {
            let estimate = |mode: &Mode| {
                let interval = Estimator { mode: *mode, ..estimator }.estimate(&group.counts)?;
                Ok((mode.name(), IntervalEstimate::from(interval)))
            };
            Ok(AggregateRow {
                key: group_by.iter().map(ToString::to_string).zip(group.key).collect(),
                points: group.points,
                n: group.counts.n,
                n_u: group.counts.n_u(),
                n_e: group.counts.n_e,
                n_t: group.counts.n_t,
                g: group.counts.g,
                missing: group.counts.missing(),
                estimates: modes.iter().map(estimate).collect::<Result<_, PointsError>>()?,
                literal: estimator.is_literal,
            })
        })
        .collect()
}

/// Columns to group by, as `model,base_task,params.length`.
///
/// # Errors
/// A [`PointsError`] that names an unknown or repeated column.
pub fn parse_group_by(texts: &[String]) -> Result<Vec<Column>, PointsError> {
    let mut columns: Vec<Column> = Vec::new();
    for name in texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|name| !name.is_empty()) {
        let column: Column = name.parse()?;
        if columns.contains(&column) {
            return Err(PointsError::InvalidQuery(format!("duplicate column `{name}` in the grouping")));
        }
        columns.push(column);
    }
    Ok(columns)
}
