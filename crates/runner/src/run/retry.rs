//! What to do after a failed attempt at a request: a pure function of the attempt, the failure and the state of the
//! endpoints.

use std::time::Duration;

use reasonscape_study::Limits;

use crate::client::backoff;
use crate::failure_streak::FailureStreak;

/// What to do after one attempt at a request.
#[derive(Debug, PartialEq)]
pub(super) enum AttemptResult {
    Stored,
    /// The response arrived and could not be written to disk.
    Unstored,
    Retry {
        reason: String,
        after: Duration,
    },
    /// Repeat the attempt when the endpoint is up again.
    RetryWhenUp {
        reason: String,
    },
    Abandon {
        reason: String,
        scope: AbandonScope,
    },
}

/// Scope of an abandoned request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AbandonScope {
    /// Only this trial, which is then missing.
    Trial,
    /// Every request of the evaluation, because all would fail the same way.
    Eval,
}

/// How an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// Every request of the evaluation would fail the same way until a setting is corrected.
    Fatal,
    /// This request was rejected, and would be again.
    Refused,
    /// The endpoint is overloaded. It is up, so this doesn't count in a [`FailureStreak`].
    Overloaded,
    /// No connection was established.
    Unreachable,
    /// Any other transient failure.
    Other,
}

impl FailureKind {
    /// Whether the failure suggests that the endpoint may be down.
    pub(super) fn counts_in_streak(self) -> bool {
        matches!(self, Self::Unreachable | Self::Other)
    }
}

/// A failed attempt.
#[derive(Debug)]
pub(super) struct AttemptFailure {
    pub(super) kind: FailureKind,
    pub(super) reason: String,
    /// How long the endpoint asked to wait.
    pub(super) min_wait: Option<Duration>,
}

/// State of the evaluation's endpoints after the failure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EndpointState {
    /// Consecutive failures of the evaluation's requests.
    pub(super) streak: FailureStreak,
    /// Whether any request of the evaluation has been answered.
    pub(super) has_replied: bool,
    /// Whether another endpoint is up.
    pub(super) is_another_up: bool,
    pub(super) outage: OutageExtent,
}

/// Extent of an outage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OutageExtent {
    /// The endpoint that failed is up.
    #[default]
    None,
    /// The endpoint that failed is down.
    Down,
    /// All endpoints have been down for longer than the evaluation's outage timeout.
    Lost,
}

/// Decides what to do after attempt number `attempt`, from 1. `random` is uniform in `[0, 1)`.
///
/// An endpoint that has never replied and keeps failing is abandoned early: a setting is probably wrong, and waiting would
/// not help. If it has replied before, the run waits for it. Attempts during an outage do not count towards the maximum
/// number of retries.
pub(super) fn decide(
    attempt: u32,
    failure: AttemptFailure,
    endpoints: &EndpointState,
    limits: &Limits,
    random: f64,
) -> AttemptResult {
    let AttemptFailure { kind, reason, min_wait } = failure;
    let abandon = |reason, scope| AttemptResult::Abandon { reason, scope };
    match kind {
        FailureKind::Fatal => return abandon(reason, AbandonScope::Eval),
        FailureKind::Refused => return abandon(reason, AbandonScope::Trial),
        FailureKind::Unreachable | FailureKind::Other
            if !endpoints.is_another_up && !endpoints.has_replied =>
        {
            if endpoints.streak.is_unreachable() {
                return abandon(reason, AbandonScope::Eval);
            }
            if endpoints.streak.is_outage() {
                let reason = format!(
                    "none of the first {} requests was answered; check the server, `base_url` and \
                     `model`: {reason}",
                    endpoints.streak.total
                );
                return abandon(reason, AbandonScope::Eval);
            }
        }
        FailureKind::Unreachable | FailureKind::Other | FailureKind::Overloaded => {}
    }
    match endpoints.outage {
        OutageExtent::Down => AttemptResult::RetryWhenUp { reason },
        OutageExtent::Lost => {
            let reason = format!(
                "no answer for {} seconds: {reason}; check the server and run again, or raise \
                 `outage_timeout_seconds`",
                limits.outage_timeout.as_secs_f64()
            );
            abandon(reason, AbandonScope::Eval)
        }
        OutageExtent::None if attempt > limits.max_retries => abandon(reason, AbandonScope::Trial),
        OutageExtent::None => {
            AttemptResult::Retry { reason, after: backoff(attempt, random).max(min_wait.unwrap_or_default()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_streak::{MAX_CONNECT_FAILURES, MAX_CONSECUTIVE_FAILURES};

    fn decide_after(attempt: u32, kind: FailureKind, endpoints: EndpointState) -> AttemptResult {
        let failure = AttemptFailure { kind, reason: "it failed".to_owned(), min_wait: None };
        decide(attempt, failure, &endpoints, &Limits::default(), 0.0)
    }

    fn scope(result: &AttemptResult) -> Option<AbandonScope> {
        match result {
            AttemptResult::Abandon { scope, .. } => Some(*scope),
            _ => None,
        }
    }

    #[test]
    fn fatal_and_refused_requests_are_not_retried() {
        let up = EndpointState::default();
        assert_eq!(scope(&decide_after(1, FailureKind::Fatal, up)), Some(AbandonScope::Eval));
        assert_eq!(scope(&decide_after(1, FailureKind::Refused, up)), Some(AbandonScope::Trial));
    }

    #[test]
    fn retries_until_the_limit_then_abandons_the_trial() {
        let up = EndpointState { has_replied: true, ..EndpointState::default() };
        let max = Limits::default().max_retries;
        for attempt in 1..=max {
            let after = backoff(attempt, 0.0);
            let retry = AttemptResult::Retry { reason: "it failed".to_owned(), after };
            assert_eq!(decide_after(attempt, FailureKind::Other, up), retry);
        }
        assert_eq!(scope(&decide_after(max + 1, FailureKind::Other, up)), Some(AbandonScope::Trial));
    }

    #[test]
    fn an_endpoint_that_never_replied_is_abandoned_after_a_streak() {
        let streak = FailureStreak {
            connect_failures: MAX_CONNECT_FAILURES,
            total: MAX_CONNECT_FAILURES,
            since: None,
        };
        let silent = EndpointState { streak, ..EndpointState::default() };
        assert_eq!(scope(&decide_after(1, FailureKind::Unreachable, silent)), Some(AbandonScope::Eval));
        let replied = EndpointState { has_replied: true, ..silent };
        assert_eq!(scope(&decide_after(1, FailureKind::Unreachable, replied)), None);
        let another_up = EndpointState { is_another_up: true, ..silent };
        assert_eq!(scope(&decide_after(1, FailureKind::Unreachable, another_up)), None);
        assert_eq!(scope(&decide_after(1, FailureKind::Overloaded, silent)), None);

        let streak = FailureStreak { connect_failures: 0, total: MAX_CONSECUTIVE_FAILURES, since: None };
        let result = decide_after(1, FailureKind::Other, EndpointState { streak, ..silent });
        let AttemptResult::Abandon { reason, scope: AbandonScope::Eval } = result else {
            panic!("{result:?}");
        };
        assert!(reason.starts_with("none of the first 12 requests was answered"), "{reason}");
    }

    #[test]
    fn attempts_do_not_count_while_the_endpoint_is_down() {
        let down =
            EndpointState { has_replied: true, outage: OutageExtent::Down, ..EndpointState::default() };
        let result = decide_after(1000, FailureKind::Other, down);
        assert_eq!(result, AttemptResult::RetryWhenUp { reason: "it failed".to_owned() });
        let lost = EndpointState { outage: OutageExtent::Lost, ..down };
        assert_eq!(scope(&decide_after(1, FailureKind::Other, lost)), Some(AbandonScope::Eval));
    }

    #[test]
    fn waits_at_least_as_long_as_the_endpoint_asks() {
        let wait = Duration::from_secs(100);
        let failure =
            AttemptFailure { kind: FailureKind::Overloaded, reason: "busy".to_owned(), min_wait: Some(wait) };
        let result = decide(1, failure, &EndpointState::default(), &Limits::default(), 0.5);
        assert_eq!(result, AttemptResult::Retry { reason: "busy".to_owned(), after: wait });
    }
}
