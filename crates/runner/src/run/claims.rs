//! Claims planned requests, so that no other process sends them too.

use std::time::Duration;

use reasonscape_cache::Claim;
use reasonscape_study::PlannedTrial;
use tokio::sync::mpsc;
use tracing::trace;

use super::RunError;
use super::counters::EvalCounters;
use super::eval_runner::EvalRunner;
use super::planner::{Batch, PLAN_QUEUE, PlanMessage};

/// Maximum claims per transaction: claims wait for the disk as long as responses do, so they are batched.
const CLAIM_BATCH: usize = 512;
/// How often to check whether another process has answered a request it claimed.
const FOREIGN_CLAIM_POLL: Duration = Duration::from_millis(300);

impl<'s> EvalRunner<'_, 's> {
    /// Claims every trial of the plan, and forwards the granted ones until the plan ends.
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
                let Batch { uncached, cached, saved, marks: raised } = match message {
                    PlanMessage::Batch(batch) => batch,
                    PlanMessage::Failed(error) => return Err(error),
                };
                EvalCounters::add(&self.counters.planned, uncached.len() as u64 + cached);
                offered.extend(uncached);
                marks.extend(raised);
                self.counters.add_saved(&saved);
                if cached > 0 {
                    self.count_cached(cached).await;
                }
            }
            if self.is_stopping() {
                return Ok(());
            }
            if !marks.is_empty() {
                // Raise the marks before any request is sent: scoring reads only up to the marks.
                match self.shared.writer.raise_marks(marks).await {
                    Err(error) if error.is_unwritable() => {
                        self.shared.storage.fail(&error);
                        return Ok(());
                    }
                    raised => raised?,
                }
            }
            claimed_elsewhere.extend(self.claim_batch(offered, &granted).await?);
        }
        self.counters.finish_plan();
        // By now or soon, the other process has answered these or released its claims.
        while !claimed_elsewhere.is_empty() && !self.is_stopping() {
            self.idle.claimed_elsewhere.set(claimed_elsewhere.len() as u64);
            self.wait(FOREIGN_CLAIM_POLL).await;
            claimed_elsewhere = self.claim_batch(claimed_elsewhere, &granted).await?;
        }
        self.idle.claimed_elsewhere.set(0);
        Ok(())
    }

    /// Forwards granted trials, and returns those claimed by another process or evaluation.
    async fn claim_batch(
        &self,
        mut offered: Vec<PlannedTrial<'s>>,
        granted: &mpsc::Sender<PlannedTrial<'s>>,
    ) -> Result<Vec<PlannedTrial<'s>>, RunError> {
        let mut claimed_elsewhere = Vec::new();
        for rest in (0..offered.len().div_ceil(CLAIM_BATCH)).rev() {
            let batch = offered.split_off(rest * CLAIM_BATCH);
            let ids = batch.iter().map(|planned| planned.id.clone()).collect();
            let claims = match self.shared.writer.claim(ids).await {
                Err(error) if error.is_unwritable() => {
                    self.shared.storage.fail(&error);
                    return Ok(Vec::new());
                }
                claims => claims?,
            };
            for (planned, claim) in batch.into_iter().zip(claims) {
                match claim {
                    // The receiver outlives this sender.
                    Claim::Granted => _ = granted.send(planned).await,
                    Claim::Stored => self.count_cached(1).await,
                    Claim::Taken => {
                        trace!(trial = planned.name(), "claim refused: already claimed");
                        claimed_elsewhere.push(planned);
                    }
                }
            }
        }
        Ok(claimed_elsewhere)
    }
}
