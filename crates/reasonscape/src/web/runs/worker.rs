//! A run on threads of its own, so that readers of pages are not slowed: asks, judges, and tells whoever watches.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use reasonscape_points::{Evaluated, Options, evaluate};
use reasonscape_runner::cache::Cache;
use reasonscape_runner::{RunEvent, RunSummary, Selection, Stop, Study, is_selected, run};
use tokio::sync::{mpsc, watch};

use super::record::{EvalProgress, RunRecord, RunState, TokensUsed, now_ms};
use crate::cli::{cache_path, write_results};
use crate::failure::Failure;
use crate::tally::Tally;

/// Events that may wait to be counted.
const EVENT_BUFFER: usize = 4_096;
/// How long events gather before they are counted and told.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often the record is written meanwhile.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// What is run, and where.
pub(super) struct Job {
    pub(super) study: Study,
    pub(super) selection: Selection,
    /// The folder of the run's record.
    pub(super) folder: PathBuf,
    /// Held until the end.
    pub(super) lock: File,
}

/// A run that goes on.
pub(super) struct ActiveRun {
    stopper: watch::Sender<Stop>,
    scoring: Arc<reasonscape_points::Progress>,
    latest: watch::Sender<Arc<RunRecord>>,
    /// Whether it is the server that ends it.
    pub(super) by_server: AtomicBool,
}

impl ActiveRun {
    pub(super) fn new(record: &RunRecord) -> Self {
        let mut record = record.clone();
        record.state = RunState::Running;
        Self {
            stopper: watch::Sender::new(Stop::No),
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

    /// The first time waits for what is in flight, the second leaves at once. What is judged is left at once.
    pub(super) fn cancel(&self) {
        let next = if *self.stopper.borrow() == Stop::No { Stop::Drain } else { Stop::Now };
        if self.latest().state == RunState::Judging {
            self.scoring.stop.store(true, Relaxed);
        }
        self.stop(next);
    }

    pub(super) fn stop(&self, stop: Stop) {
        if stop == Stop::Now || self.by_server.load(Relaxed) {
            self.scoring.stop.store(true, Relaxed);
        }
        self.stopper.send_if_modified(|now| {
            let is_more = stop > *now;
            *now = stop.max(*now);
            is_more
        });
    }

    /// Starts the run; `over` is told its name when it has ended.
    pub(super) fn start(
        self: &Arc<Self>,
        job: Job,
        over: impl FnOnce(&str) + Send + 'static,
    ) -> std::io::Result<()> {
        let mut work = RunWorker::new(Arc::clone(self), job);
        work.record.save(&work.folder).map_err(|failure| match failure {
            Failure::Broken(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => error,
                Err(error) => std::io::Error::other(error),
            },
            _ => std::io::ErrorKind::Other.into(),
        })?;
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

/// A run at work.
struct RunWorker {
    active: Arc<ActiveRun>,
    study: Study,
    selection: Selection,
    folder: PathBuf,
    record: RunRecord,
    /// Places of the evaluations in the study, in the order of the record.
    places: Vec<usize>,
    before: Vec<TokensUsed>,
    tallies: Vec<Tally>,
    started: Instant,
    saved: Instant,
    _lock: File,
}

impl RunWorker {
    fn new(active: Arc<ActiveRun>, job: Job) -> Self {
        let Job { study, selection, folder, lock } = job;
        let mut record = RunRecord::clone(&active.latest());
        let places: Vec<usize> =
            (0..study.evals.len()).filter(|place| is_selected(&study.evals[*place], &selection)).collect();
        let spent = |place: &usize| {
            let id = study.evals[*place].id.as_str();
            let known = record.progress.iter().find(|progress| progress.eval_id == id);
            known.map(EvalProgress::spent).unwrap_or_default()
        };
        let before: Vec<TokensUsed> = places.iter().map(spent).collect();
        record.progress = places.iter().map(|place| EvalProgress::new(&study.evals[*place])).collect();
        record.state = RunState::Running;
        record.reason = None;
        (record.started_ms, record.ended_ms) = (Some(now_ms()), None);
        let (tallies, now) = (vec![Tally::default(); places.len()], Instant::now());
        Self {
            active,
            study,
            selection,
            folder,
            record,
            places,
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
            Err(failure) => (RunState::Failed, Some(self.without_paths(failure))),
        };
        self.record.end(state, reason);
        if let Err(failure) = self.record.save(&self.folder) {
            tracing::error!(?failure, "the record of a run could not be written");
        }
        tracing::info!(run = self.record.name, state = self.record.state.name(), "a run ended");
        self.publish();
    }

    fn run_and_score(&mut self) -> Result<(RunState, Option<String>), Failure> {
        let cache = Cache::open(cache_path(&self.study.folder))?;
        let summary = self.query_models(&cache)?;
        for (place, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = self.places[place];
            if let Some(summary) = summary.evals.iter().find(|summary| summary.place == eval) {
                progress.end(&self.study.evals[eval], self.before[place], summary);
            }
        }
        let answers: u64 = summary.evals.iter().map(|eval| eval.cached + eval.answered).sum();
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

    fn query_models(&mut self, cache: &Cache) -> Result<RunSummary, Failure> {
        let (events, events_in) = mpsc::channel(EVENT_BUFFER);
        let stop = self.active.stopper.subscribe();
        // The thread that asks borrows these, while this one counts.
        let (study, selection) = (self.study.clone(), self.selection.clone());
        let summary = std::thread::scope(|scope| {
            let asking = scope.spawn(|| run(&study, &selection, cache, events, stop));
            self.follow(events_in);
            asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        Ok(summary)
    }

    /// Counts events until there are no more of them.
    fn follow(&mut self, mut events_in: mpsc::Receiver<RunEvent>) {
        let mut batch = Vec::new();
        while events_in.blocking_recv_many(&mut batch, EVENT_BUFFER) > 0 {
            for RunEvent { eval, kind } in batch.drain(..) {
                if let Some(place) = self.places.iter().position(|place| *place == eval) {
                    self.tallies[place].count(&kind);
                }
            }
            let elapsed = self.started.elapsed();
            for (place, progress) in self.record.progress.iter_mut().enumerate() {
                let eval = &self.study.evals[self.places[place]];
                progress.follow(eval, self.before[place], &self.tallies[place], elapsed);
            }
            self.publish();
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn score(&mut self, cache: &Cache) -> Result<Evaluated, Failure> {
        (self.record.state, self.record.reason) = (RunState::Judging, None);
        self.publish();
        let options = Options { selection: self.selection.clone(), force: false };
        let scoring = Arc::clone(&self.active.scoring);
        let (study, progress) = (self.study.clone(), Arc::clone(&scoring));
        let evaluated = std::thread::scope(|scope| {
            let judged = scope.spawn(|| {
                let evaluated = evaluate(&study, cache, &options, &progress)?;
                if study.dataset.is_some() && !evaluated.stopped {
                    write_results(&study, cache, &progress)?;
                }
                Ok(evaluated)
            });
            while !judged.is_finished() {
                std::thread::sleep(POLL_INTERVAL);
                let (done, total) = (scoring.done.load(Relaxed), scoring.total.load(Relaxed));
                self.record.judged = Some([done.min(total), total]);
                self.publish();
            }
            judged.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.record.judged = None;
        evaluated
    }

    /// Tells those who watch, and now and then the disk.
    fn publish(&mut self) {
        if self.saved.elapsed() >= SAVE_INTERVAL {
            self.saved = Instant::now();
            if let Err(failure) = self.record.save(&self.folder) {
                tracing::warn!(?failure, "the record of a run could not be written");
            }
        }
        if self.record.state == RunState::Running && *self.active.stopper.borrow() != Stop::No {
            self.record.reason = Some("stopping: waiting for what is in flight".to_owned());
        }
        let record = Arc::new(self.record.clone());
        self.active.latest.send_replace(record);
    }

    /// A failure in words, without paths of the server.
    fn without_paths(&self, failure: Failure) -> String {
        match failure {
            Failure::Input(error) | Failure::Broken(error) => {
                let folder = format!("{}/", self.study.folder.display());
                format!("{error:#}").replace(&folder, "")
            }
            _ => "it was interrupted".to_owned(),
        }
    }
}
