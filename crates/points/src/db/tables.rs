//! The tables that SQL sees, and counting trials from their files.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Builder, ListBuilder, RecordBatch, StringBuilder,
};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::columns::collect_batch;
use super::scan::TrialsTable;
use crate::files::FileInfo;
use crate::schema::{self, IDENTITY};
use crate::{EvalInfo, PointsError, functions};

/// The columns that tell one trial from another, for SQL.
const TRIAL: &str = "model, template, sampler, base_task, params, \"index\", repeat";

/// Twice what the engine takes by itself: a sixth less time on questions of ten million trials.
const ROWS_AT_ONCE: usize = 16_384;

/// What there is to be asked.
pub(super) struct Tables<'a> {
    pub(super) trials: Vec<FileInfo>,
    pub(super) points: RecordBatch,
    pub(super) evals: &'a [EvalInfo],
    pub(super) has_duplicates: bool,
}

impl Tables<'_> {
    /// A session that adds up points on one thread, and one that answers SQL on all of them.
    pub(super) async fn register(self) -> Result<(SessionContext, SessionContext), PointsError> {
        let points = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        points.register_batch("points", self.points.clone())?;

        let session = SessionContext::new_with_config(settings());
        for function in functions::all() {
            session.register_udf(function);
        }
        session.register_batch("points", self.points)?;
        session.register_batch("evals", evals_table(self.evals))?;
        if self.has_duplicates {
            register_trials(&session, "stored_trials", &self.trials)?;
            session.sql(&format!("CREATE VIEW trials AS {}", once("stored_trials"))).await?.collect().await?;
        } else {
            register_trials(&session, "trials", &self.trials)?;
        }
        Ok((points, session))
    }
}

/// How the engine reads. Filters are not handed down into the decoding of columns, which takes half as long again where
/// one row in five passes; files and pages that hold nothing of interest are skipped all the same.
fn settings() -> SessionConfig {
    SessionConfig::new().with_information_schema(true).with_batch_size(ROWS_AT_ONCE)
}

fn register_trials(session: &SessionContext, name: &str, files: &[FileInfo]) -> Result<(), PointsError> {
    if files.is_empty() {
        let nothing = MemTable::try_new(Arc::clone(&schema::TRIALS), vec![vec![]])?;
        session.register_table(name, Arc::new(nothing))?;
        return Ok(());
    }
    session.register_table(name, Arc::new(TrialsTable::new(files)?))?;
    Ok(())
}

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
         FROM ({once}) GROUP BY {identity} ORDER BY {identity}",
        identity = format_args!("eval_id, {}", IDENTITY.join(", ")),
        once = once("stored"),
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
    let described = Described::new(known, files);
    let mut points = vec![described.complete(&counted)?];
    points.extend(described.unanswered(&points[0]));
    let points = concat_batches(&schema::POINTS, &points)?;
    let stored: u64 = files.iter().map(|file| file.rows).sum();
    let n = cast(counted.column_by_name("n").expect("asked for above"), &DataType::Int64)?;
    let n: i64 = n.as_primitive::<Int64Type>().values().iter().sum();
    Ok(RecomputedCounts { points, duplicates: stored.saturating_sub(n as u64) })
}

/// Each trial of a table once.
pub(super) fn once(table: &str) -> String {
    let columns = crate::TRIAL_COLUMNS.map(|name| format!("\"{name}\"")).join(", ");
    format!(
        "SELECT {columns} FROM (SELECT *, row_number() OVER (PARTITION BY {TRIAL} ORDER BY received_ms, status, \
         cache_key) AS place FROM {table}) WHERE place = 1"
    )
}

/// What trials do not say about their points.
struct Described<'a> {
    known: &'a [&'a RecordBatch],
    groups: &'a [String],
}

impl<'a> Described<'a> {
    fn new(known: &'a [&'a RecordBatch], files: &'a [FileInfo]) -> Self {
        let latest = files.iter().max_by_key(|file| file.provenance.evaluated_ms);
        Self { known, groups: latest.map_or(&[], |file| &file.eval.groups) }
    }

    fn complete(&self, counted: &RecordBatch) -> Result<RecordBatch, PointsError> {
        let rows = counted.num_rows();
        let params = cast(counted.column_by_name("params").expect("asked for"), &DataType::Utf8)?;
        let n = cast(counted.column_by_name("n").expect("asked for"), &DataType::Int64)?;
        let n = n.as_primitive::<Int64Type>();
        let mut manifolds = strings();
        let mut groups = strings();
        let mut planned = Int64Builder::new();
        for row in 0..rows {
            let found = self.find(params.as_string::<i32>().value(row));
            let (on, wanted) = found.unwrap_or_default();
            for manifold in on {
                manifolds.values().append_value(manifold);
            }
            manifolds.append(true);
            for group in self.groups {
                groups.values().append_value(group);
            }
            groups.append(true);
            planned.append_value(wanted.max(n.value(row)));
        }
        let made: [(&str, ArrayRef); 3] = [
            ("manifolds", Arc::new(manifolds.finish())),
            ("groups", Arc::new(groups.finish())),
            ("planned", Arc::new(planned.finish())),
        ];
        let columns = schema::POINTS
            .fields()
            .iter()
            .map(|field| match made.iter().find(|(name, _)| name == field.name()) {
                Some((_, column)) => Ok(Arc::clone(column)),
                None => Ok(cast(
                    counted.column_by_name(field.name()).expect("every column is made or counted"),
                    field.data_type(),
                )?),
            })
            .collect::<Result<Vec<ArrayRef>, PointsError>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&schema::POINTS), columns)?)
    }

    /// The points that nobody answered: there are no trials to count them from.
    fn unanswered(&self, counted: &RecordBatch) -> Vec<RecordBatch> {
        let params = |rows: &RecordBatch| rows.column_by_name("params").expect("a column of points").clone();
        let mut seen: HashSet<String> =
            params(counted).as_string::<i32>().iter().flatten().map(ToOwned::to_owned).collect();
        let mut found = Vec::new();
        for rows in self.known {
            let (params, n) = (params(rows), rows.column_by_name("n").expect("a column of points"));
            for (row, params) in params.as_string::<i32>().iter().enumerate() {
                let unanswered = n.as_primitive::<Int64Type>().value(row) == 0;
                if unanswered && seen.insert(params.unwrap_or_default().to_owned()) {
                    found.push(rows.slice(row, 1));
                }
            }
        }
        found
    }

    /// The manifolds of a point and how many trials were planned there.
    fn find(&self, params: &str) -> Option<(Vec<String>, i64)> {
        self.known.iter().find_map(|rows| {
            let texts = rows.column_by_name("params")?.as_string::<i32>();
            let row = (0..rows.num_rows()).find(|row| texts.value(*row) == params)?;
            let manifolds = rows.column_by_name("manifolds")?.as_list::<i32>().value(row);
            let planned = rows.column_by_name("planned")?.as_primitive::<Int64Type>();
            let names = manifolds.as_string::<i32>().iter().flatten().map(ToOwned::to_owned).collect();
            Some((names, planned.value(row)))
        })
    }
}

fn strings() -> ListBuilder<StringBuilder> {
    ListBuilder::new(StringBuilder::new()).with_field(Field::new("item", DataType::Utf8, false))
}

fn evals_table(evals: &[EvalInfo]) -> RecordBatch {
    let text = |value: fn(&EvalInfo) -> &str| -> ArrayRef {
        let mut column = StringBuilder::new();
        for eval in evals {
            column.append_value(value(eval));
        }
        Arc::new(column.finish())
    };
    let mut groups = strings();
    for eval in evals {
        for group in &eval.groups {
            groups.values().append_value(group);
        }
        groups.append(true);
    }
    let groups: ArrayRef = Arc::new(groups.finish());
    let columns = [
        ("eval_id", text(|eval| &eval.eval_id)),
        ("model", text(|eval| &eval.model)),
        ("template", text(|eval| &eval.template)),
        ("sampler", text(|eval| &eval.sampler)),
        ("name", text(|eval| &eval.name)),
        ("groups", groups),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), false)).collect();
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, column)| column).collect())
        .expect("columns as the schema has them")
}
