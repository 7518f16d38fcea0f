//! Stopping a run from another thread.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_ingest::Progress;
use reasonscape_runner::Shutdown;
use tokio::sync::watch;

/// Stops a run. Clones control the same run.
#[derive(Debug, Clone)]
pub struct RunControl {
    shutdown: watch::Sender<Shutdown>,
    scoring: Arc<Progress>,
    is_scoring: Arc<AtomicBool>,
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            shutdown: watch::Sender::new(Shutdown::None),
            scoring: Arc::default(),
            is_scoring: Arc::default(),
        }
    }
}

impl RunControl {
    /// The first call lets requests in flight finish and their responses be scored; the second exits at once. During scoring,
    /// the first call exits at once. Returns how the run ends.
    pub fn interrupt(&self) -> Shutdown {
        let is_first = self.shutdown() == Shutdown::None && !self.is_scoring.load(Relaxed);
        let next = if is_first { Shutdown::Drain } else { Shutdown::Immediate };
        self.stop(next);
        next
    }

    /// Ends the run this way, unless it is already ending faster.
    pub fn stop(&self, shutdown: Shutdown) {
        if shutdown == Shutdown::Immediate {
            self.scoring.stop.store(true, Relaxed);
        }
        self.shutdown.send_if_modified(|now| {
            let is_faster = shutdown > *now;
            *now = shutdown.max(*now);
            is_faster
        });
    }

    /// Skips the scoring, or stops it if it has started.
    pub fn stop_scoring(&self) {
        self.scoring.stop.store(true, Relaxed);
    }

    /// The requested kind of shutdown.
    pub fn shutdown(&self) -> Shutdown {
        *self.shutdown.borrow()
    }

    /// Progress of the scoring.
    pub fn scoring(&self) -> &Arc<Progress> {
        &self.scoring
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Shutdown> {
        self.shutdown.subscribe()
    }

    pub(crate) fn begin_scoring(&self) {
        self.is_scoring.store(true, Relaxed);
    }
}
