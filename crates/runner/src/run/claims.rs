//! From the plan to the wire: claims each request, so that no other process sends it too.

use std::time::Duration;

use reasonscape_cache::Claim;
use reasonscape_study::PlannedTrial;
use tokio::sync::mpsc;
use tracing::trace;

use super::RunError;
use super::counters::EvalCounters;
use super::eval_runner::EvalRunner;
use super::planner::{Batch, PLAN_QUEUE, PlanMessage};

/// Claims made at once: those of some milliseconds, since they wait as long for the disk as the answers do.
const CLAIM_BATCH: usize = 512;
/// How often to check whether another process has answered a request it claimed.
const FOREIGN_CLAIM_POLL: Duration = Duration::from_millis(300);

impl<'s> EvalRunner<'_, 's> {
    /// Claims every trial of the plan, and passes on what is granted until the plan ends.
    pub(super) async fn claim_plan(
        &self,
        mut planned: mpsc::Receiver<PlanMessage<'s>>,
        granted: mpsc::Sender<PlannedTrial<'s>>,
    ) -> Result<(), RunError> {
        let mut claimed_elsewhere: Vec<PlannedTrial<'s>> = Vec::new();
        let mut messages = Vec::with_capacity(PLAN_QUEUE);
        while planned.recv_many(&mut messages, PLAN_QUEUE).await > 0 {
            let (mut offered, mut marks) = (Vec::new(), Vec::new());
            for message in messages.drain(..) {
                let Batch { uncached, cached, marks: raised } = match message {
                    PlanMessage::Batch(batch) => batch,
                    PlanMessage::Failed(error) => return Err(error),
                };
                EvalCounters::add(&self.counters.planned, uncached.len() as u64 + cached);
                offered.extend(uncached);
                marks.extend(raised);
                if cached > 0 {
                    self.count_cached(cached).await;
                }
            }
            if self.is_stopping() {
                return Ok(());
            }
            if !marks.is_empty() {
                // Before any of them is sent: scoring looks no further than the marks.
                self.shared.writer.raise_marks(marks).await?;
            }
            claimed_elsewhere.extend(self.claim_batch(offered, &granted).await?);
        }
        self.counters.finish_plan();
        // Another process has answered these by now, or soon will, or has given up its claims.
        while !claimed_elsewhere.is_empty() && !self.is_stopping() {
            self.idle.claimed_elsewhere.set(claimed_elsewhere.len() as u64);
            self.wait(FOREIGN_CLAIM_POLL).await;
            claimed_elsewhere = self.claim_batch(claimed_elsewhere, &granted).await?;
        }
        self.idle.claimed_elsewhere.set(0);
        Ok(())
    }

    /// Passes on what is granted, and returns what another process or evaluation has claimed.
    async fn claim_batch(
        &self,
        mut offered: Vec<PlannedTrial<'s>>,
        granted: &mpsc::Sender<PlannedTrial<'s>>,
    ) -> Result<Vec<PlannedTrial<'s>>, RunError> {
        let mut claimed_elsewhere = Vec::new();
        for rest in (0..offered.len().div_ceil(CLAIM_BATCH)).rev() {
            let batch = offered.split_off(rest * CLAIM_BATCH);
            let claims =
                self.shared.writer.claim(batch.iter().map(|planned| planned.id.clone()).collect()).await?;
            for (planned, claim) in batch.into_iter().zip(claims) {
                match claim {
                    // The receiver lives until this sender is dropped.
                    Claim::Granted => _ = granted.send(planned).await,
                    Claim::Stored => self.count_cached(1).await,
                    Claim::Taken => {
                        trace!(trial = planned.name(), "claim refused: somebody is asking it");
                        claimed_elsewhere.push(planned);
                    }
                }
            }
        }
        Ok(claimed_elsewhere)
    }
}
