//! Plans, runs and scores a study as one operation, for all front ends.
//!
//! [`check`] verifies that a run can start, and [`forecast`] estimates what it would send. [`execute`] sends every request
//! whose response is not cached, scores the responses, also after an interruption or when a budget is used up, and emits
//! [`Event`]s. [`score`] only scores cached responses.
//!
//! # Promises
//! The only caller of `runner::run` and `points::evaluate`. It prints nothing, handles no signals and reads no
//! arguments: the caller holds a [`RunControl`] and consumes the events.

mod control;
mod dataset_results;
mod line_channel;
mod precision;
mod run;
mod study_metrics;

use std::error::Error;
use std::io::{self, ErrorKind};
use std::time::Duration;

use reasonscape_analysis::answer_files::AnswerSummary;
use reasonscape_cache::{Cache, CacheError};
use reasonscape_points::{EvaluateOptions, Evaluated};
use reasonscape_study::{Selection, Study};

pub use self::control::RunControl;
pub use self::dataset_results::{ANSWERS_FILE, RESULTS_DIR, ResultsError, summarize_answers};
pub use self::run::{Event, Finished, PipelineError, RunEnd, check_responses, execute};
pub use self::study_metrics::summarize_export;
pub use reasonscape_ingest::Progress as ScoreProgress;
pub use reasonscape_runner::progress::{FailureGroup, ProgressCounts, group_failures};
pub use reasonscape_runner::{
    EvalRunSummary, EventKind, Forecast, ForecastSummary, MissingTrial, RunError, RunEvent, RunSummary,
    Shutdown, check, forecast,
};

/// Interval at which events are passed on.
pub const EVENT_INTERVAL: Duration = Duration::from_millis(250);

/// Opens the cache of a study for reading, if it exists.
///
/// # Errors
/// A [`CacheError`] when the file cannot be read.
pub fn existing_cache(study: &Study) -> Result<Option<Cache>, CacheError> {
    Cache::open_if_exists(study.cache_path())
}

/// Opens the cache of a study for a run, and creates it if missing.
///
/// # Errors
/// A [`CacheError`] when the file cannot be opened or created.
pub fn open_cache(study: &Study) -> Result<Cache, CacheError> {
    let path = study.cache_path();
    // Before there is a cache, since one without this record would be taken for an earlier version's. A missing directory
    // is reported by the cache.
    match study.keep_version() {
        Err(error) if !path.exists() && study.dir.is_dir() => {
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
            Err(match cause.unwrap_or(&error).kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                    CacheError::Full { path }
                }
                _ => CacheError::ReadOnly { path },
            })
        }
        _ => Cache::open(path),
    }
}

/// Result of a scoring.
#[derive(Debug)]
pub struct Scored {
    /// The scored trials.
    pub evaluated: Evaluated,
    /// Metrics of the responses to a dataset, if any.
    pub answers: Option<AnswerSummary>,
    /// Answers to a dataset that its scorer could only compare as text.
    pub undecided: u64,
}

/// Scores the responses of the selected part of a study and writes its trials and points. For a dataset, every response is
/// scored, since its metrics compare all models of the study.
///
/// `control` tracks the progress, and can stop it.
///
/// # Errors
/// A [`ResultsError`] when the cache cannot be read or a file cannot be written.
pub fn score(
    study: &Study,
    cache: &Cache,
    options: &EvaluateOptions,
    progress: &ScoreProgress,
) -> Result<Scored, ResultsError> {
    if study.dataset.is_some() {
        let options = EvaluateOptions { selection: Selection::default(), force: options.force };
        return dataset_results::score_dataset(study, cache, &options, progress);
    }
    let evaluated = reasonscape_points::evaluate(study, cache, options, progress, None)?;
    Ok(Scored { evaluated, answers: None, undecided: 0 })
}
