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
    /// To be called before the first response is stored, whatever the version: other versions of this program may have
    /// another default, and results of both versions don't tell which one the study began with.
    ///
    /// # Errors
    /// An [`io::Error`] that names the file.
    pub fn keep_version(&self) -> io::Result<()> {
        self.implied_version.map_or(Ok(()), |version| record_version(&self.dir, version))
    }

    /// The version of tasks and built-in suites that goes with this study: the implied one, or that of all its tasks.
    pub fn version(&self) -> Option<u32> {
        let mut of_tasks = self.suite.manifolds.iter().map(|manifold| manifold.task.version());
        let first = of_tasks.next().filter(|_| self.dataset.is_none())?;
        self.implied_version.or_else(|| of_tasks.all(|version| version == first).then_some(first))
    }
}

/// Records the version that a study in this directory means by a name without one, unless it is recorded already.
///
/// # Errors
/// An [`io::Error`] that names the file.
pub fn record_version(dir: &Path, version: u32) -> io::Result<()> {
    let path = dir.join(LOCK_FILE);
    if path.exists() {
        return Ok(());
    }
    write_file(&path, |out| {
        writeln!(
            out,
            "# The version of tasks and suites that this study began with, where study.toml and its suite name none.\n\
             # Written by the first run; keep it with the study.\n{KEY}{version}"
        )
    })
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
    // Programs that recorded no version left results of version 1, or at least a cache. Results of version 2 beside them are
    // of tasks that the suite names with it.
    let oldest_result = result_versions(dir).into_iter().min();
    let began_before = oldest_result.is_none() && dir.join(Study::CACHE_FILE).exists();
    Ok(oldest_result.unwrap_or(if began_before { 1 } else { Suite::DEFAULT_VERSION }))
}

/// The versions of the tasks that a study has results of.
fn result_versions(dir: &Path) -> Vec<u32> {
    let entries =
        |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let evals = ["points", "trials"].into_iter().flat_map(|kind| entries(&dir.join(kind)));
    evals
        .flat_map(|eval| entries(&eval))
        .filter_map(|path| Some(path.file_name()?.to_str()?.strip_prefix("task=")?.to_owned()))
        .filter_map(|name| tasks::by_stored_name(&name).map(Task::version))
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
        // As a run leaves it before anything is scored.
        Study::parse(TEXT, dir.path()).unwrap().keep_version().unwrap();
        std::fs::write(dir.path().join(Study::CACHE_FILE), "").unwrap();
        assert_eq!(version(dir.path()), Suite::DEFAULT_VERSION);
        // A record is never changed by the program.
        record_version(dir.path(), 1).unwrap();
        assert_eq!(version(dir.path()), Suite::DEFAULT_VERSION);
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
        assert_eq!(version(dir.path()), 1, "a suite of version 1 can name a task of version 2");
        std::fs::remove_dir_all(dir.path().join("points")).unwrap();
        assert_eq!(version(dir.path()), 2);
    }

    /// A first run of both versions of a task doesn't turn the unversioned name into the other version.
    #[test]
    fn a_study_of_both_versions_keeps_the_one_it_began_with() {
        let suite = "name = \"own\"\ncount = 1\n[[manifold]]\nid = \"a\"\ntask = \"sort\"\n\
                     [[manifold]]\nid = \"b\"\ntask = \"sort@2\"\n[[manifold]]\nid = \"c\"\ntask = \"sort@1\"\n";
        let text = TEXT.replace("quick", "own.toml");
        let names = |dir: &Path| {
            let study = Study::parse(&text, dir).unwrap();
            study.suite.manifolds.iter().map(|manifold| manifold.task.name().to_owned()).collect::<Vec<_>>()
        };
        for began_with in [1, 2] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("own.toml"), suite).unwrap();
            record_version(dir.path(), began_with).unwrap();
            let before = names(dir.path());
            Study::parse(&text, dir.path()).unwrap().keep_version().unwrap();
            for task in ["sort", "sort@2"] {
                std::fs::create_dir_all(dir.path().join(format!("points/eval=123456/task={task}"))).unwrap();
            }
            assert_eq!(names(dir.path()), before);
            assert_eq!(before[0], ["sort", "sort@2"][began_with as usize - 1]);
            assert_eq!(before[1..], ["sort@2", "sort"]);
        }
    }

    #[test]
    fn version_of_a_study_is_the_implied_one_or_that_of_its_tasks() {
        let dir = tempfile::tempdir().unwrap();
        let version = |name: &str| Study::parse(&TEXT.replace("quick", name), dir.path()).unwrap().version();
        assert_eq!(
            [version("quick"), version("quick@1"), version("r12@2")],
            [Some(Suite::DEFAULT_VERSION), Some(1), Some(2)]
        );
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
        std::fs::write(dir.path().join(LOCK_FILE), "version = 1\n").unwrap();
        assert_eq!(names(), ["sort", "sort@2"]);
        std::fs::write(dir.path().join(LOCK_FILE), "version = 2\n").unwrap();
        assert_eq!(names(), ["sort@2", "sort@2"]);
    }
}
