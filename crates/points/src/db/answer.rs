//! Questions in SQL, and their answers a batch at a time.

use std::path::Path;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use futures_util::StreamExt;
use serde_json::Value;

use super::PointsDb;
use crate::PointsError;
use crate::Work;
use crate::error::plain;

/// The answer to a question in SQL, as it comes.
pub struct Answer {
    pub(crate) stream: SendableRecordBatchStream,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("columns", &self.columns()).finish()
    }
}

impl PointsDb {
    /// Asks in SQL. There are the tables `trials`, `points` and `evals`, and the statistics as functions; nothing can
    /// be changed.
    ///
    /// # Errors
    /// A [`PointsError`] that says what is wrong with the question.
    pub fn sql<'a>(&'a self, question: &'a str) -> Work<'a, Result<Answer, PointsError>> {
        Box::pin(async move {
            let reading =
                SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
            let frame = self.session.sql_with_options(question, reading).await?;
            Ok(Answer { stream: frame.execute_stream().await? })
        })
    }
}

impl Answer {
    /// The names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.stream.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The next rows, or none when all have come. Numbers are numbers, lists are lists, the rest is text.
    ///
    /// # Errors
    /// A [`PointsError`] when a file cannot be read or a function refuses its arguments.
    pub async fn next(&mut self) -> Result<Option<Vec<Vec<Value>>>, PointsError> {
        match self.stream.next().await {
            None => Ok(None),
            Some(batch) => Ok(Some(rows(&batch?)?)),
        }
    }

    /// Writes the rest to a Parquet file and says how many rows there were.
    ///
    /// # Errors
    /// A [`PointsError`] when the question fails half-way or the file cannot be written.
    pub fn write_parquet<'a>(
        mut self,
        out: &'a mut (dyn std::io::Write + Send),
        path: &'a Path,
    ) -> Work<'a, Result<u64, PointsError>> {
        Box::pin(async move {
            let failed = |error| PointsError::Write { path: path.to_owned(), problem: plain(&error) };
            let properties =
                WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
            let mut writer =
                ArrowWriter::try_new(out, self.stream.schema(), Some(properties)).map_err(failed)?;
            let mut written = 0;
            while let Some(batch) = self.stream.next().await {
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
        for (row, value) in rows.iter_mut().zip(values(column)?) {
            row.push(value);
        }
    }
    Ok(rows)
}

/// The values of a column as JSON; what JSON has no form for becomes text.
pub(crate) fn values(column: &ArrayRef) -> Result<Vec<Value>, PointsError> {
    let nulls = |row: usize| column.is_null(row);
    let rows = 0..column.len();
    let each = |value: &dyn Fn(usize) -> Value| -> Vec<Value> {
        rows.clone().map(|row| if nulls(row) { Value::Null } else { value(row) }).collect()
    };
    Ok(match column.data_type() {
        DataType::Boolean => {
            let booleans = column.as_boolean();
            each(&|row| Value::Bool(booleans.value(row)))
        }
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32 => {
            let numbers = cast(column, &DataType::Int64)?;
            let numbers = numbers.as_primitive::<Int64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::UInt64 => {
            let numbers = column.as_primitive::<datafusion::arrow::datatypes::UInt64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let numbers = cast(column, &DataType::Float64)?;
            let numbers = numbers.as_primitive::<Float64Type>();
            each(&|row| Value::from(numbers.value(row)))
        }
        DataType::List(_) => {
            let lists = column.as_list::<i32>();
            let mut found = Vec::new();
            for row in rows {
                found.push(if nulls(row) { Value::Null } else { Value::Array(values(&lists.value(row))?) });
            }
            found
        }
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            values(&cast(column, &DataType::List(std::sync::Arc::clone(item)))?)?
        }
        DataType::Struct(fields) => {
            let mut found = vec![serde_json::Map::new(); column.len()];
            for (field, inner) in fields.iter().zip(column.as_struct().columns()) {
                for (object, value) in found.iter_mut().zip(values(inner)?) {
                    object.insert(field.name().clone(), value);
                }
            }
            let object = |(row, object)| if nulls(row) { Value::Null } else { Value::Object(object) };
            found.into_iter().enumerate().map(object).collect()
        }
        _ => {
            let shown = ArrayFormatter::try_new(column, &FormatOptions::default())?;
            each(&|row| Value::String(shown.value(row).to_string()))
        }
    })
}
