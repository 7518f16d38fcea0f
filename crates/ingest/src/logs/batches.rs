//! Maps the samples of a log on all cores, a bounded batch at a time.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::sample::SampleResult;
use crate::{IngestError, Progress};

/// How the reading of a log ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadEnd {
    /// Every sample was read.
    Complete,
    /// It was stopped through [`Progress::stop`] or by the receiver.
    Stopped,
}

/// Receives the samples of a log, a batch at a time and in their order.
pub type SampleSink<'s, T> = dyn FnMut(Vec<SampleResult<T>>) -> ControlFlow<()> + 's;

/// Takes batches from `next` until there are none. `parse` runs on all cores, with a state from `init` per thread.
pub(super) fn read_batches<I: Send, S, T: Send>(
    progress: &Progress,
    mut next: impl FnMut() -> Result<Option<Vec<I>>, IngestError>,
    init: impl Fn() -> S + Sync,
    parse: impl Fn(&mut S, I) -> Result<SampleResult<T>, IngestError> + Sync,
    sink: &mut SampleSink<'_, T>,
) -> Result<ReadEnd, IngestError> {
    while let Some(batch) = next()? {
        let samples: Vec<SampleResult<T>> = batch
            .into_par_iter()
            .map_init(&init, |state, item| parse(state, item))
            .collect::<Result<_, IngestError>>()?;
        progress.done.fetch_add(samples.len() as u64, Ordering::Relaxed);
        if progress.stop.load(Ordering::Relaxed) || sink(samples).is_break() {
            return Ok(ReadEnd::Stopped);
        }
    }
    Ok(ReadEnd::Complete)
}
