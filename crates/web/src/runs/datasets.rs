//! Uploaded datasets, stored unchanged in the study directory.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;

use axum::body::{Body, HttpBody};
use axum::http::StatusCode;
use reasonscape_core::{Dataset, Item, LineError, detect_scorer};
use reasonscape_ingest::{IngestError, ROW_EXTENSIONS, read_rows_within, row_size};
use reasonscape_limits::{MemoryBudget, is_too_large};
use reasonscape_study::temp_file;
use schemars::JsonSchema;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::errors::{invalid_lines_error, io_error};
use super::run_name::slug;
use crate::error::ApiError;
use reasonscape_ingest::dataset_reader::{DatasetError, DatasetFormat, describe_problems};

/// Maximum size of an uploaded dataset, in bytes.
pub(crate) const MAX_UPLOAD_LEN: u64 = 64 * 1024 * 1024;
/// Memory that an item takes at least; see [`DatasetFormat::items_within`].
const ROW_BYTES: u64 = 512;
/// Maximum number of unreadable rows that are collected.
const MAX_UNREADABLE: usize = 10_000;
/// Maximum number of reported column names.
const MAX_COLUMNS: usize = 40;

/// An uploaded dataset.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DatasetInfo {
    /// The file name.
    pub(crate) name: String,
    /// The size of the file.
    pub(crate) bytes: u64,
}

/// A dataset that was just uploaded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Uploaded {
    /// The file name on the server.
    pub(crate) name: String,
    /// The size of the file.
    pub(crate) bytes: u64,
    /// The number of rows.
    pub(crate) rows: u64,
    /// The column names of the first row.
    pub(crate) columns: Vec<String>,
    /// Errors in the rows, unless columns are mapped.
    pub(crate) problems: Vec<String>,
    /// How the rows are understood, the scorer that fits them, and targets that it can't handle.
    pub(crate) notes: Vec<String>,
}

/// The directory of datasets.
pub(super) struct Datasets {
    pub(super) folder: PathBuf,
}

impl Datasets {
    /// All datasets, by name.
    pub(super) fn list(&self) -> Vec<DatasetInfo> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut listed: Vec<DatasetInfo> = entries
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let found = entry.metadata().ok()?;
                (found.is_file() && is_dataset(&name)).then_some(DatasetInfo { name, bytes: found.len() })
            })
            .collect();
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        listed
    }

    /// The file of a dataset.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf, ApiError> {
        let file = self.folder.join(name);
        if !is_dataset(name) || !fs::symlink_metadata(&file).is_ok_and(|found| found.is_file()) {
            return Err(ApiError::not_found("no such dataset"));
        }
        Ok(file)
    }

    pub(super) fn delete(&self, name: &str) -> Result<(), ApiError> {
        fs::remove_file(self.file(name)?).map_err(|error| io_error(&error))
    }

    /// Streams a file to disk.
    pub(super) async fn receive(&self, called: &str, body: Body) -> Result<ReceivedDataset, ApiError> {
        let (stem, extension) = split_name(called)?;
        fs::create_dir_all(&self.folder).map_err(|error| io_error(&error))?;
        let mut file = temp_file(&self.folder, &format!(".{extension}")).map_err(|error| io_error(&error))?;
        let bytes = write_body(body, file.as_file_mut()).await?;
        Ok(ReceivedDataset { file, stem, extension, bytes })
    }

    /// Checks that a file has rows, and keeps it.
    pub(super) async fn keep(&self, received: ReceivedDataset) -> Result<Uploaded, ApiError> {
        let ReceivedDataset { mut file, stem, extension, bytes } = received;
        let path = file.path().to_owned();
        // The file is read until its end or until the client is gone.
        let budget = MemoryBudget::default();
        let _cancel = CancelOnDrop(budget.clone());
        let checked = tokio::task::spawn_blocking(move || check(&path, &budget)).await;
        let Checked { rows, columns, problems, notes } = checked.map_err(|_| {
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "the dataset could not be checked")
        })??;
        for number in 1.. {
            let name = if number == 1 {
                format!("{stem}.{extension}")
            } else {
                format!("{stem}-{number}.{extension}")
            };
            match file.persist_noclobber(self.folder.join(&name)) {
                Ok(_) => return Ok(Uploaded { name, bytes, rows, columns, problems, notes }),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists && number < 10_000 => {
                    file = error.file;
                }
                Err(error) => return Err(io_error(&error.error)),
            }
        }
        unreachable!("the loop returns")
    }
}

/// A file that was received and not yet checked. It is removed when this is dropped.
pub(crate) struct ReceivedDataset {
    file: NamedTempFile,
    stem: String,
    extension: &'static str,
    bytes: u64,
}

/// Cancels the work of a request when its future is dropped.
struct CancelOnDrop(MemoryBudget);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A plain file stem and a known extension, from the name that a client gave.
fn split_name(called: &str) -> Result<(String, &'static str), ApiError> {
    let path = Path::new(called);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = ROW_EXTENSIONS.into_iter().find(|known| known.eq_ignore_ascii_case(extension));
    let known = known.ok_or_else(|| {
        ApiError::bad_request(format_args!(
            "unknown file extension; expected one of {}",
            ROW_EXTENSIONS.join(", ")
        ))
    })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let stem = slug(&stem);
    Ok((if stem == "run" { "dataset".to_owned() } else { stem }, known))
}

fn is_dataset(name: &str) -> bool {
    let Some((stem, extension)) = name.split_once('.') else { return false };
    super::run_name::is_name(stem) && ROW_EXTENSIONS.contains(&extension)
}

/// Streams a body to a file.
async fn write_body(mut body: Body, file: &mut File) -> Result<u64, ApiError> {
    let mut bytes = 0;
    loop {
        let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let Some(frame) = next else { break };
        let frame = frame.map_err(|_| ApiError::bad_request("the upload was interrupted; try again"))?;
        let Ok(data) = frame.into_data() else { continue };
        bytes += data.len() as u64;
        if bytes > MAX_UPLOAD_LEN {
            return Err(upload_too_long());
        }
        file.write_all(&data).map_err(|error| io_error(&error))?;
    }
    file.sync_all().map_err(|error| io_error(&error))?;
    Ok(bytes)
}

pub(crate) fn upload_too_long() -> ApiError {
    let max_mib = MAX_UPLOAD_LEN / 1024 / 1024;
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format_args!("the dataset is too large; at most {max_mib} MiB are accepted"),
    )
}

fn too_large(problem: &dyn std::fmt::Display) -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, format_args!("the dataset is too large: {problem}"))
}

fn file_too_large(error: &IngestError) -> Option<ApiError> {
    match error {
        IngestError::Io { source, .. } if is_too_large(source) => Some(too_large(source)),
        _ => None,
    }
}

/// What is found in an uploaded file.
struct Checked {
    rows: u64,
    /// Of the first row.
    columns: Vec<String>,
    /// The errors in the rows without a mapping.
    problems: Vec<String>,
    notes: Vec<String>,
}

/// Counts and reads the rows.
///
/// # Errors
/// When the file or a row can't be parsed, or there are no rows.
fn check(path: &Path, budget: &MemoryBudget) -> Result<Checked, ApiError> {
    let (mut rows, mut columns, mut unreadable) = (0, Vec::new(), Vec::new());
    // A small file can claim billions of rows, or repeat a long text in each.
    let mut held = budget.hold(0).map_err(|error| too_large(&error))?;
    let mut failed = Ok(());
    let read = read_rows_within(path, budget, &mut |line, row| {
        rows += 1;
        failed = failed.and_then(|()| held.grow(ROW_BYTES + row.as_ref().map_or(0, row_size)));
        if failed.is_err() {
            budget.cancel();
        }
        match row {
            Ok(row) if columns.is_empty() => columns = row.keys().take(MAX_COLUMNS).cloned().collect(),
            Err(problem) if unreadable.len() < MAX_UNREADABLE => {
                unreadable.push(LineError { line, problem });
            }
            Ok(_) | Err(_) => {}
        }
    });
    failed.map_err(|error| too_large(&error))?;
    read.map_err(|error| {
        file_too_large(&error)
            .unwrap_or_else(|| ApiError::bad_request("the content of the file doesn't match its extension"))
    })?;
    drop(held);
    if !unreadable.is_empty() {
        return Err(invalid_lines_error(&unreadable));
    }
    let format = DatasetFormat { recognize: true, ..DatasetFormat::default() };
    let (problems, notes) = match format.read_within(path, budget) {
        Ok(read) => {
            let mut notes = read.notes;
            notes.extend(scorer_notes(read.items));
            (Vec::new(), notes)
        }
        Err(DatasetError::Lines(problems)) if rows == 0 => return Err(invalid_lines_error(&problems)),
        Err(DatasetError::Lines(problems)) => (describe_problems(&problems), Vec::new()),
        Err(DatasetError::File(error)) => match file_too_large(&error) {
            Some(error) => return Err(error),
            None => (vec!["the file can't be read".to_owned()], Vec::new()),
        },
    };
    Ok(Checked { rows, columns, problems, notes })
}

/// The scorer that fits the targets, and the targets that it can't handle.
fn scorer_notes(items: Vec<Item>) -> Vec<String> {
    let detected = detect_scorer(&items);
    let dataset = Dataset::new("dataset", items).with_scorer(detected.scorer);
    let problem = |item: &Item| Some(LineError { line: item.line, problem: item.target_problem()? });
    let mut problems: Vec<LineError> = dataset.items().filter_map(problem).collect();
    problems.sort_by_key(|problem| problem.line);
    let scorer = format!("answers are scored by `{}`, because {}", detected.scorer, detected.reason);
    std::iter::once(scorer).chain(describe_problems(&problems)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_file_name_never_becomes_a_path() {
        for (called, name) in [
            ("gsm8k.jsonl", "gsm8k.jsonl"),
            ("../../etc/My File.CSV", "my-file.csv"),
            ("..\\x.tsv", "x.tsv"),
            ("a\0b.json", "a-b.json"),
            ("\u{202e}.parquet", "dataset.parquet"),
        ] {
            let (stem, extension) = split_name(called).unwrap();
            assert_eq!(format!("{stem}.{extension}"), name);
            assert!(is_dataset(name), "{name}");
        }
        for wrong in ["", "x", ".jsonl", "study.toml", "cache.sqlite", "../x", "x.jsonl/"] {
            let is_kept =
                split_name(wrong).is_ok_and(|(stem, extension)| stem != "x" || extension != "jsonl");
            assert!(!is_kept, "{wrong}");
        }
        for wrong in ["../x.jsonl", "x", ".upload-1.jsonl", "a/b.jsonl", "a.b.jsonl", "X.jsonl"] {
            assert!(!is_dataset(wrong), "{wrong}");
        }
    }
}
