//! Runs that are created, started and monitored in the browser.
//!
//! A run belongs to the served study, or has a study of its own in `runs/NAME/`, which the command line can run as well.
//! Each run has a `run.json` there, so that it survives a restart. API keys typed by users are held in memory only, until
//! the run ends.

pub(crate) mod api;
mod create;
mod create_request;
mod datasets;
mod errors;
mod form_options;
mod key_rules;
mod plan;
mod record;
mod results_router;
mod run_name;
mod sse;
mod store;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use reasonscape_pipeline::{Shutdown, check};
use reasonscape_providers::ApiKey;
use reasonscape_study::{Eval, KeyAddress, Selection, Study, is_selected};
use tokio::sync::Semaphore;

pub(crate) use self::api::body_of;
pub(crate) use self::create_request::CreateRunRequest;
pub(crate) use self::datasets::{DatasetInfo, MAX_UPLOAD_LEN, ReceivedDataset, Uploaded, upload_too_long};
use self::errors::{conflict, io_error, run_error};
pub(crate) use self::form_options::{FormOptions, StudyOptions};
use self::key_rules::KeyRules;
pub(crate) use self::plan::{Plan, RequiredKey, Sample};
use self::plan::{key_id, keys};
pub(crate) use self::record::{EvalProgress, RunRecord, RunState};
pub(crate) use self::results_router::{address as view_address, view, view_home};
pub(crate) use self::sse::RunReply;
use self::store::RunStore;
use self::worker::ActiveRun;
use super::error::ApiError;
use super::single_flight::SingleFlight;

/// Maximum number of active runs.
const MAX_ACTIVE_RUNS: usize = 2;
/// Maximum number of event streams.
const MAX_LISTENERS: usize = 64;
/// Maximum length of an API key.
const MAX_KEY_LEN: usize = 4_096;

/// The runs of a server: those on disk and those that are active.
pub(crate) struct Runs {
    store: RunStore,
    active: Mutex<BTreeMap<String, Arc<ActiveRun>>>,
    plans: SingleFlight<plan::PlanKey, Arc<Plan>>,
    views: results_router::Views,
    listeners: Arc<Semaphore>,
    key_rules: KeyRules,
    read_only: bool,
}

impl Runs {
    pub(crate) fn new(home: PathBuf, allowed_keys: Vec<KeyAddress>, read_only: bool) -> Self {
        Self {
            key_rules: KeyRules::new(allowed_keys),
            read_only,
            store: RunStore::new(home),
            active: Mutex::default(),
            plans: SingleFlight::default(),
            views: results_router::Views::default(),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
        }
    }

    fn active(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ActiveRun>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run as it is now.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<RunRecord>, ApiError> {
        if let Some(active) = self.active().get(name) {
            return Ok(active.latest());
        }
        self.store.load(name).map(Arc::new)
    }

    /// All runs, the latest first.
    pub(crate) fn list(&self) -> Vec<Arc<RunRecord>> {
        let names = self.store.names();
        let mut runs: Vec<Arc<RunRecord>> = names.iter().filter_map(|name| self.get(name).ok()).collect();
        runs.sort_by_key(|run| std::cmp::Reverse((run.started_ms.max(Some(run.created_ms)), run.created_ms)));
        runs
    }

    /// Whether a run has results to show.
    pub(crate) fn has_results(&self, record: &RunRecord) -> bool {
        self.store.has_results(record)
    }

    pub(crate) fn list_datasets(&self) -> Vec<DatasetInfo> {
        self.store.datasets().list()
    }

    /// Streams a dataset to disk; [`keep_dataset`](Self::keep_dataset) checks it.
    pub(crate) async fn receive_dataset(&self, name: &str, body: Body) -> Result<ReceivedDataset, ApiError> {
        self.store.datasets().receive(name, body).await
    }

    pub(crate) async fn keep_dataset(&self, received: ReceivedDataset) -> Result<Uploaded, ApiError> {
        self.store.datasets().keep(received).await
    }

    pub(crate) fn delete_dataset(&self, name: &str) -> Result<(), ApiError> {
        self.store.datasets().delete(name)
    }

    /// Starts a run with the typed keys, by the id of [`RequiredKey`].
    pub(crate) fn start(
        self: &Arc<Self>,
        name: &str,
        typed: &BTreeMap<String, String>,
    ) -> Result<Arc<RunRecord>, ApiError> {
        let before = self.get(name)?;
        let active = Arc::new(ActiveRun::new(&before));
        {
            let mut all = self.active();
            if all.contains_key(name) {
                return Err(conflict("this run is already active"));
            }
            if before.of_study && all.values().any(|other| other.latest().of_study) {
                return Err(conflict("another run of this study is active; wait for it or cancel it"));
            }
            if all.len() >= MAX_ACTIVE_RUNS {
                return Err(conflict(&format!(
                    "{MAX_ACTIVE_RUNS} runs are already active; wait for one to end or cancel one"
                )));
            }
            // From here on no other request can start it.
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

    /// Loads and checks everything that a run needs.
    fn prepare(&self, record: &RunRecord, typed: &BTreeMap<String, String>) -> Result<worker::Job, ApiError> {
        let lock = self.store.lock(record)?;
        let mut study = Study::clone(&*self.store.study(&self.store.study_folder(record))?);
        let selection = selection(record);
        let needs = keys(&study, &selection);
        for (id, key) in typed.iter().filter(|(_, key)| !key.trim().is_empty()) {
            let Some(need) = needs.iter().find(|need| need.id == *id) else {
                return Err(ApiError::bad_request("unknown key id; expected one of the `keys` of the plan"));
            };
            let key = key.trim();
            if key.len() > MAX_KEY_LEN || !key.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
                return Err(ApiError::bad_request(
                    "invalid API key; it is too long or has characters other than printable ASCII",
                ));
            }
            for eval in study.evals.iter_mut().filter(|eval| key_id(eval) == need.id) {
                eval.api_key_override = Some(ApiKey::new(key));
            }
        }
        self.check_keys(selected(&study, &selection))?;
        check(&study, &selection).map_err(|error| run_error(&error))?;
        Ok(worker::Job { study, selection, folder: self.store.folder().join(&record.name), lock })
    }

    /// The first call waits for requests in flight, the second aborts them.
    pub(crate) fn cancel(&self, name: &str) -> Result<Arc<RunRecord>, ApiError> {
        let Some(active) = self.active().get(name).cloned() else {
            self.get(name)?;
            return Err(conflict("this run is not active"));
        };
        active.cancel();
        Ok(active.latest())
    }

    /// Deletes a run with its results; what it added to the study itself stays there.
    pub(crate) fn delete(&self, name: &str) -> Result<(), ApiError> {
        let record = self.get(name)?;
        if !record.state.is_over() || self.active().contains_key(name) {
            return Err(conflict("this run is active; cancel it first"));
        }
        let folder = self.store.existing_folder(name)?;
        if !record.of_study {
            drop(self.store.lock(&record)?);
        }
        self.views.evict(name);
        self.store.remove(&folder)
    }

    /// How many runs are active.
    pub(crate) fn active_count(&self) -> usize {
        self.active().len()
    }

    /// Stops all runs because the server ends.
    pub(crate) fn stop_all(&self, stop: Shutdown) {
        for active in self.active().values() {
            active.by_server.store(true, Relaxed);
            active.stop(stop);
        }
    }

    /// Waits until no run is active.
    pub(crate) async fn wait_idle(&self) {
        while self.active_count() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The suite or dataset of a study, in words.
fn describe_source(study: &Study) -> String {
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
