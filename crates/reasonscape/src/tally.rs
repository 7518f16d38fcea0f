//! What a run has come to so far, for whoever shows it: bars, lines, pages.

use std::time::Duration;

use reasonscape_runner::{EventKind, MissingTrial};
use serde::Serialize;

/// It is said that nothing comes when nothing has come for so long.
const STALLED: Duration = Duration::from_secs(5);

/// The counts of one evaluation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) planned: u64,
    pub(crate) cached: u64,
    pub(crate) answered: u64,
    /// Of those answered, cut off.
    pub(crate) truncated: u64,
    pub(crate) missing: u64,
    pub(crate) retried: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// What it waits for, while nothing comes.
    pub(crate) waiting: Option<String>,
    /// What went wrong last.
    pub(crate) problem: Option<String>,
}

impl Tally {
    pub(crate) fn count(&mut self, event: &EventKind) {
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
            EventKind::Waiting { answers, others, idle, pause } if *idle >= STALLED => {
                self.waiting = Some(waiting(*answers, *others, *idle, *pause));
            }
            EventKind::Waiting { .. } => {}
            EventKind::Stopped { reason } => self.problem = Some(reason.clone()),
        }
    }

    /// Trials of which it is known what became of them.
    pub(crate) fn done(&self) -> u64 {
        self.cached + self.answered + self.missing
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }

    /// Answers in a second.
    pub(crate) fn rate(&self, elapsed: Duration) -> f64 {
        self.answered as f64 / elapsed.as_secs_f64().max(1e-3)
    }

    /// How long the rest takes at this rate.
    pub(crate) fn left(&self, elapsed: Duration) -> Option<Duration> {
        let (left, rate) = (self.planned.saturating_sub(self.done()), self.rate(elapsed));
        let seconds = (left > 0 && rate > 0.0).then(|| left as f64 / rate)?;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// `waiting for 12 answers, none for 45 s`: what there is to say when nothing happens.
fn waiting(answers: u64, others: u64, idle: Duration, pause: Option<Duration>) -> String {
    let count = |number: u64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let what = match (answers, others, pause) {
        (0, _, Some(pause)) => {
            return format!("the endpoint is left alone for {} s more", pause.as_secs() + 1);
        }
        (0, 0, None) => return format!("nothing for {} s", idle.as_secs()),
        (0, others, None) => format!("{} that somebody else asks", count(others, "answer")),
        (answers, ..) => count(answers, "answer"),
    };
    format!("waiting for {what}, none for {} s", idle.as_secs())
}

/// A problem, how many trials it left without an answer, and the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct Trouble {
    pub(crate) problem: String,
    pub(crate) trial: String,
    pub(crate) trials: u64,
}

/// Each problem once, in the order in which they came.
pub(crate) fn troubles(missing: &[MissingTrial]) -> Vec<Trouble> {
    let mut troubles: Vec<Trouble> = Vec::new();
    for MissingTrial { trial, problem } in missing {
        match troubles.iter_mut().find(|known| known.problem == *problem) {
            Some(known) => known.trials += 1,
            None => troubles.push(Trouble { problem: problem.clone(), trial: trial.clone(), trials: 1 }),
        }
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_waited_for_is_said() {
        let said = |answers, others, pause: Option<f64>| {
            waiting(answers, others, Duration::from_millis(45_800), pause.map(Duration::from_secs_f64))
        };
        assert_eq!(said(12, 0, None), "waiting for 12 answers, none for 45 s");
        assert_eq!(said(1, 3, Some(2.0)), "waiting for 1 answer, none for 45 s");
        assert_eq!(said(0, 3, None), "waiting for 3 answers that somebody else asks, none for 45 s");
        assert_eq!(said(0, 0, Some(11.2)), "the endpoint is left alone for 12 s more");
        assert_eq!(said(0, 0, None), "nothing for 45 s");
    }

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done() {
        let tally = Tally { planned: 100, cached: 20, answered: 30, missing: 10, ..Tally::default() };
        let elapsed = Duration::from_secs(15);
        assert_eq!((tally.done(), tally.rate(elapsed)), (60, 2.0));
        assert_eq!(tally.left(elapsed), Some(Duration::from_secs(20)));
        assert_eq!(Tally { planned: 9, ..Tally::default() }.left(elapsed), None);
    }
}
