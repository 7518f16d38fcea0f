//! Hazards of correct and incorrect answers in bins of tokens.

use super::SurvivalData;
use crate::interval::wilson_unchecked;
use crate::{Confidence, Interval, Outcome, StatsError};

/// How trials that are truncated within a bin count towards its risk set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RiskSet {
    /// All trials at risk at the start of the bin: truncated trials leave at its end. Exact if limits lie on the ends of
    /// bins, as a common token limit does when bins end on it.
    #[default]
    Full,
    /// The actuarial method: truncated trials count half, as if observed for half of the bin.
    Actuarial,
}

/// Events among the trials that reached a bin of tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HazardBin {
    /// Lower end of the bin, exclusive (the first bin includes 0).
    pub above: u64,
    /// Upper end of the bin, inclusive.
    pub up_to: u64,
    /// Trials that reached the bin.
    pub at_risk: u64,
    /// Trials that answered correctly in this bin.
    pub correct: u64,
    /// Trials that answered incorrectly in this bin.
    pub incorrect: u64,
    /// Trials that were truncated in this bin.
    pub censored: u64,
    /// Proportion of the exposed trials that answer in this bin.
    pub answer_hazard: Interval,
    /// Proportion of the exposed trials that answer correctly in this bin.
    pub correct_hazard: Interval,
    /// Proportion of the exposed trials that answer incorrectly in this bin.
    pub incorrect_hazard: Interval,
    /// Accuracy of this bin's answers. Where it falls below the guess rate, more thinking doesn't help.
    pub accuracy: Interval,
}

impl SurvivalData {
    /// Hazards in bins of tokens, each with its Wilson interval.
    ///
    /// A bin reaches from the previous end (exclusive) to its own (inclusive), so that a limit of 4096 tokens falls into the
    /// bin that ends on 4096. The hazard of a cause is the number of its events over the exposed trials. Trials longer than
    /// the last end are at risk in every bin and end in none. The intervals of a bin that no trial reaches are
    /// [`Interval::UNKNOWN`]. Assumes non-informative censoring and independent trials.
    ///
    /// ```
    /// use reasonscape_stats::survival::{RiskSet, SurvivalData};
    /// use reasonscape_stats::{Confidence, Outcome};
    ///
    /// let trials = [(90, Outcome::Correct), (150, Outcome::Incorrect), (200, Outcome::Truncated), (180, Outcome::Correct)];
    /// let bins = SurvivalData::new(trials)?.hazards(&[100, 200], RiskSet::Full, Confidence::P95)?;
    /// assert_eq!(bins[0].correct_hazard.point, Some(0.25));
    /// assert_eq!((bins[1].at_risk, bins[1].incorrect_hazard.point), (3, Some(1.0 / 3.0)));
    /// assert_eq!(bins[1].accuracy.point, Some(0.5));
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    ///
    /// # Errors
    /// A [`StatsError`] when there is no end, or the ends do not ascend.
    pub fn hazards(
        &self,
        ends: &[u64],
        risk_set: RiskSet,
        confidence: Confidence,
    ) -> Result<Vec<HazardBin>, StatsError> {
        if ends.is_empty() {
            return Err(StatsError::Empty { name: "ends" });
        }
        if let Some(pair) = ends.windows(2).find(|pair| pair[0] >= pair[1]) {
            let expected = "above the end before it";
            return Err(StatsError::OutOfRange { name: "ends", value: pair[1] as f64, expected });
        }
        let mut rows = self.rows.iter().peekable();
        let (mut above, mut at_risk) = (0, self.n);
        Ok(ends
            .iter()
            .map(|&up_to| {
                let mut counts = [0; 3];
                while let Some(row) = rows.next_if(|row| row.tokens <= up_to) {
                    for (sum, count) in counts.iter_mut().zip(row.counts) {
                        *sum += count;
                    }
                }
                let [correct, incorrect, censored] =
                    [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated]
                        .map(|ending| counts[ending as usize]);
                let exposed = match risk_set {
                    RiskSet::Full => at_risk as f64,
                    RiskSet::Actuarial => at_risk as f64 - censored as f64 / 2.0,
                };
                let proportion =
                    |events: u64, trials: f64| wilson_unchecked(events as f64, trials, confidence);
                let bin = HazardBin {
                    above,
                    up_to,
                    at_risk,
                    correct,
                    incorrect,
                    censored,
                    answer_hazard: proportion(correct + incorrect, exposed),
                    correct_hazard: proportion(correct, exposed),
                    incorrect_hazard: proportion(incorrect, exposed),
                    accuracy: proportion(correct, (correct + incorrect) as f64),
                };
                above = up_to;
                at_risk -= correct + incorrect + censored;
                bin
            })
            .collect())
    }
}
