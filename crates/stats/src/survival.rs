//! Survival analysis of response lengths under censoring by the token limit.
//!
//! A trial is observed until it answers, correctly or incorrectly, or reaches the token limit. A truncated trial is
//! *censored*: it counts as unanswered up to its last token and then leaves the risk set without an event.
//! [`SurvivalData`] sorts the trials once and gives the proportion not yet answered ([`SurvivalCurve`], Kaplan-Meier), the
//! proportions answered correctly and incorrectly ([`IncidenceCurve`], Aalen-Johansen), and the hazards in bins of tokens
//! ([`HazardBin`]).
//!
//! Assumes non-informative censoring: given the tokens used, truncation is independent of what would have come next. That
//! is so if the limit is the same for all trials, or was set without regard to them.

mod curve;
mod hazard;
mod incidence;

pub use curve::{Quantile, SurvivalCurve, SurvivalStep};
pub use hazard::{HazardBin, RiskSet};
pub use incidence::{Cause, IncidenceCurve, IncidenceStep};

use crate::{Outcome, StatsError};

/// Trials with their tokens and outcomes, tallied by token count.
///
/// ```
/// use reasonscape_stats::survival::{Cause, SurvivalData};
/// use reasonscape_stats::{Confidence, Outcome};
///
/// let trials = [(120, Outcome::Correct), (250, Outcome::Incorrect), (300, Outcome::Correct), (512, Outcome::Truncated)];
/// let survival_data = SurvivalData::new(trials)?;
/// let curve = survival_data.survival(Confidence::P95);
/// assert_eq!(curve.at(299).proportion, 0.5);
/// assert_eq!(curve.median().tokens, Some(250));
/// assert_eq!(survival_data.incidence(Cause::Correct, Confidence::P95).at(512).proportion, 0.5);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurvivalData {
    rows: Vec<Row>,
    n: u64,
}

/// Outcome counts at one token count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    tokens: u64,
    /// Indexed by [`Outcome::code`].
    counts: [u64; 3],
}

impl Row {
    fn count(&self, ending: Outcome) -> u64 {
        self.counts[ending as usize]
    }

    fn answers(&self) -> u64 {
        self.count(Outcome::Correct) + self.count(Outcome::Incorrect)
    }

    fn all(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl SurvivalData {
    /// The maximum number of tokens of a trial.
    pub const MAX_TOKENS: u64 = (1 << 62) - 1;

    /// Tallies trials given as tokens used and outcome, in any order.
    ///
    /// Uses a counting table if token counts are dense, as with many trials, and sorts otherwise.
    ///
    /// # Errors
    /// [`StatsError::Empty`] without a trial, [`StatsError::OutOfRange`] above [`Self::MAX_TOKENS`].
    pub fn new(trials: impl IntoIterator<Item = (u64, Outcome)>) -> Result<Self, StatsError> {
        let (mut keys, mut longest) = (Vec::new(), 0);
        for (tokens, ending) in trials {
            if tokens > Self::MAX_TOKENS {
                let expected = "below 2^62";
                return Err(StatsError::OutOfRange { name: "tokens", value: tokens as f64, expected });
            }
            longest = longest.max(tokens);
            keys.push(tokens << 2 | ending as u64);
        }
        if keys.is_empty() {
            return Err(StatsError::Empty { name: "trials" });
        }
        let rows = if longest / 4 <= keys.len() as u64 { counted(&keys, longest) } else { sorted(&mut keys) };
        Ok(Self { rows, n: keys.len() as u64 })
    }

    /// All trials.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Number of trials with this outcome.
    pub fn count(&self, ending: Outcome) -> u64 {
        self.rows.iter().map(|row| row.count(ending)).sum()
    }

    /// The largest token count of any trial.
    pub fn longest(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.tokens)
    }

    /// The token counts with events or censoring, each with the number of trials at risk.
    fn at_risk(&self) -> impl Iterator<Item = (&Row, u64)> {
        let mut left = self.n;
        self.rows.iter().map(move |row| {
            let here = left;
            left -= row.all();
            (row, here)
        })
    }
}

/// Tallies keys (tokens times four plus the outcome) with a table of all token counts.
fn counted(keys: &[u64], longest: u64) -> Vec<Row> {
    let mut table = vec![[0; 3]; longest as usize + 1];
    for key in keys {
        table[(key >> 2) as usize][(key & 3) as usize] += 1;
    }
    let rows = (0..).zip(table).map(|(tokens, counts)| Row { tokens, counts });
    rows.filter(|row| row.all() > 0).collect()
}

/// The same tally by sorting the keys.
fn sorted(keys: &mut [u64]) -> Vec<Row> {
    keys.sort_unstable();
    let groups = keys.chunk_by(|a, b| a >> 2 == b >> 2);
    groups
        .map(|group| {
            let mut row = Row { tokens: group[0] >> 2, counts: [0; 3] };
            for key in group {
                row.counts[(key & 3) as usize] += 1;
            }
            row
        })
        .collect()
}

/// The interval of a proportion strictly between 0 and 1 with standard error `error`, by the log-log transform.
///
/// The bounds are `proportion^exp(± z error / (proportion ln proportion))`, an interval of `ln(-ln proportion)`
/// transformed back, which stays within 0 to 1.
/// Source: J. D. Kalbfleisch and R. L. Prentice, "The Statistical Analysis of Failure Time Data" (1980).
fn log_log_bounds(proportion: f64, error: f64, z: f64) -> (f64, f64) {
    let log = proportion.ln();
    let reach = z * error / (proportion * log);
    let (one, other) = ((log * reach.exp()).exp(), (log * (-reach).exp()).exp());
    (one.min(other).min(proportion), one.max(other).max(proportion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;
    use proptest::prelude::*;

    fn trials() -> impl Strategy<Value = Vec<(u64, Outcome)>> {
        let ending = prop::sample::select(vec![Outcome::Correct, Outcome::Incorrect, Outcome::Truncated]);
        prop::collection::vec((0_u64..30, ending), 1..60)
    }

    proptest! {
        #[test]
        fn result_is_independent_of_trial_order(mut trials in trials()) {
            let forward = SurvivalData::new(trials.iter().copied()).unwrap();
            trials.reverse();
            prop_assert_eq!(SurvivalData::new(trials).unwrap(), forward);
        }

        #[test]
        fn counted_and_sorted_tallies_agree(trials in trials()) {
            let mut keys: Vec<u64> =
                trials.iter().map(|(tokens, ending)| tokens << 2 | *ending as u64).collect();
            prop_assert_eq!(counted(&keys, 29), sorted(&mut keys));
        }

        #[test]
        fn survival_is_monotone_and_within_bounds(trials in trials()) {
            let curve = SurvivalData::new(trials).unwrap().survival(Confidence::P95);
            let mut before = 1.0;
            for step in curve.steps() {
                prop_assert!(0.0 <= step.low && step.low <= step.proportion && step.proportion <= step.high);
                prop_assert!(step.high <= 1.0 && step.proportion < before && step.error.is_finite());
                before = step.proportion;
            }
        }

        #[test]
        fn incidences_and_survival_sum_to_one(trials in trials()) {
            let survival_data = SurvivalData::new(trials).unwrap();
            let survival = survival_data.survival(Confidence::P95);
            let [correct, incorrect] = [Cause::Correct, Cause::Incorrect]
                .map(|cause| survival_data.incidence(cause, Confidence::P95));
            for tokens in 0..31 {
                let (correct, incorrect) = (correct.at(tokens), incorrect.at(tokens));
                let sum = survival.at(tokens).proportion + correct.proportion + incorrect.proportion;
                prop_assert!((sum - 1.0).abs() < 1e-12, "{sum}");
                for step in [correct, incorrect] {
                    prop_assert!(0.0 <= step.low && step.low <= step.proportion);
                    prop_assert!(step.proportion <= step.high && step.high <= 1.0 && step.error.is_finite());
                }
            }
        }

        #[test]
        fn every_trial_is_in_exactly_one_bin(trials in trials(), width in 1_u64..12) {
            let survival_data = SurvivalData::new(trials).unwrap();
            let ends: Vec<u64> = (1..=30_u64.div_ceil(width)).map(|bin| bin * width).collect();
            let bins = survival_data.hazards(&ends, RiskSet::Full, Confidence::P95).unwrap();
            let sum = |count: fn(&HazardBin) -> u64| bins.iter().map(count).sum::<u64>();
            prop_assert_eq!(sum(|bin| bin.correct), survival_data.count(Outcome::Correct));
            prop_assert_eq!(sum(|bin| bin.incorrect), survival_data.count(Outcome::Incorrect));
            prop_assert_eq!(sum(|bin| bin.censored), survival_data.count(Outcome::Truncated));
            prop_assert_eq!(bins[0].at_risk, survival_data.n());
            for pair in bins.windows(2) {
                let gone = pair[0].correct + pair[0].incorrect + pair[0].censored;
                prop_assert_eq!(pair[1].at_risk, pair[0].at_risk - gone);
            }
        }
    }

    #[test]
    fn survival_without_censoring_is_empirical_proportion() {
        let survival_data = SurvivalData::new((1..=10).map(|tokens| (tokens, Outcome::Correct))).unwrap();
        let curve = survival_data.survival(Confidence::P95);
        for (done, step) in (1_u32..).zip(curve.steps()) {
            assert_eq!(step.proportion, f64::from(10 - done) / 10.0);
            let binomial = (step.proportion * (1.0 - step.proportion) / 10.0).sqrt();
            assert!((step.error - binomial).abs() < 1e-15);
        }
        assert_eq!(curve.median().tokens, Some(5));
        let correct = survival_data.incidence(Cause::Correct, Confidence::P95);
        assert!((correct.at(3).error - (0.3 * 0.7 / 10.0_f64).sqrt()).abs() < 1e-15);
        assert_eq!((correct.at(10).proportion, correct.at(10).high), (1.0, 1.0));
        assert_eq!(correct.at(10).low, correct.at(9).low);
        assert_eq!(survival_data.incidence(Cause::Incorrect, Confidence::P95).steps(), []);
    }

    #[test]
    fn censored_trial_is_at_risk_at_its_own_time() {
        let curve = SurvivalData::new([(5, Outcome::Truncated), (5, Outcome::Correct)]).unwrap();
        assert_eq!(curve.survival(Confidence::P95).at(5).proportion, 0.5);
    }

    #[test]
    fn all_censored_has_no_steps_and_no_median() {
        let curve = SurvivalData::new([(7, Outcome::Truncated); 3]).unwrap().survival(Confidence::P95);
        assert_eq!(curve.steps(), []);
        assert_eq!(curve.at(7).proportion, 1.0);
        assert_eq!(curve.median(), Quantile { tokens: None, low: None, high: None });
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |result: Result<SurvivalData, StatsError>| result.unwrap_err().to_string();
        assert_eq!(message(SurvivalData::new([])), "`trials` is empty, but needs at least one entry");
        assert!(message(SurvivalData::new([(u64::MAX, Outcome::Correct)])).starts_with("`tokens` is 1844"));
        let one = SurvivalData::new([(3, Outcome::Correct)]).unwrap();
        let hazards =
            |ends: &[u64]| one.hazards(ends, RiskSet::Full, Confidence::P95).unwrap_err().to_string();
        assert_eq!(hazards(&[]), "`ends` is empty, but needs at least one entry");
        assert_eq!(hazards(&[5, 5]), "`ends` is 5, but must be above the end before it");
        let curve = one.survival(Confidence::P95);
        assert_eq!(
            curve.quantile(1.5).unwrap_err().to_string(),
            "`proportion` is 1.5, but must be from 0 to 1"
        );
    }
}
