//! The number of tokens beyond which accuracy drops.

use reasonscape_points::PointsError;
use reasonscape_stats::survival::HazardBin;
use reasonscape_stats::{Confidence, Interval, wilson};
use schemars::JsonSchema;
use serde::Serialize;

use crate::IntervalEstimate;

/// The number of tokens beyond which accuracy is significantly lower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChangePoint {
    /// Tokens.
    pub beyond: u64,
    /// Proportion of correct answers up to there.
    pub before: IntervalEstimate,
    /// Answers up to there.
    pub before_n: u64,
    /// Proportion of correct answers beyond.
    pub after: IntervalEstimate,
    /// Answers beyond.
    pub after_n: u64,
    /// `after` minus `before`; the interval is corrected for the number of bins that were tested.
    pub difference: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
}

impl ChangePoint {
    pub(super) fn summary(&self) -> String {
        let percent = |accuracy: f64| format!("{:.0}", 100.0 * accuracy.abs());
        format!(
            "accuracy drops beyond {} tokens, by {} percentage points ({} to {}): {} % of {} answers against {} % of {}",
            self.beyond,
            percent(self.difference),
            percent(self.high),
            percent(self.low),
            percent(self.after.point.unwrap_or_default()),
            self.after_n,
            percent(self.before.point.unwrap_or_default()),
            self.before_n
        )
    }
}

/// Answers, and how many of them are correct.
#[derive(Debug, Clone, Copy, Default)]
struct AnswerCounts {
    correct: u64,
    answers: u64,
}

impl AnswerCounts {
    fn from_bins(bins: &[HazardBin]) -> Self {
        let correct = bins.iter().map(|bin| bin.correct).sum();
        Self { correct, answers: correct + bins.iter().map(|bin| bin.incorrect).sum::<u64>() }
    }

    fn accuracy(self, confidence: Confidence) -> Result<Interval, PointsError> {
        Ok(wilson(self.correct as f64, self.answers as f64, confidence)?)
    }
}

/// The first bin with a significantly lower accuracy than all answers before it, if the answers from that bin on have a
/// lower accuracy, too.
///
/// Both are required: a single bad bin in the middle is not a change point, and a drop in the last bins must not be
/// attributed to an earlier bin. Each bin is a separate test, so the level is corrected by Bonferroni.
pub(super) fn find(bins: &[HazardBin], confidence: Confidence) -> Result<Option<ChangePoint>, PointsError> {
    let with_answers: Vec<usize> =
        (0..bins.len()).filter(|bin| AnswerCounts::from_bins(&bins[*bin..=*bin]).answers > 0).collect();
    let tests = with_answers.len().saturating_sub(1).max(1);
    let level = 1.0 - (1.0 - confidence.level()) / tests as f64;
    let strict = Confidence::new(level.min(0.999_999))?;
    for &bin in with_answers.iter().skip(1) {
        let (before, in_bin) =
            (AnswerCounts::from_bins(&bins[..bin]), AnswerCounts::from_bins(&bins[bin..=bin]));
        let after = AnswerCounts::from_bins(&bins[bin..]);
        let in_bin = difference(in_bin.accuracy(strict)?, before.accuracy(strict)?);
        let later = difference(after.accuracy(strict)?, before.accuracy(strict)?);
        if in_bin.high < 0.0 && later.high < 0.0 {
            return Ok(Some(ChangePoint {
                beyond: bins[bin].above,
                before: before.accuracy(confidence)?.into(),
                before_n: before.answers,
                after: after.accuracy(confidence)?.into(),
                after_n: after.answers,
                difference: later.point.unwrap_or_default(),
                low: later.low,
                high: later.high,
            }));
        }
    }
    Ok(None)
}

/// The difference of two independent proportions, with a confidence interval from the intervals of both.
///
/// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statist. Med. 17
/// (1998), method 10.
fn difference(a: Interval, b: Interval) -> Interval {
    let (Some(p), Some(q)) = (a.point, b.point) else {
        return Interval { low: -1.0, high: 1.0, point: None };
    };
    Interval {
        low: p - q - (p - a.low).hypot(b.high - q),
        high: p - q + (a.high - p).hypot(q - b.low),
        point: Some(p - q),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_stats::Outcome;
    use reasonscape_stats::survival::{RiskSet, SurvivalData};

    #[test]
    fn difference_matches_statsmodels() {
        // confint_proportions_2indep(56, 70, 48, 80, method="newcomb") and (0, 10, 7, 20).
        let accuracy =
            |correct, answers| AnswerCounts { correct, answers }.accuracy(Confidence::P95).unwrap();
        for (a, b, low, high) in [
            ((56, 70), (48, 80), 0.052_431_472_402_364_98, 0.333_872_654_036_906_14),
            ((0, 10), (7, 20), -0.567_145_723_314_763_8, -0.025_160_570_050_286_88),
        ] {
            let found = difference(accuracy(a.0, a.1), accuracy(b.0, b.1));
            assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{found:?}");
        }
    }

    /// Bins of 100 tokens with these numbers of correct and incorrect answers.
    fn bins(answers: &[(u64, u64)]) -> Vec<HazardBin> {
        let trials = answers.iter().zip(1_u64..).flat_map(|(&(correct, incorrect), bin)| {
            let many = |ending, count| std::iter::repeat_n((100 * bin, ending), count as usize);
            many(Outcome::Correct, correct).chain(many(Outcome::Incorrect, incorrect))
        });
        let ends: Vec<u64> = (1..=answers.len() as u64).map(|bin| 100 * bin).collect();
        SurvivalData::new(trials).unwrap().hazards(&ends, RiskSet::Full, Confidence::P95).unwrap()
    }

    fn beyond(answers: &[(u64, u64)]) -> Option<u64> {
        find(&bins(answers), Confidence::P95).unwrap().map(|change| change.beyond)
    }

    #[test]
    fn finds_where_answers_become_and_stay_worse() {
        assert_eq!(beyond(&[(90, 10), (88, 12), (30, 70), (25, 75)]), Some(200));
        assert_eq!(beyond(&[(90, 10), (88, 12), (91, 9), (89, 11)]), None);
        assert_eq!(beyond(&[(30, 70), (60, 40), (90, 10)]), None);
        // Worse for a while and then better again is not a change point.
        assert_eq!(beyond(&[(90, 10), (50, 50), (900, 100)]), None);
        assert_eq!(beyond(&[(90, 10)]), None);
        assert_eq!(beyond(&[(1, 0), (0, 1)]), None);
        assert_eq!(beyond(&[(0, 0), (90, 10), (0, 0), (20, 80)]), Some(300));
    }
}
