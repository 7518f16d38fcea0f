//! A run on threads of its own, so that requests are not slowed down: sends, scores, and publishes its progress.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use reasonscape_cache::Cache;
use reasonscape_pipeline as pipeline;
use reasonscape_pipeline::{RunEvent, RunSummary, ScoreProgress, Shutdown, open_cache, response_count};
use reasonscape_points::Evaluated;
use reasonscape_study::{Selection, Study, is_selected};
use tokio::sync::watch;

use super::errors::without_paths;
use super::record::{EvalProgress, RunRecord, RunState, TokensUsed, now_ms};
use reasonscape_pipeline::ProgressCounts;
use reasonscape_pipeline::write_dataset_results;

/// How long events may gather before they are counted and published.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often the record is written meanwhile.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// What to run, and where its record is.
pub(super) struct Job {
    pub(super) study: Study,
    pub(super) selection: Selection,
    /// The folder of the run's record.
    pub(super) folder: PathBuf,
    /// Held until the end.
    pub(super) lock: File,
}

/// An active run.
pub(super) struct ActiveRun {
    stopper: watch::Sender<Shutdown>,
    scoring: Arc<ScoreProgress>,
    latest: watch::Sender<Arc<RunRecord>>,
    /// Whether it is the server that ends it.
    pub(super) by_server: AtomicBool,
}

impl ActiveRun {
    pub(super) fn new(record: &RunRecord) -> Self {
        let mut record = record.clone();
        record.state = RunState::Running;
        Self {
            stopper: watch::Sender::new(Shutdown::None),
            scoring: Arc::default(),
            latest: watch::Sender::new(Arc::new(record)),
            by_server: AtomicBool::new(false),
        }
    }

    /// The run as it is now.
    pub(super) fn latest(&self) -> Arc<RunRecord> {
        Arc::clone(&self.latest.borrow())
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<RunRecord>> {
        self.latest.subscribe()
    }

    /// The first call waits for requests in flight, the second leaves at once. Scoring is left at once.
    pub(super) fn cancel(&self) {
        let next =
            if *self.stopper.borrow() == Shutdown::None { Shutdown::Drain } else { Shutdown::Immediate };
        if self.latest().state == RunState::Judging {
            self.scoring.stop.store(true, Relaxed);
        }
        self.stop(next);
    }

    pub(super) fn stop(&self, stop: Shutdown) {
        if stop == Shutdown::Immediate || self.by_server.load(Relaxed) {
            self.scoring.stop.store(true, Relaxed);
        }
        self.stopper.send_if_modified(|now| {
            let is_more = stop > *now;
            *now = stop.max(*now);
            is_more
        });
    }

    /// Starts the run; `over` is called with its name when it has ended.
    pub(super) fn start(
        self: &Arc<Self>,
        job: Job,
        over: impl FnOnce(&str) + Send + 'static,
    ) -> std::io::Result<()> {
        let mut work = RunWorker::new(Arc::clone(self), job);
        work.record.save(&work.folder)?;
        work.publish();
        let name = work.record.name.clone();
        std::thread::Builder::new().name(format!("run {name}")).spawn(move || {
            let active = Arc::clone(&work.active);
            let folder = work.folder.clone();
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run()));
            if ran.is_err() {
                let mut record = RunRecord::clone(&active.latest());
                let why = "the program failed; that is a mistake in it, and what was answered is kept";
                record.end(RunState::Failed, Some(why.to_owned()));
                let _ = record.save(&folder);
                active.latest.send_replace(Arc::new(record));
            }
            over(&name);
        })?;
        Ok(())
    }
}

/// Why a run failed: any error, since it is only reported.
type RunFailure = Box<dyn std::error::Error + Send + Sync>;

/// Runs and scores on a thread of its own.
struct RunWorker {
    active: Arc<ActiveRun>,
    study: Study,
    selection: Selection,
    folder: PathBuf,
    record: RunRecord,
    /// Indices of the evaluations in the study, in the order of the record.
    evals: Vec<usize>,
    before: Vec<TokensUsed>,
    tallies: Vec<ProgressCounts>,
    started: Instant,
    saved: Instant,
    _lock: File,
}

impl RunWorker {
    fn new(active: Arc<ActiveRun>, job: Job) -> Self {
        let Job { study, selection, folder, lock } = job;
        let mut record = RunRecord::clone(&active.latest());
        let evals: Vec<usize> =
            (0..study.evals.len()).filter(|index| is_selected(&study.evals[*index], &selection)).collect();
        let spent = |index: &usize| {
            let id = study.evals[*index].id.as_str();
            let known = record.progress.iter().find(|progress| progress.eval_id == id);
            known.map(EvalProgress::spent).unwrap_or_default()
        };
        let before: Vec<TokensUsed> = evals.iter().map(spent).collect();
        record.progress = evals.iter().map(|index| EvalProgress::new(&study.evals[*index])).collect();
        record.state = RunState::Running;
        record.reason = None;
        (record.started_ms, record.ended_ms) = (Some(now_ms()), None);
        let (tallies, now) = (vec![ProgressCounts::default(); evals.len()], Instant::now());
        Self {
            active,
            study,
            selection,
            folder,
            record,
            evals,
            before,
            tallies,
            started: now,
            saved: now,
            _lock: lock,
        }
    }

    fn run(&mut self) {
        let (state, reason) = match self.run_and_score() {
            Ok(ended) => ended,
            Err(error) => (RunState::Failed, Some(without_paths(&*error, &self.study.dir))),
        };
        self.record.end(state, reason);
        if let Err(error) = self.record.save(&self.folder) {
            tracing::error!(%error, "the record of a run could not be written");
        }
        tracing::info!(run = self.record.name, state = self.record.state.name(), "a run ended");
        self.publish();
    }

    fn run_and_score(&mut self) -> Result<(RunState, Option<String>), RunFailure> {
        let cache = open_cache(&self.study)?;
        let summary = self.query_models(&cache)?;
        for (index, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = self.evals[index];
            if let Some(summary) = summary.evals.iter().find(|summary| summary.eval_index == eval) {
                progress.end(&self.study.evals[eval], self.before[index], summary);
            }
        }
        let answers = response_count(&summary);
        let is_left = self.active.scoring.stop.load(Relaxed);
        if answers > 0 && !is_left {
            let evaluated = self.score(&cache)?;
            if evaluated.stopped {
                let why = "stopped while answers were judged; starting again judges the rest";
                return Ok((self.stopped_state(), Some(why.to_owned())));
            }
        }
        Ok(self.ending(&summary, answers))
    }

    fn stopped_state(&self) -> RunState {
        if self.active.by_server.load(Relaxed) { RunState::Interrupted } else { RunState::Cancelled }
    }

    /// How a run ended, and why.
    fn ending(&self, summary: &RunSummary, answers: u64) -> (RunState, Option<String>) {
        if summary.stopped {
            let why =
                if self.active.by_server.load(Relaxed) { "the server was stopped" } else { "cancelled" };
            let why = format!("{why}; what was answered is kept, and starting again asks the rest");
            return (self.stopped_state(), Some(why));
        }
        if summary.is_complete() {
            return (RunState::Complete, None);
        }
        let mut reasons: Vec<&str> =
            summary.evals.iter().filter_map(|eval| eval.stopped.as_deref()).collect();
        reasons.extend(
            summary.evals.iter().filter_map(|eval| Some(eval.missing_trials.first()?.problem.as_str())),
        );
        reasons.dedup();
        match (answers, reasons.first()) {
            (0, Some(reason)) => (RunState::Failed, Some((*reason).to_owned())),
            (0, None) => (RunState::Failed, Some("nothing was answered".to_owned())),
            _ => {
                let why = "not every trial was answered; what was is kept, and starting again asks the rest";
                (RunState::Incomplete, Some(why.to_owned()))
            }
        }
    }

    fn query_models(&mut self, cache: &Cache) -> Result<RunSummary, RunFailure> {
        let stop = self.active.stopper.subscribe();
        // The run borrows these while its events are counted here.
        let (study, selection) = (self.study.clone(), self.selection.clone());
        let count = |events: std::vec::Drain<'_, RunEvent>| self.count(events);
        Ok(pipeline::run(&study, &selection, cache, stop, POLL_INTERVAL, count)?)
    }

    fn count(&mut self, events: impl Iterator<Item = RunEvent>) {
        for RunEvent { eval, kind } in events {
            if let Some(index) = self.evals.iter().position(|known| *known == eval) {
                self.tallies[index].count(&kind);
            }
        }
        let elapsed = self.started.elapsed();
        for (index, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = &self.study.evals[self.evals[index]];
            progress.follow(eval, self.before[index], &self.tallies[index], elapsed);
        }
        self.publish();
    }

    fn score(&mut self, cache: &Cache) -> Result<Evaluated, RunFailure> {
        (self.record.state, self.record.reason) = (RunState::Judging, None);
        self.publish();
        let scoring = Arc::clone(&self.active.scoring);
        let (study, selection, progress) = (self.study.clone(), self.selection.clone(), Arc::clone(&scoring));
        let evaluated = std::thread::scope(|scope| {
            let scored = scope.spawn(|| -> Result<Evaluated, RunFailure> {
                let evaluated = pipeline::score(&study, &selection, cache, &progress)?;
                if study.dataset.is_some() && !evaluated.stopped {
                    write_dataset_results(&study, cache, &progress)?;
                }
                Ok(evaluated)
            });
            while !scored.is_finished() {
                std::thread::sleep(POLL_INTERVAL);
                let (done, total) = (scoring.done.load(Relaxed), scoring.total.load(Relaxed));
                self.record.judged = Some([done.min(total), total]);
                self.publish();
            }
            scored.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.record.judged = None;
        evaluated
    }

    /// Publishes the record to watchers, and saves it at intervals.
    fn publish(&mut self) {
        if self.saved.elapsed() >= SAVE_INTERVAL {
            self.saved = Instant::now();
            if let Err(error) = self.record.save(&self.folder) {
                tracing::warn!(%error, "the record of a run could not be written");
            }
        }
        if self.record.state == RunState::Running && *self.active.stopper.borrow() != Shutdown::None {
            self.record.reason = Some("stopping: waiting for what is in flight".to_owned());
        }
        let record = Arc::new(self.record.clone());
        self.active.latest.send_replace(record);
    }
}
