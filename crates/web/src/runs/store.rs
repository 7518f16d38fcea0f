//! Runs on disk: directories, records, locks and loaded studies.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use reasonscape_study::Study;

use super::datasets::Datasets;
use super::errors::{conflict, io_error, study_error};
use super::record::{RunRecord, RunState};
use super::run_name;
use crate::error::ApiError;

/// Maximum number of studies in memory.
const MAX_CACHED_STUDIES: usize = 16;

/// Changes when a file does: its length, and when it was written.
pub(super) type FileStamp = (u64, Option<SystemTime>);

pub(super) fn stamp(file: &Path) -> std::io::Result<FileStamp> {
    fs::metadata(file).map(|found| (found.len(), found.modified().ok()))
}

/// The directories of a study, its runs and its datasets.
pub(super) struct RunStore {
    /// The directory of the served study.
    home: PathBuf,
    studies: Mutex<Vec<(PathBuf, FileStamp, Arc<Study>)>>,
}

impl RunStore {
    pub(super) fn new(home: PathBuf) -> Self {
        Self { home, studies: Mutex::default() }
    }

    /// The directory of all runs.
    pub(super) fn folder(&self) -> PathBuf {
        self.home.join("runs")
    }

    pub(super) fn datasets(&self) -> Datasets {
        Datasets { folder: self.home.join("datasets") }
    }

    /// The directory of a run, if the run exists.
    pub(super) fn existing_folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let folder = self.folder().join(name);
        if !run_name::is_name(name) || RunRecord::load(&folder).is_none() {
            return Err(ApiError::not_found("no such run"));
        }
        Ok(folder)
    }

    /// The directory of the study that a run belongs to.
    pub(super) fn study_folder(&self, record: &RunRecord) -> PathBuf {
        if record.of_study { self.home.clone() } else { self.folder().join(&record.name) }
    }

    /// Loads the record of a run. A run that is neither over nor locked was interrupted.
    pub(super) fn load(&self, name: &str) -> Result<RunRecord, ApiError> {
        let folder = self.existing_folder(name)?;
        let mut record = RunRecord::load(&folder).ok_or_else(|| ApiError::not_found("no such run"))?;
        if !record.state.is_over() && !self.is_locked(&record) {
            let why = "the server stopped before the run ended; all responses are kept, and resuming sends the remaining requests";
            record.end(RunState::Interrupted, Some(why.to_owned()));
            record.ended_ms = None;
        }
        Ok(record)
    }

    /// All names in the directory of runs.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Whether a run has results to show.
    pub(super) fn has_results(&self, record: &RunRecord) -> bool {
        let points = self.study_folder(record).join("points");
        fs::read_dir(points).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// The served study, if it has a study.toml.
    pub(super) fn home_study(&self) -> Option<Result<Arc<Study>, ApiError>> {
        self.home.join(Study::FILE).exists().then(|| self.study(&self.home))
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// The study in a directory, cached because datasets are never freed once they are read.
    pub(super) fn study(&self, folder: &Path) -> Result<Arc<Study>, ApiError> {
        let stamp = stamp(&folder.join(Study::FILE))
            .map_err(|_| ApiError::not_found("the study directory has no study.toml, so it can't be run"))?;
        let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., study)) =
            studies.iter().find(|(known, latest, _)| known == folder && *latest == stamp)
        {
            return Ok(Arc::clone(study));
        }
        let study = Arc::new(Study::load(folder).map_err(|error| study_error(&error))?);
        insert(&mut studies, folder, stamp, &study);
        Ok(study)
    }

    /// Caches a newly written study.
    pub(super) fn cache_study(&self, folder: &Path, study: &Arc<Study>) {
        if let Ok(stamp) = stamp(&folder.join(Study::FILE)) {
            let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
            insert(&mut studies, folder, stamp, study);
        }
    }

    /// Deletes the directory of a run.
    pub(super) fn remove(&self, folder: &Path) -> Result<(), ApiError> {
        self.studies.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, ..)| known != folder);
        fs::remove_dir_all(folder).map_err(|error| io_error(&error))
    }

    fn lock_path(&self, record: &RunRecord) -> PathBuf {
        let folder = if record.of_study { self.folder() } else { self.folder().join(&record.name) };
        folder.join(".lock")
    }

    /// Whether a server runs the study of a run. Creates no file.
    fn is_locked(&self, record: &RunRecord) -> bool {
        let file = File::open(self.lock_path(record));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Locks the study of a run until the run ends. The operating system releases the lock after a crash.
    pub(super) fn lock(&self, record: &RunRecord) -> Result<File, ApiError> {
        let file = File::options().create(true).append(true).open(self.lock_path(record));
        let file = file.map_err(|error| io_error(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(conflict("another server is running this study; wait for it to finish"))
            }
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
            Err(TryLockError::Error(error)) => Err(io_error(&error)),
        }
    }
}

/// Replaces the study of a directory, and evicts the oldest if there are too many.
fn insert(
    studies: &mut Vec<(PathBuf, FileStamp, Arc<Study>)>,
    folder: &Path,
    stamp: FileStamp,
    study: &Arc<Study>,
) {
    studies.retain(|(known, ..)| known != folder);
    if studies.len() >= MAX_CACHED_STUDIES {
        studies.remove(0);
    }
    studies.push((folder.to_owned(), stamp, Arc::clone(study)));
}
