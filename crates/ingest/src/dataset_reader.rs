//! Reads a dataset, one item per row, and reports every invalid row at once.

use std::path::{Path, PathBuf};

use reasonscape_core::{ColumnMap, Item, LineError, PyRandom, check_items, last_boxed, valid_items};
use reasonscape_limits::{MemoryBudget, MemoryError};
use regex::Regex;

use crate::dataset_folder::DatasetFolder;
use crate::dataset_layout::{Layout, Numbering, Survey, TargetRule, native_mmlu};
use crate::tabular_reader::{first_row, read_table, value_size};
use crate::{IngestError, RowCallback};

/// Maximum number of problems listed in a message.
const MAX_SHOWN: usize = 20;

/// Options for reading a dataset.
#[derive(Debug, Clone, Default)]
pub struct DatasetFormat {
    /// The names of its fields. A name may be a path (`choices.text`) or several columns (`A+B+C+D`).
    pub columns: ColumnMap,
    /// How the answer is found in a target.
    pub target: TargetExtraction,
    /// The column names of a table without a header row.
    pub header: Option<Vec<String>>,
    /// Whether layouts of public datasets and well-known field names are recognized.
    pub recognize: bool,
    /// Whether invalid lines are left out instead of refused.
    pub skip_invalid: bool,
    /// The part of a dataset folder to read; see [`DatasetFolder`].
    pub split: Option<String>,
    /// The subset of a dataset folder to read.
    pub subset: Option<String>,
}

/// How the answer is found in a dataset's target.
#[derive(Debug, Clone, Default)]
pub enum TargetExtraction {
    /// The target is the answer.
    #[default]
    Whole,
    /// The first capture group of the last match, or the whole match.
    Regex(Regex),
    /// What the last `\boxed{…}` holds, by balanced braces.
    Boxed,
}

/// What was read from a dataset.
#[derive(Debug, Clone)]
pub struct DatasetItems {
    /// The valid items.
    pub items: Vec<Item>,
    /// How the file was understood, for the user.
    pub notes: Vec<String>,
    /// Invalid lines that were left out.
    pub skipped: Vec<LineError>,
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
        Ok(self.read_within(file, budget)?.items)
    }

    /// The items of a file or a dataset folder, and how they were understood.
    ///
    /// # Errors
    /// As [`items`](Self::items); a mapped field that no line has; a folder without files of the wanted split.
    pub fn read(&self, path: &Path) -> Result<DatasetItems, DatasetError> {
        self.read_within(path, &MemoryBudget::default())
    }

    /// Same as [`read`](Self::read), with the budget of a request.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`items_within`](Self::items_within).
    pub fn read_within(&self, path: &Path, budget: &MemoryBudget) -> Result<DatasetItems, DatasetError> {
        let mut notes = Vec::new();
        let files = if path.is_dir() {
            let folder = DatasetFolder::open(path, self.subset.as_deref(), self.split.as_deref())?;
            notes.push(folder.description());
            folder.files
        } else if let Some((option, name)) = [("--split", &self.split), ("--subset", &self.subset)]
            .into_iter()
            .find_map(|(option, name)| Some((option, name.as_ref()?)))
        {
            return Err(IngestError::InvalidInput(format!(
                "`{option} {name}` selects a part of a dataset folder, and `{}` is a file; remove it",
                path.display()
            ))
            .into());
        } else {
            vec![path.to_owned()]
        };
        let mut source = Source { files, header: self.header.clone(), budget };
        let layout = self.layout(&mut source, &mut notes)?;
        let items = self.collect(&source, &layout)?;
        if self.skip_invalid {
            let (items, skipped) = valid_items(items);
            if items.is_empty() {
                return Err(DatasetError::Lines(skipped));
            }
            return Ok(DatasetItems { items, notes, skipped });
        }
        let items = check_items(items).map_err(DatasetError::Lines)?;
        Ok(DatasetItems { items, notes, skipped: Vec::new() })
    }

    /// Looks at the rows before they are read, unless nothing about them is open.
    fn layout(&self, source: &mut Source<'_>, notes: &mut Vec<String>) -> Result<Layout, DatasetError> {
        let is_mapped = self.columns.renamed().next().is_some();
        if !self.recognize {
            return Ok(Layout::strict(self.columns.clone()));
        }
        if source.header.is_none()
            && let Some(row) = source.files.first().map(|file| first_row(file)).transpose()?.flatten()
            && let Some(columns) = native_mmlu(&row)
        {
            notes.push(format!("the first row is data, so the columns are {}", columns.join(", ")));
            source.header = Some(columns);
        }
        let mut survey = Survey::default();
        let mut held = source.budget.hold(0).map_err(|error| source.memory_error(error))?;
        let mut failed = Ok(());
        source
            .visit(&mut |_, row| {
                if let Ok(row) = row
                    && failed.is_ok()
                {
                    survey.add(&row);
                    failed = held.resize(survey.sample_bytes());
                    if failed.is_err() {
                        source.budget.cancel();
                    }
                }
            })
            .or_else(|error| if failed.is_err() { Ok(()) } else { Err(DatasetError::File(error)) })?;
        failed.map_err(|error| source.memory_error(error))?;
        if let Some(problem) = survey.missing_field(&self.columns) {
            return Err(IngestError::InvalidInput(problem).into());
        }
        let layout = Layout::recognize(self.columns.clone(), &survey);
        if !is_mapped {
            notes.extend(
                layout.announcement().map(|found| format!("{found}; choose other fields with `--map`")),
            );
        }
        if !layout.may_count_options(&survey) {
            return Ok(layout);
        }
        let mut numbering = Numbering::default();
        source.visit(&mut |_, row| {
            if let Ok(mut row) = row {
                layout.rewrite(&mut row);
                numbering.add(&layout, &row);
            }
        })?;
        notes.extend(numbering.announcement(&layout));
        Ok(layout.with_numbering(&numbering))
    }

    /// Reads every row as an item.
    fn collect(&self, source: &Source<'_>, layout: &Layout) -> Result<Vec<ReadItem>, DatasetError> {
        let target_of = |text: &str| match (&self.target, layout.target_rule()) {
            (TargetExtraction::Regex(pattern), _) => find_target(pattern, text),
            (TargetExtraction::Boxed, _) | (TargetExtraction::Whole, Some(TargetRule::Boxed)) => boxed(text),
            (TargetExtraction::Whole, Some(TargetRule::AfterHashes)) => after_hashes(text),
            (TargetExtraction::Whole, None) => Ok(text.to_owned()),
        };
        let mut items = Vec::new();
        // The items are kept, so a small file can become a large list.
        let mut held = source.budget.hold(0).map_err(|error| source.memory_error(error))?;
        let mut failed = Ok(());
        source
            .visit(&mut |line, row| {
                if failed.is_err() {
                    return;
                }
                let item = row.and_then(|mut row| {
                    layout.rewrite(&mut row);
                    Item::read(&row, &layout.columns, Some(&target_of))
                });
                failed = held.grow(item_size(&item));
                if failed.is_ok() {
                    items.push((line, item));
                } else {
                    source.budget.cancel();
                }
            })
            .or_else(|error| if failed.is_err() { Ok(()) } else { Err(DatasetError::File(error)) })?;
        failed.map_err(|error| source.memory_error(error))?;
        Ok(items)
    }
}

/// The line of an item, and the item or what is wrong with it.
type ReadItem = (usize, Result<Item, String>);

/// The files of a dataset, read as one.
struct Source<'b> {
    files: Vec<PathBuf>,
    header: Option<Vec<String>>,
    budget: &'b MemoryBudget,
}

impl Source<'_> {
    /// Passes on the rows of all files. Of several, rows are numbered through, and problems name the file.
    fn visit(&self, visit: &mut RowCallback<'_>) -> Result<(), IngestError> {
        let mut before = 0;
        for file in &self.files {
            let mut last = before;
            read_table(file, self.header.as_deref(), self.budget, &mut |line, row| {
                last = before + line;
                let row = row.map_err(|problem| match self.files.len() {
                    1 => problem,
                    _ => format!("{problem} (line {line} of `{}`)", file.display()),
                });
                visit(last, row);
            })?;
            before = last;
        }
        Ok(())
    }

    fn memory_error(&self, error: MemoryError) -> DatasetError {
        let file = self.files.first().map_or(Path::new("."), PathBuf::as_path);
        DatasetError::File(IngestError::io("read", file)(error.into()))
    }
}

/// The text after the last `####`.
fn after_hashes(text: &str) -> Result<String, String> {
    let answer =
        text.rsplit_once("####").map(|(_, answer)| answer.trim()).filter(|answer| !answer.is_empty());
    answer.map(str::to_owned).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        format!("the target `{}` has no answer after `####`", shown.escape_debug())
    })
}

/// What the last box of a target holds; `\boxed 2` holds one word.
fn boxed(text: &str) -> Result<String, String> {
    let bare = || {
        let (_, rest) = text.rsplit_once(r"\boxed ")?;
        rest.split(|c: char| c.is_whitespace() || "$.,".contains(c)).find(|word| !word.is_empty())
    };
    last_boxed(text).or_else(bare).map(str::to_owned).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        format!(r"the target `{}` has no `\boxed{{…}}`", shown.escape_debug())
    })
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

/// The name of a dataset: the file name without its extension, or the name of the folder.
pub fn dataset_name(file: &Path) -> String {
    if file.is_dir() {
        let folder = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        return folder.file_name().map_or_else(
            || "dataset".to_owned(),
            |name| reasonscape_core::task_name(&name.to_string_lossy()),
        );
    }
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
