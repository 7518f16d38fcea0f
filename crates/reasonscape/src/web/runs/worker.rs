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

use super::record::{Progress, Record, Spent, State, now_ms};
use crate::cli::{cache_path, write_results};
use crate::failure::Failure;
use crate::tally::Tally;

/// Events that may wait to be counted.
const EVENTS: usize = 4_096;
/// How long events gather before they are counted and told.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How often the record is written meanwhile.
const BETWEEN_SAVES: Duration = Duration::from_secs(5);

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
pub(super) struct Live {
    stopper: watch::Sender<Stop>,
    judging: Arc<reasonscape_points::Progress>,
    seen: watch::Sender<Arc<Record>>,
    /// Whether it is the server that ends it.
    pub(super) by_server: AtomicBool,
}

impl Live {
    pub(super) fn new(record: &Record) -> Self {
        let mut record = record.clone();
        record.state = State::Running;
        Self {
            stopper: watch::Sender::new(Stop::No),
            judging: Arc::default(),
            seen: watch::Sender::new(Arc::new(record)),
            by_server: AtomicBool::new(false),
        }
    }

    /// The run as it is now.
    pub(super) fn seen(&self) -> Arc<Record> {
        Arc::clone(&self.seen.borrow())
    }

    pub(super) fn watch(&self) -> watch::Receiver<Arc<Record>> {
        self.seen.subscribe()
    }

    /// The first time waits for what is in flight, the second leaves at once. What is judged is left at once.
    pub(super) fn cancel(&self) {
        let next = if *self.stopper.borrow() == Stop::No { Stop::Drain } else { Stop::Now };
        if self.seen().state == State::Judging {
            self.judging.stop.store(true, Relaxed);
        }
        self.stop(next);
    }

    pub(super) fn stop(&self, stop: Stop) {
        if stop == Stop::Now || self.by_server.load(Relaxed) {
            self.judging.stop.store(true, Relaxed);
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
        let mut work = Work::new(Arc::clone(self), job);
        work.record.save(&work.folder).map_err(|failure| match failure {
            Failure::Broken(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => error,
                Err(error) => std::io::Error::other(error),
            },
            _ => std::io::ErrorKind::Other.into(),
        })?;
        work.tell();
        let name = work.record.name.clone();
        std::thread::Builder::new().name(format!("run {name}")).spawn(move || {
            let live = Arc::clone(&work.live);
            let folder = work.folder.clone();
            let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.run()));
            if ran.is_err() {
                let mut record = Record::clone(&live.seen());
                let why = "the program failed; that is a mistake in it, and what was answered is kept";
                record.end(State::Failed, Some(why.to_owned()));
                let _ = record.save(&folder);
                live.seen.send_replace(Arc::new(record));
            }
            over(&name);
        })?;
        Ok(())
    }
}

/// A run at work.
struct Work {
    live: Arc<Live>,
    study: Study,
    selection: Selection,
    folder: PathBuf,
    record: Record,
    /// Places of the evaluations in the study, in the order of the record.
    places: Vec<usize>,
    before: Vec<Spent>,
    tallies: Vec<Tally>,
    started: Instant,
    saved: Instant,
    _lock: File,
}

impl Work {
    fn new(live: Arc<Live>, job: Job) -> Self {
        let Job { study, selection, folder, lock } = job;
        let mut record = Record::clone(&live.seen());
        let places: Vec<usize> =
            (0..study.evals.len()).filter(|place| is_selected(&study.evals[*place], &selection)).collect();
        let spent = |place: &usize| {
            let id = study.evals[*place].id.as_str();
            let known = record.progress.iter().find(|progress| progress.eval_id == id);
            known.map(Progress::spent).unwrap_or_default()
        };
        let before: Vec<Spent> = places.iter().map(spent).collect();
        record.progress = places.iter().map(|place| Progress::new(&study.evals[*place])).collect();
        record.state = State::Running;
        record.reason = None;
        (record.started_ms, record.ended_ms) = (Some(now_ms()), None);
        let (tallies, now) = (vec![Tally::default(); places.len()], Instant::now());
        Self {
            live,
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
        let (state, reason) = match self.ask_and_judge() {
            Ok(ended) => ended,
            Err(failure) => (State::Failed, Some(self.without_paths(failure))),
        };
        self.record.end(state, reason);
        if let Err(failure) = self.record.save(&self.folder) {
            tracing::error!(?failure, "the record of a run could not be written");
        }
        tracing::info!(run = self.record.name, state = self.record.state.name(), "a run ended");
        self.tell();
    }

    fn ask_and_judge(&mut self) -> Result<(State, Option<String>), Failure> {
        let cache = Cache::open(cache_path(&self.study.folder))?;
        let summary = self.ask(&cache)?;
        for (place, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = self.places[place];
            if let Some(summary) = summary.evals.iter().find(|summary| summary.place == eval) {
                progress.end(&self.study.evals[eval], self.before[place], summary);
            }
        }
        let answers: u64 = summary.evals.iter().map(|eval| eval.cached + eval.answered).sum();
        let is_left = self.live.judging.stop.load(Relaxed);
        if answers > 0 && !is_left {
            let evaluated = self.judge(&cache)?;
            if evaluated.stopped {
                let why = "stopped while answers were judged; starting again judges the rest";
                return Ok((self.stopped_state(), Some(why.to_owned())));
            }
        }
        Ok(self.ending(&summary, answers))
    }

    fn stopped_state(&self) -> State {
        if self.live.by_server.load(Relaxed) { State::Interrupted } else { State::Cancelled }
    }

    /// How a run ended, and why.
    fn ending(&self, summary: &RunSummary, answers: u64) -> (State, Option<String>) {
        if summary.stopped {
            let why = if self.live.by_server.load(Relaxed) { "the server was stopped" } else { "cancelled" };
            let why = format!("{why}; what was answered is kept, and starting again asks the rest");
            return (self.stopped_state(), Some(why));
        }
        if summary.is_complete() {
            return (State::Complete, None);
        }
        let mut reasons: Vec<&str> =
            summary.evals.iter().filter_map(|eval| eval.stopped.as_deref()).collect();
        reasons.extend(
            summary.evals.iter().filter_map(|eval| Some(eval.missing_trials.first()?.problem.as_str())),
        );
        reasons.dedup();
        match (answers, reasons.first()) {
            (0, Some(reason)) => (State::Failed, Some((*reason).to_owned())),
            (0, None) => (State::Failed, Some("nothing was answered".to_owned())),
            _ => {
                let why = "not every trial was answered; what was is kept, and starting again asks the rest";
                (State::Incomplete, Some(why.to_owned()))
            }
        }
    }

    fn ask(&mut self, cache: &Cache) -> Result<RunSummary, Failure> {
        let (events, told) = mpsc::channel(EVENTS);
        let stop = self.live.stopper.subscribe();
        // The thread that asks borrows these, while this one counts.
        let (study, selection) = (self.study.clone(), self.selection.clone());
        let summary = std::thread::scope(|scope| {
            let asking = scope.spawn(|| run(&study, &selection, cache, events, stop));
            self.follow(told);
            asking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        Ok(summary)
    }

    /// Counts events until there are no more of them.
    fn follow(&mut self, mut told: mpsc::Receiver<RunEvent>) {
        let mut batch = Vec::new();
        while told.blocking_recv_many(&mut batch, EVENTS) > 0 {
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
            self.tell();
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    fn judge(&mut self, cache: &Cache) -> Result<Evaluated, Failure> {
        (self.record.state, self.record.reason) = (State::Judging, None);
        self.tell();
        let options = Options { selection: self.selection.clone(), force: false };
        let judging = Arc::clone(&self.live.judging);
        let (study, progress) = (self.study.clone(), Arc::clone(&judging));
        let evaluated = std::thread::scope(|scope| {
            let judged = scope.spawn(|| {
                let evaluated = evaluate(&study, cache, &options, &progress)?;
                if study.dataset.is_some() && !evaluated.stopped {
                    write_results(&study, cache, &progress)?;
                }
                Ok(evaluated)
            });
            while !judged.is_finished() {
                std::thread::sleep(BETWEEN_LOOKS);
                let (done, total) = (judging.done.load(Relaxed), judging.total.load(Relaxed));
                self.record.judged = Some([done.min(total), total]);
                self.tell();
            }
            judged.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        self.record.judged = None;
        evaluated
    }

    /// Tells those who watch, and now and then the disk.
    fn tell(&mut self) {
        if self.saved.elapsed() >= BETWEEN_SAVES {
            self.saved = Instant::now();
            if let Err(failure) = self.record.save(&self.folder) {
                tracing::warn!(?failure, "the record of a run could not be written");
            }
        }
        if self.record.state == State::Running && *self.live.stopper.borrow() != Stop::No {
            self.record.reason = Some("stopping: waiting for what is in flight".to_owned());
        }
        let record = Arc::new(self.record.clone());
        self.live.seen.send_replace(record);
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
