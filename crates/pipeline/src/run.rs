//! A complete run: requests, scoring, results.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reasonscape_cache::{Cache, CacheError};
use reasonscape_core::Point;
use reasonscape_points::{EvaluateOptions, PointsError};
use reasonscape_runner::{AdaptiveRounds, NextRound, RunError, RunEvent, RunSummary};
use reasonscape_study::{Eval, Selection, Study};
use tokio::sync::mpsc;

use crate::precision::PrecisionPlanner;
use crate::{EVENT_INTERVAL, ResultsError, RunControl, Scored, score};

/// Maximum queued request events; a full queue slows the run down.
const EVENT_BUFFER: usize = 4_096;

/// Events of a study's run, in this order.
#[derive(Debug)]
pub enum Event<'a> {
    /// Request events since the last call.
    Requests(&'a [RunEvent]),
    /// All requests are finished and responses are being scored: done and total, about four times a second.
    Scoring {
        /// Trials scored.
        done: u64,
        /// Trials to score, as far as known.
        total: u64,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// Every trial has a response.
    Complete,
    /// Some trials have none, because of a budget or failures.
    Incomplete,
    /// Stopped by a shutdown request.
    Interrupted,
    /// Stopped during scoring; the next run scores the rest.
    ScoringInterrupted,
    /// No trial has a response.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    /// Result of the requests.
    pub summary: RunSummary,
    /// Result of the scoring; `None` if there was no response or scoring was skipped.
    pub scored: Option<Scored>,
    /// How it ended.
    pub end: RunEnd,
}

/// Why a run could not start, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The cache failed.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Sending the requests failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Scoring or writing the results failed.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// Reading the trials on disk failed.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The cache has fewer responses than the trials on disk were scored from.
    #[error(
        "cache `{}` has lost {lost} of the responses that the trials of this study were scored from, and a run would send their \
         requests again; restore the cache from a backup, or use `reasonscape run --resend` to send (and pay for) them again",
        cache.display()
    )]
    LostResponses {
        /// The cache.
        cache: PathBuf,
        /// Number of missing responses.
        lost: u64,
    },
}

/// Checks that the cache still holds the responses that the trials on disk were scored from. With a lost or truncated cache,
/// a run would send every request again.
///
/// # Errors
/// [`PipelineError::LostResponses`] if it doesn't; another [`PipelineError`] if files can't be read.
pub fn check_responses(study: &Study, cache: &Cache) -> Result<(), PipelineError> {
    match reasonscape_points::count_lost_responses(&study.dir, Some(cache))? {
        0 => Ok(()),
        lost => Err(PipelineError::LostResponses { cache: cache.path().to_owned(), lost }),
    }
}

/// Runs the selected part of a study: sends every request whose response is not cached, stores the responses, and scores
/// them if `evaluate` is set.
///
/// Work happens on other threads; the calling thread runs `on_event`. Request events are batched for `interval`, since a
/// wake-up per event would cost as much as the request.
///
/// # Errors
/// A [`PipelineError`] when the study, an API key, the cache or the disk prevents the run. A failing model is not an error:
/// the summary reports it.
pub fn execute(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    control: &RunControl,
    evaluate: bool,
    interval: Duration,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Finished, PipelineError> {
    let summary = send_requests(study, selection, cache, control, interval, on_event)?;
    let responses: u64 = summary.evals.iter().map(|eval| eval.cached + eval.answered).sum();
    let is_left_out = !evaluate || responses == 0 || control.scoring().stop.load(Relaxed);
    let scored =
        if is_left_out { None } else { Some(score_all(study, selection, cache, control, on_event)?) };
    let end = end(&summary, scored.as_ref(), responses);
    Ok(Finished { summary, scored, end })
}

fn send_requests(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    control: &RunControl,
    interval: Duration,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<RunSummary, RunError> {
    let planner = study.precision.map(|precision| PrecisionPlanner::new(study, cache, precision));
    let next_round = planner.as_ref().map(|planner| {
        |eval: &Eval, points: &[Point<'_>], last: Option<&[Range<usize>]>| {
            planner.next_round(eval, points, last)
        }
    });
    let adaptive = planner.as_ref().zip(next_round.as_ref()).map(|(planner, next_round)| AdaptiveRounds {
        next: next_round as &NextRound<'_>,
        stop_rule: planner.rule(),
    });
    let (sender, mut receiver) = mpsc::channel(EVENT_BUFFER);
    let stop = control.subscribe();
    std::thread::scope(|scope| {
        let runner =
            scope.spawn(|| reasonscape_runner::run(study, selection, cache, adaptive.as_ref(), sender, stop));
        let mut batch = Vec::new();
        while receiver.blocking_recv_many(&mut batch, EVENT_BUFFER) > 0 {
            on_event(Event::Requests(&batch));
            batch.clear();
            std::thread::sleep(interval);
        }
        runner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn score_all(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    control: &RunControl,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Scored, ResultsError> {
    control.begin_scoring();
    let progress = control.scoring();
    let options = EvaluateOptions { selection: selection.clone(), force: false };
    std::thread::scope(|scope| {
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let scoring = scope.spawn(move || {
            // Dropped when the work ends, even by a panic.
            let _done = done;
            score(study, cache, &options, progress)
        });
        let mut report = || {
            let (done, total) = (progress.done.load(Relaxed), progress.total.load(Relaxed));
            on_event(Event::Scoring { done: done.min(total), total });
        };
        report();
        while ended.recv_timeout(EVENT_INTERVAL) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            report();
        }
        report();
        scoring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn end(summary: &RunSummary, scored: Option<&Scored>, responses: u64) -> RunEnd {
    if scored.is_some_and(|scored| scored.evaluated.stopped) {
        return RunEnd::ScoringInterrupted;
    }
    if summary.stopped {
        return RunEnd::Interrupted;
    }
    if summary.is_complete() {
        return RunEnd::Complete;
    }
    if responses > 0 {
        return RunEnd::Incomplete;
    }
    let stopped = summary.evals.iter().find_map(|eval| eval.stopped.as_deref());
    let missing =
        || summary.evals.iter().find_map(|eval| Some(eval.missing_trials.first()?.problem.as_str()));
    let reason = stopped.or_else(missing).unwrap_or("no request was answered").to_owned();
    RunEnd::Failed { reason }
}
