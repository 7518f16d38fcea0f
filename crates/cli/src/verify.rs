//! `reasonscape verify`: checks everything that a study has stored.

use std::path::PathBuf;

use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_cache::{Cache, CacheError, Verification};
use reasonscape_points::{FileCheck, FileState, StudyPart, verify_files};
use reasonscape_study::Study;
use serde_json::{Value, json};

use super::Global;
use super::study::study_folder;
use crate::cache::CacheProgress;
use crate::error::CliError;
use crate::output::print;

/// Faults that are listed below the table; JSON has all of them.
const MAX_NAMED: usize = 20;

/// Check everything that a study has stored
///
/// Compares the response cache, trials, points, manifest and provenance with their hashes, and names the repair of what is
/// damaged. Files that earlier versions wrote have no hashes; they are read completely instead. Changes nothing. Exits with 1 if
/// anything is damaged or missing.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape verify my-study\n  reasonscape verify my-study --format json"
)]
pub(super) struct Verify {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
}

impl Verify {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let folder = study_folder(&self.study)?;
        let (cache, cache_error) = match verify_cache(&folder.join(Study::CACHE_FILE), global) {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let files = verify_files(&folder)?;
        if cache.is_none() && cache_error.is_none() && files.is_empty() {
            return Err(CliError::input(format_args!(
                "`{}` has no responses, trials or points to verify; expected a study directory, or its study.toml",
                folder.display()
            )));
        }
        let faults = faults(cache.as_ref(), cache_error.as_deref(), &files, &folder.display().to_string());
        print(
            global,
            &table(cache.as_ref(), cache_error.as_deref(), &files),
            &as_json(cache.as_ref(), cache_error.as_deref(), &files),
        )?;
        for fault in faults.iter().take(MAX_NAMED) {
            global.caption(fault);
        }
        if faults.len() > MAX_NAMED {
            global.caption(format_args!("and {} more; `--format json` lists all", faults.len() - MAX_NAMED));
        }
        let unhashed = files.iter().filter(|file| file.state == FileState::Unhashed).count();
        if unhashed > 0 {
            global.caption(format_args!(
                "{unhashed} files have no hashes, so that bit rot in them can't be noticed; `reasonscape evaluate {}` records \
                 them",
                folder.display()
            ));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let plural = if faults.len() == 1 { "fault" } else { "faults" };
        Err(CliError::Internal(anyhow::anyhow!(
            "{} {plural} in `{}`; each is listed with its repair",
            faults.len(),
            folder.display()
        )))
    }
}

/// Checks every entry of the cache; `None` if the study has none.
fn verify_cache(path: &std::path::Path, global: Global) -> Result<Option<Verification>, CacheError> {
    if !path.exists() {
        return Ok(None);
    }
    let reader = Cache::open_read_only(path)?.reader()?;
    let mut progress = CacheProgress::new(global, "verified", reader.count().ok());
    reader.verify(|done| progress.update(done)).map(Some)
}

/// One line for each thing to repair.
fn faults(
    cache: Option<&Verification>,
    cache_error: Option<&str>,
    files: &[FileCheck],
    study: &str,
) -> Vec<String> {
    const RESTORE: &str = "restore a backup, or recover what is readable with `.recover` of `sqlite3`";
    let mut faults: Vec<String> =
        cache_error.iter().map(|error| format!("cache: {error}; {RESTORE}")).collect();
    for problem in cache.iter().flat_map(|cache| &cache.structure) {
        faults.push(format!("cache: {problem}; {RESTORE}"));
    }
    for entry in cache.iter().flat_map(|cache| &cache.damaged) {
        faults.push(format!(
            "cache: entry {}: {}; `reasonscape cache prune {study} --damaged` removes it, and `reasonscape run` requests it \
             again",
            entry.entry, entry.problem
        ));
    }
    for file in files.iter().filter(|file| file.state.is_fault()) {
        let (problem, repair) =
            (file.problem.as_deref().unwrap_or_default(), file.repair.as_deref().unwrap_or_default());
        faults.push(format!("{}: {problem}; {repair}", file.file));
    }
    faults
}

fn table(cache: Option<&Verification>, cache_error: Option<&str>, files: &[FileCheck]) -> Table {
    let mut table = Table::new(&["part", "checked", "damaged", "missing", "unhashed"]);
    let mut row = |part: &str, counts: [usize; 4]| {
        let cells = counts.into_iter().map(|count| Cell::Number(count as f64, 0));
        table.push(std::iter::once(Cell::text(part)).chain(cells).collect());
    };
    if let Some(cache) = cache {
        row("cache entries", [cache.entries as usize, cache.damaged.len(), 0, 0]);
        row("cache database", [1, usize::from(!cache.structure.is_empty()), 0, 0]);
    } else if cache_error.is_some() {
        row("cache database", [1, 1, 0, 0]);
    }
    for (part, name) in [
        (StudyPart::Manifest, "manifest"),
        (StudyPart::Trials, "trials files"),
        (StudyPart::Points, "points files"),
        (StudyPart::Provenance, "provenance"),
    ] {
        let of_part = || files.iter().filter(move |file| file.part == part);
        let count = |state: FileState| of_part().filter(|file| file.state == state).count();
        row(
            name,
            [
                of_part().count(),
                count(FileState::Damaged),
                count(FileState::Missing),
                count(FileState::Unhashed),
            ],
        );
    }
    table
}

fn as_json(cache: Option<&Verification>, cache_error: Option<&str>, files: &[FileCheck]) -> Value {
    let cache = cache.map(|cache| {
        let damaged =
            cache.damaged.iter().map(|entry| json!({ "entry": entry.entry, "problem": entry.problem }));
        json!({
            "entries": cache.entries,
            "damaged": damaged.collect::<Vec<_>>(),
            "database": cache.structure,
        })
    });
    json!({ "cache": cache, "cache_error": cache_error, "files": files })
}
