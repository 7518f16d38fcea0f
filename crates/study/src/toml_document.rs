//! Parses TOML with errors that contain the line and a hint.

use std::fmt::Display;
use std::fs::File;
use std::ops::{Range, RangeInclusive};
use std::path::Path;

use reasonscape_core::closest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::StudyError;
use crate::keys::TableKeys;

/// A range of bytes in the text.
pub(crate) type Span = Range<usize>;
/// Members of a table, with spans.
pub(crate) type TableItems<'d> = DeTable<'d>;
/// A value with its span.
pub(crate) type SpannedValue<'d> = Spanned<DeValue<'d>>;

/// A TOML file and its name in errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'d> {
    /// Its name in errors, such as `` `study.toml` ``.
    pub(crate) origin: &'d str,
    /// The text.
    pub(crate) text: &'d str,
}

impl<'d> Document<'d> {
    /// The line, from 1, of a byte offset.
    pub(crate) fn line(self, at: usize) -> usize {
        line_of(self.text.as_bytes(), at)
    }

    /// An error at the line where a span starts.
    pub(crate) fn error(self, span: Span, problem: impl Into<String>) -> StudyError {
        self.error_in_line(self.line(span.start), problem)
    }

    /// An error at a line.
    pub(crate) fn error_in_line(self, line: usize, problem: impl Into<String>) -> StudyError {
        StudyError::Invalid { origin: self.origin.to_owned(), line: Some(line), problem: problem.into() }
    }

    /// Parses the document as one table. Errors about the table itself have its first line.
    pub(crate) fn table(self) -> Result<Spanned<TableItems<'d>>, StudyError> {
        // Only the message: toml's own display would print the line, which may contain a pasted API key.
        DeTable::parse(self.text).map(|table| Spanned::new(0..0, table.into_inner())).map_err(|error| {
            let problem = format!("invalid TOML: {}", error.message());
            self.error(error.span().unwrap_or_default(), problem)
        })
    }
}

/// Maximum bytes of a TOML file. The largest real ones have a few hundred kilobytes.
const MAX_TOML_BYTES: u64 = 16 << 20;

/// Reads a TOML file, if it exists.
pub(crate) fn read(path: &Path) -> Result<Option<String>, StudyError> {
    read_up_to(MAX_TOML_BYTES, path)
}

/// Reads a text file of at most `max` bytes, if it exists.
pub(crate) fn read_up_to(max: u64, path: &Path) -> Result<Option<String>, StudyError> {
    let origin = quoted_path(path);
    match File::open(path).and_then(|file| reasonscape_limits::read_to_end(file, max)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StudyError::Unreadable { origin, source }),
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
            let problem = "not UTF-8 text; save the file as UTF-8".to_owned();
            StudyError::Invalid { origin, line: Some(line), problem }
        }),
    }
}

/// The line, from 1, of a byte offset.
fn line_of(text: &[u8], at: usize) -> usize {
    text[..at.min(text.len())].split(|byte| *byte == b'\n').count()
}

/// A file's name in errors.
pub(crate) fn quoted_path(path: &Path) -> String {
    format!("`{}`", path.display())
}

/// " (did you mean `…`?)", or nothing.
pub(crate) fn did_you_mean(text: &str, candidates: &[&'static str]) -> String {
    closest(text, candidates).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The items of one table, removed one by one with the expected type.
#[derive(Debug)]
pub(crate) struct Fields<'d> {
    document: Document<'d>,
    keys: &'static TableKeys,
    span: Span,
    items: TableItems<'d>,
}

impl<'d> Fields<'d> {
    /// Takes a table; an item whose key is not in `keys` is an error.
    pub(crate) fn new(
        document: Document<'d>,
        keys: &'static TableKeys,
        table: Spanned<TableItems<'d>>,
    ) -> Result<Self, StudyError> {
        let span = table.span();
        let (items, known) = (table.into_inner(), keys.known);
        let unknown = |key: &&Spanned<DeString<'_>>| {
            let name = key.get_ref().as_ref();
            !known.contains(&name) && !keys.deprecated.contains(&name)
        };
        if let Some(key) = items.keys().filter(unknown).min_by_key(|key| key.span().start) {
            let name = key.get_ref();
            let hint = if name == "api_key" {
                " (keys stay out of files: name the environment variable that holds it in `api_key_env`)"
                    .to_owned()
            } else {
                did_you_mean(name, known)
            };
            let problem = format!("unknown key `{name}`{hint}; {} has {}", keys.table, known.join(", "));
            return Err(document.error(key.span(), problem));
        }
        Ok(Self { document, keys, span, items })
    }

    /// The value of a key, of any type.
    pub(crate) fn take(&mut self, key: &str) -> Option<SpannedValue<'d>> {
        self.items.remove(key)
    }

    /// The error for a missing required key.
    pub(crate) fn missing(&self, key: &str, example: &str) -> StudyError {
        let problem = format!("{} has no `{key}`; add a line such as `{key} = {example}`", self.keys.table);
        self.document.error(self.span.clone(), problem)
    }

    /// A string that is not blank.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<Spanned<String>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match value.into_inner() {
            DeValue::String(text) if text.trim().is_empty() => {
                Err(self.document.error(span, format!("`{key}` is empty; set a value or remove the line")))
            }
            DeValue::String(text) => Ok(Some(Spanned::new(span, text.into_owned()))),
            other => Err(self.mismatch(span, key, &other, "a string in quotes")),
        }
    }

    /// An integer within a range.
    pub(crate) fn integer(
        &mut self,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<Spanned<i64>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match value.get_ref() {
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(integer) if range.contains(&integer) => Ok(Some(Spanned::new(span, integer))),
                _ => Err(self.out_of_range(span, key, digits, "an integer", range)),
            },
            other => Err(self.mismatch(span, key, other, "an integer")),
        }
    }

    /// A number within a range.
    pub(crate) fn number(
        &mut self,
        key: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<Spanned<f64>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match number(value.get_ref()) {
            Some(number) if range.contains(&number) => Ok(Some(Spanned::new(span, number))),
            Some(number) => Err(self.out_of_range(span, key, number, "a number", range)),
            None => Err(self.mismatch(span, key, value.get_ref(), "a number")),
        }
    }

    /// A list of strings that are not blank.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<Vec<Spanned<String>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.mismatch(span, key, value.get_ref(), "a list of strings"));
        };
        let text = |item: &SpannedValue<'d>| match item.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => {
                Ok(Spanned::new(item.span(), text.clone().into_owned()))
            }
            other => Err(self.mismatch(item.span(), key, other, "a list of strings that are not empty")),
        };
        items.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// A nested table.
    pub(crate) fn table(&mut self, key: &str) -> Result<Option<Spanned<TableItems<'d>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(items) => Ok(Some(Spanned::new(span, items))),
            other => Err(self.mismatch(span, key, &other, "a table")),
        }
    }

    /// The tables of an array of tables, `[[key]]`.
    pub(crate) fn tables(&mut self, key: &str) -> Result<Vec<Spanned<TableItems<'d>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let span = value.span();
        let expected = format!("tables, each under [[{key}]]");
        let items = match value.into_inner() {
            DeValue::Array(items) => items,
            other => return Err(self.mismatch(span, key, &other, &expected)),
        };
        let table = |item: SpannedValue<'d>| {
            let span = item.span();
            match item.into_inner() {
                DeValue::Table(items) => Ok(Spanned::new(span, items)),
                other => Err(self.mismatch(span, key, &other, &expected)),
            }
        };
        items.into_iter().map(table).collect()
    }

    /// The error for a value of the wrong type. It names the type but never the value, which may be a secret.
    pub(crate) fn mismatch(&self, span: Span, key: &str, found: &DeValue<'_>, expected: &str) -> StudyError {
        self.document.error(span, format!("`{key}` is {}; expected {expected}", kind(found)))
    }

    fn out_of_range<T: Display>(
        &self,
        span: Span,
        key: &str,
        found: impl Display,
        kind: &str,
        range: RangeInclusive<T>,
    ) -> StudyError {
        let (low, high) = (range.start(), range.end());
        self.document.error(span, format!("`{key}` is {found}; expected {kind} from {low} to {high}"))
    }
}

/// An integer or a float.
fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) => {
            i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|integer| integer as f64)
        }
        _ => None,
    }
}

/// The name of a value's type.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
