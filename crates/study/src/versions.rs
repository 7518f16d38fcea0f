//! Which version of tasks and built-in suites a study means that names none: the one that it began with.

use std::io;
use std::path::Path;

use reasonscape_core::{Suite, Task, tasks};

use crate::toml_document::{quoted_path, read};
use crate::{Study, StudyError, write_file};

/// The file that records the version.
const LOCK_FILE: &str = "tasks.lock";
/// The text before the version in it.
const KEY: &str = "version = ";

impl Study {
    /// Records the version of tasks and suites that the study means, unless its file names one or it is recorded already.
    /// To be called before the first response is stored: a cache without this record is of version 1.
    ///
    /// # Errors
    /// An [`io::Error`] that names the file.
    pub fn keep_version(&self) -> io::Result<()> {
        let path = self.dir.join(LOCK_FILE);
        // A cache without a record is of version 1 anyway.
        let is_needed = |version: &u32| *version > 1 && !path.exists();
        let Some(version) = self.implied_version.filter(is_needed) else { return Ok(()) };
        write_file(&path, |out| {
            writeln!(
                out,
                "# The version of tasks and suites that this study began with, where study.toml and its suite name none.\n\
                 # Written by the first run; keep it with the study.\n{KEY}{version}"
            )
        })
    }
}

/// The version that a study in this directory means by a name without one.
///
/// # Errors
/// A [`StudyError`] when the record is damaged.
pub(crate) fn implied_version(dir: &Path) -> Result<u32, StudyError> {
    let path = dir.join(LOCK_FILE);
    if let Some(text) = read(&path)? {
        let recorded = text.lines().find_map(|line| line.strip_prefix(KEY)?.trim().parse().ok());
        return recorded.filter(|version| (1..=Suite::NEWEST_VERSION).contains(version)).ok_or_else(|| {
            StudyError::Invalid {
                origin: quoted_path(&path),
                line: None,
                problem: format!(
                    "no `{KEY}N` with a version from 1 to {}; restore the file, or name versions in study.toml, as \
                     in `suite = \"quick@1\"`",
                    Suite::NEWEST_VERSION
                ),
            }
        });
    }
    // Programs before there were versions left results of version 1, or at least a cache.
    let versions = result_versions(dir);
    let began_before = versions.is_empty() && dir.join(Study::CACHE_FILE).exists();
    let newest_result = versions.into_iter().max();
    Ok(newest_result.unwrap_or(if began_before { 1 } else { Suite::DEFAULT_VERSION }))
}

/// The versions of the tasks that a study has results of.
fn result_versions(dir: &Path) -> Vec<u32> {
    let entries =
        |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let evals = ["points", "trials"].into_iter().flat_map(|kind| entries(&dir.join(kind)));
    evals
        .flat_map(|eval| entries(&eval))
        .filter_map(|path| Some(path.file_name()?.to_str()?.strip_prefix("task=")?.to_owned()))
        .filter_map(|name| tasks::all_versions().find(|task| task.name() == name).map(Task::version))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "suite = \"quick\"\n\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";

    fn version(dir: &Path) -> u32 {
        Study::parse(TEXT, dir).unwrap().suite.manifolds[0].task.version()
    }

    #[test]
    fn a_new_study_takes_the_default_version_and_one_with_a_record_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(version(dir.path()), Suite::DEFAULT_VERSION);
        Study::parse(TEXT, dir.path()).unwrap().keep_version().unwrap();
        assert!(!dir.path().join(LOCK_FILE).exists(), "version 1 needs no record");
        // As a run leaves it before anything is scored.
        let mut study = Study::parse(TEXT, dir.path()).unwrap();
        study.implied_version = Some(2);
        study.keep_version().unwrap();
        std::fs::write(dir.path().join(Study::CACHE_FILE), "").unwrap();
        assert_eq!(version(dir.path()), 2);
        std::fs::write(dir.path().join(LOCK_FILE), "# edited\nversion = 1\n").unwrap();
        assert_eq!(version(dir.path()), 1);
        std::fs::write(dir.path().join(LOCK_FILE), "version = 9\n").unwrap();
        let error = Study::parse(TEXT, dir.path()).unwrap_err().to_string();
        assert!(error.contains("a version from 1 to 2"), "{error}");
    }

    #[test]
    fn a_study_with_a_cache_or_results_of_version_1_keeps_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(Study::CACHE_FILE), "").unwrap();
        assert_eq!(version(dir.path()), 1);

        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("points/eval=123456/task=arithmetic")).unwrap();
        assert_eq!(version(dir.path()), 1);
        std::fs::create_dir_all(dir.path().join("trials/eval=123456/task=arithmetic@2")).unwrap();
        assert_eq!(version(dir.path()), 2);
    }

    #[test]
    fn a_named_version_needs_no_record() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(Study::CACHE_FILE), "").unwrap();
        let study = Study::parse(&TEXT.replace("quick", "quick@2"), dir.path()).unwrap();
        assert_eq!(study.suite.manifolds[0].task.version(), 2);
        study.keep_version().unwrap();
        assert!(!dir.path().join(LOCK_FILE).exists());
    }

    #[test]
    fn own_suites_follow_the_version_of_the_study() {
        let dir = tempfile::tempdir().unwrap();
        let suite = "name = \"own\"\ncount = 1\n[[manifold]]\nid = \"a\"\ntask = \"sort\"\n\
                     [[manifold]]\nid = \"b\"\ntask = \"sort@2\"\n";
        std::fs::write(dir.path().join("own.toml"), suite).unwrap();
        let names = || {
            let study = Study::parse(&TEXT.replace("quick", "own.toml"), dir.path()).unwrap();
            study.suite.manifolds.iter().map(|manifold| manifold.task.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(), ["sort", "sort@2"]);
        std::fs::write(dir.path().join(LOCK_FILE), "version = 2\n").unwrap();
        assert_eq!(names(), ["sort@2", "sort@2"]);
    }
}
