//! SQL queries and their results, one batch at a time.

use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use reasonscape_ingest::{JsonPart, column_to_json, json_parts};
use reasonscape_limits::max_file_bytes;
use serde_json::Value;

use super::PointsDb;
use super::columns::next_batch;
use super::query_limits::with_memory_limit;
use crate::BoxFuture;
use crate::PointsError;
use crate::error::parquet_message;
use crate::query_threads::{execute_stream, plan_sql};
use crate::sql_size::check_sql_size;

/// The result of a SQL query, streamed in batches.
pub struct QueryResult {
    stream: SendableRecordBatchStream,
    /// Parts of the current batch, in reverse order: as JSON, a batch can be much larger than in memory.
    parts: Vec<RecordBatch>,
}

impl std::fmt::Debug for QueryResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryResult").field("columns", &self.columns()).finish()
    }
}

impl PointsDb {
    /// Runs a read-only SQL query over the tables `trials`, `points` and `evals`, with the statistics as functions.
    ///
    /// # Errors
    /// A [`PointsError`] if the query is invalid, or larger than the query engine can plan safely.
    pub fn sql<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<QueryResult, PointsError>> {
        Box::pin(async move {
            check_sql_size(query)?;
            let frame = plan_sql(&with_memory_limit(&self.session)?, query).await?;
            Ok(QueryResult::new(execute_stream(frame).await?))
        })
    }
}

impl QueryResult {
    pub(crate) fn new(stream: SendableRecordBatchStream) -> Self {
        Self { stream, parts: Vec::new() }
    }

    /// The names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.stream.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The next rows, or `None` at the end. Numbers and lists keep their types, other types become text.
    ///
    /// # Errors
    /// A [`PointsError`] if a file can't be read or a function rejects its arguments.
    pub async fn next(&mut self) -> Result<Option<Vec<Vec<Value>>>, PointsError> {
        loop {
            if let Some(part) = self.parts.pop() {
                return rows(&part).map(Some);
            }
            let Some(batch) = next_batch(&mut self.stream).await else { return Ok(None) };
            let batch = batch?;
            let parts = json_parts(&batch);
            if parts.iter().any(|part| part.bytes > max_file_bytes()) {
                return Err(PointsError::Query(format!(
                    "a row of the result has more than {} MiB; select fewer columns, or raise `--memory-limit`",
                    max_file_bytes() >> 20
                )));
            }
            let slice = |part: &JsonPart| batch.slice(part.rows.start, part.rows.len());
            self.parts = parts.iter().rev().map(slice).collect();
        }
    }

    /// Writes the remaining rows to a Parquet file and returns their number.
    ///
    /// # Errors
    /// A [`PointsError`] if the query fails midway or the file can't be written.
    pub fn write_parquet<'a>(
        mut self,
        out: &'a mut (dyn std::io::Write + Send),
        path: &'a Path,
    ) -> BoxFuture<'a, Result<u64, PointsError>> {
        Box::pin(async move {
            let failed =
                |error| PointsError::Write { path: path.to_owned(), problem: parquet_message(&error) };
            let properties =
                WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
            let mut writer =
                ArrowWriter::try_new(out, self.stream.schema(), Some(properties)).map_err(failed)?;
            let mut written = 0;
            while let Some(batch) = next_batch(&mut self.stream).await {
                let batch = batch?;
                written += batch.num_rows() as u64;
                writer.write(&batch).map_err(failed)?;
            }
            writer.close().map_err(failed)?;
            Ok(written)
        })
    }
}

fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, PointsError> {
    let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for column in batch.columns() {
        for (row, value) in rows.iter_mut().zip(column_to_json(column)?) {
            row.push(value);
        }
    }
    Ok(rows)
}
