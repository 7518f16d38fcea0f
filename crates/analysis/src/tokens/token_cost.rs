//! Tokens used under a limit, by trial and by correct answer.

use reasonscape_stats::Confidence;
use reasonscape_stats::Outcome;
use reasonscape_stats::token_budget::BudgetTrial;
use schemars::JsonSchema;
use serde::Serialize;

/// A mean number of tokens; its confidence interval is null for a single trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TokenCost {
    /// The mean.
    pub mean: f64,
    /// Lower end of the confidence interval.
    pub low: Option<f64>,
    /// Upper end of the confidence interval.
    pub high: Option<f64>,
}

/// Sums over trials: tokens used under a limit, and answers that are correct within it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenTotals {
    n: f64,
    correct: f64,
    mean: f64,
    /// Sum of squared deviations from the mean of tokens.
    squares: f64,
    /// Sum of products of the deviations of tokens and of correctness.
    products: f64,
}

impl TokenTotals {
    pub(super) fn new(trials: &[BudgetTrial], limit: u64) -> Self {
        let used = |trial: &BudgetTrial| trial.tokens.min(limit) as f64;
        let is_correct = |trial: &BudgetTrial| trial.outcome == Outcome::Correct && trial.tokens <= limit;
        let n = trials.len() as f64;
        let correct = trials.iter().filter(|trial| is_correct(trial)).count() as f64;
        let total: u128 = trials.iter().map(|trial| u128::from(trial.tokens.min(limit))).sum();
        let mean = total as f64 / n;
        let (mut squares, mut products) = (0.0, 0.0);
        for trial in trials {
            let distance = used(trial) - mean;
            squares += distance * distance;
            products += distance * (f64::from(u8::from(is_correct(trial))) - correct / n);
        }
        Self { n, correct, mean, squares, products }
    }

    /// Tokens per trial, by the normal approximation of a mean.
    pub(super) fn per_trial(&self, confidence: Confidence) -> TokenCost {
        let margin = (self.n > 1.0).then(|| confidence.z() * (self.squares / (self.n - 1.0) / self.n).sqrt());
        TokenCost {
            mean: self.mean,
            low: margin.map(|margin| (self.mean - margin).max(0.0)),
            high: margin.map(|margin| self.mean + margin),
        }
    }

    /// Tokens for each correct answer: a ratio of two means of the same trials, whose error is that of the delta method
    /// and whose bounds are taken on the log scale, where the ratio cannot become negative.
    ///
    /// Source: W. G. Cochran, "Sampling Techniques" (1977), section 6.4.
    pub(super) fn per_correct(&self, confidence: Confidence) -> Option<TokenCost> {
        if self.correct == 0.0 {
            return None;
        }
        let accuracy = self.correct / self.n;
        let ratio = self.mean / accuracy;
        let error = (self.n > 1.0 && ratio > 0.0).then(|| {
            let of_correct = self.correct * (1.0 - accuracy);
            let sum = self.squares - 2.0 * ratio * self.products + ratio * ratio * of_correct;
            (sum.max(0.0) / (self.n - 1.0) / self.n).sqrt() / accuracy
        });
        let factor = error.map(|error| (confidence.z() * error / ratio).exp());
        Some(TokenCost {
            mean: ratio,
            low: factor.map(|factor| ratio / factor),
            high: factor.map(|factor| ratio * factor).filter(|high| high.is_finite()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(tokens: u64, outcome: Outcome) -> BudgetTrial {
        BudgetTrial { tokens, outcome, guess: 0.0 }
    }

    #[test]
    fn means_and_ratios_match_numpy() {
        // x = min(tokens, 320), y = correct within the limit, d = x - x.mean() / y.mean() * y; the errors are x.std(ddof=1) / sqrt(6)
        // and sqrt(sum(d**2) / 5 / 6) / y.mean().
        use Outcome::{Correct, Incorrect, Truncated};
        let ends = [
            (100, Correct),
            (300, Correct),
            (350, Incorrect),
            (512, Truncated),
            (200, Correct),
            (90, Incorrect),
        ];
        let trials: Vec<_> = ends.into_iter().map(|(tokens, outcome)| trial(tokens, outcome)).collect();
        let totals = TokenTotals::new(&trials, 320);
        let mean = totals.per_trial(Confidence::P95);
        assert_eq!(mean.mean, (100.0 + 300.0 + 320.0 + 320.0 + 200.0 + 90.0) / 6.0);
        assert!((mean.low.unwrap() - 135.425_776_680_409_65).abs() < 1e-9, "{mean:?}");
        let ratio = totals.per_correct(Confidence::P95).unwrap();
        assert!((ratio.mean - 1330.0 / 3.0).abs() < 1e-9);
        assert!((ratio.low.unwrap() - 157.588_432_570_335_87).abs() < 1e-9, "{ratio:?}");
        assert!((ratio.high.unwrap() - 1_247.200_960_366_944_9).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn no_bounds_for_one_trial_and_no_cost_without_correct_answers() {
        let totals = TokenTotals::new(&[trial(10, Outcome::Incorrect)], 100);
        assert_eq!(totals.per_trial(Confidence::P95), TokenCost { mean: 10.0, low: None, high: None });
        assert_eq!(totals.per_correct(Confidence::P95), None);
        let free = TokenTotals::new(&[trial(0, Outcome::Correct); 2], 100);
        assert_eq!(free.per_correct(Confidence::P95), Some(TokenCost { mean: 0.0, low: None, high: None }));
    }
}
