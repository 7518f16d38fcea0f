//! What a server knows: the study as it was last read, and the answers that were worked out from it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use reasonscape_points::{Filter, PointsDb, PointsError, StoredTrial};
use reasonscape_stats::Mode;
use tokio::sync::Mutex;

use super::analysis_cache::Answers;
use super::auth::Access;
use super::comparison;
use super::error::Problem;
use super::pages::Templates;
use super::prometheus::Metrics;
use super::runs::Runs;
use super::single_flight::Memo;
use super::trial_query::{Listing, Wanted};
use crate::analysis::{Asked, Leaderboard, leaderboard};

/// Files are looked at no more often than this.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A server.
pub(super) struct App {
    folder: PathBuf,
    /// What the study is called.
    pub(super) title: String,
    /// What stands before every path: nothing, or as `/x`.
    pub(super) base: String,
    pub(super) access: Arc<Access>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) templates: Arc<Templates>,
    /// The study whose run this is, if it is one.
    pub(super) home: Option<Home>,
    /// Runs are made in the study that was named at the start, not in theirs.
    runs: Option<Arc<Runs>>,
    /// Nothing, as long as the study has no trials.
    current: RwLock<Option<Arc<Snapshot>>>,
    looked: Mutex<Instant>,
    /// Whether the files have changed since, into something that cannot be read.
    is_stale: AtomicBool,
}

/// The study that another belongs to.
pub(super) struct Home {
    pub(super) title: String,
    pub(super) base: String,
}

/// A study as it was read at one moment.
pub(super) struct Snapshot {
    pub(super) db: PointsDb,
    /// Trials in all.
    pub(super) trials: u64,
    /// What was found odd.
    pub(super) remarks: Vec<String>,
    stamp: Stamp,
    boards: Memo<(Mode, Vec<String>), Leaderboard>,
    listings: Memo<Wanted, Listing>,
    rows: Memo<(Wanted, u64, usize), Vec<StoredTrial>>,
    pub(super) versus: comparison::Answers,
    pub(super) answers: Answers,
}

impl App {
    pub(super) fn new(
        folder: PathBuf,
        title: String,
        base: String,
        access: Access,
        snapshot: Option<Snapshot>,
    ) -> Self {
        Self {
            title,
            base,
            access: Arc::new(access),
            metrics: Arc::default(),
            templates: Arc::new(Templates::new()),
            home: None,
            runs: Some(Arc::new(Runs::new(folder.clone()))),
            current: RwLock::new(snapshot.map(Arc::new)),
            looked: Mutex::new(Instant::now()),
            is_stale: AtomicBool::new(false),
            folder,
        }
    }

    /// The study of a run, with the same readers and the same look.
    pub(super) fn within(&self, folder: PathBuf, title: String, base: String, snapshot: Snapshot) -> Self {
        Self {
            folder,
            title,
            base,
            access: Arc::clone(&self.access),
            metrics: Arc::clone(&self.metrics),
            templates: Arc::clone(&self.templates),
            home: Some(Home { title: self.title.clone(), base: self.base.clone() }),
            runs: None,
            current: RwLock::new(Some(Arc::new(snapshot))),
            looked: Mutex::new(Instant::now()),
            is_stale: AtomicBool::new(false),
        }
    }

    pub(super) fn runs(&self) -> Result<&Arc<Runs>, Problem> {
        self.runs.as_ref().ok_or_else(|| Problem::absent("a run has no runs of its own"))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What every page says while the study cannot be read.
    pub(super) fn trouble(&self) -> Option<String> {
        self.is_stale.load(Relaxed).then(|| {
            "the files of the study have changed and cannot be read: this is what they said before; `reasonscape serve \
             --log warn` says why"
                .to_owned()
        })
    }

    /// The study as it is now. Nobody gets as far as a page that asks for it while it has no trials.
    pub(super) async fn study(&self) -> Arc<Snapshot> {
        self.opened().await.expect("pages of a study without trials are not shown")
    }

    /// The study as it is now, if it has trials. What cannot be read leaves what was read before, with a remark.
    pub(super) async fn opened(&self) -> Option<Arc<Snapshot>> {
        let known = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        // Whoever comes while another looks takes what is there.
        let Ok(mut looked) = self.looked.try_lock() else { return known };
        if looked.elapsed() < LOOK_AGAIN {
            return known;
        }
        let stamp = Stamp::of(&self.folder);
        *looked = Instant::now();
        if known.as_ref().is_some_and(|known| stamp == known.stamp) {
            self.is_stale.store(false, Relaxed);
            return known;
        }
        let read = match Snapshot::open(&self.folder).await {
            Ok(read) => read,
            Err(PointsError::Empty { .. }) if known.is_none() => return None,
            Err(error) => {
                tracing::warn!(%error, "the study changed and cannot be read");
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
    pub(super) async fn open(folder: &Path) -> Result<Self, PointsError> {
        // Before reading: what changes meanwhile is read again next time.
        let stamp = Stamp::of(folder);
        let db = PointsDb::open(folder).await?;
        let total = db.aggregate(&[], &Filter::default(), Mode::E_I).await?;
        let mut remarks = db.remarks().to_vec();
        remarks.extend(crate::analysis::truncation_note(&db));
        Ok(Self {
            trials: total.iter().map(|group| group.counts.n).sum(),
            remarks,
            stamp,
            db,
            boards: Memo::default(),
            listings: Memo::default(),
            rows: Memo::default(),
            versus: comparison::Answers::default(),
            answers: Answers::default(),
        })
    }

    /// The leaderboard of what these conditions mean.
    pub(super) async fn board(&self, mode: Mode, conditions: &[String]) -> Result<Arc<Leaderboard>, Problem> {
        let asked = Asked::parse(conditions)?;
        let work = async || leaderboard(&self.db, &asked, mode).await;
        Ok(self.boards.get((mode, conditions.to_vec()), work).await?)
    }

    /// Which trials are meant, and where.
    pub(super) async fn listing(&self, wanted: &Wanted) -> Result<Arc<Listing>, Problem> {
        Ok(self.listings.get(wanted.clone(), async || Listing::of(&self.db, wanted).await).await?)
    }

    /// So many of these trials, from a place on.
    pub(super) async fn rows(
        &self,
        wanted: &Wanted,
        first: u64,
        most: usize,
    ) -> Result<Arc<Vec<StoredTrial>>, Problem> {
        let listing = self.listing(wanted).await?;
        let work = async || listing.rows(&self.db, first, most).await;
        Ok(self.rows.get((wanted.clone(), first, most), work).await?)
    }
}

/// Which files a study has, how long they are and when they were written.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    files: Vec<(PathBuf, u64, Option<SystemTime>)>,
}

impl Stamp {
    fn of(folder: &Path) -> Self {
        let mut folders = vec![folder.join("points"), folder.join("trials")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            // A folder that went away is a change like any other.
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
