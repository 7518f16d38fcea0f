//! A Parquet file of answered questions with the metrics of each.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, RecordBatch, StringBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use reasonscape_ingest::answers::Scorer;
use reasonscape_metrics::{PerTaskResult, SampleRecord};

use crate::BoxFuture;
use crate::db::QueryResult;
use crate::db::query_limits::with_memory_limit;
use crate::error::{missing_table, parquet_message};
use crate::query_threads::{execute_stream, plan_sql};
use crate::sql_size::check_sql_size;
use crate::{PointsError, functions};
use reasonscape_ingest::parquet_batch_rows;

/// Columns of a file of answered questions, in order. Published names never change.
pub const SAMPLE_LOG_COLUMNS: [&str; 35] = [
    "id",
    "model",
    "category",
    "repeat",
    "input",
    "target",
    "options",
    "answer",
    "answer_normalized",
    "context",
    "correct",
    "truncated",
    "cot",
    "cot_tokens",
    "cot_chars",
    "step_count",
    "self_correcting",
    "ra_ratio",
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "latency_ms",
    "prob_correct",
    "temperature",
    "equations_checked",
    "equations_false",
    "false_steps",
    "sentences_checked",
    "sentences_unsupported",
    "unsupported",
    "eval_id",
    "base_task",
    "template",
    "sampler",
    "scorer",
];

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(SAMPLE_LOG_COLUMNS.map(|name| {
        let data_type = match name {
            "target" | "options" | "context" | "false_steps" | "unsupported" => {
                DataType::List(Arc::new(item()))
            }
            "correct" | "truncated" | "self_correcting" => DataType::Boolean,
            "ra_ratio" | "latency_ms" | "prob_correct" | "temperature" => DataType::Float64,
            "id" | "model" | "category" | "input" | "answer" | "answer_normalized" | "cot" | "eval_id"
            | "base_task" | "template" | "sampler" | "scorer" => DataType::Utf8,
            _ => DataType::Int64,
        };
        let nullable = !matches!(name, "id" | "repeat" | "correct" | "truncated");
        Arc::new(Field::new(name, data_type, nullable))
    })))
});

fn item() -> Field {
    Field::new("item", DataType::Utf8, false)
}

/// Column builders for answered questions; threads fill them in parallel, one each.
#[derive(Debug)]
pub struct SampleLogRows {
    texts: [StringBuilder; 12],
    lists: [ListBuilder<StringBuilder>; 5],
    flags: [BooleanBuilder; 3],
    reals: [Float64Builder; 4],
    counts: [Int64Builder; 11],
}

impl Default for SampleLogRows {
    fn default() -> Self {
        Self {
            texts: Default::default(),
            lists: std::array::from_fn(|_| ListBuilder::new(StringBuilder::new()).with_field(item())),
            flags: std::array::from_fn(|_| BooleanBuilder::new()),
            reals: Default::default(),
            counts: Default::default(),
        }
    }
}

impl SampleLogRows {
    /// Adds an answered question.
    pub fn push(&mut self, model: Option<&str>, row: &SampleRecord<'_>, task: &PerTaskResult<'_>) {
        let answer = task.answer.as_deref();
        let scorer = row.verdict.map(|_| Scorer::Stored.name());
        let study = [row.eval_id, row.base_task, row.template, row.sampler, scorer.as_deref()];
        let texts = [Some(row.id), model, row.category, row.input, row.answer, answer, task.cot];
        let texts = texts.into_iter().chain(study);
        for (column, value) in self.texts.iter_mut().zip(texts) {
            column.append_option(value);
        }
        let [targets, options, context, steps, unsupported] = &mut self.lists;
        list(targets, row.targets.iter().map(AsRef::as_ref));
        list(options, row.options.iter().map(AsRef::as_ref));
        list(context, row.context.iter().map(AsRef::as_ref));
        list(steps, task.false_steps.iter().map(|step| step.text));
        let grounding = task.grounding.as_ref();
        list(unsupported, grounding.iter().flat_map(|found| &found.unsupported).map(|found| found.sentence));
        for (column, value) in
            self.flags.iter_mut().zip([Some(task.correct), Some(task.truncated), task.self_correcting])
        {
            column.append_option(value);
        }
        let reals = [task.ra_ratio, task.latency_ms, task.prob_correct, row.temperature];
        for (column, value) in self.reals.iter_mut().zip(reals) {
            column.append_option(value);
        }
        let counts = [
            Some(u64::from(task.repeat)),
            task.cot_tokens,
            task.cot_chars,
            task.step_count,
            task.prompt_tokens.map(u64::from),
            task.completion_tokens.map(u64::from),
            task.total_tokens,
            task.equations_checked.map(u64::from),
            task.equations_checked.map(|_| task.false_steps.len() as u64),
            grounding.map(|found| u64::from(found.sentences)),
            grounding.map(|found| found.unsupported.len() as u64),
        ];
        for (column, value) in self.counts.iter_mut().zip(counts) {
            column.append_option(value.map(|value| value as i64));
        }
    }

    fn take(mut self) -> RecordBatch {
        let mut texts = self.texts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut lists = self.lists.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut flags = self.flags.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut reals = self.reals.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let mut counts = self.counts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let columns = SCHEMA.fields().iter().map(|field| match field.data_type() {
            DataType::Utf8 => texts.next(),
            DataType::List(_) => lists.next(),
            DataType::Boolean => flags.next(),
            DataType::Float64 => reals.next(),
            _ => counts.next(),
        });
        let columns = columns.map(|column| column.expect("as many columns of a kind as the schema has"));
        RecordBatch::try_new(Arc::clone(&SCHEMA), columns.collect()).expect("columns as the schema has them")
    }
}

/// A list column that is null where it would be empty.
fn list<'t>(column: &mut ListBuilder<StringBuilder>, texts: impl Iterator<Item = &'t str>) {
    let mut any = false;
    for text in texts {
        column.values().append_value(text);
        any = true;
    }
    column.append(any);
}

/// Writes a Parquet file of answered questions.
#[derive(Debug)]
pub struct SampleLog<W: Write + Send> {
    writer: ArrowWriter<W>,
    path: PathBuf,
}

impl<W: Write + Send> SampleLog<W> {
    /// Starts a file; `path` is used in error messages.
    ///
    /// # Errors
    /// A [`PointsError`] if writing fails.
    pub fn create(out: W, path: &Path) -> Result<Self, PointsError> {
        /// Rows per row group, which is buffered in memory; small because reasoning is long.
        const ROW_GROUP: usize = 16_384;
        let mut properties = WriterProperties::builder()
            .set_created_by(concat!("reasonscape ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true);
        // Almost every value is unique, so a dictionary would not help.
        for column in ["id", "input", "cot"] {
            properties = properties
                .set_column_dictionary_enabled(column.into(), false)
                .set_column_statistics_enabled(column.into(), EnabledStatistics::None);
        }
        let writer =
            ArrowWriter::try_new(out, Arc::clone(&SCHEMA), Some(properties.build())).map_err(|error| {
                PointsError::Write { path: path.to_owned(), problem: parquet_message(&error) }
            })?;
        Ok(Self { writer, path: path.to_owned() })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// A [`PointsError`] if writing fails.
    pub fn write(&mut self, rows: SampleLogRows) -> Result<(), PointsError> {
        let failed = |error| PointsError::Write { path: self.path.clone(), problem: parquet_message(&error) };
        self.writer.write(&rows.take()).map_err(failed)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// A [`PointsError`] if the footer can't be written.
    pub fn close(self) -> Result<(), PointsError> {
        let Self { writer, path } = self;
        writer
            .close()
            .map(|_| ())
            .map_err(|error| PointsError::Write { path, problem: parquet_message(&error) })
    }
}

/// Runs a read-only SQL query over one Parquet file as table `results`, with the statistics as functions.
///
/// # Errors
/// A [`PointsError`] if the file can't be read or the query is invalid.
pub fn query_parquet_file<'a>(
    path: &'a Path,
    query: &'a str,
) -> BoxFuture<'a, Result<QueryResult, PointsError>> {
    Box::pin(async move {
        let damaged = |problem: String| PointsError::File {
            path: path.to_owned(),
            problem: format!("not a valid Parquet file ({problem})"),
        };
        let absolute = std::fs::canonicalize(path).map_err(|error| damaged(error.to_string()))?;
        // A URL, because DataFusion treats `[` and `*` in a path as glob patterns.
        let address = url::Url::from_file_path(&absolute)
            .map_err(|()| damaged("its path can't be written as a URL".to_owned()))?;
        let rows = parquet_batch_rows(path)?;
        let config = SessionConfig::new().with_information_schema(true).with_batch_size(rows);
        let session = with_memory_limit(&SessionContext::new_with_config(config))?;
        for function in functions::all() {
            session.register_udf(function);
        }
        session
            .register_parquet("results", address.as_str(), ParquetReadOptions::default())
            .await
            .map_err(|error| damaged(error.strip_backtrace()))?;
        check_sql_size(query)?;
        let frame = plan_sql(&session, query).await.map_err(|error| {
            let message = error.strip_backtrace();
            match missing_table(&message) {
                Some(table) => {
                    PointsError::Query(format!("unknown table `{table}`; the file's table is `results`"))
                }
                None => PointsError::Query(message),
            }
        })?;
        Ok(QueryResult::new(execute_stream(frame).await?))
    })
}
