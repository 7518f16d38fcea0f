//! A whole run: requests, scores, results.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reasonscape_cache::{Cache, CacheError};
use reasonscape_core::Point;
use reasonscape_points::EvaluateOptions;
use reasonscape_runner::{NextRound, RunError, RunEvent, RunSummary};
use reasonscape_study::{Eval, Selection, Study};
use tokio::sync::mpsc;

use crate::precision::PrecisionPlanner;
use crate::{EVENT_INTERVAL, ResultsError, RunControl, Scored, score};

/// Events of requests that may wait for their consumer; a full buffer slows the run down.
const EVENT_BUFFER: usize = 4_096;

/// What happens while a study is run, in this order.
#[derive(Debug)]
pub enum Event<'a> {
    /// Events of requests since the last time.
    Requests(&'a [RunEvent]),
    /// Requests are over, and responses are scored: so many of so many, about four times a second.
    Scoring {
        /// Trials scored.
        done: u64,
        /// Trials to score, as far as it is known.
        total: u64,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// Every trial has a response.
    Complete,
    /// Some trials have none, because of a budget or of failures.
    Incomplete,
    /// It was told to end.
    Interrupted,
    /// Responses were being scored when it was told to end; the rest is scored next time.
    ScoringInterrupted,
    /// No trial has a response.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A run that has ended.
#[derive(Debug)]
pub struct Finished {
    /// What became of the requests.
    pub summary: RunSummary,
    /// What was scored; nothing if there was no response, or it was left out.
    pub scored: Option<Scored>,
    /// How it ended.
    pub end: RunEnd,
}

/// Why a run could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The requests.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The scores.
    #[error(transparent)]
    Results(#[from] ResultsError),
}

/// Runs the selected part of a study: sends every request whose response is not cached, stores the responses, and scores
/// them unless told not to.
///
/// It has its own threads; this one calls `on_event`. Events of requests gather for `interval`, since waking up for each
/// would cost as much as the request.
///
/// # Errors
/// A [`PipelineError`] when the study, a key, the cache or the disk does not allow it. A model that fails is not an
/// error: the summary says so.
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
    let next_round = next_round.as_ref().map(|next_round| next_round as &NextRound<'_>);
    let (sender, mut receiver) = mpsc::channel(EVENT_BUFFER);
    let stop = control.subscribe();
    std::thread::scope(|scope| {
        let runner =
            scope.spawn(|| reasonscape_runner::run(study, selection, cache, next_round, sender, stop));
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
    let reason = stopped.or_else(missing).unwrap_or("nothing was answered").to_owned();
    RunEnd::Failed { reason }
}
