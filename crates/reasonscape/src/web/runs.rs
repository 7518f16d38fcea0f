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

use self::create_request::Ask;
pub(super) use self::create_request::Wish;
use self::datasets::{Datasets, not_kept, wrong_lines};
pub(super) use self::datasets::{LONGEST_UPLOAD, Listed, Uploaded, too_long};
pub(super) use self::form_options::Offer;
use self::form_options::is_lent;
pub(super) use self::plan::{KeyNeed, Plan, Said, Sample};
use self::plan::{key_id, keys};
pub(super) use self::record::{Progress, Record, State};
pub(super) use self::results_router::{address as view_address, view, view_home};
use self::worker::Live;
use super::error::Problem;
use super::single_flight::Memo;
use crate::failure::Failure;
use crate::making::write_study;
use crate::output::write_file;
use crate::questions::{Unread, drawn, name_of};

/// Runs that go on at a time.
const MOST_LIVE: usize = 2;
/// Runs that are kept.
const MOST_RUNS: usize = 1_000;
/// Pages that watch runs at a time.
const MOST_LISTENERS: usize = 64;
/// Studies that are kept read.
const MOST_STUDIES: usize = 16;
/// A key that is longer is none.
const LONGEST_KEY: usize = 4_096;

/// Everything about runs that a server knows.
pub(super) struct Runs {
    /// The folder of the study that the server shows.
    home: PathBuf,
    live: Mutex<BTreeMap<String, Arc<Live>>>,
    studies: Mutex<Vec<(PathBuf, Signs, Arc<Study>)>>,
    plans: Memo<plan::PlanOf, Plan>,
    views: results_router::Views,
    listeners: Arc<Semaphore>,
}

/// What changes when a file does: its length, and when it was written.
type Signs = (u64, Option<SystemTime>);

fn signs(file: &Path) -> std::io::Result<Signs> {
    fs::metadata(file).map(|found| (found.len(), found.modified().ok()))
}

impl Runs {
    pub(super) fn new(home: PathBuf) -> Self {
        Self {
            home,
            live: Mutex::default(),
            studies: Mutex::default(),
            plans: Memo::default(),
            views: results_router::Views::default(),
            listeners: Arc::new(Semaphore::new(MOST_LISTENERS)),
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.join("runs")
    }

    fn datasets(&self) -> Datasets {
        Datasets { folder: self.home.join("datasets") }
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder of a run that there is.
    fn place(&self, name: &str) -> Result<PathBuf, Problem> {
        let folder = self.folder().join(name);
        if !run_name::is_name(name) || Record::load(&folder).is_none() {
            return Err(Problem::absent("there is no such run"));
        }
        Ok(folder)
    }

    /// The folder of the study that a run asks.
    fn study_folder(&self, record: &Record) -> PathBuf {
        if record.of_study { self.home.clone() } else { self.folder().join(&record.name) }
    }

    /// A run as it is now.
    pub(super) fn get(&self, name: &str) -> Result<Arc<Record>, Problem> {
        if let Some(live) = self.live().get(name) {
            return Ok(live.seen());
        }
        let folder = self.place(name)?;
        let mut record = Record::load(&folder).ok_or_else(|| Problem::absent("there is no such run"))?;
        // Whoever ran it is gone if nobody holds its lock.
        let is_held = || self.lock(&record).is_err_and(|problem| problem.status == StatusCode::CONFLICT);
        if !record.state.is_over() && !is_held() {
            let why = "the server ended before the run did; what was answered is kept, and starting again asks the rest";
            record.end(State::Interrupted, Some(why.to_owned()));
            record.ended_ms = None;
        }
        Ok(Arc::new(record))
    }

    /// All runs, the latest first.
    pub(super) fn list(&self) -> Vec<Arc<Record>> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut runs: Vec<Arc<Record>> = names.filter_map(|name| self.get(&name).ok()).collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.started_ms.max(Some(run.created_ms)), run.created_ms)));
        runs
    }

    /// Whether there is something to look at.
    pub(super) fn has_results(&self, record: &Record) -> bool {
        let points = self.study_folder(record).join("points");
        fs::read_dir(points).is_ok_and(|mut entries| entries.next().is_some())
    }

    pub(super) fn list_datasets(&self) -> Vec<Listed> {
        self.datasets().list()
    }

    /// The study that the server shows, if it has a file that says what it asks.
    pub(super) fn home_study(&self) -> Option<Result<Arc<Study>, Problem>> {
        self.home.join(Study::FILE).exists().then(|| self.study(&self.home))
    }

    pub(super) async fn take_dataset(&self, name: &str, body: axum::body::Body) -> Result<Uploaded, Problem> {
        self.datasets().take(name, body).await
    }

    pub(super) fn forget_dataset(&self, name: &str) -> Result<(), Problem> {
        self.datasets().delete(name)
    }

    /// The study in a folder. One that was read is kept: a dataset stays in memory for ever once it is.
    fn study(&self, folder: &Path) -> Result<Arc<Study>, Problem> {
        let signs = signs(&folder.join(Study::FILE)).map_err(|_| {
            Problem::absent("this folder has no study.toml, so there is nothing to ask again")
        })?;
        let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., study)) = studies.iter().find(|(known, seen, _)| known == folder && *seen == signs) {
            return Ok(Arc::clone(study));
        }
        let study = Arc::new(Study::load(folder).map_err(|error| study_wrong(&error))?);
        remember(&mut studies, folder, signs, &study);
        Ok(study)
    }

    /// Makes a run of a wish; nothing is asked yet.
    pub(super) fn create(&self, wish: &Wish) -> Result<Record, Problem> {
        if fs::read_dir(self.folder()).is_ok_and(|runs| runs.count() >= MOST_RUNS) {
            let full = format!("there are {MOST_RUNS} runs already; delete some");
            return Err(Problem::new(StatusCode::CONFLICT, full));
        }
        match wish.ask {
            Ask::Study => self.create_of_study(wish),
            Ask::Suite => self.create_of_suite(wish),
            Ask::Dataset => self.create_of_dataset(wish),
        }
    }

    fn create_of_study(&self, wish: &Wish) -> Result<Record, Problem> {
        let study = self.study(&self.home)?;
        let selection = Selection {
            evals: wish.evals.clone(),
            tasks: wish.tasks.clone(),
            count: wish.count.map(|count| count as usize),
            ..Selection::default()
        };
        check_selection(&study, &selection).map_err(|error| run_refused(&error))?;
        let (name, folder) =
            run_name::new_folder(&self.folder(), &study.suite.name).map_err(|e| not_kept(&e))?;
        let mut record = Record::new(&name, format!("this study: {}", asked(&study)));
        (record.of_study, record.form) = (true, wish.form());
        record.models = selected(&study, &selection).map(|eval| eval.name.clone()).collect();
        (record.evals, record.tasks, record.count) = (selection.evals, selection.tasks, wish.count);
        kept(&folder, record.save(&folder))?;
        Ok(record)
    }

    fn create_of_suite(&self, wish: &Wish) -> Result<Record, Problem> {
        self.allow_variable(wish.api_key_env.as_deref())?;
        if let Some(name) = wish.built_in_suite()? {
            return self.create_own(wish, name, &format!("suite = \"{name}\""), |_| Ok(()));
        }
        let home = self.study(&self.home)?;
        let Some(dataset) = &home.dataset else {
            let text = home.suite_text.clone();
            let write = |folder: &Path| write_text(&folder.join("suite.toml"), &text);
            return self.create_own(wish, &home.suite.name, "suite = \"suite.toml\"", write);
        };
        let (file, lines) = (format!("{}.jsonl", run_name::slug(dataset.name())), dataset.to_lines());
        let line = format!("dataset = \"{file}\"");
        self.create_own(wish, dataset.name(), &line, |folder| write_text(&folder.join(&file), &lines))
    }

    fn create_of_dataset(&self, wish: &Wish) -> Result<Record, Problem> {
        self.allow_variable(wish.api_key_env.as_deref())?;
        let Some(name) = &wish.dataset else {
            return Err(Problem::wrong("choose a dataset, or upload one"));
        };
        let file = self.datasets().file(name)?;
        let items = wish.reading()?.items(&file).map_err(|unread| match unread {
            Unread::File(_) => Problem::wrong("this dataset cannot be read"),
            Unread::Lines(problems) => wrong_lines(&problems),
        })?;
        let items = match wish.sample {
            Some(sample) => drawn(items, sample as usize, 0),
            None => items,
        };
        let lines: String = items.iter().map(Item::to_json).map(|item| format!("{item}\n")).collect();
        let copy = format!("{}.jsonl", name_of(&file));
        let line = format!("dataset = \"{copy}\"");
        self.create_own(wish, &name_of(&file), &line, |folder| write_text(&folder.join(&copy), &lines))
    }

    /// A study in a folder of its own; if it is refused, nothing of it stays.
    fn create_own(
        &self,
        wish: &Wish,
        called: &str,
        line: &str,
        prepare: impl FnOnce(&Path) -> Result<(), Failure>,
    ) -> Result<Record, Problem> {
        let text = wish.study(line)?;
        let (name, folder) =
            run_name::new_folder(&self.folder(), called).map_err(|error| not_kept(&error))?;
        let study = prepare(&folder).and_then(|()| write_study(&folder, &text));
        let study = kept(&folder, study)?;
        let study = Arc::new(study);
        if let Ok(signs) = signs(&folder.join(Study::FILE)) {
            let mut studies = self.studies.lock().unwrap_or_else(PoisonError::into_inner);
            remember(&mut studies, &folder, signs, &study);
        }
        let mut record = Record::new(&name, asked(&study));
        record.form = wish.form();
        record.models = study.evals.iter().map(|eval| eval.name.clone()).collect();
        kept(&folder, record.save(&folder))?;
        Ok(record)
    }

    /// Whoever starts runs says where to send a key: only those of model providers are lent, and those that the study
    /// names itself.
    fn allow_variable(&self, name: Option<&str>) -> Result<(), Problem> {
        let Some(name) = name else { return Ok(()) };
        let of_study = self.home_study().and_then(Result::ok);
        let is_named = of_study
            .is_some_and(|study| study.evals.iter().any(|eval| eval.api_key_env.as_deref() == Some(name)));
        if is_named || is_lent(name) {
            return Ok(());
        }
        Err(Problem::wrong(
            "the variable of a key ends in `_API_KEY`, or is one that the study names; others are not lent to a run",
        ))
    }

    /// Starts a run with keys that were typed for it, by what they are for.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &str,
        typed: &BTreeMap<String, String>,
    ) -> Result<Arc<Record>, Problem> {
        let before = self.get(name)?;
        let live = Arc::new(Live::new(&before));
        {
            let mut all = self.live();
            if all.contains_key(name) {
                return Err(conflict("this run is going on already"));
            }
            if before.of_study && all.values().any(|other| other.seen().of_study) {
                return Err(conflict("another run of this study is going on; wait for it, or cancel it"));
            }
            if all.len() >= MOST_LIVE {
                return Err(conflict(&format!(
                    "{MOST_LIVE} runs are going on already; wait for one to end, or cancel it"
                )));
            }
            // From here on nobody else can start it.
            all.insert(name.to_owned(), Arc::clone(&live));
        }
        let started = self.prepare(&before, typed).and_then(|job| {
            let runs = Arc::clone(self);
            live.start(job, move |name| drop(runs.live().remove(name))).map_err(|error| not_kept(&error))
        });
        match started {
            Ok(()) => Ok(live.seen()),
            Err(problem) => {
                self.live().remove(name);
                Err(problem)
            }
        }
    }

    /// Everything that a run needs, or why it cannot begin.
    fn prepare(&self, record: &Record, typed: &BTreeMap<String, String>) -> Result<worker::Job, Problem> {
        let lock = self.lock(record)?;
        let mut study = Study::clone(&*self.study(&self.study_folder(record))?);
        let selection = selection(record);
        let needs = keys(&study, &selection);
        for (id, key) in typed.iter().filter(|(_, key)| !key.trim().is_empty()) {
            let Some(need) = needs.iter().find(|need| need.id == *id) else {
                return Err(Problem::wrong("a key is for something that this run does not ask"));
            };
            let key = key.trim();
            if key.len() > LONGEST_KEY || !key.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
                return Err(Problem::wrong("that is no key: it has characters that no header can carry"));
            }
            for eval in study.evals.iter_mut().filter(|eval| key_id(eval) == need.id) {
                eval.handed_key = Some(ApiKey::new(key));
            }
        }
        check(&study, &selection).map_err(|error| run_refused(&error))?;
        Ok(worker::Job { study, selection, folder: self.folder().join(&record.name), lock })
    }

    /// Takes the lock of the study that a run asks; it is held as long as the run goes on, and free after a crash.
    fn lock(&self, record: &Record) -> Result<File, Problem> {
        let folder = if record.of_study { self.folder() } else { self.folder().join(&record.name) };
        let file = File::options().create(true).append(true).open(folder.join(".lock"));
        let file = file.map_err(|error| not_kept(&error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(conflict("another server runs this study; wait for it")),
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
            Err(TryLockError::Error(error)) => Err(not_kept(&error)),
        }
    }

    /// The first time waits for what is in flight, the second leaves at once.
    pub(super) fn cancel(&self, name: &str) -> Result<Arc<Record>, Problem> {
        let Some(live) = self.live().get(name).cloned() else {
            self.get(name)?;
            return Err(conflict("this run is not going on"));
        };
        live.cancel();
        Ok(live.seen())
    }

    /// Takes a run away with all that it has got; what it added to the study itself stays there.
    pub(super) fn delete(&self, name: &str) -> Result<(), Problem> {
        let record = self.get(name)?;
        if !record.state.is_over() || self.live().contains_key(name) {
            return Err(conflict("this run is going on; cancel it first"));
        }
        let folder = self.place(name)?;
        if !record.of_study {
            drop(self.lock(&record)?);
        }
        self.views.forget(name);
        self.studies.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, ..)| *known != folder);
        fs::remove_dir_all(&folder).map_err(|error| not_kept(&error))
    }

    /// How many runs go on.
    pub(super) fn going(&self) -> usize {
        self.live().len()
    }

    /// Ends all runs with the server: first as Ctrl-C does, then at once.
    pub(super) fn end(&self, stop: Stop) {
        for live in self.live().values() {
            live.by_server.store(true, Relaxed);
            live.stop(stop);
        }
    }

    /// Waits until no run goes on.
    pub(super) async fn ended(&self) {
        while self.going() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Keeps a study in the place of what was known of its folder, and forgets the oldest of many.
fn remember(
    studies: &mut Vec<(PathBuf, Signs, Arc<Study>)>,
    folder: &Path,
    signs: Signs,
    study: &Arc<Study>,
) {
    studies.retain(|(known, ..)| known != folder);
    if studies.len() >= MOST_STUDIES {
        studies.remove(0);
    }
    studies.push((folder.to_owned(), signs, Arc::clone(study)));
}

fn conflict(message: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, message)
}

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, |out| Ok(out.write_all(text.as_bytes())?))
}

/// What came of writing into a new folder; if it failed, the folder goes.
fn kept<T>(folder: &Path, written: Result<T, Failure>) -> Result<T, Problem> {
    written.map_err(|failure| {
        // It was made a moment ago, and nobody knows of it yet.
        let _ = fs::remove_dir_all(folder);
        refused(&failure)
    })
}

/// A failure without paths of the server.
fn refused(failure: &Failure) -> Problem {
    match failure {
        Failure::Input(error) => match error.downcast_ref::<StudyError>() {
            Some(error) => study_wrong(error),
            None => Problem::wrong(format_args!("{}", error.root_cause())),
        },
        Failure::Broken(error) => {
            if let Some(error) = error.root_cause().downcast_ref::<std::io::Error>() {
                return not_kept(error);
            }
            tracing::error!(error = format_args!("{error:#}"), "a run could not be made");
            Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this could not be done; `reasonscape serve --log warn` says why",
            )
        }
        _ => Problem::of(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn study_wrong(error: &StudyError) -> Problem {
    match error {
        StudyError::Wrong { problem, .. } | StudyError::Unknown { problem } => Problem::wrong(problem),
        StudyError::Environment { name, problem } => Problem::wrong(format_args!(
            "the environment variable `{name}` of the server {problem}; type the key for this run"
        )),
        error => {
            tracing::error!(%error, "a study could not be read");
            Problem::wrong("the study.toml of this run cannot be read")
        }
    }
}

fn run_refused(error: &RunError) -> Problem {
    match error {
        RunError::Study(error) => study_wrong(error),
        RunError::Nothing { .. } | RunError::Client { .. } => Problem::wrong(error),
        error => {
            tracing::error!(%error, "a run could not begin");
            Problem::new(
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

fn selection(record: &Record) -> Selection {
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
