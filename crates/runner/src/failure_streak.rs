//! Consecutive failures, of an endpoint and of an evaluation.

use std::time::Instant;

/// An endpoint is down after this many failures in a row to connect,
pub(crate) const MAX_CONNECT_FAILURES: u32 = 5;
/// and after this many of any kind. Where a third of all requests fail, that happens once in a million.
pub(crate) const MAX_CONSECUTIVE_FAILURES: u32 = 12;

/// Consecutive failures; whoever holds it resets it with a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FailureStreak {
    /// Failures to connect since the last failure of another kind.
    pub(crate) connect_failures: u32,
    /// Failures of any kind.
    pub(crate) total: u32,
    /// When the first of them was noticed.
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

    /// Whether too many connections in a row have failed for that to be chance.
    pub(crate) fn is_unreachable(self) -> bool {
        self.connect_failures >= MAX_CONNECT_FAILURES
    }

    /// Whether the streak is too long to be chance, whatever failed.
    pub(crate) fn is_outage(self) -> bool {
        self.is_unreachable() || self.total >= MAX_CONSECUTIVE_FAILURES
    }
}
