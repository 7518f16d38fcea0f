//! Events of a run. Progress bars, logs and pages only consume these.

use std::time::Duration;

use reasonscape_providers::Usage;

/// An event of one evaluation.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// Index of the evaluation in the study.
    pub eval: usize,
    /// Kind and data of the event.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// A round of this many trials starts.
    Planned {
        /// Number of trials.
        trials: u64,
    },
    /// Trials whose response was already in the cache.
    Cached {
        /// Number of trials.
        trials: u64,
    },
    /// A response was stored durably.
    Answered {
        /// From sending the request to the last byte of the reply.
        latency: Duration,
        /// Token counts of the response.
        usage: Usage,
        /// Whether the response was truncated.
        truncated: bool,
    },
    /// A request failed and will be retried.
    Retrying {
        /// The error.
        problem: String,
        /// Delay before the retry.
        wait: Duration,
    },
    /// A trial got no response in this run. It is missing, and the next run sends it again.
    Missing {
        /// The trial: task, parameters and index.
        trial: String,
        /// The error.
        problem: String,
    },
    /// No response has arrived for a while. Repeated every second until one does.
    Waiting {
        /// Requests sent and not yet answered.
        in_flight: u64,
        /// Trials claimed by another process or evaluation.
        claimed_elsewhere: u64,
        /// Time since the last response.
        idle: Duration,
        /// Time until the next request, if every endpoint requested a pause or is down.
        pause: Option<Duration>,
    },
    /// No more requests are sent for this evaluation.
    Stopped {
        /// The reason, and what to do about it.
        reason: String,
    },
}
