//! Reading datasets, by the names before they moved.

use std::path::Path;

use reasonscape_core::{ColumnMap, Item, LineError, PyRandom, check_items};
use reasonscape_points::{PointsError, read_rows};
use regex::Regex;

/// Problems that are told.
const SHOWN: usize = 20;

/// How a dataset is to be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// What its fields are called.
    pub(crate) columns: ColumnMap,
    /// Finds the answer in the target, its first group if it has one.
    pub(crate) target: Option<Regex>,
}

/// Why a dataset is not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The file as a whole.
    File(PointsError),
    /// Some of its lines.
    Lines(Vec<LineError>),
}

impl Reading {
    /// The items of a file.
    pub(crate) fn items(&self, file: &Path) -> Result<Vec<Item>, Unread> {
        let target_of = |text: &str| match &self.target {
            Some(pattern) => found_by(pattern, text),
            None => Ok(text.to_owned()),
        };
        let mut items = Vec::new();
        read_rows(file, &mut |line, row| {
            items.push((line, row.and_then(|row| Item::read(&row, &self.columns, Some(&target_of)))));
        })
        .map_err(Unread::File)?;
        check_items(items).map_err(Unread::Lines)
    }
}

/// What a dataset is called: by its file.
pub(crate) fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| "dataset".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// So many items, drawn at random, in the order in which they were.
pub(crate) fn drawn(mut items: Vec<Item>, sample: usize, seed: i64) -> Vec<Item> {
    if sample >= items.len() {
        return items;
    }
    let places: Vec<usize> = (0..items.len()).collect();
    let mut drawn = PyRandom::new(seed).sample(&places, sample);
    drawn.sort_unstable();
    let mut kept = drawn.into_iter().peekable();
    let mut place = 0..;
    items.retain(|_| kept.next_if_eq(&place.next().expect("numbers do not end")).is_some());
    items
}

/// What a pattern finds last in a target: its first group, or all of it.
fn found_by(pattern: &Regex, text: &str) -> Result<String, String> {
    let found = pattern.captures_iter(text).last();
    let found = found.as_ref().and_then(|found| found.get(1).or_else(|| found.get(0)));
    found.map(|found| found.as_str().trim().to_owned()).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        format!("the pattern `{pattern}` finds nothing in the target `{}`", shown.escape_debug())
    })
}

/// How many lines are wrong: `a line is`, `3 lines are`.
pub(crate) fn how_many(problems: &[LineError]) -> String {
    match problems.len() {
        1 => "a line is".to_owned(),
        count => format!("{count} lines are"),
    }
}

/// The first problems in the order of their lines; neighbours with the same one are told together.
pub(crate) fn told(problems: &[LineError]) -> Vec<String> {
    let same = |a: &LineError, b: &LineError| a.problem == b.problem;
    let lines = |group: &[LineError]| match group {
        [only] => format!("line {}", only.line),
        [first, .., last] => format!("lines {} to {}, {} of them", first.line, last.line, group.len()),
        [] => unreachable!("a group has a line"),
    };
    let groups = || problems.chunk_by(same);
    let mut told: Vec<String> =
        groups().take(SHOWN).map(|group| format!("{}: {}", lines(group), group[0].problem)).collect();
    let more = groups().count().saturating_sub(SHOWN);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}
