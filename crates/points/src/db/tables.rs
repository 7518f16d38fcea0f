//! The tables that SQL sees.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, ListBuilder, RecordBatch, StringBuilder};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::scan::TrialsTable;
use crate::files::FileInfo;
use crate::schema;
use crate::{EvalInfo, PointsError, functions};

/// The columns that identify a trial, for SQL.
const TRIAL_IDENTITY: &str = "model, template, sampler, base_task, params, \"index\", repeat";

/// Twice DataFusion's default: queries over ten million trials take a sixth less time.
const BATCH_SIZE: usize = 16_384;

/// The content of the tables.
pub(super) struct Tables<'a> {
    pub(super) trials: Vec<FileInfo>,
    pub(super) points: RecordBatch,
    pub(super) evals: &'a [EvalInfo],
    pub(super) has_duplicates: bool,
    /// Limits each point to its first problems.
    pub(super) first: Option<u64>,
}

impl Tables<'_> {
    /// A session that sums points on one thread, and one that runs SQL on all cores.
    pub(super) async fn register(self) -> Result<(SessionContext, SessionContext), PointsError> {
        let points = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        points.register_batch("points", self.points.clone())?;

        let session = SessionContext::new_with_config(session_config());
        for function in functions::all() {
            session.register_udf(function);
        }
        session.register_batch("points", self.points)?;
        session.register_batch("evals", evals_table(self.evals))?;
        if self.has_duplicates || self.first.is_some() {
            register_trials(&session, "stored_trials", &self.trials)?;
            let mut trials = "SELECT * FROM stored_trials".to_owned();
            if self.has_duplicates {
                trials = deduplicated("stored_trials");
            }
            if let Some(first) = self.first {
                trials = format!("SELECT * FROM ({trials}) WHERE \"index\" < {first}");
            }
            session.sql(&format!("CREATE VIEW trials AS {trials}")).await?.collect().await?;
        } else {
            register_trials(&session, "trials", &self.trials)?;
        }
        Ok((points, session))
    }
}

/// Parquet options. Filters are not pushed down into decoding, which takes 1.5 times as long if one row in five matches;
/// files and pages without matches are skipped anyway.
fn session_config() -> SessionConfig {
    SessionConfig::new().with_information_schema(true).with_batch_size(BATCH_SIZE)
}

pub(super) fn register_trials(
    session: &SessionContext,
    name: &str,
    files: &[FileInfo],
) -> Result<(), PointsError> {
    if files.is_empty() {
        let empty = MemTable::try_new(Arc::clone(&schema::TRIALS), vec![vec![]])?;
        session.register_table(name, Arc::new(empty))?;
        return Ok(());
    }
    session.register_table(name, Arc::new(TrialsTable::new(files)?))?;
    Ok(())
}

/// SQL that selects each trial of a table once: the response that arrived first.
pub(super) fn deduplicated(table: &str) -> String {
    let columns = crate::TRIAL_COLUMNS.map(|name| format!("\"{name}\"")).join(", ");
    format!(
        "SELECT {columns} FROM (SELECT *, row_number() OVER (PARTITION BY {TRIAL_IDENTITY} ORDER BY received_ms, status, \
         cache_key) AS place FROM {table}) WHERE place = 1"
    )
}

pub(super) fn text_list_builder() -> ListBuilder<StringBuilder> {
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
    let mut groups = text_list_builder();
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
