//! The rows of anybody's file, as JSON objects: lines of JSON, a table of text, or Parquet.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reasonscape_core::describe_json_error;
use serde_json::{Map, Value};

use crate::PointsError;
use crate::db::values;
use crate::error::plain;

/// What is told of each row: its line, from 1, and what it holds or why it cannot be read.
pub type OnRow<'f> = dyn FnMut(usize, Result<Map<String, Value>, String>) + 'f;

/// Whether a file of this name holds rows that can be read.
///
/// ```
/// use std::path::Path;
///
/// assert!(reasonscape_points::holds_rows(Path::new("gsm8k.jsonl")));
/// assert!(!reasonscape_points::holds_rows(Path::new("study.toml")));
/// ```
pub fn holds_rows(path: &Path) -> bool {
    Kind::of(path).is_some()
}

/// The extensions that are read.
pub const ROW_EXTENSIONS: [&str; 6] = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet"];

enum Kind {
    Lines,
    Json,
    Separated(u8),
    Parquet,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
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

/// Hands over the rows of a file, one at a time. A row that cannot be read is handed over as its problem.
///
/// # Errors
/// A [`PointsError`] when the file cannot be read at all.
pub fn read_rows(path: &Path, visit: &mut OnRow<'_>) -> Result<(), PointsError> {
    let kind = Kind::of(path).ok_or_else(|| {
        PointsError::Question(format!(
            "`{}` has none of the extensions that are read: {}",
            path.display(),
            ROW_EXTENSIONS.join(", ")
        ))
    })?;
    let file = File::open(path).map_err(PointsError::io("read", path))?;
    match kind {
        Kind::Lines => lines(file, visit).map_err(PointsError::io("read", path)),
        Kind::Json => whole(file, visit).map_err(PointsError::io("read", path)),
        Kind::Separated(delimiter) => {
            separated(file, delimiter, visit).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => PointsError::io("read", path)(error),
                other => PointsError::log(path, format!("no table of text: {other:?}")),
            })
        }
        Kind::Parquet => parquet(file, visit)
            .map_err(|problem| PointsError::log(path, format!("not a sound Parquet file ({problem})"))),
    }
}

fn lines(file: File, visit: &mut OnRow<'_>) -> std::io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let text = if line == 1 { without_mark(&bytes) } else { &bytes };
        let text = text.trim_ascii();
        if !text.is_empty() {
            visit(line, object(serde_json::from_slice(text)));
        }
    }
    Ok(())
}

/// A list of objects, or a single one.
fn whole(mut file: File, visit: &mut OnRow<'_>) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    match serde_json::from_slice(without_mark(&bytes)) {
        Ok(Value::Array(rows)) => {
            for (row, value) in (1..).zip(rows) {
                visit(row, object(Ok(value)));
            }
        }
        // Lines of JSON are often called `.json`.
        Err(error) if !error.is_eof() && error.line() > 1 => {
            for (line, text) in (1..).zip(without_mark(&bytes).split(|byte| *byte == b'\n')) {
                if !text.trim_ascii().is_empty() {
                    visit(line, object(serde_json::from_slice(text.trim_ascii())));
                }
            }
        }
        other => visit(1, object(other)),
    }
    Ok(())
}

/// The mark that some editors put before UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn object(parsed: serde_json::Result<Value>) -> Result<Map<String, Value>, String> {
    match parsed {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected an object, `{…}`".to_owned()),
        Err(error) => Err(describe_json_error(&error)),
    }
}

/// The first row names the columns. An empty cell is nothing.
fn separated(file: File, delimiter: u8, visit: &mut OnRow<'_>) -> Result<(), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file);
    let names = reader.byte_headers()?.clone();
    let names: Vec<String> =
        names.iter().map(|name| String::from_utf8_lossy(without_mark(name)).trim().to_owned()).collect();
    if let Some((_, twice)) = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name)) {
        visit(1, Err(format!("two columns are called `{twice}`; give each a name of its own")));
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
            "{} cells where the first row names {}; a cell with a comma or line break stands in quotes",
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

fn parquet(file: File, visit: &mut OnRow<'_>) -> Result<(), String> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| plain(&error))?;
    let mut line = 0;
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        let mut rows = vec![Map::new(); batch.num_rows()];
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let values = values(column).map_err(|error| error.to_string())?;
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
