//! Sampling each point until it is known closely enough.

use std::ops::Range;

use reasonscape_core::{Outcome, Point, Reply, score};
use reasonscape_providers::{Completion, Finish};
use reasonscape_stats::power::trials_for_margin;
use reasonscape_stats::{Confidence, Counters, Mode};
use reasonscape_study::{Eval, PlannedTrial, Precision, walk_trials};

use super::{RunError, Shared};

/// Tests of every point in the first round.
const FIRST_ROUND_TESTS: usize = 32;
/// Rounds grow in steps of this size, so that later runs meet the same ones.
const STEP: usize = 16;

/// What every point gets to begin with.
pub(super) fn first_round(points: &[Point<'_>], precision: Precision) -> Vec<Range<usize>> {
    points.iter().map(|_| 0..FIRST_ROUND_TESTS.min(precision.max_count)).collect()
}

/// The further tests of each point whose `C_P` margin is still too wide, according to the responses in the cache; an empty
/// range for a point that is done.
pub(super) fn next_round(
    shared: &Shared<'_>,
    eval: &Eval,
    last: &[Range<usize>],
    precision: Precision,
) -> Result<Vec<Range<usize>>, RunError> {
    let reader = shared.cache.reader()?;
    last.iter()
        .zip(&shared.points)
        .map(|(range, point)| {
            if range.is_empty() || range.end >= precision.max_count {
                return Ok(range.end..range.end);
            }
            let mut counters = Counters::default();
            let mut failed = None;
            let so_far = 0..range.end;
            walk_trials(
                shared.study,
                eval,
                std::slice::from_ref(point),
                &[so_far],
                shared.selection.shard,
                &mut |planned| match reader.get(&planned.id) {
                    Ok(Some(response)) => {
                        if let Ok(completion) = eval.provider.parse(response.status, &response.body) {
                            counters = counters + trial_counters(&planned, &completion);
                        }
                        std::ops::ControlFlow::Continue(())
                    }
                    Ok(None) => std::ops::ControlFlow::Continue(()),
                    Err(error) => {
                        failed = Some(error);
                        std::ops::ControlFlow::Break(())
                    }
                },
            )?;
            match failed {
                Some(error) => Err(error.into()),
                None => Ok(range.end..target_count(&counters, range.end, precision)),
            }
        })
        .collect()
}

/// The counters of one trial.
fn trial_counters(planned: &PlannedTrial<'_>, completion: &Completion) -> Counters {
    let reply = Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
    let (status, _) = score(planned.task, &planned.test, &reply, completion.finish == Finish::Length);
    let flag = |outcome: Outcome| f64::from(u8::from(status == outcome));
    let guess = if status == Outcome::Truncated { 0.0 } else { planned.test.guess() };
    Counters::new(1.0, flag(Outcome::Correct), flag(Outcome::Truncated), guess)
        .expect("the counters of one trial")
}

/// How many tests a point with these counters should have had: as many as now if that is enough.
fn target_count(counters: &Counters, so_far: usize, precision: Precision) -> usize {
    let estimate = Mode::C_P.estimate(counters, Confidence::P95);
    // Without an answer there is nothing to learn from more of the same.
    if estimate.margin() <= precision.margin || counters.n() == 0.0 {
        return so_far;
    }
    let accuracy = estimate.point.unwrap_or(0.5);
    let needed = trials_for_margin(accuracy, precision.margin, Confidence::P95).unwrap_or(u64::MAX);
    let needed = usize::try_from(needed).unwrap_or(usize::MAX).min(precision.max_count);
    // Half of what the accuracy so far asks for, because that estimate may be off.
    let halfway = so_far + needed.saturating_sub(so_far).div_ceil(2).max(STEP);
    halfway.next_multiple_of(STEP).min(precision.max_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRECISION: Precision = Precision { margin: 0.05, max_count: 512 };

    #[test]
    fn stops_when_the_margin_is_reached() {
        let sure = Counters::new(512.0, 512.0, 0.0, 0.0).unwrap();
        assert_eq!(target_count(&sure, 64, PRECISION), 64);
    }

    #[test]
    fn wide_margins_get_more_tests_up_to_the_maximum() {
        let open = Counters::new(32.0, 16.0, 0.0, 0.0).unwrap();
        let next = target_count(&open, 32, PRECISION);
        assert!((48..512).contains(&next) && next.is_multiple_of(STEP), "{next}");
        assert_eq!(target_count(&open, 500, PRECISION), 512);
    }

    #[test]
    fn points_without_answers_get_no_more_tests() {
        assert_eq!(target_count(&Counters::default(), 32, PRECISION), 32);
    }
}
