//! Rows of a file as JSON objects: JSONL, JSON, CSV, TSV or Parquet.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use reasonscape_core::describe_json_error;
use reasonscape_limits::{MemoryBudget, json_size, max_file_bytes, max_line_bytes, read_line, read_to_end};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::IngestError;
use crate::parquet_rows;

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
    read_rows_within(path, &MemoryBudget::default(), visit)
}

/// Same as [`read_rows`], with the budget of a request: it stops when that is canceled.
///
/// # Errors
/// As [`read_rows`], and if the file needs more memory at once than the budget has.
pub fn read_rows_within(
    path: &Path,
    budget: &MemoryBudget,
    visit: &mut RowCallback<'_>,
) -> Result<(), IngestError> {
    read_table(path, None, budget, visit)
}

/// Same as [`read_rows_within`], with the column names of a table whose first row is data.
pub(crate) fn read_table(
    path: &Path,
    names: Option<&[String]>,
    budget: &MemoryBudget,
    visit: &mut RowCallback<'_>,
) -> Result<(), IngestError> {
    let kind = RowFormat::from_path(path).ok_or_else(|| {
        IngestError::InvalidInput(format!(
            "`{}` has an unsupported extension; expected one of {}",
            path.display(),
            ROW_EXTENSIONS.join(", ")
        ))
    })?;
    let file = File::open(path).map_err(IngestError::io("read", path))?;
    if names.is_some() && !matches!(kind, RowFormat::Separated(_)) {
        return Err(IngestError::InvalidInput(format!(
            "`--columns` names the columns of a table without a header row, and `{}` is neither CSV nor TSV; use `--map`",
            path.display()
        )));
    }
    match kind {
        RowFormat::Lines => lines(file, budget, visit).map_err(IngestError::io("read", path)),
        RowFormat::Json => json_document(file, budget, visit).map_err(IngestError::io("read", path)),
        RowFormat::Separated(delimiter) => {
            separated(file, delimiter, names, budget, visit).map_err(|error| table_error(path, error))
        }
        RowFormat::Parquet => parquet_rows::read(file, budget, visit).map_err(|error| error.at(path)),
    }
}

fn table_error(path: &Path, error: csv::Error) -> IngestError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => IngestError::io("read", path)(error),
        other => IngestError::file(path, format!("not a valid table: {other:?}")),
    }
}

/// The cells of the first row of a CSV or TSV file, in their order; `None` for other files.
pub(crate) fn first_row(path: &Path) -> Result<Option<Vec<String>>, IngestError> {
    let Some(RowFormat::Separated(delimiter)) = RowFormat::from_path(path) else { return Ok(None) };
    let file = File::open(path).map_err(IngestError::io("read", path))?;
    let file = RecordReader { file, read: Rc::new(Cell::new(0)) };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file);
    let cells = reader.byte_headers().map_err(|error| table_error(path, error))?;
    Ok(Some(cells.iter().map(cell_name).collect()))
}

fn cell_name(cell: &[u8]) -> String {
    String::from_utf8_lossy(without_bom(cell)).trim().to_owned()
}

fn lines(file: File, budget: &MemoryBudget, visit: &mut RowCallback<'_>) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if read_line(&mut reader, max_line_bytes(), &mut bytes)? == 0 {
            break;
        }
        let text = if line == 1 { without_bom(&bytes) } else { &bytes };
        json_row(line, text, budget, visit)?;
    }
    Ok(())
}

/// Passes on a line of JSON; blank lines are skipped.
fn json_row(line: usize, text: &[u8], budget: &MemoryBudget, visit: &mut RowCallback<'_>) -> io::Result<()> {
    let text = text.trim_ascii();
    if !text.is_empty() {
        let _held = budget.hold(json_size(text))?;
        visit(line, to_object(serde_json::from_slice(text)));
    }
    Ok(())
}

/// A list of objects, or a single one.
fn json_document(file: File, budget: &MemoryBudget, visit: &mut RowCallback<'_>) -> io::Result<()> {
    let bytes = read_to_end(file, max_file_bytes())?;
    let _held = budget.hold(bytes.len() as u64)?;
    let text = without_bom(&bytes);
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) if text.trim_ascii_start().starts_with(b"[") => {
            listed_rows(&mut serde_json::Deserializer::from_slice(text), budget, visit)
        }
        // Files of JSON lines are often named `.json`.
        Err(error) if !error.is_eof() && error.line() > 1 => (1..)
            .zip(text.split(|byte| *byte == b'\n'))
            .try_for_each(|(line, text)| json_row(line, text, budget, visit)),
        Ok(_) => match wrapped_rows(text) {
            Some(rows) => listed_rows(&mut serde_json::Deserializer::from_str(rows), budget, visit),
            None => json_row(1, text, budget, visit),
        },
        Err(error) => {
            visit(1, to_object(Err(error)));
            Ok(())
        }
    }
}

/// Passes on the objects of a JSON list.
fn listed_rows<'de, R: serde_json::de::Read<'de>>(
    list: &mut serde_json::Deserializer<R>,
    budget: &MemoryBudget,
    visit: &mut RowCallback<'_>,
) -> io::Result<()> {
    let mut failed = Ok(());
    let rows = JsonItems(&mut |row, item| {
        failed = json_row(row, unwrapped(item).as_bytes(), budget, visit);
        failed.is_ok()
    });
    let read = rows.deserialize(list);
    failed.and(read.map_err(Into::into))
}

/// Names under which files have their list of rows.
const WRAPPERS: [&str; 9] =
    ["examples", "data", "rows", "questions", "instances", "items", "records", "problems", "samples"];

/// The list of rows in an object such as `{"canary": "…", "examples": [{…}, …]}`.
fn wrapped_rows(text: &[u8]) -> Option<&str> {
    let members: HashMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    if members.contains_key("input") {
        return None;
    }
    let rows = WRAPPERS.iter().find_map(|name| members.get(*name))?.get();
    rows.strip_prefix('[')?.trim_start().starts_with('{').then_some(rows)
}

/// The row in `{"row_idx": 0, "row": {…}}`, as the dataset server of Hugging Face writes it.
fn unwrapped(item: &str) -> &str {
    #[derive(serde::Deserialize)]
    struct Numbered<'a> {
        #[serde(rename = "row_idx")]
        _index: u64,
        #[serde(borrow)]
        row: &'a RawValue,
    }
    serde_json::from_str::<Numbered<'_>>(item).map_or(item, |numbered| numbered.row.get())
}

/// Passes on the items of a JSON list with their numbers, until the receiver returns false. The list is never in memory as
/// values.
struct JsonItems<'f>(&'f mut dyn FnMut(usize, &str) -> bool);

impl<'de> DeserializeSeed<'de> for JsonItems<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for JsonItems<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut number = 0;
        let mut goes_on = true;
        while let Some(item) = items.next_element::<&RawValue>()? {
            number += 1;
            goes_on = goes_on && (self.0)(number, item.get());
        }
        Ok(())
    }
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

/// Fails when a record has too many bytes; the file itself may have any number.
struct RecordReader {
    file: File,
    /// Bytes since the last record.
    read: Rc<Cell<u64>>,
}

impl Read for RecordReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read.get() > max_line_bytes() {
            let problem = format!(
                "a row has more than {} MiB; a quotation mark may be missing",
                max_line_bytes() >> 20
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
        }
        let read = self.file.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// The first row names the columns, unless `names` are given. An empty cell counts as missing.
fn separated(
    file: File,
    delimiter: u8,
    names: Option<&[String]>,
    budget: &MemoryBudget,
    visit: &mut RowCallback<'_>,
) -> Result<(), csv::Error> {
    let hold = |record: &csv::ByteRecord| {
        budget.hold(json_row_size(record)).map_err(|error| csv::Error::from(io::Error::from(error)))
    };
    let read = Rc::new(Cell::new(0));
    let file = RecordReader { file, read: Rc::clone(&read) };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(names.is_none())
        .from_reader(file);
    let has_header = names.is_none();
    let header = if names.is_some() { csv::ByteRecord::new() } else { reader.byte_headers()?.clone() };
    let _header = hold(&header)?;
    let of = if names.is_some() { "`--columns`" } else { "the first row" };
    let names: Vec<String> = names.map_or_else(|| header.iter().map(cell_name).collect(), <[String]>::to_vec);
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        visit(1, Err(format!("duplicate column name `{twice}`")));
        return Ok(());
    }
    drop(seen);
    let mut record = csv::ByteRecord::new();
    let mut last = 0;
    read.set(0);
    while reader.read_byte_record(&mut record)? {
        read.set(0);
        let line = record.position().map_or(0, |position| position.line() as usize);
        // Without a header the reader counts the second line of a CRLF file as the first again.
        let line = if has_header { line } else { line.max(last + 1) };
        last = line;
        let _held = hold(&record)?;
        visit(line, cells(&names, of, &record));
    }
    Ok(())
}

/// Bytes of a record and of its row.
fn json_row_size(record: &csv::ByteRecord) -> u64 {
    (2 * record.as_slice().len() + 128 * record.len()) as u64
}

fn cells(names: &[String], of: &str, record: &csv::ByteRecord) -> Result<Map<String, Value>, String> {
    if record.len() != names.len() {
        return Err(format!(
            "{} cells, but {of} has {}; quote cells that contain a comma or a line break",
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

/// Bytes of a row: its texts, and what each value takes.
pub fn row_size(row: &Map<String, Value>) -> u64 {
    row.iter().map(|(name, value)| name.len() + 64 + value_size(value)).sum::<usize>() as u64
}

pub(crate) fn value_size(value: &Value) -> usize {
    let inner: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_size).sum(),
        Value::Object(members) => row_size(members) as usize,
        _ => 0,
    };
    inner + size_of::<Value>()
}
