//! Executes a run on its own threads, so that it doesn't slow down requests, and publishes its progress.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use reasonscape_pipeline::{
    Event, Finished, PipelineError, ProgressCounts, RunControl, RunEnd, RunEvent, Shutdown, check_responses,
    execute, open_cache,
};
use reasonscape_study::{Selection, Study, is_selected};
use tokio::sync::watch;

use super::errors::without_paths;
use super::record::{EvalProgress, RunRecord, RunState, TokensUsed, now_ms};

/// How often events are counted and published.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between saves of the record during a run.
const SAVE_INTERVAL: Duration = Duration::from_secs(5);

/// The reason shown while a run is stopping.
const STOPPING: &str = "stopping: waiting for requests in flight";

/// A run to execute.
pub(super) struct Job {
    pub(super) study: Study,
    pub(super) selection: Selection,
    /// The directory of the record.
    pub(super) folder: PathBuf,
    /// Held until the run ends.
    pub(super) lock: File,
}

/// An active run.
pub(super) struct ActiveRun {
    control: RunControl,
    latest: watch::Sender<Arc<RunRecord>>,
    /// Whether the run is being stopped because the server shuts down.
    pub(super) by_server: AtomicBool,
}

impl ActiveRun {
    pub(super) fn new(record: &RunRecord) -> Self {
        let mut record = record.clone();
        record.state = RunState::Running;
        Self {
            control: RunControl::default(),
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

    /// The first call waits for requests in flight and scores them, the second aborts them. Scoring is aborted immediately.
    pub(super) fn cancel(&self) {
        self.control.interrupt();
        // Published now, because the next event may be seconds away.
        self.latest.send_if_modified(|record| {
            let is_running = record.state == RunState::Running;
            if is_running {
                Arc::make_mut(record).reason = Some(STOPPING.to_owned());
            }
            is_running
        });
    }

    /// Stops the run. If the server shuts down, remaining responses are scored when the run is resumed.
    pub(super) fn stop(&self, shutdown: Shutdown) {
        if self.by_server.load(Relaxed) {
            self.control.stop_scoring();
        }
        self.control.stop(shutdown);
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
                let why = "internal error: the run panicked, please report this bug; all responses are kept";
                record.end(RunState::Failed, Some(why.to_owned()));
                let _ = record.save(&folder);
                active.latest.send_replace(Arc::new(record));
            }
            over(&name);
        })?;
        Ok(())
    }
}

/// Executes and scores a run on its own thread.
struct RunWorker {
    active: Arc<ActiveRun>,
    study: Study,
    selection: Selection,
    folder: PathBuf,
    record: RunRecord,
    /// Indices of the evaluations in the study, in the order of the record.
    evals: Vec<usize>,
    before: Vec<TokensUsed>,
    counts: Vec<ProgressCounts>,
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
        let (counts, now) = (vec![ProgressCounts::default(); evals.len()], Instant::now());
        Self {
            active,
            study,
            selection,
            folder,
            record,
            evals,
            before,
            counts,
            started: now,
            saved: now,
            _lock: lock,
        }
    }

    fn run(&mut self) {
        let (state, reason) = match self.run_and_score() {
            Ok(finished) => self.ending(&finished),
            Err(error) => (RunState::Failed, Some(without_paths(&error, &self.study.dir))),
        };
        self.record.end(state, reason);
        if let Err(error) = self.record.save(&self.folder) {
            tracing::error!(%error, "the record of a run could not be saved");
        }
        tracing::info!(run = self.record.name, state = self.record.state.name(), "run ended");
        self.publish();
    }

    fn run_and_score(&mut self) -> Result<Finished, PipelineError> {
        let cache = open_cache(&self.study)?;
        check_responses(&self.study, &cache)?;
        // The run borrows these while its events are counted here.
        let (study, selection, control) =
            (self.study.clone(), self.selection.clone(), self.active.control.clone());
        let finished =
            execute(&study, &selection, &cache, &control, true, POLL_INTERVAL, &mut |event| match event {
                Event::Requests(events) => self.count(events),
                Event::Scoring { done, total } => {
                    (self.record.state, self.record.reason) = (RunState::Judging, None);
                    self.record.judged = Some([done, total]);
                    self.publish();
                }
            })?;
        self.record.judged = None;
        for (index, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = self.evals[index];
            if let Some(summary) = finished.summary.evals.iter().find(|summary| summary.eval_index == eval) {
                progress.end(&self.study.evals[eval], self.before[index], summary);
            }
        }
        Ok(finished)
    }

    /// The final state of a run, and the reason.
    fn ending(&self, finished: &Finished) -> (RunState, Option<String>) {
        let by_server = self.active.by_server.load(Relaxed);
        let stopped = if by_server { RunState::Interrupted } else { RunState::Cancelled };
        let (state, reason) = match &finished.end {
            RunEnd::Complete => return (RunState::Complete, None),
            RunEnd::Failed { reason } => (RunState::Failed, reason.clone()),
            RunEnd::Incomplete => (
                RunState::Incomplete,
                "some trials have no response; all responses are kept, and resuming sends the remaining requests".to_owned(),
            ),
            RunEnd::ScoringInterrupted => {
                (stopped, "stopped while scoring; resuming scores the remaining responses".to_owned())
            }
            RunEnd::Interrupted => {
                let why = if by_server { "the server was stopped" } else { "cancelled" };
                (stopped, format!("{why}; all responses are kept, and resuming sends the remaining requests"))
            }
        };
        (state, Some(reason))
    }

    fn count(&mut self, events: &[RunEvent]) {
        for RunEvent { eval, kind } in events {
            if let Some(index) = self.evals.iter().position(|known| known == eval) {
                self.counts[index].count(kind);
            }
        }
        let elapsed = self.started.elapsed();
        for (index, progress) in self.record.progress.iter_mut().enumerate() {
            let eval = &self.study.evals[self.evals[index]];
            progress.follow(eval, self.before[index], &self.counts[index], elapsed);
        }
        self.publish();
    }

    /// Publishes the record to watchers, and saves it at intervals.
    fn publish(&mut self) {
        if self.saved.elapsed() >= SAVE_INTERVAL {
            self.saved = Instant::now();
            if let Err(error) = self.record.save(&self.folder) {
                tracing::warn!(%error, "the record of a run could not be saved");
            }
        }
        if self.record.state == RunState::Running && self.active.control.shutdown() != Shutdown::None {
            self.record.reason = Some(STOPPING.to_owned());
        }
        let record = Arc::new(self.record.clone());
        self.active.latest.send_replace(record);
    }
}
