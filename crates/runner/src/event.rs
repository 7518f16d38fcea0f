//! What happens during a run, as it happens. Progress bars, logs and pages only consume these.

use std::time::Duration;

use reasonscape_providers::Usage;

/// Something that happened to an evaluation.
#[derive(Debug, Clone)]
pub struct RunEvent {
    /// Index of the evaluation in the study.
    pub eval: usize,
    /// What happened.
    pub kind: EventKind,
}

/// What can happen.
#[derive(Debug, Clone)]
pub enum EventKind {
    /// A round of this many trials begins.
    Planned {
        /// Number of trials.
        trials: u64,
    },
    /// Trials whose response is in the cache already.
    Cached {
        /// Number of trials.
        trials: u64,
    },
    /// A response is durable.
    Answered {
        /// From sending to the last byte.
        latency: Duration,
        /// What was counted.
        usage: Usage,
        /// Whether it was truncated.
        truncated: bool,
    },
    /// A request failed and will be sent again.
    Retrying {
        /// What went wrong.
        problem: String,
        /// How long it waits.
        wait: Duration,
    },
    /// A trial has got no answer in this run: it is missing, and sent again by the next.
    Missing {
        /// Which one: task, coordinates and index.
        trial: String,
        /// Why.
        problem: String,
    },
    /// No response has come for a while. Repeated every second until one does.
    Waiting {
        /// Requests that have been sent and not answered.
        in_flight: u64,
        /// Trials that another process or evaluation has claimed.
        claimed_elsewhere: u64,
        /// Since when nothing has come.
        idle: Duration,
        /// How long until something is sent, if every endpoint asked for a pause or is down.
        pause: Option<Duration>,
    },
    /// No more requests are sent for this evaluation.
    Stopped {
        /// Why, and what to do about it.
        reason: String,
    },
}
