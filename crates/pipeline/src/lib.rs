//! Plans, runs and scores a study as one operation, for every front end alike.
//!
//! [`check`] says whether a run can begin and [`forecast`] what it would send. [`run`] sends every request whose response
//! is not cached and passes on events as they come; [`score`] turns the responses into trials and points.
//!
//! # Promises
//! The only caller of `runner::run`. It prints nothing, handles no signals and reads no arguments: the caller passes a
//! shutdown receiver and consumes the events.

mod dataset_results;

use std::time::Duration;

use reasonscape_cache::{Cache, CacheError};
use reasonscape_points::{EvaluateOptions, Evaluated, PointsError, evaluate};
use reasonscape_study::{Selection, Study};
use tokio::sync::{mpsc, watch};

pub use self::dataset_results::{
    ANSWERS_FILE, RESULTS_DIR, ResultsError, summarize_answers, write_dataset_results,
};
pub use reasonscape_ingest::Progress as ScoreProgress;
pub use reasonscape_runner::progress::{FailureGroup, ProgressCounts, group_failures};
pub use reasonscape_runner::{
    EvalRunSummary, EventKind, Forecast, MissingTrial, RunError, RunEvent, RunSummary, Shutdown, check,
    forecast,
};

/// Events that may wait for their consumer; a full buffer slows the run down.
const EVENT_BUFFER: usize = 4_096;

/// The cache of a study for reading, if it has one yet.
///
/// # Errors
/// A [`CacheError`] when the file cannot be read.
pub fn existing_cache(study: &Study) -> Result<Option<Cache>, CacheError> {
    let path = study.cache_path();
    Ok(if path.exists() { Some(Cache::open_read_only(path)?) } else { None })
}

/// The cache of a study for a run; it is created if there is none.
///
/// # Errors
/// A [`CacheError`] when the file cannot be opened or created.
pub fn open_cache(study: &Study) -> Result<Cache, CacheError> {
    Cache::open(study.cache_path())
}

/// Sends every request of the selected part of a study whose response is not cached, and stores the responses.
///
/// The run has its own threads; this one calls `on_events` with the events since the last call, and then sleeps for
/// `interval` so that they come in batches.
///
/// # Errors
/// A [`RunError`] when the study, a key or the cache does not allow a run.
pub fn run(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    stop: watch::Receiver<Shutdown>,
    interval: Duration,
    mut on_events: impl FnMut(std::vec::Drain<'_, RunEvent>),
) -> Result<RunSummary, RunError> {
    let (sender, mut receiver) = mpsc::channel(EVENT_BUFFER);
    std::thread::scope(|scope| {
        let runner = scope.spawn(|| reasonscape_runner::run(study, selection, cache, sender, stop));
        let mut batch = Vec::new();
        while receiver.blocking_recv_many(&mut batch, EVENT_BUFFER) > 0 {
            on_events(batch.drain(..));
            std::thread::sleep(interval);
        }
        runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The number of responses to score after a run: those that were cached and those that it received.
#[must_use]
pub fn response_count(summary: &RunSummary) -> u64 {
    summary.evals.iter().map(|eval| eval.cached + eval.answered).sum()
}

/// Scores the responses of the selected part of a study and writes its trials and points.
///
/// `progress` reports how far it is, and can stop it.
///
/// # Errors
/// A [`PointsError`] when the cache cannot be read or a file cannot be written.
pub fn score(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    progress: &ScoreProgress,
) -> Result<Evaluated, PointsError> {
    evaluate(study, cache, &EvaluateOptions { selection: selection.clone(), force: false }, progress)
}
