//! Consecutive failures of an endpoint or an evaluation.

use std::time::Instant;

/// An endpoint is down after this many consecutive failures to connect,
pub(crate) const MAX_CONNECT_FAILURES: u32 = 5;
/// or after this many consecutive failures of any kind. If a third of all requests fail, a streak this long has a
/// probability of one in a million.
pub(crate) const MAX_CONSECUTIVE_FAILURES: u32 = 12;

/// Consecutive failures; the owner resets it on every reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FailureStreak {
    /// Consecutive failures to connect.
    pub(crate) connect_failures: u32,
    /// Consecutive failures of any kind.
    pub(crate) total: u32,
    /// When the first of them occurred.
    pub(crate) since: Option<Instant>,
}

impl FailureStreak {
    /// The streak with one more failure.
    pub(crate) fn with_failure(self, is_connect_failure: bool, now: Instant) -> Self {
        Self {
            connect_failures: if is_connect_failure { self.connect_failures + 1 } else { 0 },
            total: self.total + 1,
            since: self.since.or(Some(now)),
        }
    }

    /// Whether too many consecutive connection attempts have failed for this to be chance.
    pub(crate) fn is_unreachable(self) -> bool {
        self.connect_failures >= MAX_CONNECT_FAILURES
    }

    /// Whether the streak is too long to be chance, regardless of the kind of failure.
    pub(crate) fn is_outage(self) -> bool {
        self.is_unreachable() || self.total >= MAX_CONSECUTIVE_FAILURES
    }
}
