//! Counts the points of a unit from its trials, where its counters cannot be trusted.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Builder, RecordBatch};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::prelude::{SessionConfig, SessionContext};

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

/// Counts the trials of one evaluation on one task. Of a trial that is stored twice, the earlier answer counts.
/// What trials do not say (labels, manifolds, how many were planned) comes from the counters that are there, trusted or
/// not.
pub(super) async fn recount(
    files: &[FileInfo],
    known: &[&RecordBatch],
) -> Result<RecomputedCounts, PointsError> {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    register_trials(&session, "stored", files)?;
    let query = format!(
        "SELECT {identity}, count(*) AS n,
            count(*) FILTER (WHERE status = 1) AS n_e,
            count(*) FILTER (WHERE status <> 2) AS n_u,
            count(*) FILTER (WHERE status = 2) AS n_t,
            coalesce(sum(guess) FILTER (WHERE status <> 2), 0.0) AS g,
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
            let counted = if optional { format!(", count({name}) AS {name}_n") } else { String::new() };
            format!("coalesce(sum({name}), 0) AS {name}_sum{counted}")
        })
        .join(", "),
    );
    let counted = collect_batch(session.sql(&query).await?).await?;
    let known = KnownPoints::new(known, files);
    let mut points = vec![known.add_to(&counted)?];
    points.extend(known.unanswered(&points[0]));
    let points = concat_batches(&schema::POINTS, &points)?;
    let stored: u64 = files.iter().map(|file| file.rows).sum();
    let n: i64 = IntColumn::new(&counted, "n").values().iter().sum();
    Ok(RecomputedCounts { points, duplicates: stored.saturating_sub(n as u64) })
}

/// What trials do not say about their points.
struct KnownPoints<'a> {
    known: &'a [&'a RecordBatch],
    groups: &'a [String],
}

impl<'a> KnownPoints<'a> {
    fn new(known: &'a [&'a RecordBatch], files: &'a [FileInfo]) -> Self {
        let latest = files.iter().max_by_key(|file| file.provenance.evaluated_ms);
        Self { known, groups: latest.map_or(&[], |file| &file.eval.groups) }
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
    fn unanswered(&self, counted: &RecordBatch) -> Vec<RecordBatch> {
        let mut seen: HashSet<String> =
            TextColumn::new(counted, "params").present().map(ToOwned::to_owned).collect();
        let mut found = Vec::new();
        for rows in self.known {
            let (params, n) = (TextColumn::new(rows, "params"), IntColumn::new(rows, "n"));
            for row in 0..rows.num_rows() {
                if n.value(row) == 0 && seen.insert(params.optional(row).unwrap_or_default().to_owned()) {
                    found.push(rows.slice(row, 1));
                }
            }
        }
        found
    }

    /// The manifolds of a point and how many trials were planned there.
    fn find(&self, params: &str) -> Option<(Vec<String>, i64)> {
        self.known.iter().find_map(|rows| {
            let known = TextColumn::new(rows, "params");
            let row = (0..rows.num_rows()).find(|row| known.value(*row) == params)?;
            let manifolds = TextListColumn::new(rows, "manifolds").value(row);
            Some((manifolds, IntColumn::new(rows, "planned").value(row)))
        })
    }
}
