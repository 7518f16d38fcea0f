//! Counts the points of a unit from its trials, where its counters cannot be trusted or only some trials are meant.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, Int64Builder, RecordBatch};
use datafusion::arrow::compute::{cast, concat_batches, max};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::prelude::SessionContext;

use super::columns::{IntColumn, TextColumn, TextListColumn, collect_batch, column};
use super::tables::{deduplicated, register_trials, text_list_builder};
use crate::PointsError;
use crate::files::FileInfo;
use crate::schema::{self, IDENTITY};

/// Points that were counted from their trials.
pub(super) struct RecomputedCounts {
    pub(super) points: RecordBatch,
    /// Trials that were stored more than once.
    pub(super) duplicates: u64,
}

/// Counts the trials of one evaluation on one task, or those of the `first` problems of each point. Of a trial that is
/// stored twice, the earlier answer counts. What trials do not say (labels, manifolds, how many were planned) comes from
/// the counters that are there, trusted or not.
pub(super) async fn recount(
    session: &SessionContext,
    files: &[FileInfo],
    known: &[&RecordBatch],
    first: Option<u64>,
) -> Result<RecomputedCounts, PointsError> {
    let is_meant = first.map_or_else(|| "true".to_owned(), |first| format!("\"index\" < {first}"));
    session.deregister_table("stored")?;
    register_trials(session, "stored", files)?;
    let query = format!(
        "SELECT {identity}, count(*) AS stored, max(repeat) + 1 AS repeats,
            count(*) FILTER (WHERE {is_meant}) AS n,
            count(*) FILTER (WHERE status = 1 AND {is_meant}) AS n_e,
            count(*) FILTER (WHERE status <> 2 AND {is_meant}) AS n_u,
            count(*) FILTER (WHERE status = 2 AND {is_meant}) AS n_t,
            coalesce(sum(guess) FILTER (WHERE status <> 2 AND {is_meant}), 0.0) AS g,
            {sums}
         FROM ({trials}) GROUP BY {identity} ORDER BY {identity}",
        identity = format_args!("eval_id, {}", IDENTITY.join(", ")),
        trials = deduplicated("stored"),
        sums = [
            ("prompt_tokens", true),
            ("completion_tokens", true),
            ("reasoning_tokens", true),
            ("latency_ms", false),
            ("compressed_size", false)
        ]
        .map(|(name, optional)| {
            let filter = format!("FILTER (WHERE {is_meant})");
            let counted =
                if optional { format!(", count({name}) {filter} AS {name}_n") } else { String::new() };
            format!("coalesce(sum({name}) {filter}, 0) AS {name}_sum{counted}")
        })
        .join(", "),
    );
    let counted = collect_batch(session.sql(&query).await?).await?;
    let repeats = cast(&column(&counted, "repeats"), &DataType::Int64)?;
    let repeats = max(repeats.as_primitive::<Int64Type>()).unwrap_or(1);
    let max_planned = first.map(|first| i64::try_from(first).unwrap_or(i64::MAX).saturating_mul(repeats));
    let known = KnownPoints::new(known, files, max_planned);
    let mut points = vec![known.add_to(&counted)?];
    points.extend(known.unanswered(&points[0])?);
    let points = concat_batches(&schema::POINTS, &points)?;
    let stored: u64 = files.iter().map(|file| file.rows).sum();
    let distinct: i64 = IntColumn::new(&counted, "stored").values().iter().sum();
    Ok(RecomputedCounts { points, duplicates: stored.saturating_sub(distinct as u64) })
}

/// What trials do not say about their points.
struct KnownPoints<'a> {
    known: &'a [&'a RecordBatch],
    groups: &'a [String],
    /// Planned trials of a point that are meant at most.
    max_planned: Option<i64>,
}

impl<'a> KnownPoints<'a> {
    fn new(known: &'a [&'a RecordBatch], files: &'a [FileInfo], max_planned: Option<i64>) -> Self {
        let latest = files.iter().max_by_key(|file| file.provenance.evaluated_ms);
        Self { known, groups: latest.map_or(&[], |file| &file.eval.groups), max_planned }
    }

    /// The counted points with the columns that their trials do not have.
    fn add_to(&self, counted: &RecordBatch) -> Result<RecordBatch, PointsError> {
        let params = TextColumn::new(counted, "params");
        let n = IntColumn::new(counted, "n");
        let mut manifolds = text_list_builder();
        let mut groups = text_list_builder();
        let mut planned = Int64Builder::new();
        for row in 0..counted.num_rows() {
            let (point_manifolds, point_planned) = self.find(params.value(row)).unwrap_or_default();
            for manifold in point_manifolds {
                manifolds.values().append_value(manifold);
            }
            manifolds.append(true);
            for group in self.groups {
                groups.values().append_value(group);
            }
            groups.append(true);
            planned.append_value(point_planned.max(n.value(row)));
        }
        let added: [(&str, ArrayRef); 3] = [
            ("manifolds", Arc::new(manifolds.finish())),
            ("groups", Arc::new(groups.finish())),
            ("planned", Arc::new(planned.finish())),
        ];
        let columns = schema::POINTS
            .fields()
            .iter()
            .map(|field| match added.iter().find(|(name, _)| name == field.name()) {
                Some((_, column)) => Ok(Arc::clone(column)),
                None => Ok(cast(&column(counted, field.name()), field.data_type())?),
            })
            .collect::<Result<Vec<ArrayRef>, PointsError>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&schema::POINTS), columns)?)
    }

    /// The points that nobody answered: there are no trials to count them from.
    fn unanswered(&self, counted: &RecordBatch) -> Result<Vec<RecordBatch>, PointsError> {
        let mut seen: HashSet<String> =
            TextColumn::new(counted, "params").present().map(ToOwned::to_owned).collect();
        let mut found = Vec::new();
        for rows in self.known {
            let (params, n) = (TextColumn::new(rows, "params"), IntColumn::new(rows, "n"));
            for row in 0..rows.num_rows() {
                if n.value(row) == 0 && seen.insert(params.optional(row).unwrap_or_default().to_owned()) {
                    found.push(self.with_planned(&rows.slice(row, 1))?);
                }
            }
        }
        Ok(found)
    }

    /// The same points, with as many planned trials as are meant.
    fn with_planned(&self, points: &RecordBatch) -> Result<RecordBatch, PointsError> {
        let Some(max_planned) = self.max_planned else { return Ok(points.clone()) };
        let planned = IntColumn::new(points, "planned");
        let planned = planned.values().iter().map(|planned| *planned.min(&max_planned));
        let mut columns = points.columns().to_vec();
        columns[points.schema().index_of("planned")?] = Arc::new(planned.collect::<Int64Array>());
        Ok(RecordBatch::try_new(points.schema(), columns)?)
    }

    /// The manifolds of a point and how many trials were planned there.
    fn find(&self, params: &str) -> Option<(Vec<String>, i64)> {
        self.known.iter().find_map(|rows| {
            let known = TextColumn::new(rows, "params");
            let row = (0..rows.num_rows()).find(|row| known.value(*row) == params)?;
            let manifolds = TextListColumn::new(rows, "manifolds").value(row);
            let planned = IntColumn::new(rows, "planned").value(row);
            Some((manifolds, self.max_planned.map_or(planned, |max| planned.min(max))))
        })
    }
}
