//! Finds the Parquet files of a study and checks their format and schema.

use std::fs::File;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use datafusion::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use datafusion::parquet::file::statistics::Statistics;
use serde::de::DeserializeOwned;

use crate::error::parquet_message;
use crate::schema::{ADDED_COLUMNS, FORMAT, key};
use crate::write::FileKind;
use crate::{EvalInfo, PointsError, Provenance};

/// The oldest supported format.
const OLDEST_READABLE_FORMAT: u32 = 1;

/// A file and its metadata.
#[derive(Debug, Clone)]
pub(crate) struct FileInfo {
    pub(crate) path: PathBuf,
    pub(crate) eval: EvalInfo,
    pub(crate) task: String,
    pub(crate) pair: String,
    pub(crate) provenance: Provenance,
    pub(crate) rows: u64,
    pub(crate) format: u32,
    metadata: ArrowReaderMetadata,
}

/// The files of one kind in a study directory, sorted by name. Temporary files, whose names begin with a dot, are
/// skipped.
pub(crate) fn discover(study: &Path, kind: FileKind) -> Result<Vec<PathBuf>, PointsError> {
    let mut dirs = vec![study.join(kind.name())];
    let mut files = Vec::new();
    while let Some(dir) = dirs.pop() {
        let listing = match std::fs::read_dir(&dir) {
            Ok(listing) => listing,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(PointsError::io("list", &dir)(error)),
        };
        for entry in listing {
            let entry = entry.map_err(PointsError::io("list", &dir))?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            // Symbolic links to directories are followed, so that trials can live on another disk.
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads the footer of a file and checks its metadata.
pub(crate) fn inspect(path: &Path, kind: FileKind) -> Result<FileInfo, PointsError> {
    let foreign = |problem: String| PointsError::Foreign { path: path.to_owned(), problem };
    let file = File::open(path).map_err(PointsError::io("read", path))?;
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))
        .map_err(|error| PointsError::Damaged { path: path.to_owned(), problem: parquet_message(&error) })?;
    let metadata_pairs = metadata.metadata().file_metadata().key_value_metadata();
    let value = |key: &str| {
        metadata_pairs
            .and_then(|metadata_pairs| metadata_pairs.iter().find(|pair| pair.key == key))
            .and_then(|pair| pair.value.as_deref())
            .ok_or_else(|| foreign(format!("no `{key}` in its metadata")))
    };
    let format = value(key::FORMAT)?;
    let format = match format.parse() {
        Ok(found @ OLDEST_READABLE_FORMAT..=FORMAT) => found,
        Ok(found) if found > FORMAT => {
            return Err(PointsError::Newer { path: path.to_owned(), found, known: FORMAT });
        }
        Ok(found) => {
            return Err(PointsError::Older { path: path.to_owned(), found, oldest: OLDEST_READABLE_FORMAT });
        }
        Err(_) => return Err(foreign(format!("invalid format `{format}`"))),
    };
    if value(key::KIND)? != kind.name() {
        return Err(foreign(format!("it contains {}, not {}", value(key::KIND)?, kind.name())));
    }
    check_columns(metadata.schema(), kind, format).map_err(foreign)?;
    Ok(FileInfo {
        path: path.to_owned(),
        eval: parse(value(key::EVAL)?).map_err(foreign)?,
        task: value(key::TASK)?.to_owned(),
        pair: value(key::PAIR)?.to_owned(),
        provenance: parse(value(key::PROVENANCE)?).map_err(foreign)?,
        rows: u64::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0),
        format,
        metadata,
    })
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("invalid metadata: {error}"))
}

fn check_columns(found: &Schema, kind: FileKind, format: u32) -> Result<(), String> {
    for expected in kind.schema().fields() {
        let Ok(column) = found.field_with_name(expected.name()) else {
            if ADDED_COLUMNS.iter().any(|(name, since)| expected.name() == name && format < *since) {
                continue;
            }
            return Err(format!("it has no column `{}`", expected.name()));
        };
        // In format 1 an index had 32 bits; it is read as 64 bits.
        let is_old_index =
            format == 1 && expected.name() == "index" && *column.data_type() == DataType::Int32;
        if !is_old_index && !column.data_type().equals_datatype(expected.data_type()) {
            return Err(format!(
                "column `{}` has type {}, not {}",
                expected.name(),
                column.data_type(),
                expected.data_type()
            ));
        }
    }
    Ok(())
}

impl FileInfo {
    /// Whether some trial is not the first sample of its problem, as far as the footer tells.
    pub(crate) fn may_have_repeats(&self) -> bool {
        let columns = self.footer().row_groups().iter().flat_map(RowGroupMetaData::columns);
        columns.filter(|column| column.column_path().string() == "repeat").any(|column| {
            let max = match column.statistics() {
                Some(Statistics::Int32(repeats)) => repeats.max_opt().copied(),
                _ => None,
            };
            max.is_none_or(|max| max > 0)
        })
    }

    /// The footer's metadata on the columns.
    pub(crate) fn footer(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    /// Whether the format has no sums over problems and no sampling rules.
    pub(crate) fn lacks_sums(&self) -> bool {
        self.format < 4
    }

    /// Some columns of a file, with integers as 64 bits.
    pub(crate) fn read_columns(&self, names: &[&str]) -> Result<Vec<RecordBatch>, PointsError> {
        let damaged = |problem: String| PointsError::Damaged { path: self.path.clone(), problem };
        let file = File::open(&self.path).map_err(PointsError::io("read", &self.path))?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::columns(reader.parquet_schema(), names.iter().copied());
        let reader =
            reader.with_projection(mask).build().map_err(|error| damaged(parquet_message(&error)))?;
        reader
            .map(|batch| {
                let batch = batch.map_err(|error| damaged(error.to_string()))?;
                let columns = names.iter().map(|name| {
                    let column = batch
                        .column_by_name(name)
                        .ok_or_else(|| damaged(format!("it has no column `{name}`")))?;
                    let is_integer = column.data_type().is_integer();
                    let data_type = if is_integer { DataType::Int64 } else { column.data_type().clone() };
                    let column = cast(column, &data_type).map_err(|error| damaged(error.to_string()))?;
                    Ok((*name, column))
                });
                let columns = columns.collect::<Result<Vec<_>, PointsError>>()?;
                RecordBatch::try_from_iter(columns).map_err(|error| damaged(error.to_string()))
            })
            .collect()
    }

    /// All rows, with the columns in schema order.
    pub(crate) fn read(&self, kind: FileKind) -> Result<Vec<RecordBatch>, PointsError> {
        let damaged = |problem: String| PointsError::Damaged { path: self.path.clone(), problem };
        let file = File::open(&self.path).map_err(PointsError::io("read", &self.path))?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .build()
            .map_err(|error| damaged(parquet_message(&error)))?;
        reader
            .map(|batch| {
                let batch = batch.map_err(|error| damaged(error.to_string()))?;
                let columns = kind
                    .schema()
                    .fields()
                    .iter()
                    .map(|field| {
                        let Some(column) = batch.column_by_name(field.name()) else {
                            // The schema was checked: only a column that this format does not have can be missing.
                            return Ok(new_null_array(field.data_type(), batch.num_rows()));
                        };
                        if column.data_type() == field.data_type() {
                            return Ok(std::sync::Arc::clone(column));
                        }
                        cast(column, field.data_type()).map_err(|error| damaged(error.to_string()))
                    })
                    .collect::<Result<Vec<_>, PointsError>>()?;
                RecordBatch::try_new(std::sync::Arc::clone(kind.schema()), columns)
                    .map_err(|error| damaged(error.to_string()))
            })
            .collect()
    }
}
