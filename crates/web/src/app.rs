//! The state that request handlers share: the study as it was last read, its analyses and its runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use reasonscape_points::{Filter, PointsDb, PointsError};
use reasonscape_stats::Mode;
use reasonscape_study::KeyAddress;
use tokio::sync::Mutex;

use super::analysis_cache::AnalysisCache;
use super::auth::Access;
use super::error::ApiError;
use super::pages::Templates;
use super::params::first;
use super::prometheus::RequestMetrics;
use super::query_string::Query;
use super::runs::Runs;

/// Files are checked for changes at most this often.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);
/// Snapshots limited to the first problems of each point that are kept open.
const MAX_FIRSTS: usize = 4;

/// Builds the routes of a study.
pub(crate) type StudyRoutes = fn(&App) -> Router<Arc<App>>;

/// A server, or the results of one of its runs.
pub(crate) struct App {
    folder: PathBuf,
    /// The title of the study.
    pub(crate) title: String,
    /// The base path: empty, or like `/x`.
    pub(crate) base: String,
    pub(crate) access: Arc<Access>,
    pub(crate) metrics: Arc<RequestMetrics>,
    pub(crate) templates: Arc<Templates>,
    /// The study that this run belongs to, if this is a run.
    pub(crate) parent: Option<ParentStudy>,
    /// Builds the routes of a study; also used for the results of runs.
    pub(crate) study_routes: StudyRoutes,
    /// `None` for the results of a run: runs belong to the served study.
    runs: Option<Arc<Runs>>,
    /// `None` as long as the study has no trials.
    current: RwLock<Option<Arc<Snapshot>>>,
    looked: Mutex<Instant>,
    /// Whether the files changed since and could not be read.
    is_stale: AtomicBool,
    /// Snapshots limited to the first problems of each point, by that number; most recently used last.
    firsts: Mutex<Vec<(u64, Arc<Snapshot>)>>,
}

/// The study that a run belongs to.
pub(crate) struct ParentStudy {
    pub(crate) title: String,
    pub(crate) base: String,
}

/// A study as it was last read.
pub(crate) struct Snapshot {
    pub(crate) analyses: AnalysisCache,
    /// Total number of trials.
    pub(crate) trials: u64,
    /// Notes shown on every page of the study.
    pub(crate) remarks: Vec<String>,
    stamp: Stamp,
}

impl App {
    pub(crate) fn new(
        folder: PathBuf,
        title: String,
        base: String,
        access: Access,
        allowed_keys: Vec<KeyAddress>,
        snapshot: Option<Snapshot>,
        study_routes: StudyRoutes,
    ) -> Self {
        let runs = Runs::new(folder.clone(), allowed_keys, access.read_only);
        Self {
            title,
            base,
            access: Arc::new(access),
            metrics: Arc::default(),
            templates: Arc::new(Templates::new()),
            parent: None,
            study_routes,
            runs: Some(Arc::new(runs)),
            current: RwLock::new(snapshot.map(Arc::new)),
            looked: Mutex::new(Instant::now()),
            is_stale: AtomicBool::new(false),
            firsts: Mutex::default(),
            folder,
        }
    }

    /// The study of a run, with the access rules and templates of this server.
    pub(crate) fn within(&self, folder: PathBuf, title: String, base: String, snapshot: Snapshot) -> Self {
        Self {
            folder,
            title,
            base,
            access: Arc::clone(&self.access),
            metrics: Arc::clone(&self.metrics),
            templates: Arc::clone(&self.templates),
            parent: Some(ParentStudy { title: self.title.clone(), base: self.base.clone() }),
            study_routes: self.study_routes,
            runs: None,
            current: RwLock::new(Some(Arc::new(snapshot))),
            looked: Mutex::new(Instant::now()),
            is_stale: AtomicBool::new(false),
            firsts: Mutex::default(),
        }
    }

    pub(crate) fn runs(&self) -> Result<&Arc<Runs>, ApiError> {
        self.runs.as_ref().ok_or_else(|| ApiError::not_found("a run has no runs of its own"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The note on every page while the study cannot be read.
    pub(crate) fn stale_note(&self) -> Option<String> {
        self.is_stale.load(Relaxed).then(|| {
            "the study files changed and can't be read, so these are the results from before; `reasonscape serve --log \
             warn` logs the error"
                .to_owned()
        })
    }

    /// Makes the next request look for changes at once.
    pub(crate) async fn look_for_changes(&self) {
        let mut looked = self.looked.lock().await;
        *looked = looked.checked_sub(RELOAD_INTERVAL).unwrap_or(*looked);
    }

    /// The study as it is now. Only called behind `require_results`, so it has trials.
    pub(crate) async fn study(&self) -> Arc<Snapshot> {
        self.opened().await.expect("`require_results` rejects requests to a study without trials")
    }

    /// The study as it is now, limited to the first problems of each point if the query has `first`.
    pub(crate) async fn study_for(&self, query: &Query) -> Result<Arc<Snapshot>, ApiError> {
        let study = self.study().await;
        let Some(first) = first(query)? else { return Ok(study) };
        // Held while reading, so that concurrent requests don't read the study twice.
        let mut firsts = self.firsts.lock().await;
        firsts.retain(|(_, known)| known.stamp == study.stamp);
        let known = firsts.iter().position(|(number, _)| *number == first);
        let snapshot = match known {
            Some(index) => firsts.remove(index).1,
            None => Arc::new(Snapshot::open(&self.folder, Some(first)).await?),
        };
        if firsts.len() >= MAX_FIRSTS {
            firsts.remove(0);
        }
        firsts.push((first, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The study as it is now, if it has trials. If its files can't be read, returns the last snapshot and sets the stale note.
    pub(crate) async fn opened(&self) -> Option<Arc<Snapshot>> {
        let known = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        // Don't wait for a check that is already running.
        let Ok(mut looked) = self.looked.try_lock() else { return known };
        if looked.elapsed() < RELOAD_INTERVAL {
            return known;
        }
        let stamp = Stamp::read(&self.folder);
        *looked = Instant::now();
        if known.as_ref().is_some_and(|known| stamp == known.stamp) {
            self.is_stale.store(false, Relaxed);
            return known;
        }
        let read = match Snapshot::open(&self.folder, None).await {
            Ok(read) => read,
            Err(PointsError::Empty { .. }) if known.is_none() => return None,
            Err(error) => {
                tracing::warn!(%error, "the study changed and can't be read");
                self.is_stale.store(true, Relaxed);
                return known;
            }
        };
        self.is_stale.store(false, Relaxed);
        self.metrics.reloads.fetch_add(1, Relaxed);
        let read = Arc::new(read);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&read));
        Some(read)
    }
}

impl Snapshot {
    /// Reads a study, or only the first problems of each point.
    pub(crate) async fn open(folder: &Path, first: Option<u64>) -> Result<Self, PointsError> {
        // Taken before reading, so that changes made during the read trigger another reload.
        let stamp = Stamp::read(folder);
        let db = PointsDb::open_first(folder, first).await?;
        let total = db.aggregate(&[], &Filter::default(), Mode::E_I.into()).await?;
        let mut remarks = db.remarks().to_vec();
        remarks.extend(reasonscape_analysis::truncation_note(&db));
        remarks.extend(first.map(|first| format!("limited to the first {first} problems of each point")));
        Ok(Self {
            trials: total.iter().map(|group| group.counts.n).sum(),
            remarks,
            stamp,
            analyses: AnalysisCache::new(db),
        })
    }
}

/// The files of a study with their sizes and modification times.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    files: Vec<(PathBuf, u64, Option<SystemTime>)>,
}

impl Stamp {
    fn read(folder: &Path) -> Self {
        let mut folders = vec![folder.join("points"), folder.join("trials")];
        let mut files = Vec::new();
        // Written last, when new files become the state of the study.
        let manifest = folder.join("manifest.json");
        if let Ok(found) = std::fs::metadata(&manifest) {
            files.push((manifest, found.len(), found.modified().ok()));
        }
        while let Some(folder) = folders.pop() {
            // A missing directory is a change like any other.
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                match std::fs::metadata(&path) {
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) => files.push((path, found.len(), found.modified().ok())),
                    Err(_) => {}
                }
            }
        }
        files.sort();
        Self { files }
    }
}
