//! Rows of Parquet files. Reading them never holds more than the budget allows, whatever the file claims.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::error::ArrowError;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Type;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use reasonscape_limits::{HeldBytes, MemoryBudget, MemoryError};
use serde_json::Map;

use crate::arrow_json::{column_to_json, json_sizes};
use crate::decoder_panics::catch_decoder_panic;
use crate::error::parquet_message;
use crate::parquet_pages::ChunkPages;
use crate::thrift::Thrift;
use crate::{IngestError, RowCallback};

/// Maximum rows of a batch.
const BATCH_ROWS: u64 = 1024;
/// Bytes that the values of a batch may take, unless a single row needs more.
const BATCH_BYTES: u64 = 16 << 20;
/// Bytes of JSON that are made at a time, unless a single row needs more.
const JSON_BYTES: u64 = 1 << 20;
/// Memory of a footer in relation to its bytes.
const FOOTER_FACTOR: u64 = 16;
/// Maximum depth of nested columns.
const MAX_DEPTH: usize = 64;

/// Why rows can't be read.
#[derive(Debug)]
pub(crate) enum ParquetRowsError {
    Io(io::Error),
    Invalid(String),
}

impl ParquetRowsError {
    pub(crate) fn at(self, path: &Path) -> IngestError {
        match self {
            Self::Io(error) => IngestError::io("read", path)(error),
            Self::Invalid(problem) => {
                IngestError::file(path, format!("not a valid Parquet file ({problem})"))
            }
        }
    }
}

impl From<io::Error> for ParquetRowsError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<MemoryError> for ParquetRowsError {
    fn from(error: MemoryError) -> Self {
        Self::Io(error.into())
    }
}

impl From<ParquetError> for ParquetRowsError {
    fn from(error: ParquetError) -> Self {
        Self::Invalid(parquet_message(&error))
    }
}

impl From<ArrowError> for ParquetRowsError {
    fn from(error: ArrowError) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// Passes the rows of a file to `visit`.
pub(crate) fn read(
    file: File,
    budget: &MemoryBudget,
    visit: &mut RowCallback<'_>,
) -> Result<(), ParquetRowsError> {
    let Opened { metadata, need, _footer } = open(&file, budget)?;
    let rows = need.rows();
    let _batch = budget.hold(need.bytes())?;
    let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_batch_size(rows as usize)
        .build()?;
    let mut line = 0;
    while let Some(batch) = decode(|| reader.next())? {
        let batch = batch?;
        for part in json_parts(&batch) {
            let _json = budget.hold(part.bytes)?;
            let slice = batch.slice(part.rows.start, part.rows.len());
            let mut rows = vec![Map::new(); slice.num_rows()];
            for (field, column) in slice.schema().fields().iter().zip(slice.columns()) {
                for (row, value) in rows.iter_mut().zip(column_to_json(column)?) {
                    row.insert(field.name().clone(), value);
                }
            }
            for row in rows {
                line += 1;
                visit(line, Ok(row));
            }
        }
    }
    Ok(())
}

fn decode<T>(decode: impl FnOnce() -> T) -> Result<T, ParquetRowsError> {
    catch_decoder_panic(decode).map_err(ParquetRowsError::Invalid)
}

/// The metadata of a file, and the memory of its batches.
struct Opened {
    metadata: ArrowReaderMetadata,
    need: BatchNeed,
    _footer: HeldBytes,
}

fn open(file: &File, budget: &MemoryBudget) -> Result<Opened, ParquetRowsError> {
    let footer = check_footer(file, budget)?;
    let metadata = decode(|| ArrowReaderMetadata::load(file, ArrowReaderOptions::new()))??;
    // Views share the values of a dictionary, which would otherwise be copied for each row.
    let views = Arc::new(Schema::new(
        metadata.schema().fields().iter().map(|field| with_views(field)).collect::<Vec<_>>(),
    ));
    let options = ArrowReaderOptions::new().with_schema(views);
    let (metadata, has_views) = match ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options) {
        Ok(with_views) => (with_views, true),
        Err(_) => (metadata, false),
    };
    let mut pages = BufReader::with_capacity(1 << 12, file.try_clone()?);
    let mut need = BatchNeed::default();
    for row_group in metadata.metadata().row_groups() {
        budget.check()?;
        need = need.max(BatchNeed::new(&mut pages, row_group, has_views)?);
    }
    Ok(Opened { metadata, need, _footer: footer })
}

/// The number of rows that another reader may read at a time from a Parquet file.
///
/// # Errors
/// An [`IngestError`] if the file is invalid, or takes too much memory even row by row.
pub fn parquet_batch_rows(path: &Path) -> Result<usize, IngestError> {
    let file = File::open(path).map_err(IngestError::io("read", path))?;
    let budget = MemoryBudget::default();
    let rows = open(&file, &budget).and_then(|opened| {
        let _batch = budget.hold(opened.need.bytes())?;
        Ok(opened.need.rows() as usize)
    });
    rows.map_err(|error| error.at(path))
}

/// Refuses files whose footer would need too much memory, or whose columns are nested so deep that the reader, which is
/// recursive, would overflow the stack.
fn check_footer(file: &File, budget: &MemoryBudget) -> Result<HeldBytes, ParquetRowsError> {
    let mut file = file;
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail = [0; 8];
    if length < 12 {
        return Err(ParquetRowsError::Invalid("it is shorter than an empty Parquet file".to_owned()));
    }
    file.seek(SeekFrom::End(-8))?;
    file.read_exact(&mut tail)?;
    let footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let held = budget.hold(footer.saturating_mul(FOOTER_FACTOR))?;
    if &tail[4..] != b"PAR1" || footer > length - 8 {
        // Reported by the reader.
        return Ok(held);
    }
    file.seek(SeekFrom::Start(length - 8 - footer))?;
    // Open groups, each with the number of its children that are still to come.
    let (mut open, mut children, mut is_too_deep): (Vec<i64>, i64, bool) = (Vec::new(), 0, false);
    let mut thrift = Thrift::new(BufReader::new(file).take(footer));
    let read = thrift.read_struct(&mut |path, value| match path {
        // Field 2 is the list of schema elements, depth first; their field 5 is the number of children.
        [2, 2, 5] => children = value,
        [2, 2] if children > 0 => {
            open.push(std::mem::take(&mut children));
            is_too_deep |= open.len() > MAX_DEPTH;
        }
        [2, 2] => {
            children = 0;
            while let Some(rest) = open.last_mut() {
                *rest -= 1;
                if *rest > 0 {
                    break;
                }
                open.pop();
            }
        }
        _ => {}
    });
    // An unreadable footer is reported by the reader, which stops at the same place.
    if is_too_deep || read.is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
        return Err(ParquetRowsError::Invalid(format!("its columns are nested more than {MAX_DEPTH} deep")));
    }
    Ok(held)
}

/// The memory that reading batches of a row group takes.
#[derive(Debug, Clone, Copy, Default)]
struct BatchNeed {
    fixed: u64,
    per_row: u64,
}

impl BatchNeed {
    fn new(
        file: &mut BufReader<File>,
        row_group: &RowGroupMetaData,
        has_views: bool,
    ) -> Result<Self, ParquetRowsError> {
        let mut need = Self::default();
        for column in row_group.columns() {
            let pages = ChunkPages::read(file, column).map_err(ParquetRowsError::Invalid)?;
            let descriptor = column.column_descr();
            let fixed_length = match descriptor.physical_type() {
                Type::FIXED_LEN_BYTE_ARRAY => u64::from(descriptor.type_length().unsigned_abs()),
                _ => 16,
            };
            // What one value may take, if values aren't stored one after the other.
            let value = match descriptor.physical_type() {
                Type::BYTE_ARRAY if pages.has_prefixes => pages.largest,
                Type::BYTE_ARRAY if !has_views => pages.dictionary.max(fixed_length),
                _ => fixed_length,
            };
            // The dictionary as page, as values and as views; a page compressed and decompressed.
            let open_pages =
                pages.dictionary.saturating_mul(5).saturating_add(pages.largest.saturating_mul(3));
            need.fixed = need.fixed.saturating_add(open_pages);
            if descriptor.max_rep_level() > 0 {
                // One row can have all values of the row group.
                let values = pages.values.saturating_mul(value.saturating_add(32));
                need.fixed = need.fixed.saturating_add(pages.total.saturating_add(values));
            } else {
                let of_pages = pages.largest / pages.min_values + 1;
                need.per_row = need.per_row.saturating_add(of_pages.max(value));
            }
        }
        Ok(need)
    }

    fn max(self, other: Self) -> Self {
        Self { fixed: self.fixed.max(other.fixed), per_row: self.per_row.max(other.per_row) }
    }

    /// Bytes of a batch and the open pages.
    fn bytes(self) -> u64 {
        self.fixed.saturating_add(self.per_row.saturating_mul(self.rows()))
    }

    /// Rows of a batch.
    fn rows(self) -> u64 {
        (BATCH_BYTES / self.per_row.max(1)).clamp(1, BATCH_ROWS)
    }
}

/// The same field with views instead of copied text, and without the dictionaries of Arrow.
fn with_views(field: &Field) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, value) => view_type(value),
        other => view_type(other),
    };
    Arc::new(field.clone().with_data_type(data_type))
}

fn view_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(item) | DataType::FixedSizeList(item, _) => DataType::List(with_views(item)),
        DataType::LargeList(item) => DataType::LargeList(with_views(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| with_views(field)).collect()),
        other => other.clone(),
    }
}

/// Rows that become JSON together.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonPart {
    /// The rows of the batch.
    pub rows: Range<usize>,
    /// An upper bound of the bytes of their JSON.
    pub bytes: u64,
}

/// Divides a batch into parts whose JSON has a bounded size, or one row.
pub fn json_parts(batch: &RecordBatch) -> Vec<JsonPart> {
    let mut sizes = vec![0_u64; batch.num_rows()];
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        for (size, of_column) in sizes.iter_mut().zip(json_sizes(column)) {
            *size = size.saturating_add(of_column).saturating_add(field.name().len() as u64 + 64);
        }
    }
    let mut parts: Vec<JsonPart> = Vec::new();
    for (row, size) in sizes.into_iter().enumerate() {
        match parts.last_mut() {
            Some(part) if part.bytes.saturating_add(size) <= JSON_BYTES => {
                part.rows.end = row + 1;
                part.bytes += size;
            }
            _ => parts.push(JsonPart { rows: row..row + 1, bytes: size }),
        }
    }
    parts
}
