//! Runs that are made, started and watched in the browser.
//!
//! A run is of the study that the server shows, or of a study of its own in `runs/NAME/`, which the command line can run
//! as well. Each has a folder there with a `run.json`, so that it is known after the server's end. A key that somebody
//! types lives as long as its run does, in memory only.

pub(in crate::web) mod api;
mod create_request;
mod datasets;
mod form_options;
mod plan;
mod record;
mod results_router;
mod run_name;
mod sse;
mod worker;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use reasonscape_core::Item;
use reasonscape_runner::{
    ApiKey, Eval, RunError, Selection, Stop, Study, StudyError, check, check_selection, is_selected,
};
use tokio::sync::Semaphore;

pub(super) use self::create_request::CreateRunRequest;
use self::create_request::RunSource;
pub(super) use self::datasets::{DatasetInfo, MAX_UPLOAD_LEN, Uploaded, upload_too_long};
use self::datasets::{Datasets, invalid_lines_error, io_error};
use self::form_options::is_allowed_key_var;
pub(super) use self::form_options::{FormOptions, StudyOptions};
pub(super) use self::plan::{Plan, PromptMessage, RequiredKey, Sample};
use self::plan::{key_id, keys};
pub(super) use self::record::{EvalProgress, RunRecord, RunState};
pub(super) use self::results_router::{address as view_address, view, view_home};
use self::worker::ActiveRun;
use super::error::ApiError;
use super::single_flight::SingleFlight;
use crate::failure::Failure;
use crate::making::write_study;
use crate::output::write_file;
use crate::questions::{Unread, drawn, name_of};

/// Runs that go on at a time.
const MAX_ACTIVE_RUNS: usize = 2;
/// Runs that are kept.
const MAX_RUNS: usize = 1_000;
/// Pages that watch runs at a time.
const MAX_LISTENERS: usize = 64;
/// Studies that are kept read.
const MAX_CACHED_STUDIES: usize = 16;
/// A key that is longer is none.
const MAX_KEY_LEN: usize = 4_096;

/// Everything about runs that a server knows.
pub(super) struct Runs {
    /// The folder of the study that the server shows.
    home: PathBuf,
    active: Mutex<BTreeMap<String, Arc<ActiveRun>>>,
    studies: Mutex<Vec<(PathBuf, FileStamp, Arc<Study>)>>,
    plans: SingleFlight<plan::PlanKey, Arc<Plan>>,
    views: results_router::Views,
    listeners: Arc<Semaphore>,
}

/// What changes when a file does: its length, and when it was written.
type FileStamp = (u64, Option<SystemTime>);

fn stamp(file: &Path) -> std::io::Result<FileStamp> {
    fs::metadata(file).map(|found| (found.len(), found.modified().ok()))
}

impl Runs {
    pub(super) fn new(home: PathBuf) -> Self {
        Self {
            home,
            active: Mutex::default(),
            studies: Mutex::default(),
            plans: SingleFlight::default(),
            views: results_router::Views::default(),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.join("runs")
    }

    fn datasets(&self) -> Datasets {
        Datasets { folder: self.home.join("datasets") }
    }

    fn active(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ActiveRun>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a run that there is.
    fn place(&self, name: &str) -> Result<PathBuf, ApiError> {
        let folder = self.folder().join(name);
        if !run_name::is_name(name) || RunRecord::load(&folder).is_none() {
            return Err(ApiError::not_found("there is no such run"));
        }
        Ok(folder)
    }

    /// The folder of the study that a run asks.
    fn study_folder(&self, record: &RunRecord) -> PathBuf {
        if record.of_study { self.home.clone() } else { self.folder().join(&record.name) }
    }

    /// A run as it is now.
    pub(super) fn get(&self, name: &str) -> Result<Arc<RunRecord>, ApiError> {
        if let Some(active) = self.active().get(name) {
            return Ok(active.latest());
        }
        let folder = self.place(name)?;
        let mut record =
            RunRecord::load(&folder).ok_or_else(|| ApiError::not_found("there is no such run"))?;
        // Whoever ran it is gone if nobody holds its lock.
        let is_held = || self.lock(&record).is_err_and(|problem| problem.status == StatusCode::CONFLICT);
        if !record.state.is_over() && !is_held() {
            let why = "the server ended before the run did; what was answered is kept, and starting again asks the rest";
            record.end(RunState::Interrupted, Some(why.to_owned()));
            record.ended_ms = None;
        }
        Ok(Arc::new(record))
    }

    /// All runs, the latest first.
    pub(super) fn list(&self) -> Vec<Arc<RunRecord>> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut runs: Vec<Arc<RunRecord>> = names.filter_map(|name| self.get(&name).ok()).collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.started_ms.max(Some(run.created_ms)), run.created_ms)));
        runs
    }

    /// Whether there is something to look at.
    pub(super) fn has_results(&self, record: &RunRecord) -> bool {
        let points = self.study_folder(record).join("points");
        fs::read_dir(points).is_ok_and(|mut entries| entries.next().is_some())
    }

    pub(super) fn list_datasets(&self) -> Vec<DatasetInfo> {
        self.datasets().list()
    }

    /// The study that the server shows, if it has a file that says what it asks.
    pub(super) fn home_study(&self) -> Option<Result<Arc<Study>, ApiError>> {
        self.home.join(Study::FILE).exists().then(|| self.study(&self.home))
    }

    pub(super) async fn store_dataset(
        &self,
        name: &str,
        body: axum::body::Body,
    ) -> Result<Uploaded, ApiError> {
        self.datasets().store(name, body).await
    }

    pub(super) fn delete_dataset(&self, name: &str) -> Result<(), ApiError> {
        self.datasets().delete(name)
    }

    /// The study in a folder. One that was read is kept: a dataset stays in memory for ever once it is.
    fn study(&self, folder: &Path) -> Result<Arc<Study>, ApiError> {
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
        remember(&mut studies, folder, stamp, &study);
        Ok(study)
    }

    /// Makes a run of a wish; nothing is asked yet.
    pub(super) fn create(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        if fs::read_dir(self.folder()).is_ok_and(|runs| runs.count() >= MAX_RUNS) {
            let full = format!("there are {MAX_RUNS} runs already; delete some");
            return Err(ApiError::new(StatusCode::CONFLICT, full));
        }
        match request.source {
            RunSource::Study => self.create_of_study(request),
            RunSource::Suite => self.create_of_suite(request),
            RunSource::Dataset => self.create_of_dataset(request),
        }
    }

    fn create_of_study(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        let study = self.study(&self.home)?;
        let selection = Selection {
            evals: request.evals.clone(),
            tasks: request.tasks.clone(),
            count: request.count.map(|count| count as usize),
            ..Selection::default()
        };
        check_selection(&study, &selection).map_err(|error| run_error(&error))?;
        let (name, folder) =
            run_name::new_folder(&self.folder(), &study.suite.name).map_err(|e| io_error(&e))?;
        let mut record = RunRecord::new(&name, format!("this study: {}", asked(&study)));
        (record.of_study, record.form) = (true, request.form());
        record.models = selected(&study, &selection).map(|eval| eval.name.clone()).collect();
        (record.evals, record.tasks, record.count) = (selection.evals, selection.tasks, request.count);
        kept(&folder, record.save(&folder))?;
        Ok(record)
    }

    fn create_of_suite(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        self.check_key_var(request.api_key_env.as_deref())?;
        if let Some(name) = request.built_in_suite()? {
            return self.create_own(request, name, &format!("suite = \"{name}\""), |_| Ok(()));
        }
        let home = self.study(&self.home)?;
        let Some(dataset) = &home.dataset else {
            let text = home.suite_text.clone();
            let write = |folder: &Path| write_text(&folder.join("suite.toml"), &text);
            return self.create_own(request, &home.suite.name, "suite = \"suite.toml\"", write);
        };
        let (file, lines) = (format!("{}.jsonl", run_name::slug(dataset.name())), dataset.to_lines());
        let line = format!("dataset = \"{file}\"");
        self.create_own(request, dataset.name(), &line, |folder| write_text(&folder.join(&file), &lines))
    }

    fn create_of_dataset(&self, request: &CreateRunRequest) -> Result<RunRecord, ApiError> {
        self.check_key_var(request.api_key_env.as_deref())?;
        let Some(name) = &request.dataset else {
            return Err(ApiError::bad_request("choose a dataset, or upload one"));
        };
        let file = self.datasets().file(name)?;
        let items = request.dataset_format()?.items(&file).map_err(|unread| match unread {
            Unread::File(_) => ApiError::bad_request("this dataset cannot be read"),
            Unread::Lines(problems) => invalid_lines_error(&problems),
        })?;
        let items = match request.sample {
            Some(sample) => drawn(items, sample as usize, 0),
            None => items,
        };
        let lines: String = items.iter().map(Item::to_json).map(|item| format!("{item}\n")).collect();
        let copy = format!("{}.jsonl", name_of(&file));
        let line = format!("dataset = \"{copy}\"");
        self.create_own(request, &name_of(&file), &line, |folder| write_text(&folder.join(&copy), &lines))
    }

    /// A study in a folder of its own; if it is refused, nothing of it stays.
    fn create_own(
        &self,
        request: &CreateRunRequest,
        called: &str,
        line: &str,
        prepare: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<RunRecord, ApiError> {
        let text = request.study_toml(line)?;
        let (name, folder) =
            run_name::new_folder(&self.folder(), called).map_err(|error| io_error(&error))?;
        let study = prepare(&folder).and_then(|()| write_study(&folder, &text));
        let study = kept(&folder, study)?;
        let study = Arc::new(study);
        if let Ok(stamp) = stamp(&folder.join(Study::FILE)) {
            let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
            remember(&mut studies, &folder, stamp, &study);
        }
        let mut record = RunRecord::new(&name, asked(&study));
        record.form = request.form();
        record.models = study.evals.iter().map(|eval| eval.name.clone()).collect();
        kept(&folder, record.save(&folder))?;
        Ok(record)
    }

    /// Whoever starts runs says where to send a key: only those of model providers are lent, and those that the study
    /// names itself.
    fn check_key_var(&self, name: Option<&str>) -> Result<(), ApiError> {
        let Some(name) = name else { return Ok(()) };
        let of_study = self.home_study().and_then(Result::ok);
        let is_named = of_study
            .is_some_and(|study| study.evals.iter().any(|eval| eval.api_key_env.as_deref() == Some(name)));
        if is_named || is_allowed_key_var(name) {
            return Ok(());
        }
        Err(ApiError::bad_request(
            "the variable of a key ends in `_API_KEY`, or is one that the study names; others are not lent to a run",
        ))
    }

    /// Starts a run with keys that were typed for it, by what they are for.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &str,
        typed: &BTreeMap<String, String>,
    ) -> Result<Arc<RunRecord>, ApiError> {
        let before = self.get(name)?;
        let active = Arc::new(ActiveRun::new(&before));
        {
            let mut all = self.active();
            if all.contains_key(name) {
                return Err(conflict("this run is going on already"));
            }
            if before.of_study && all.values().any(|other| other.latest().of_study) {
                return Err(conflict("another run of this study is going on; wait for it, or cancel it"));
            }
            if all.len() >= MAX_ACTIVE_RUNS {
                return Err(conflict(&format!(
                    "{MAX_ACTIVE_RUNS} runs are going on already; wait for one to end, or cancel it"
                )));
            }
            // From here on nobody else can start it.
            all.insert(name.to_owned(), Arc::clone(&active));
        }
        let started = self.prepare(&before, typed).and_then(|job| {
            let runs = Arc::clone(self);
            active.start(job, move |name| drop(runs.active().remove(name))).map_err(|error| io_error(&error))
        });
        match started {
            Ok(()) => Ok(active.latest()),
            Err(problem) => {
                self.active().remove(name);
                Err(problem)
            }
        }
    }

    /// Everything that a run needs, or why it cannot begin.
    fn prepare(&self, record: &RunRecord, typed: &BTreeMap<String, String>) -> Result<worker::Job, ApiError> {
        let lock = self.lock(record)?;
        let mut study = Study::clone(&*self.study(&self.study_folder(record))?);
        let selection = selection(record);
        let needs = keys(&study, &selection);
        for (id, key) in typed.iter().filter(|(_, key)| !key.trim().is_empty()) {
            let Some(need) = needs.iter().find(|need| need.id == *id) else {
                return Err(ApiError::bad_request("a key is for something that this run does not ask"));
            };
            let key = key.trim();
            if key.len() > MAX_KEY_LEN || !key.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
                return Err(ApiError::bad_request(
                    "that is no key: it has characters that no header can carry",
                ));
            }
            for eval in study.evals.iter_mut().filter(|eval| key_id(eval) == need.id) {
                eval.handed_key = Some(ApiKey::new(key));
            }
        }
        check(&study, &selection).map_err(|error| run_error(&error))?;
        Ok(worker::Job { study, selection, folder: self.folder().join(&record.name), lock })
    }

    /// Takes the lock of the study that a run asks; it is held as long as the run goes on, and free after a crash.
    fn lock(&self, record: &RunRecord) -> Result<File, ApiError> {
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

    /// The first time waits for what is in flight, the second leaves at once.
    pub(super) fn cancel(&self, name: &str) -> Result<Arc<RunRecord>, ApiError> {
        let Some(active) = self.active().get(name).cloned() else {
            self.get(name)?;
            return Err(conflict("this run is not going on"));
        };
        active.cancel();
        Ok(active.latest())
    }

    /// Takes a run away with all that it has got; what it added to the study itself stays there.
    pub(super) fn delete(&self, name: &str) -> Result<(), ApiError> {
        let record = self.get(name)?;
        if !record.state.is_over() || self.active().contains_key(name) {
            return Err(conflict("this run is going on; cancel it first"));
        }
        let folder = self.place(name)?;
        if !record.of_study {
            drop(self.lock(&record)?);
        }
        self.views.evict(name);
        self.studies.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, ..)| *known != folder);
        fs::remove_dir_all(&folder).map_err(|error| io_error(&error))
    }

    /// How many runs go on.
    pub(super) fn active_count(&self) -> usize {
        self.active().len()
    }

    /// Ends all runs with the server: first as Ctrl-C does, then at once.
    pub(super) fn end(&self, stop: Stop) {
        for active in self.active().values() {
            active.by_server.store(true, Relaxed);
            active.stop(stop);
        }
    }

    /// Waits until no run goes on.
    pub(super) async fn wait_idle(&self) {
        while self.active_count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Keeps a study in the place of what was known of its folder, and forgets the oldest of many.
fn remember(
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

fn conflict(message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, message)
}

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, |out| Ok(out.write_all(text.as_bytes())?))
}

/// What came of writing into a new folder; if it failed, the folder goes.
fn kept<T>(folder: &Path, written: Result<T, Failure>) -> Result<T, ApiError> {
    written.map_err(|failure| {
        // It was made a moment ago, and nobody knows of it yet.
        let _ = fs::remove_dir_all(folder);
        refused(&failure)
    })
}

/// A failure without paths of the server.
fn refused(failure: &Failure) -> ApiError {
    match failure {
        Failure::Input(error) => match error.downcast_ref::<StudyError>() {
            Some(error) => study_error(error),
            None => ApiError::bad_request(format_args!("{}", error.root_cause())),
        },
        Failure::Broken(error) => {
            if let Some(error) = error.root_cause().downcast_ref::<std::io::Error>() {
                return io_error(error);
            }
            tracing::error!(error = format_args!("{error:#}"), "a run could not be made");
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this could not be done; `reasonscape serve --log warn` says why",
            )
        }
        _ => ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn study_error(error: &StudyError) -> ApiError {
    match error {
        StudyError::Wrong { problem, .. } | StudyError::Unknown { problem } => ApiError::bad_request(problem),
        StudyError::Environment { name, problem } => ApiError::bad_request(format_args!(
            "the environment variable `{name}` of the server {problem}; type the key for this run"
        )),
        error => {
            tracing::error!(%error, "a study could not be read");
            ApiError::bad_request("the study.toml of this run cannot be read")
        }
    }
}

fn run_error(error: &RunError) -> ApiError {
    match error {
        RunError::Study(error) => study_error(error),
        RunError::Nothing { .. } | RunError::Client { .. } => ApiError::bad_request(error),
        error => {
            tracing::error!(%error, "a run could not begin");
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the responses of this study cannot be read; `reasonscape cache verify` says why",
            )
        }
    }
}

/// What a study asks, in words.
fn asked(study: &Study) -> String {
    match &study.dataset {
        Some(dataset) => format!("dataset {}, {} questions", dataset.name(), dataset.len()),
        None => format!("suite {}", study.suite.name),
    }
}

fn selection(record: &RunRecord) -> Selection {
    Selection {
        evals: record.evals.clone(),
        tasks: record.tasks.clone(),
        count: record.count.map(|count| count as usize),
        ..Selection::default()
    }
}

fn selected<'s>(study: &'s Study, selection: &'s Selection) -> impl Iterator<Item = &'s Eval> {
    study.evals.iter().filter(|eval| is_selected(eval, selection))
}
