//! Progress of a run, computed from its events, for progress bars, log lines and pages.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventKind, MissingTrial};

/// A stall is reported after this long without a response.
const MIN_STALL: Duration = Duration::from_secs(5);

/// The counts of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct ProgressCounts {
    /// Trials planned.
    pub planned: u64,
    /// Trials whose response was in the cache.
    pub cached: u64,
    /// Trials answered by this run.
    pub answered: u64,
    /// Of those answered, truncated.
    pub truncated: u64,
    /// Trials without a response.
    pub missing: u64,
    /// Requests that are being retried.
    pub retried: u64,
    /// Prompt tokens of this run.
    pub prompt_tokens: u64,
    /// Completion tokens of this run.
    pub completion_tokens: u64,
    /// What the run is waiting for, while no responses arrive.
    pub waiting: Option<String>,
    /// The most recent error.
    pub problem: Option<String>,
}

impl ProgressCounts {
    /// Applies an event.
    pub fn count(&mut self, event: &EventKind) {
        self.waiting = None;
        match event {
            EventKind::Planned { trials } => self.planned += trials,
            EventKind::Cached { trials } => self.cached += trials,
            EventKind::Answered { usage, truncated, .. } => {
                self.answered += 1;
                self.truncated += u64::from(*truncated);
                self.prompt_tokens += usage.prompt_tokens.unwrap_or(0);
                self.completion_tokens += usage.completion_tokens.unwrap_or(0);
            }
            EventKind::Retrying { problem, .. } => {
                self.retried += 1;
                self.problem = Some(problem.clone());
            }
            EventKind::Missing { problem, .. } => {
                self.missing += 1;
                self.problem = Some(problem.clone());
            }
            EventKind::Waiting { in_flight, claimed_elsewhere, idle, pause } if *idle >= MIN_STALL => {
                self.waiting = Some(describe_wait(*in_flight, *claimed_elsewhere, *idle, *pause));
            }
            EventKind::Waiting { .. } => {}
            EventKind::Stopped { reason } => self.problem = Some(reason.clone()),
        }
    }

    /// Trials with a final state: cached, answered or missing.
    pub fn done(&self) -> u64 {
        self.cached + self.answered + self.missing
    }

    /// Prompt and completion tokens together.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }

    /// Responses per second.
    pub fn rate(&self, elapsed: Duration) -> f64 {
        self.answered as f64 / elapsed.as_secs_f64().max(1e-3)
    }

    /// Estimated remaining time at the current rate.
    pub fn left(&self, elapsed: Duration) -> Option<Duration> {
        let (left, rate) = (self.planned.saturating_sub(self.done()), self.rate(elapsed));
        let seconds = (left > 0 && rate > 0.0).then(|| left as f64 / rate)?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// Describes what the run is waiting for: `waiting for 12 answers, none for 45 s`.
fn describe_wait(in_flight: u64, claimed_elsewhere: u64, idle: Duration, pause: Option<Duration>) -> String {
    let count = |number: u64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let what = match (in_flight, claimed_elsewhere, pause) {
        (0, _, Some(pause)) => {
            return format!("the endpoint is paused for another {} s", pause.as_secs() + 1);
        }
        (0, 0, None) => return "waiting for its turn".to_owned(),
        (0, claimed_elsewhere, None) => {
            format!("{} requested by another process", count(claimed_elsewhere, "answer"))
        }
        (in_flight, ..) => count(in_flight, "answer"),
    };
    format!("waiting for {what}, none for {} s", idle.as_secs())
}

/// An error and the trials that have no response because of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureGroup {
    /// The error.
    pub problem: String,
    /// The first of these trials.
    pub trial: String,
    /// The number of these trials.
    pub trials: u64,
}

/// Groups failures by error, in order of first occurrence.
pub fn group_failures(missing: &[MissingTrial]) -> Vec<FailureGroup> {
    let mut groups: Vec<FailureGroup> = Vec::new();
    for MissingTrial { trial, problem } in missing {
        match groups.iter_mut().find(|known| known.problem == *problem) {
            Some(known) => known.trials += 1,
            None => groups.push(FailureGroup { problem: problem.clone(), trial: trial.clone(), trials: 1 }),
        }
    }
    groups
}

/// Formats a number compactly: `950`, `4.5k`, `1.2M`.
pub fn compact_number(number: f64) -> String {
    match number {
        ..999.5 => format!("{number:.0}"),
        ..999_950.0 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.1}M", number / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_numbers_keep_a_decimal_of_thousands_and_millions() {
        let shown = [0.0, 999.4, 999.6, 4_512.0, 999_949.0, 999_951.0, 1.2e9].map(compact_number);
        assert_eq!(shown, ["0", "999", "1.0k", "4.5k", "999.9k", "1.0M", "1200.0M"]);
    }

    #[test]
    fn describes_what_is_waited_for() {
        let describe = |in_flight, claimed_elsewhere, pause: Option<f64>| {
            describe_wait(
                in_flight,
                claimed_elsewhere,
                Duration::from_millis(45_800),
                pause.map(Duration::from_secs_f64),
            )
        };
        assert_eq!(describe(12, 0, None), "waiting for 12 answers, none for 45 s");
        assert_eq!(describe(1, 3, Some(2.0)), "waiting for 1 answer, none for 45 s");
        assert_eq!(describe(0, 3, None), "waiting for 3 answers requested by another process, none for 45 s");
        assert_eq!(describe(0, 0, Some(11.2)), "the endpoint is paused for another 12 s");
        assert_eq!(describe(0, 0, None), "waiting for its turn");
    }

    #[test]
    fn estimates_the_time_left_from_the_rate() {
        let counts = ProgressCounts {
            planned: 100,
            cached: 20,
            answered: 30,
            missing: 10,
            ..ProgressCounts::default()
        };
        let elapsed = Duration::from_secs(15);
        assert_eq!((counts.done(), counts.rate(elapsed)), (60, 2.0));
        assert_eq!(counts.left(elapsed), Some(Duration::from_secs(20)));
        assert_eq!(ProgressCounts { planned: 9, ..ProgressCounts::default() }.left(elapsed), None);
    }
}
