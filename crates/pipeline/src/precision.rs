//! Adaptive sampling: samples each point in rounds until a stop rule is satisfied.
//!
//! The rule sees the outcomes of its own point only, and is recorded with the point, so that the ReasonScore can correct
//! for it. With several samples per problem, the first sample of each problem decides.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use reasonscape_cache::{Cache, Reader};
use reasonscape_core::{Outcome, Point};
use reasonscape_points::{PointsError, score_responses};
use reasonscape_runner::RunError;
use reasonscape_stats::likelihood::StopRule;
use reasonscape_study::{Eval, Precision, Study};

/// Problems per round.
const ROUND: u64 = 16;
/// The correction for a stop rule tabulates every count at the end of a round; larger rounds keep it small.
const MAX_TABULATED: u64 = 3_000_000;

/// The rule of a target precision.
fn stop_rule(precision: Precision) -> StopRule {
    // Below two problems there is nothing to decide.
    let max_count = u32::try_from(precision.max_count).unwrap_or(u32::MAX).max(2);
    let max = u64::from(max_count);
    let round = (max * max / (2 * MAX_TABULATED)).max(ROUND).min(max);
    StopRule { round: u32::try_from(round).unwrap_or(max_count), margin: precision.margin, max_count }
}

/// Decides how many problems of each point are sampled.
pub(crate) struct PrecisionPlanner<'s> {
    study: &'s Study,
    cache: &'s Cache,
    rule: StopRule,
    /// Responses and correct answers of each evaluation's points so far, so that every response is scored only once.
    counts: Mutex<HashMap<String, Vec<(u64, u64)>>>,
}

impl<'s> PrecisionPlanner<'s> {
    pub(crate) fn new(study: &'s Study, cache: &'s Cache, precision: Precision) -> Self {
        Self { study, cache, rule: stop_rule(precision), counts: Mutex::default() }
    }

    /// The rule, as text.
    pub(crate) fn rule(&self) -> String {
        self.rule.to_string()
    }

    /// The problems of each point to request after the last round; `None` if no point needs more.
    pub(crate) fn next_round(
        &self,
        eval: &Eval,
        points: &[Point<'_>],
        last: Option<&[Range<usize>]>,
    ) -> Result<Option<Vec<Range<usize>>>, RunError> {
        let Some(last) = last else {
            let end = next_end(&self.rule, 0, 0) as usize;
            return Ok(Some(points.iter().map(|_| 0..end).collect()));
        };
        let reader = self.cache.reader()?;
        let known = self.lock().remove(eval.id.as_str());
        let mut counts = known.unwrap_or_else(|| vec![(0, 0); points.len()]);
        let mut round = Vec::with_capacity(points.len());
        for ((point, range), (responses, correct)) in points.iter().zip(last).zip(&mut counts) {
            self.count(&reader, eval, point, range.clone(), responses, correct)
                .map_err(|error| RunError::NextRound(error.into()))?;
            // Without a response to each problem the rule can't be applied; the next run requests the missing ones.
            let is_complete = *responses == range.end as u64;
            let is_done = range.is_empty() || !is_complete;
            let end = if is_done { range.end } else { next_end(&self.rule, *responses, *correct) as usize };
            round.push(range.end..end);
        }
        self.lock().insert(eval.id.to_string(), counts);
        Ok(round.iter().any(|range| !range.is_empty()).then_some(round))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<(u64, u64)>>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the first samples of some problems to the number of responses and of correct answers.
    fn count(
        &self,
        reader: &Reader,
        eval: &Eval,
        point: &Point<'_>,
        problems: Range<usize>,
        responses: &mut u64,
        correct: &mut u64,
    ) -> Result<(), PointsError> {
        score_responses(self.study, reader, eval, point, problems, &mut |trial| {
            if trial.repeat == 0 {
                *responses += 1;
                *correct += u64::from(trial.outcome == Outcome::Correct);
            }
            ControlFlow::Continue(())
        })
    }
}

/// The number of problems to request next, as a total: the end of the first round after which the rule may stop. Rounds
/// that it can't stop after, whatever the outcomes, are requested together.
fn next_end(rule: &StopRule, count: u64, correct: u64) -> u64 {
    let Some(mut end) = rule.next_count(count, correct) else { return count };
    loop {
        // The margin is smallest if all further answers are correct, or none.
        let extremes = [correct, correct + (end - count)];
        match extremes.map(|correct| rule.next_count(end, correct)) {
            [Some(next), Some(_)] => end = next,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_rounds_together_that_cannot_be_the_last() {
        let rule = stop_rule(Precision { margin: 0.05, max_count: 512 });
        assert_eq!(rule.to_string(), "rounds=16 margin=0.05 max=512");
        // 32 of 32 correct has a margin of 0.054, 48 of 48 one of 0.037.
        assert_eq!(next_end(&rule, 0, 0), 48);
        assert_eq!(next_end(&rule, 48, 48), 48);
        assert_eq!(next_end(&rule, 512, 256), 512);
        for (count, correct) in [(48, 47), (64, 60), (128, 40), (368, 184)] {
            let end = next_end(&rule, count, correct);
            assert!(end > count && end.is_multiple_of(16), "{count} {correct} {end}");
            for before in (count + 16..end).step_by(16) {
                for found in correct..=correct + before - count {
                    assert!(rule.next_count(before, found).is_some(), "{before} {found}");
                }
            }
        }
    }

    #[test]
    fn rules_of_any_maximum_are_valid() {
        for max_count in [1, 2, 10, 16, 100, 512, 100_000, usize::MAX] {
            let rule = stop_rule(Precision { margin: 0.05, max_count });
            let rule = StopRule::new(rule.round, rule.margin, rule.max_count).unwrap();
            assert!(u64::from(rule.max_count).pow(2) / u64::from(2 * rule.round) <= 4_000_000, "{rule}");
        }
    }
}
