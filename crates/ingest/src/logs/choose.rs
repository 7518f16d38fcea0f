//! Selects the logs and scores to read.

use std::path::Path;

use super::{OpenError, file_name, list};
use crate::IngestError;

/// The filter of lm-eval tasks that have none: there is nothing to choose.
pub(super) const NO_FILTER: &str = "none";

/// Sorted and without duplicates.
pub(super) fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// The first wanted name that a log has; if none is wanted, its only one. `what` is the name of the option: `metric`,
/// `filter` or `scorer`.
pub(super) fn choose(
    path: &Path,
    task: &str,
    what: &str,
    available: &[String],
    wanted: &[String],
) -> Result<String, OpenError> {
    if let Some(wanted) = wanted.iter().find(|wanted| available.contains(wanted)) {
        return Ok(wanted.clone());
    }
    match available {
        [only] if wanted.is_empty() || only == NO_FILTER => Ok(only.clone()),
        [only] => Err(OpenError::Unusable(IngestError::file(
            path,
            format!(
                "`{task}` has no {}, only the {what} `{only}`; add `--{what} {only}` to import it, too",
                wanted.iter().map(|name| format!("`--{what} {name}`")).collect::<Vec<_>>().join(" or ")
            ),
        ))),
        several => Err(OpenError::Choice(IngestError::file(
            path,
            format!(
                "`{task}` has several {what}s: {}; choose one, as in `--{what} {}`",
                list(several),
                several.first().map_or("", String::as_str)
            ),
        ))),
    }
}

/// Rejects a wanted name that no log has. A name that is only an alternative to a preferred one is not an error.
pub(super) fn check_wanted<'a>(
    what: &str,
    wanted: &[String],
    available: impl Iterator<Item = &'a String>,
) -> Result<(), IngestError> {
    let available = distinct(available);
    match wanted.iter().find(|wanted| !available.contains(wanted)) {
        Some(unknown) => Err(IngestError::InvalidInput(format!(
            "no log uses `--{what} {unknown}`; the {what}s of the logs are {}",
            list(&available)
        ))),
        None => Ok(()),
    }
}

/// A run of a model on a task.
pub(super) struct RunName<'a> {
    pub(super) path: &'a Path,
    pub(super) model: &'a str,
    pub(super) task: &'a str,
    /// Number of its samples.
    pub(super) samples: u64,
}

/// Keeps the first of adjacent logs with the same model and task: the fullest, and of equally full ones the latest comes
/// first. Returns a note for each of the others.
pub(super) fn first_only<L>(
    logs: &mut Vec<L>,
    is_same: impl Fn(&L, &L) -> bool,
    name: impl Fn(&L) -> RunName<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut kept: Vec<L> = Vec::new();
    for log in logs.drain(..) {
        match kept.last().filter(|last| is_same(last, &log)) {
            Some(last) => {
                let RunName { path, model, task, samples } = name(&log);
                let other = name(last);
                let (which, sizes) = if other.samples > samples {
                    ("fuller", format!("{} samples, this one {samples}", other.samples))
                } else {
                    ("later", format!("both have {samples} samples"))
                };
                notes.push(format!(
                    "`{}` is skipped: `{}` is a {which} run of `{model}` on {task} ({sizes}); rename one with `--model` to \
                     keep both",
                    path.display(),
                    file_name(other.path),
                ));
            }
            None => kept.push(log),
        }
    }
    *logs = kept;
    notes
}
