//! Selects the logs and scores to read.

use std::path::Path;

use super::{file_name, list};
use crate::IngestError;

/// Sorted and without duplicates.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// The first wanted name that a log has, or its only one. `what` is the name of the option: `metric`, `filter` or
/// `scorer`.
pub(super) fn choose(
    path: &Path,
    task: &str,
    what: &str,
    available: &[String],
    wanted: &[String],
) -> Result<String, IngestError> {
    if let Some(wanted) = wanted.iter().find(|wanted| available.contains(wanted)) {
        return Ok(wanted.clone());
    }
    match available {
        [only] => Ok(only.clone()),
        several => Err(IngestError::file(
            path,
            format!(
                "`{task}` has several {what}s: {}; choose one, as in `--{what} {}`",
                list(several),
                several.first().map_or("", String::as_str)
            ),
        )),
    }
}

/// Rejects a chosen name that no log has.
pub(super) fn check_wanted<'a>(
    what: &str,
    wanted: &[String],
    chosen: impl Iterator<Item = &'a String>,
) -> Result<(), IngestError> {
    let chosen = distinct(chosen);
    match wanted.iter().find(|wanted| !chosen.contains(wanted)) {
        Some(unknown) => Err(IngestError::InvalidInput(format!(
            "no log uses `--{what} {unknown}`; the {what}s in use are {}",
            list(&chosen)
        ))),
        None => Ok(()),
    }
}

/// The parts of a note about a skipped log.
pub(super) struct RunName<'a> {
    pub(super) path: &'a Path,
    pub(super) model: &'a str,
    pub(super) task: &'a str,
}

/// Keeps the first of adjacent logs with the same model and task; the latest comes first. Returns a note for each
/// skipped log.
pub(super) fn latest_only<L>(
    logs: &mut Vec<L>,
    is_same: impl Fn(&L, &L) -> bool,
    name: impl Fn(&L) -> RunName<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut kept: Vec<L> = Vec::new();
    for log in logs.drain(..) {
        match kept.last().filter(|last| is_same(last, &log)) {
            Some(last) => {
                let RunName { path, model, task } = name(&log);
                notes.push(format!(
                    "`{}` is skipped: `{}` is a later run of `{model}` on {task}; rename one with `--model` to keep both",
                    path.display(),
                    file_name(name(last).path),
                ));
            }
            None => kept.push(log),
        }
    }
    *logs = kept;
    notes
}
