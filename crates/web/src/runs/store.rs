//! Where runs and their studies are on disk: folders, records, locks, and the studies that were read.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use axum::http::StatusCode;
use reasonscape_study::Study;

use super::datasets::Datasets;
use super::errors::{conflict, io_error, study_error};
use super::record::{RunRecord, RunState};
use super::run_name;
use crate::error::ApiError;

/// Studies that are kept in memory.
const MAX_CACHED_STUDIES: usize = 16;

/// Changes when a file does: its length, and when it was written.
pub(super) type FileStamp = (u64, Option<SystemTime>);

pub(super) fn stamp(file: &Path) -> std::io::Result<FileStamp> {
    fs::metadata(file).map(|found| (found.len(), found.modified().ok()))
}

/// The folders of a study, its runs and its datasets.
pub(super) struct RunStore {
    /// The folder of the study that the server shows.
    home: PathBuf,
    studies: Mutex<Vec<(PathBuf, FileStamp, Arc<Study>)>>,
}

impl RunStore {
    pub(super) fn new(home: PathBuf) -> Self {
        Self { home, studies: Mutex::default() }
    }

    /// The folder of all runs.
    pub(super) fn folder(&self) -> PathBuf {
        self.home.join("runs")
    }

    pub(super) fn datasets(&self) -> Datasets {
        Datasets { folder: self.home.join("datasets") }
    }

    /// The folder of a run, if there is such a run.
    pub(super) fn existing_folder(&self, name: &str) -> Result<PathBuf, ApiError> {
        let folder = self.folder().join(name);
        if !run_name::is_name(name) || RunRecord::load(&folder).is_none() {
            return Err(ApiError::not_found("there is no such run"));
        }
        Ok(folder)
    }

    /// The folder of the study that a run is of.
    pub(super) fn study_folder(&self, record: &RunRecord) -> PathBuf {
        if record.of_study { self.home.clone() } else { self.folder().join(&record.name) }
    }

    /// A run as its record says. One that is not over and that nobody runs was interrupted.
    pub(super) fn load(&self, name: &str) -> Result<RunRecord, ApiError> {
        let folder = self.existing_folder(name)?;
        let mut record =
            RunRecord::load(&folder).ok_or_else(|| ApiError::not_found("there is no such run"))?;
        let is_locked = || self.lock(&record).is_err_and(|error| error.status == StatusCode::CONFLICT);
        if !record.state.is_over() && !is_locked() {
            let why = "the server ended before the run did; what was answered is kept, and starting again asks the rest";
            record.end(RunState::Interrupted, Some(why.to_owned()));
            record.ended_ms = None;
        }
        Ok(record)
    }

    /// The names of everything in the folder of runs.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// Whether a run has results to show.
    pub(super) fn has_results(&self, record: &RunRecord) -> bool {
        let points = self.study_folder(record).join("points");
        fs::read_dir(points).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// The study that the server shows, if it has a study.toml.
    pub(super) fn home_study(&self) -> Option<Result<Arc<Study>, ApiError>> {
        self.home.join(Study::FILE).exists().then(|| self.study(&self.home))
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// The study in a folder. It is kept in memory: a dataset is never freed once it is read.
    pub(super) fn study(&self, folder: &Path) -> Result<Arc<Study>, ApiError> {
        let stamp = stamp(&folder.join(Study::FILE)).map_err(|_| {
            ApiError::not_found("this folder has no study.toml, so there is nothing to ask again")
        })?;
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

    /// Keeps a study in memory that was written a moment ago.
    pub(super) fn cache_study(&self, folder: &Path, study: &Arc<Study>) {
        if let Ok(stamp) = stamp(&folder.join(Study::FILE)) {
            let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
            insert(&mut studies, folder, stamp, study);
        }
    }

    /// Removes a run's folder with everything in it.
    pub(super) fn remove(&self, folder: &Path) -> Result<(), ApiError> {
        self.studies.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, ..)| known != folder);
        fs::remove_dir_all(folder).map_err(|error| io_error(&error))
    }

    /// Takes the lock of the study that a run is of. It is held until the run ends, and free after a crash.
    pub(super) fn lock(&self, record: &RunRecord) -> Result<File, ApiError> {
        let folder = if record.of_study { self.folder() } else { self.folder().join(&record.name) };
        let file = File::options().create(true).append(true).open(folder.join(".lock"));
        let file = file.map_err(|error| io_error(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(conflict("another server runs this study; wait for it")),
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
            Err(TryLockError::Error(error)) => Err(io_error(&error)),
        }
    }
}

/// Replaces what was known of a folder, and evicts the oldest study if there are many.
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
