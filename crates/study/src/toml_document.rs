//! A TOML file, read so that whatever is wrong with it has a line and a remedy.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use reasonscape_core::closest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::StudyError;

/// A table's members, each with its place in the file.
pub(crate) type TableItems<'d> = DeTable<'d>;
/// A value and its place in the file.
pub(crate) type SpannedValue<'d> = Spanned<DeValue<'d>>;

/// A TOML file and what to call it in errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'d> {
    /// How errors call it, as in `` `study.toml` ``.
    pub(crate) place: &'d str,
    /// What it holds.
    pub(crate) text: &'d str,
}

impl<'d> Document<'d> {
    /// The line, from 1, of a byte of the text.
    pub(crate) fn line(self, at: usize) -> usize {
        line_of(self.text.as_bytes(), at)
    }

    /// An error about the byte `at`.
    pub(crate) fn error(self, at: usize, problem: impl Into<String>) -> StudyError {
        self.error_in_line(self.line(at), problem)
    }

    /// An error about a line.
    pub(crate) fn error_in_line(self, line: usize, problem: impl Into<String>) -> StudyError {
        StudyError::Wrong { place: self.place.to_owned(), line: Some(line), problem: problem.into() }
    }

    /// The whole document as one table.
    pub(crate) fn table(self) -> Result<TableItems<'d>, StudyError> {
        // The message alone: toml's own display would print the line, and with it a key that somebody pasted there.
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| {
            let problem = format!("this is not TOML: {}", error.message());
            self.error(error.span().map_or(0, |span| span.start), problem)
        })
    }
}

/// The text of a file, if there is one.
pub(crate) fn read(path: &Path) -> Result<Option<String>, StudyError> {
    let place = named(path);
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StudyError::Unreadable { place, source }),
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let line = line_of(error.as_bytes(), error.utf8_error().valid_up_to());
            let problem = "this is not UTF-8 text; save the file as UTF-8".to_owned();
            StudyError::Wrong { place, line: Some(line), problem }
        }),
    }
}

/// The line, from 1, of a byte.
fn line_of(text: &[u8], at: usize) -> usize {
    text[..at.min(text.len())].split(|byte| *byte == b'\n').count()
}

/// How errors call a file.
pub(crate) fn named(path: &Path) -> String {
    format!("`{}`", path.display())
}

/// " (did you mean `…`?)", or nothing.
pub(crate) fn did_you_mean(text: &str, candidates: &[&'static str]) -> String {
    closest(text, candidates).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// The members of one table, taken out one after the other by what they should be.
#[derive(Debug)]
pub(crate) struct Fields<'d> {
    document: Document<'d>,
    what: &'static str,
    at: usize,
    members: TableItems<'d>,
}

impl<'d> Fields<'d> {
    /// Takes a table that starts at the byte `at`; a member that is not `known` is refused.
    pub(crate) fn new(
        document: Document<'d>,
        what: &'static str,
        at: usize,
        members: TableItems<'d>,
        known: &[&'static str],
    ) -> Result<Self, StudyError> {
        let unknown = |key: &&Spanned<DeString<'_>>| !known.contains(&key.get_ref().as_ref());
        if let Some(key) = members.keys().filter(unknown).min_by_key(|key| key.span().start) {
            let name = key.get_ref();
            let hint = if name == "api_key" {
                " (keys stay out of files: name the environment variable that holds it in `api_key_env`)"
                    .to_owned()
            } else {
                did_you_mean(name, known)
            };
            let problem = format!("unknown key `{name}`{hint}; {what} has {}", known.join(", "));
            return Err(document.error(key.span().start, problem));
        }
        Ok(Self { document, what, at, members })
    }

    /// Whatever the key holds.
    pub(crate) fn take(&mut self, key: &str) -> Option<SpannedValue<'d>> {
        self.members.remove(key)
    }

    /// The error for a key that must be there.
    pub(crate) fn missing(&self, key: &str, example: &str) -> StudyError {
        let problem = format!("{} has no `{key}`; add a line such as `{key} = {example}`", self.what);
        self.document.error(self.at, problem)
    }

    /// A string that is not blank.
    pub(crate) fn text(&mut self, key: &str) -> Result<Option<Spanned<String>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let (at, span) = (value.span().start, value.span());
        match value.into_inner() {
            DeValue::String(text) if text.trim().is_empty() => Err(self
                .document
                .error(at, format!("`{key}` is empty; give it a value or take the line out"))),
            DeValue::String(text) => Ok(Some(Spanned::new(span, text.into_owned()))),
            other => Err(self.mismatch(at, key, &other, "a string in quotes")),
        }
    }

    /// A whole number within a range.
    pub(crate) fn whole(
        &mut self,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<Spanned<i64>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match value.get_ref() {
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(whole) if range.contains(&whole) => Ok(Some(Spanned::new(span, whole))),
                _ => Err(self.out_of_range(span.start, key, digits, "a whole number", range)),
            },
            other => Err(self.mismatch(span.start, key, other, "a whole number")),
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
            Some(number) => Err(self.out_of_range(span.start, key, number, "a number", range)),
            None => Err(self.mismatch(span.start, key, value.get_ref(), "a number")),
        }
    }

    /// A list of strings that are not blank.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Option<Vec<Spanned<String>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let at = value.span().start;
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.mismatch(at, key, value.get_ref(), "a list of strings"));
        };
        let text = |item: &SpannedValue<'d>| match item.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => {
                Ok(Spanned::new(item.span(), text.clone().into_owned()))
            }
            other => {
                Err(self.mismatch(item.span().start, key, other, "a list of strings that are not empty"))
            }
        };
        items.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// The members of a table in this one.
    pub(crate) fn table(&mut self, key: &str) -> Result<Option<Spanned<TableItems<'d>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(members) => Ok(Some(Spanned::new(span, members))),
            other => Err(self.mismatch(span.start, key, &other, "a table")),
        }
    }

    /// The tables of an array of tables, `[[key]]`.
    pub(crate) fn tables(&mut self, key: &str) -> Result<Vec<Spanned<TableItems<'d>>>, StudyError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let at = value.span().start;
        let wanted = format!("tables, each under [[{key}]]");
        let items = match value.into_inner() {
            DeValue::Array(items) => items,
            other => return Err(self.mismatch(at, key, &other, &wanted)),
        };
        let table = |item: SpannedValue<'d>| {
            let span = item.span();
            match item.into_inner() {
                DeValue::Table(members) => Ok(Spanned::new(span, members)),
                other => Err(self.mismatch(span.start, key, &other, &wanted)),
            }
        };
        items.into_iter().map(table).collect()
    }

    /// The error for a value of the wrong kind. It names the kind and never the value, which may be a secret.
    pub(crate) fn mismatch(&self, at: usize, key: &str, found: &DeValue<'_>, wanted: &str) -> StudyError {
        self.document.error(at, format!("`{key}` is {}; expected {wanted}", kind(found)))
    }

    fn out_of_range<T: Display>(
        &self,
        at: usize,
        key: &str,
        found: impl Display,
        kind: &str,
        range: RangeInclusive<T>,
    ) -> StudyError {
        let (low, high) = (range.start(), range.end());
        self.document.error(at, format!("`{key}` is {found}; expected {kind} from {low} to {high}"))
    }
}

/// A whole or a real number.
fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) => {
            i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|whole| whole as f64)
        }
        _ => None,
    }
}

/// What kind of value this is, in words.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
