//! Cumulative incidence of correct and incorrect answers, as competing risks.

use super::{SurvivalData, log_log_bounds};
use crate::{Confidence, Outcome};

/// The cause of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// A correct answer.
    Correct,
    /// An incorrect answer.
    Incorrect,
}

impl Cause {
    fn ending(self) -> Outcome {
        match self {
            Self::Correct => Outcome::Correct,
            Self::Incorrect => Outcome::Incorrect,
        }
    }
}

/// One step of a cumulative incidence curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncidenceStep {
    /// Tokens used.
    pub tokens: u64,
    /// Estimated proportion of all trials that have this event within these tokens.
    pub proportion: f64,
    /// Standard error of `proportion`.
    pub error: f64,
    /// Lower bound of `proportion`.
    pub low: f64,
    /// Upper bound of `proportion`.
    pub high: f64,
}

/// The Aalen-Johansen estimate of the cumulative incidence of one cause.
#[derive(Debug, Clone, PartialEq)]
pub struct IncidenceCurve {
    steps: Vec<IncidenceStep>,
}

impl SurvivalData {
    /// The proportion of trials that have answered correctly (or incorrectly), as a function of tokens used.
    ///
    /// `F(t) = Σ S(before) d_k / r`. The incidences of the two causes and the proportion not yet answered sum to one; `1 - S`
    /// with the other cause as censoring would overestimate the incidence. The variance is updated step by step together with
    /// that of `S` and their covariance, each step multinomial; it equals the delta-method formula of Dinse and Larson, and
    /// without censoring it is `F (1 - F) / n`. Bounds are on the log-log scale. Assumes non-informative censoring.
    ///
    /// Steps are the token counts with any answer, from the first of this cause on. When the proportion reaches 1, the lower
    /// bound of the previous step is kept.
    ///
    /// Sources: O. O. Aalen and S. Johansen, Scand. J. Statist. 5 (1978); G. E. Dinse and M. G. Larson, "A note on
    /// semi-Markov models for partially censored data", Biometrika 73 (1986).
    pub fn incidence(&self, cause: Cause, confidence: Confidence) -> IncidenceCurve {
        let mut steps: Vec<IncidenceStep> = Vec::new();
        let (mut thinking, mut proportion) = (1.0_f64, 0.0_f64);
        let (mut thinking_variance, mut variance, mut covariance) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (row, at_risk) in self.at_risk() {
            if row.answers() == 0 {
                continue;
            }
            let risk = at_risk as f64;
            let any = row.answers() as f64 / risk;
            let this = row.count(cause.ending()) as f64 / risk;
            let stay = (at_risk - row.answers()) as f64 / risk;
            let square = thinking * thinking / risk;
            variance +=
                2.0 * this * covariance + this * this * thinking_variance + square * this * (1.0 - this);
            covariance = stay * (covariance + this * thinking_variance - square * this);
            thinking_variance = stay * (stay * thinking_variance + square * any);
            proportion += thinking * this;
            thinking *= stay;
            if proportion > 0.0 {
                let (error, low, high) = if proportion < 1.0 - 1e-12 {
                    let error = variance.max(0.0).sqrt();
                    let (low, high) = log_log_bounds(proportion, error, confidence.z());
                    (error, low, high)
                } else {
                    proportion = 1.0;
                    (0.0, steps.last().map_or(0.0, |before| before.low), 1.0)
                };
                steps.push(IncidenceStep { tokens: row.tokens, proportion, error, low, high });
            }
        }
        IncidenceCurve { steps }
    }
}

impl IncidenceCurve {
    /// The steps, in order of tokens.
    pub fn steps(&self) -> &[IncidenceStep] {
        &self.steps
    }

    /// The proportion with this event after `tokens`.
    ///
    /// Before the first such answer it is 0, and so are both bounds. Beyond the longest trial the last value is kept.
    pub fn at(&self, tokens: u64) -> IncidenceStep {
        let steps_before = self.steps.partition_point(|step| step.tokens <= tokens);
        match steps_before.checked_sub(1) {
            Some(last) => self.steps[last],
            None => IncidenceStep { tokens: 0, proportion: 0.0, error: 0.0, low: 0.0, high: 0.0 },
        }
    }
}
