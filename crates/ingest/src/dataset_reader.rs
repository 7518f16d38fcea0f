//! Reads a dataset, one item per row, and reports every invalid row at once.

use std::path::Path;

use reasonscape_core::{ColumnMap, Item, LineError, PyRandom, check_items};
use reasonscape_limits::{MemoryBudget, MemoryError};
use regex::Regex;

use crate::tabular_reader::value_size;
use crate::{IngestError, read_rows_within};

/// Maximum number of problems listed in a message.
const MAX_SHOWN: usize = 20;

/// Options for reading a dataset.
#[derive(Debug, Clone, Default)]
pub struct DatasetFormat {
    /// The names of its fields.
    pub columns: ColumnMap,
    /// Extracts the answer from the target: the first capture group, or the whole match.
    pub target: Option<Regex>,
}

/// An error of reading a dataset.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The file can't be read.
    #[error(transparent)]
    File(#[from] IngestError),
    /// Some lines are invalid.
    #[error("{}", describe_problems(.0).join("\n"))]
    Lines(Vec<LineError>),
}

impl DatasetFormat {
    /// The items of a file.
    ///
    /// # Errors
    /// A [`DatasetError`] if the file cannot be read, or with every line that is not an item.
    pub fn items(&self, file: &Path) -> Result<Vec<Item>, DatasetError> {
        self.items_within(file, &MemoryBudget::default())
    }

    /// Same as [`items`](Self::items), with the budget of a request: it stops when that is canceled.
    ///
    /// # Errors
    /// As [`items`](Self::items), and if the file needs more memory at once than the budget has.
    pub fn items_within(&self, file: &Path, budget: &MemoryBudget) -> Result<Vec<Item>, DatasetError> {
        let target_of = |text: &str| match &self.target {
            Some(pattern) => find_target(pattern, text),
            None => Ok(text.to_owned()),
        };
        let mut items = Vec::new();
        // The items are kept, so a small file can become a large list.
        let mut held = budget.hold(0).map_err(memory_error(file))?;
        let mut failed = Ok(());
        read_rows_within(file, budget, &mut |line, row| {
            if failed.is_err() {
                return;
            }
            let item = row.and_then(|row| Item::read(&row, &self.columns, Some(&target_of)));
            failed = held.grow(item_size(&item));
            if failed.is_ok() {
                items.push((line, item));
            } else {
                budget.cancel();
            }
        })
        .or_else(|error| if failed.is_err() { Ok(()) } else { Err(DatasetError::File(error)) })?;
        failed.map_err(memory_error(file))?;
        check_items(items).map_err(DatasetError::Lines)
    }
}

fn memory_error(file: &Path) -> impl FnOnce(MemoryError) -> DatasetError {
    move |error| DatasetError::File(IngestError::io("read", file)(error.into()))
}

/// Bytes that an item takes while the items are read and checked.
fn item_size(item: &Result<Item, String>) -> u64 {
    let text = match item {
        Ok(item) => {
            let test = &item.test;
            let lists = test.options.iter().chain(&test.alternative_targets).map(|text| text.len() + 24);
            let optional = [&item.category, &item.context].into_iter().flatten().map(String::len);
            let metadata = item.metadata.as_ref().map_or(0, value_size);
            let texts = 2 * item.id.len() + item.input.len() + test.prompt.len() + test.target.len();
            texts + lists.sum::<usize>() + optional.sum::<usize>() + metadata
        }
        Err(problem) => 2 * problem.len(),
    };
    text as u64 + 512
}

/// The name of a dataset: the file name without its extension.
pub fn dataset_name(file: &Path) -> String {
    file.file_stem().map_or_else(|| "dataset".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A random sample of the items, in their original order.
pub fn sample_items(mut items: Vec<Item>, sample: usize, seed: i64) -> Vec<Item> {
    if sample >= items.len() {
        return items;
    }
    let indices: Vec<usize> = (0..items.len()).collect();
    let mut drawn = PyRandom::new(seed).sample(&indices, sample);
    drawn.sort_unstable();
    let mut remaining = drawn.into_iter().peekable();
    let mut index = 0..;
    items.retain(|_| remaining.next_if_eq(&index.next().expect("numbers do not end")).is_some());
    items
}

/// The last match of a pattern in a target: its first group, or all of it.
fn find_target(pattern: &Regex, text: &str) -> Result<String, String> {
    let found = pattern.captures_iter(text).last();
    let found = found.as_ref().and_then(|found| found.get(1).or_else(|| found.get(0)));
    found.map(|found| found.as_str().trim().to_owned()).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        format!("the pattern `{pattern}` does not match the target `{}`", shown.escape_debug())
    })
}

/// Subject and verb for a number of lines: `a line is`, `3 lines are`.
pub fn lines_are(problems: &[LineError]) -> String {
    match problems.len() {
        1 => "a line is".to_owned(),
        count => format!("{count} lines are"),
    }
}

/// The first problems in the order of their lines; neighboring lines with the same problem are one entry.
pub fn describe_problems(problems: &[LineError]) -> Vec<String> {
    let same = |a: &LineError, b: &LineError| a.problem == b.problem;
    let lines = |group: &[LineError]| match group {
        [only] => format!("line {}", only.line),
        [first, .., last] => format!("lines {} to {}, {} of them", first.line, last.line, group.len()),
        [] => unreachable!("a group has a line"),
    };
    let groups = || problems.chunk_by(same);
    let mut described: Vec<String> =
        groups().take(MAX_SHOWN).map(|group| format!("{}: {}", lines(group), group[0].problem)).collect();
    let more = groups().count().saturating_sub(MAX_SHOWN);
    if more > 0 {
        described.push(format!("and {more} more"));
    }
    described
}
