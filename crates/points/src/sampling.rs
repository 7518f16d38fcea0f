//! Which trials of a point enter the ReasonScore, and the sums that represent them.
//!
//! Counters always include every trial. The ReasonScore leaves out trials whose number depends on earlier outcomes in a way
//! that isn't known: `e/n` of a point that was sampled until it looked precise is biased.

use std::fmt;
use std::str::FromStr;

use reasonscape_stats::likelihood::{PointSums, StopRule};
use reasonscape_stats::{Outcome, StatsError};

use crate::Trial;

/// Which trials of a point enter the ReasonScore, where not all do.
///
/// ```
/// use reasonscape_points::SamplingRule;
///
/// let rule: SamplingRule = "first 24".parse()?;
/// assert_eq!(rule, SamplingRule::First(24));
/// let rule: SamplingRule = "rounds=16 margin=0.05 max=512".parse()?;
/// assert_eq!(rule.to_string(), "rounds=16 margin=0.05 max=512");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SamplingRule {
    /// The first problems: the planned count, where more were sampled for an unknown reason.
    First(u64),
    /// Those up to the round after which adaptive sampling stops. The first sample of each problem counts; further
    /// samples (`repeats`) take no part in the rule, and would be biased by it.
    Adaptive(StopRule),
}

impl SamplingRule {
    /// The rule of adaptive sampling.
    pub fn stop_rule(self) -> Option<StopRule> {
        match self {
            Self::Adaptive(rule) => Some(rule),
            Self::First(_) => None,
        }
    }
}

impl fmt::Display for SamplingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(count) => write!(f, "first {count}"),
            Self::Adaptive(rule) => rule.fmt(f),
        }
    }
}

impl FromStr for SamplingRule {
    type Err = StatsError;

    fn from_str(text: &str) -> Result<Self, StatsError> {
        match text.strip_prefix("first ").and_then(|count| count.parse().ok()) {
            Some(count) => Ok(Self::First(count)),
            None => text.parse().map(Self::Adaptive),
        }
    }
}

/// What the sums need of a trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) index: u64,
    pub(crate) repeat: u32,
    pub(crate) outcome: Outcome,
    pub(crate) guess: f64,
}

impl From<&Trial> for Sample {
    fn from(trial: &Trial) -> Self {
        Self { index: trial.index, repeat: trial.repeat, outcome: trial.status, guess: trial.guess }
    }
}

impl Sample {
    /// The value of a trial, whose expectation is the probability of a completed and known answer.
    fn value(&self) -> f64 {
        match self.outcome {
            Outcome::Correct => 1.0,
            Outcome::Incorrect => -self.guess / (1.0 - self.guess),
            Outcome::Truncated => 0.0,
        }
    }
}

/// Sorts the samples of a point and returns those that count.
pub(crate) fn counted_samples(samples: &mut Vec<Sample>, rule: Option<SamplingRule>) -> &[Sample] {
    let order = |sample: &Sample| (sample.index, sample.repeat);
    if !samples.is_sorted_by_key(order) {
        samples.sort_unstable_by_key(order);
    }
    match rule {
        None => {}
        Some(SamplingRule::First(count)) => samples.retain(|sample| sample.index < count),
        Some(SamplingRule::Adaptive(rule)) => {
            samples.retain(|sample| sample.repeat == 0);
            let counted = match rule.counted_prefix(without_gap(samples)) {
                // Before the end of the first round nothing is decided, so all of its problems count.
                0 => rule.next_count(0, 0).unwrap_or(0),
                counted => counted,
            };
            samples.retain(|sample| sample.index < counted);
        }
    }
    samples
}

/// Whether the first samples of the problems from 0 on are correct, up to the first problem without one.
fn without_gap(samples: &[Sample]) -> impl Iterator<Item = bool> {
    let first = samples.iter().filter(|sample| sample.repeat == 0);
    first
        .zip(0..)
        .take_while(|(sample, index)| sample.index == *index)
        .map(|(sample, _)| sample.outcome == Outcome::Correct)
}

/// The sums over the counted problems of a point.
pub(crate) fn point_sums(samples: &mut Vec<Sample>, rule: Option<SamplingRule>) -> PointSums {
    let mut sums = PointSums::default();
    let mut outcomes = Vec::new();
    for problem in counted_samples(samples, rule).chunk_by(|a, b| a.index == b.index) {
        outcomes.clear();
        outcomes.extend(problem.iter().map(|sample| (sample.outcome, sample.guess)));
        sums.add_problem(&outcomes);
    }
    sums
}

/// The mean value of each counted problem of a point, by index.
pub(crate) fn problem_values(samples: &mut Vec<Sample>, rule: Option<SamplingRule>) -> Vec<(u64, f64)> {
    counted_samples(samples, rule)
        .chunk_by(|a, b| a.index == b.index)
        .map(|problem| {
            let sum: f64 = problem.iter().map(Sample::value).sum();
            (problem[0].index, sum / problem.len() as f64)
        })
        .collect()
}

/// The number of problems that a stop rule asks for, given the samples so far in order of their problems: where it
/// stopped, or the end of the round that isn't complete.
pub(crate) fn adaptive_plan(samples: &[Sample], rule: StopRule) -> u64 {
    let outcomes: Vec<bool> = without_gap(samples).collect();
    let counted = rule.counted_prefix(outcomes.iter().copied());
    let correct = outcomes.iter().take(counted as usize).filter(|correct| **correct).count();
    rule.next_count(counted, correct as u64).unwrap_or(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of problems from 0 on: `c` correct, `i` incorrect, `t` truncated, `-` missing.
    fn samples(outcomes: &str, repeat: u32) -> Vec<Sample> {
        let outcome = |letter| match letter {
            'c' => Some(Outcome::Correct),
            'i' => Some(Outcome::Incorrect),
            't' => Some(Outcome::Truncated),
            _ => None,
        };
        let sample = |(letter, index)| Some(Sample { index, repeat, outcome: outcome(letter)?, guess: 0.5 });
        outcomes.chars().zip(0..).filter_map(sample).collect()
    }

    fn sums(samples: &[Sample], rule: Option<SamplingRule>) -> PointSums {
        point_sums(&mut samples.to_vec(), rule)
    }

    fn adaptive() -> SamplingRule {
        SamplingRule::Adaptive(StopRule::new(16, 0.05, 512).unwrap())
    }

    #[test]
    fn all_problems_count_without_a_rule_whatever_their_order() {
        let mut all = samples("ci-t", 0);
        let expected = sums(&all, None);
        assert_eq!(
            [expected.problems, expected.q, expected.c, expected.a, expected.yy],
            [3., 1., 2., 1., 2.]
        );
        all.reverse();
        assert_eq!(sums(&all, None), expected);
    }

    #[test]
    fn repeats_count_as_one_problem() {
        let mut all = samples("cc", 0);
        all.extend(samples("ci", 1));
        let found = sums(&all, None);
        assert_eq!([found.problems, found.q, found.a, found.yy], [2., 1.5, 0.5, 1.0]);
        assert_eq!(problem_values(&mut all, None), [(0, 1.0), (1, 0.0)]);
    }

    #[test]
    fn a_prefix_leaves_out_later_problems() {
        let all = samples("cccii", 0);
        assert_eq!(sums(&all, Some(SamplingRule::First(3))), sums(&samples("ccc", 0), None));
    }

    #[test]
    fn adaptive_points_count_to_the_round_that_stops() {
        let all = samples(&"c".repeat(70), 0);
        assert_eq!(sums(&all, Some(adaptive())).problems, 48.0);
        assert_eq!(adaptive_plan(&all, adaptive().stop_rule().unwrap()), 48);
    }

    #[test]
    fn adaptive_points_leave_out_incomplete_rounds_and_what_follows_a_gap() {
        let rule = adaptive().stop_rule().unwrap();
        let mixed = "ci".repeat(20);
        assert_eq!(sums(&samples(&mixed, 0), Some(adaptive())).problems, 32.0);
        assert_eq!(adaptive_plan(&samples(&mixed, 0), rule), 48);
        let gap = format!("{}-{}", "ci".repeat(10), "c".repeat(60));
        assert_eq!(sums(&samples(&gap, 0), Some(adaptive())).problems, 16.0);
        assert_eq!(adaptive_plan(&samples(&gap, 0), rule), 32);
        let first_round = format!("-{}", "c".repeat(30));
        assert_eq!(sums(&samples(&first_round, 0), Some(adaptive())).problems, 15.0);
    }

    #[test]
    fn adaptive_points_count_the_first_sample_of_each_problem() {
        let first = samples(&"c".repeat(48), 0);
        let mut all = first.clone();
        all.extend(samples(&"i".repeat(48), 1));
        assert_eq!(sums(&all, Some(adaptive())), sums(&first, None));
    }
}
