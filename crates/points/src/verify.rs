//! Checks every file of a study, with the repair of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use reasonscape_study::EvalId;
use serde::Serialize;

use crate::PointsError;
use crate::files::{FileInfo, discover};
use crate::manifest::{FoundManifest, MANIFEST, Manifest, relative_name};
use crate::publish::is_publishing;
use crate::study_files::inspect_current;
use crate::write::FileKind;

/// What a file of a study is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StudyPart {
    /// `manifest.json`.
    Manifest,
    /// A file of trials.
    Trials,
    /// A file of points.
    Points,
    /// The origin of a pair of files, as both record it.
    Provenance,
}

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// It is what was written.
    Sound,
    /// It can be read, but there are no hashes to compare it with.
    Unhashed,
    /// It is listed, but not there.
    Missing,
    /// It is not what was written, or can't be read.
    Damaged,
}

impl FileState {
    /// Whether something has to be repaired.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Missing | Self::Damaged)
    }
}

/// The result of checking one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCheck {
    /// What it is.
    pub part: StudyPart,
    /// Its path in the study directory.
    pub file: String,
    /// What was found.
    pub state: FileState,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// What to do about it.
    pub repair: Option<String>,
}

impl FileCheck {
    fn new(part: StudyPart, file: &str, state: FileState) -> Self {
        Self { part, file: file.to_owned(), state, problem: None, repair: None }
    }

    fn fault(part: StudyPart, file: &str, problem: impl Into<String>, repair: String) -> Self {
        let (problem, repair) = (Some(problem.into()), Some(repair));
        Self { problem, repair, ..Self::new(part, file, FileState::Damaged) }
    }
}

/// The repair of what is scored from the cache.
fn rebuild(study: &Path) -> String {
    format!("`reasonscape evaluate {} --force` rebuilds it from the cache", study.display())
}

/// The repair of what every evaluation writes.
fn evaluate(study: &Path) -> String {
    format!("`reasonscape evaluate {}` writes it again", study.display())
}

/// Checks manifest, trials, points and provenance of a study: reads every byte that has a hash, and decodes the files that have
/// none.
///
/// # Errors
/// A [`PointsError`] if the study directory can't be read.
pub fn verify_files(study: &Path) -> Result<Vec<FileCheck>, PointsError> {
    let found = Manifest::read(study)?;
    let mut checks = Vec::from_iter(check_manifest(study, &found));
    let manifest = found.valid();
    let mut units: BTreeMap<(String, String), Vec<FileInfo>> = BTreeMap::new();
    let mut present = BTreeSet::new();
    for (kind, part) in [(FileKind::Trials, StudyPart::Trials), (FileKind::Points, StudyPart::Points)] {
        let paths = discover(study, kind)?;
        present.extend(paths.iter().map(|path| relative_name(study, path)));
        let checked: Vec<_> =
            paths.par_iter().map(|path| check_file(study, path, kind, part, manifest)).collect();
        for (check, info) in checked.into_iter().flatten() {
            checks.push(check);
            if let Some(info) = info {
                units.entry((info.eval.eval_id.clone(), info.task.clone())).or_default().push(info);
            }
        }
    }
    for name in
        manifest.iter().flat_map(|manifest| manifest.files.keys()).filter(|name| !present.contains(*name))
    {
        let part = if name.starts_with("points") { StudyPart::Points } else { StudyPart::Trials };
        checks.push(FileCheck {
            state: FileState::Missing,
            ..FileCheck::fault(part, name, "the manifest lists it, but it is not there", evaluate(study))
        });
    }
    checks.extend(units.iter().map(|((eval, task), files)| check_provenance(study, eval, task, files)));
    Ok(checks)
}

fn check_manifest(study: &Path, found: &FoundManifest) -> Option<FileCheck> {
    let interrupted = |manifest: &Manifest| manifest.pending.iter().any(|id| !is_publishing(study, id));
    match found {
        // A study without trials needs none.
        FoundManifest::Missing => None,
        FoundManifest::Invalid(problem) => {
            Some(FileCheck::fault(StudyPart::Manifest, MANIFEST, problem.clone(), evaluate(study)))
        }
        FoundManifest::Valid(manifest) if interrupted(manifest) => Some(FileCheck::fault(
            StudyPart::Manifest,
            MANIFEST,
            "`evaluate` was interrupted, and the results are those from before it",
            format!("`reasonscape evaluate {}` completes it", study.display()),
        )),
        FoundManifest::Valid(_) => Some(FileCheck::new(StudyPart::Manifest, MANIFEST, FileState::Sound)),
    }
}

/// Checks one file; `None` if it isn't part of the current state.
fn check_file(
    study: &Path,
    path: &Path,
    kind: FileKind,
    part: StudyPart,
    manifest: Option<&Manifest>,
) -> Option<(FileCheck, Option<FileInfo>)> {
    let name = relative_name(study, path);
    let checked = inspect_current(study, path, kind, manifest).and_then(|info| {
        let Some(mut info) = info else { return Ok(None) };
        info.check_content()?;
        info.close();
        Ok(Some(info))
    });
    match checked {
        Ok(None) => None,
        Ok(Some(info)) => {
            let state = if info.is_listed { FileState::Sound } else { FileState::Unhashed };
            let mut check = FileCheck::new(part, &name, state);
            if state == FileState::Unhashed {
                check.repair = Some(format!("`reasonscape evaluate {}` records its hashes", study.display()));
            }
            Some((check, Some(info)))
        }
        Err(error) => {
            let (problem, repair) = match &error {
                PointsError::Corrupt { problem, .. } | PointsError::Damaged { problem, .. } => {
                    (problem.clone(), repair_of(study, path, kind))
                }
                PointsError::Foreign { problem, .. } => {
                    (problem.clone(), "move it out of the study directory".to_owned())
                }
                other => (other.to_string(), repair_of(study, path, kind)),
            };
            Some((FileCheck::fault(part, &name, problem, repair), None))
        }
    }
}

/// How to replace a damaged file. If its footer can be read, it names the origin.
fn repair_of(study: &Path, path: &Path, kind: FileKind) -> String {
    match crate::files::inspect(path, kind, None) {
        Ok(info) if !info.provenance.source.is_empty() => {
            format!("import `{}` again", info.provenance.source)
        }
        _ => rebuild(study),
    }
}

/// Whether the files of an evaluation on a task were written together, from the same inputs, for the evaluation that they name.
fn check_provenance(study: &Path, eval_id: &str, task: &str, files: &[FileInfo]) -> FileCheck {
    let name = format!("eval={eval_id}/task={task}");
    let problem = files.iter().find_map(|file| {
        let eval = &file.eval;
        if EvalId::new(&eval.model, &eval.template, &eval.sampler).as_str() != eval.eval_id {
            return Some("the id is not that of its model, template and sampler");
        }
        if files.iter().any(|other| other.pair != file.pair) {
            return Some(
                "trials and counters were not written together, and are counted again by every command",
            );
        }
        let is_other = files.iter().any(|other| other.provenance != file.provenance);
        is_other.then_some("trials and counters name different origins")
    });
    match problem {
        None => FileCheck::new(StudyPart::Provenance, &name, FileState::Sound),
        Some(problem) => FileCheck::fault(StudyPart::Provenance, &name, problem, evaluate(study)),
    }
}
