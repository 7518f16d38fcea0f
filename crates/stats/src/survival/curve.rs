//! The Kaplan-Meier curve: the proportion of trials that have not answered yet.

use super::{SurvivalData, log_log_bounds};
use crate::{Confidence, StatsError, in_range};

/// One step of a survival curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurvivalStep {
    /// Token count at which trials answered.
    pub tokens: u64,
    /// Trials that used at least this many tokens.
    pub at_risk: u64,
    /// Trials that answered here, correctly or incorrectly.
    pub answered: u64,
    /// Estimated proportion of trials that need more tokens than this to answer.
    pub proportion: f64,
    /// Greenwood's standard error of `proportion`.
    pub error: f64,
    /// Lower bound of `proportion`.
    pub low: f64,
    /// Upper bound of `proportion`.
    pub high: f64,
}

/// The token count by which a given proportion of trials has answered; `None` where the data end before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The smallest token count by which the proportion has answered.
    pub tokens: Option<u64>,
    /// Lower bound.
    pub low: Option<u64>,
    /// Upper bound.
    pub high: Option<u64>,
}

/// The Kaplan-Meier estimate, with one step per token count at which trials answered.
#[derive(Debug, Clone, PartialEq)]
pub struct SurvivalCurve {
    steps: Vec<SurvivalStep>,
    n: u64,
}

impl SurvivalData {
    /// The proportion of trials that have not answered yet, as a function of tokens used.
    ///
    /// `S(t) = Π (1 - d / r)` over the token counts up to `t` at which trials answered: `d` of the `r` then at
    /// risk. Trials truncated at a count at which others answer were at risk there. The standard error is Greenwood's,
    /// `S sqrt(Σ d / (r (r - d)))`; the bounds are computed on the log-log scale and stay within 0 to 1 (the default of
    /// lifelines). Once no trial is at risk the proportion is 0 and the formula is undefined; the upper bound of the
    /// previous step is kept. Assumes non-informative censoring.
    ///
    /// Sources: E. L. Kaplan and P. Meier, JASA 53 (1958); M. Greenwood, "The natural duration of cancer" (1926).
    pub fn survival(&self, confidence: Confidence) -> SurvivalCurve {
        let mut steps: Vec<SurvivalStep> = Vec::new();
        // Between censorings the product telescopes: without censoring, a proportion is the exact quotient.
        let (mut base_proportion, mut base_risk) = (1.0, self.n);
        let (mut proportion, mut greenwood) = (1.0, 0.0);
        for (row, at_risk) in self.at_risk() {
            let answered = row.answers();
            let left = at_risk - answered;
            if answered > 0 {
                proportion = base_proportion * (left as f64 / base_risk as f64);
                let step = SurvivalStep {
                    tokens: row.tokens,
                    at_risk,
                    answered,
                    proportion,
                    error: 0.0,
                    low: 0.0,
                    high: 1.0,
                };
                steps.push(if left == 0 {
                    SurvivalStep { high: steps.last().map_or(1.0, |before| before.high), ..step }
                } else {
                    greenwood += answered as f64 / (at_risk as f64 * left as f64);
                    let error = proportion * greenwood.sqrt();
                    let (low, high) = log_log_bounds(proportion, error, confidence.z());
                    SurvivalStep { error, low, high, ..step }
                });
            }
            if row.all() > answered {
                (base_proportion, base_risk) = (proportion, at_risk - row.all());
            }
        }
        SurvivalCurve { steps, n: self.n }
    }
}

impl SurvivalCurve {
    /// The steps, in order of tokens.
    pub fn steps(&self) -> &[SurvivalStep] {
        &self.steps
    }

    /// The proportion not yet answered after `tokens`.
    ///
    /// Before the first answer it is 1, and so are both bounds. Beyond the longest trial the last value is kept.
    pub fn at(&self, tokens: u64) -> SurvivalStep {
        let steps_before = self.steps.partition_point(|step| step.tokens <= tokens);
        match steps_before.checked_sub(1) {
            Some(last) => self.steps[last],
            None => SurvivalStep {
                tokens: 0,
                at_risk: self.n,
                answered: 0,
                proportion: 1.0,
                error: 0.0,
                low: 1.0,
                high: 1.0,
            },
        }
    }

    /// The token count by which half of the trials have answered.
    pub fn median(&self) -> Quantile {
        self.first_at_most(0.5)
    }

    /// The token count by which a `proportion` of the trials has answered.
    ///
    /// The bounds are where the bounds of the curve cross the same height (the test-based interval).
    ///
    /// Source: R. Brookmeyer and J. Crowley, "A confidence interval for the median survival time", Biometrics 38
    /// (1982).
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] when `proportion` is not from 0 to 1.
    pub fn quantile(&self, proportion: f64) -> Result<Quantile, StatsError> {
        in_range("proportion", proportion, 0.0..=1.0, "from 0 to 1")?;
        Ok(self.first_at_most(1.0 - proportion))
    }

    fn first_at_most(&self, height: f64) -> Quantile {
        // Tolerate rounding: a value that equals the height up to rounding has reached it.
        let limit = height + 1e-12;
        let first = |value: fn(&SurvivalStep) -> f64| {
            self.steps.iter().find(|step| value(step) <= limit).map(|step| step.tokens)
        };
        Quantile {
            tokens: first(|step| step.proportion),
            low: first(|step| step.low),
            high: first(|step| step.high),
        }
    }
}
