//! Finds the Parquet files of a study and checks their format and schema.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use datafusion::parquet::file::statistics::Statistics;
use serde::de::DeserializeOwned;

use crate::error::{panic_message, parquet_message};
use crate::file_source::{FileSource, LoadedChunks};
use crate::manifest::FileEntry;
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
    /// Whether it is the file that the manifest lists; then everything that is read is compared with its hash.
    pub(crate) is_listed: bool,
    pub(crate) format: u32,
    metadata: ArrowReaderMetadata,
    source: Arc<FileSource>,
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

/// Reads the footer of a file and checks its metadata. If the manifest lists it, its content is compared with its hashes
/// when it is read.
pub(crate) fn inspect(
    path: &Path,
    kind: FileKind,
    listed: Option<&FileEntry>,
) -> Result<FileInfo, PointsError> {
    let foreign = |problem: String| PointsError::Foreign { path: path.to_owned(), problem };
    let (mut source, footer) = FileSource::open(path)?;
    let metadata = guarded(path, || decode_footer(&footer[..footer.len() - 8]))?;
    let listed = listed.filter(|entry| entry.matches(source.size(), &footer));
    if let Some(entry) = listed {
        source
            .check_against(entry, metadata.metadata())
            .map_err(|problem| PointsError::Corrupt { path: path.to_owned(), problem })?;
    }
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
        is_listed: listed.is_some(),
        format,
        metadata,
        source: Arc::new(source),
    })
}

fn decode_footer(footer: &[u8]) -> Result<ArrowReaderMetadata, String> {
    let metadata = ParquetMetaDataReader::decode_metadata(footer).map_err(|error| parquet_message(&error))?;
    ArrowReaderMetadata::try_new(Arc::new(metadata), ArrowReaderOptions::new().with_skip_arrow_metadata(true))
        .map_err(|error| parquet_message(&error))
}

/// Decodes something from a file. The decoder has assertions that a damaged file without hashes can fail: they are errors.
fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T, String>) -> Result<T, PointsError> {
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|panic| Err(panic_message(panic.as_ref())))
        .map_err(|problem| PointsError::Damaged { path: path.to_owned(), problem })
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
    pub(crate) fn footer(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The version of the file whose footer was read.
    pub(crate) fn source(&self) -> &Arc<FileSource> {
        &self.source
    }

    /// Closes the file, if nobody else reads it.
    pub(crate) fn close(&mut self) {
        if let Some(source) = Arc::get_mut(&mut self.source) {
            source.unpin();
        }
    }

    /// Hashes the file as it is.
    pub(crate) fn hash_all(&self) -> Result<FileEntry, PointsError> {
        let (_, footer) = FileSource::open(&self.path)?;
        FileEntry::compute(&self.path, &self.pair, &footer, self.footer())
    }

    /// Whether the format has no sums over problems and no sampling rules.
    pub(crate) fn lacks_sums(&self) -> bool {
        self.format < 4
    }

    /// Some columns of a file, with integers as 64 bits.
    pub(crate) fn read_columns(&self, names: &[&str]) -> Result<Vec<RecordBatch>, PointsError> {
        let mask =
            ProjectionMask::columns(self.footer().file_metadata().schema_descr(), names.iter().copied());
        let chunks = self.source.load(self.footer(), |column| mask.leaf_included(column))?;
        guarded(&self.path, || {
            self.decode(chunks, Some(mask), |batch| {
                let columns = names.iter().map(|name| {
                    let column = batch.column_by_name(name);
                    let column = column.ok_or_else(|| format!("it has no column `{name}`"))?;
                    let is_integer = column.data_type().is_integer();
                    let data_type = if is_integer { DataType::Int64 } else { column.data_type().clone() };
                    let column = cast(column, &data_type).map_err(|error| error.to_string())?;
                    Ok((*name, column))
                });
                let columns = columns.collect::<Result<Vec<_>, String>>()?;
                RecordBatch::try_from_iter(columns).map_err(|error| error.to_string())
            })
        })
    }

    /// All rows, with the columns in schema order.
    pub(crate) fn read(&self, kind: FileKind) -> Result<Vec<RecordBatch>, PointsError> {
        let chunks = self.source.load(self.footer(), |_| true)?;
        guarded(&self.path, || {
            self.decode(chunks, None, |batch| {
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
                            return Ok(Arc::clone(column));
                        }
                        cast(column, field.data_type()).map_err(|error| error.to_string())
                    })
                    .collect::<Result<Vec<_>, String>>()?;
                RecordBatch::try_new(Arc::clone(kind.schema()), columns).map_err(|error| error.to_string())
            })
        })
    }

    /// Compares everything with its hash; decodes it if there are none.
    pub(crate) fn check_content(&self) -> Result<(), PointsError> {
        if self.is_listed {
            return self.source.check_all();
        }
        let chunks = self.source.load(self.footer(), |_| true)?;
        guarded(&self.path, || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .build()
                .map_err(|error| parquet_message(&error))?;
            reader.into_iter().try_for_each(|batch| batch.map(drop)).map_err(|error| error.to_string())
        })
    }

    fn decode(
        &self,
        chunks: LoadedChunks,
        mask: Option<ProjectionMask>,
        convert: impl Fn(&RecordBatch) -> Result<RecordBatch, String>,
    ) -> Result<Vec<RecordBatch>, String> {
        let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone());
        if let Some(mask) = mask {
            reader = reader.with_projection(mask);
        }
        let reader = reader.build().map_err(|error| parquet_message(&error))?;
        reader.map(|batch| convert(&batch.map_err(|error| error.to_string())?)).collect()
    }
}
