//! Rows of a file as JSON objects: JSONL, JSON, CSV, TSV or Parquet.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reasonscape_core::describe_json_error;
use serde_json::{Map, Value};

use crate::IngestError;
use crate::arrow_json::column_to_json;
use crate::error::parquet_message;

/// Receives each row: its line, from 1, and its fields or why it cannot be read.
pub type RowCallback<'f> = dyn FnMut(usize, Result<Map<String, Value>, String>) + 'f;

/// Whether the extension of a file is supported.
///
/// ```
/// use std::path::Path;
///
/// assert!(reasonscape_ingest::holds_rows(Path::new("gsm8k.jsonl")));
/// assert!(!reasonscape_ingest::holds_rows(Path::new("study.toml")));
/// ```
pub fn holds_rows(path: &Path) -> bool {
    RowFormat::from_path(path).is_some()
}

/// The supported extensions.
pub const ROW_EXTENSIONS: [&str; 6] = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet"];

enum RowFormat {
    Lines,
    Json,
    Separated(u8),
    Parquet,
}

impl RowFormat {
    fn from_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "jsonl" | "ndjson" => Some(Self::Lines),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Separated(b',')),
            "tsv" => Some(Self::Separated(b'\t')),
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// Passes the rows of a file to `visit`, one at a time. A row that cannot be read is passed as its problem.
///
/// # Errors
/// An [`IngestError`] when the file cannot be read at all.
pub fn read_rows(path: &Path, visit: &mut RowCallback<'_>) -> Result<(), IngestError> {
    let kind = RowFormat::from_path(path).ok_or_else(|| {
        IngestError::InvalidInput(format!(
            "`{}` has an unsupported extension; expected one of {}",
            path.display(),
            ROW_EXTENSIONS.join(", ")
        ))
    })?;
    let file = File::open(path).map_err(IngestError::io("read", path))?;
    match kind {
        RowFormat::Lines => lines(file, visit).map_err(IngestError::io("read", path)),
        RowFormat::Json => json_document(file, visit).map_err(IngestError::io("read", path)),
        RowFormat::Separated(delimiter) => {
            separated(file, delimiter, visit).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => IngestError::io("read", path)(error),
                other => IngestError::file(path, format!("not a valid table: {other:?}")),
            })
        }
        RowFormat::Parquet => parquet(file, visit)
            .map_err(|problem| IngestError::file(path, format!("not a valid Parquet file ({problem})"))),
    }
}

fn lines(file: File, visit: &mut RowCallback<'_>) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = if line == 1 { without_bom(&bytes) } else { &bytes };
        let text = text.trim_ascii();
        if !text.is_empty() {
            visit(line, to_object(serde_json::from_slice(text)));
        }
    }
    Ok(())
}

/// A list of objects, or a single one.
fn json_document(mut file: File, visit: &mut RowCallback<'_>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    match serde_json::from_slice(without_bom(&bytes)) {
        Ok(Value::Array(rows)) => {
            for (row, value) in (1..).zip(rows) {
                visit(row, to_object(Ok(value)));
            }
        }
        // Files of JSON lines are often named `.json`.
        Err(error) if !error.is_eof() && error.line() > 1 => {
            for (line, text) in (1..).zip(without_bom(&bytes).split(|byte| *byte == b'\n')) {
                if !text.trim_ascii().is_empty() {
                    visit(line, to_object(serde_json::from_slice(text.trim_ascii())));
                }
            }
        }
        other => visit(1, to_object(other)),
    }
    Ok(())
}

/// Strips the byte order mark that some editors put before UTF-8.
fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn to_object(parsed: serde_json::Result<Value>) -> Result<Map<String, Value>, String> {
    match parsed {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected an object, `{…}`".to_owned()),
        Err(error) => Err(describe_json_error(&error)),
    }
}

/// The first row names the columns. An empty cell counts as missing.
fn separated(file: File, delimiter: u8, visit: &mut RowCallback<'_>) -> Result<(), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file);
    let names = reader.byte_headers()?.clone();
    let names: Vec<String> =
        names.iter().map(|name| String::from_utf8_lossy(without_bom(name)).trim().to_owned()).collect();
    if let Some((_, twice)) = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
        visit(1, Err(format!("duplicate column name `{twice}`")));
        return Ok(());
    }
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        let line = record.position().map_or(0, |position| position.line() as usize);
        visit(line, cells(&names, &record));
    }
    Ok(())
}

fn cells(names: &[String], record: &csv::ByteRecord) -> Result<Map<String, Value>, String> {
    if record.len() != names.len() {
        return Err(format!(
            "{} cells, but the first row has {}; quote cells that contain a comma or a line break",
            record.len(),
            names.len()
        ));
    }
    let mut row = Map::new();
    for (name, cell) in names.iter().zip(record) {
        let text = std::str::from_utf8(cell).map_err(|_| format!("the cell of `{name}` is not UTF-8"))?;
        if !text.is_empty() {
            row.insert(name.clone(), Value::String(text.to_owned()));
        }
    }
    Ok(row)
}

fn parquet(file: File, visit: &mut RowCallback<'_>) -> Result<(), String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| parquet_message(&error))?;
    let mut line = 0;
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        let mut rows = vec![Map::new(); batch.num_rows()];
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let values = column_to_json(column).map_err(|error| error.to_string())?;
            for (row, value) in rows.iter_mut().zip(values) {
                row.insert(field.name().clone(), value);
            }
        }
        for row in rows {
            line += 1;
            visit(line, Ok(row));
        }
    }
    Ok(())
}
