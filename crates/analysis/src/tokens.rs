//! Accuracy and token use under smaller token limits.

mod figure;
mod token_cost;

use rayon::prelude::*;
use reasonscape_points::{Estimator, Measure, PointsDb, PointsError};
use reasonscape_stats::Confidence;
use reasonscape_stats::Outcome;
use reasonscape_stats::design_effect::design_effect_of_mean;
use reasonscape_stats::survival::SurvivalData;
use reasonscape_stats::token_budget::{Budget, BudgetTrial};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::figure::tokens_figure;
pub use self::token_cost::TokenCost;
use super::hazard::TokenQuantile;
use super::query::PointQuery;
use super::trials::{GroupBy, TrialGroup, TrialGroupName, load_trial_groups, powers_of_two};
use super::{IntervalEstimate, in_percent};

/// Options of the analysis.
#[derive(Debug, Clone)]
pub struct TokensOptions {
    /// How trials are grouped into rows.
    pub by: GroupBy,
    /// How accuracy is estimated.
    pub estimator: Estimator,
    /// The proportion of correct answers that a smaller limit should keep.
    pub keep: f64,
    /// Token limits to evaluate; powers of two if empty.
    pub budgets: Vec<u64>,
}

/// One evaluation on one task, or on all of them together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokensRow {
    /// What the row is about.
    #[serde(flatten)]
    pub group: TrialGroupName,
    /// The estimator.
    pub mode: &'static str,
    /// Trials whose tokens were counted.
    pub n: u64,
    /// Trials without a token count, which are left out.
    pub without_tokens: u64,
    /// The largest limit whose outcome is known exactly; null if every limit has an exact outcome.
    pub exact_up_to: Option<u64>,
    /// The outcome with the limit of the study.
    pub now: Option<BudgetOutcome>,
    /// The smallest limit that keeps the requested proportion of correct answers.
    #[serde(rename = "enough")]
    pub sufficient: Option<SufficientBudget>,
    /// The result as a sentence.
    pub finding: String,
    /// The outcome of each limit.
    pub budgets: Vec<BudgetOutcome>,
}

/// The outcome of a token limit.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "Limited")]
pub struct BudgetOutcome {
    /// The token limit.
    pub budget: u64,
    /// Trials that were answered or truncated.
    pub n: f64,
    /// Trials answered correctly.
    pub n_e: f64,
    /// Trials that were not truncated.
    pub n_u: f64,
    /// Truncated trials.
    pub n_t: f64,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// The accuracy.
    pub accuracy: IntervalEstimate,
    /// Mean tokens per trial.
    pub mean_tokens: TokenCost,
    /// Tokens per correct answer; null without one.
    pub tokens_per_correct: Option<TokenCost>,
    /// Whether the outcome is exact; otherwise it is a lower bound.
    pub exact: bool,
}

/// The smallest sufficient limit.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct SufficientBudget {
    /// The proportion of correct answers that it keeps.
    pub keep: f64,
    /// Tokens.
    pub tokens: TokenQuantile,
    /// The outcome of that limit.
    pub at: BudgetOutcome,
}

/// The outcomes of the selected trials under smaller token limits.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn tokens(
    db: &PointsDb,
    query: &PointQuery,
    options: &TokensOptions,
) -> Result<Vec<TokensRow>, PointsError> {
    let groups = load_trial_groups(db, query, &[Measure::CompletionTokens], options.by).await?;
    groups.into_par_iter().map(|group| row(group, options)).collect()
}

fn row(group: TrialGroup, options: &TokensOptions) -> Result<TokensRow, PointsError> {
    let trials: Vec<BudgetTrial> =
        group.with_tokens().map(|(tokens, outcome, guess)| BudgetTrial { tokens, outcome, guess }).collect();
    let problems = group.problems_with_tokens();
    let n = trials.len() as u64;
    let mut row = TokensRow {
        n,
        without_tokens: group.n() - n,
        group: group.name,
        mode: options.estimator.mode.name(),
        exact_up_to: None,
        now: None,
        sufficient: None,
        finding: String::new(),
        budgets: Vec::new(),
    };
    if n > 0 {
        let budget = Budget::new(trials.iter().copied())?;
        let outcome_at = |limit: u64| budget_outcome(&budget, &trials, &problems, limit, options.estimator);
        row.exact_up_to = budget.exact_up_to();
        row.now = Some(outcome_at(budget.longest()));
        row.sufficient = sufficient_budget(&trials, &problems, options.keep, options.estimator.confidence)?
            .map(|tokens| SufficientBudget {
                keep: options.keep,
                at: outcome_at(tokens.tokens.unwrap_or(budget.longest())),
                tokens,
            });
        let mut budgets = options.budgets.clone();
        if budgets.is_empty() {
            // Below the shortest trial every limit has the same outcome, so one is enough.
            let shortest = trials.iter().map(|trial| trial.tokens).min().unwrap_or(0);
            budgets =
                powers_of_two(budget.longest()).into_iter().filter(|limit| 2 * limit > shortest).collect();
        }
        budgets.sort_unstable();
        budgets.dedup();
        row.budgets = budgets.into_iter().map(outcome_at).collect();
    }
    row.finding = row.summary();
    Ok(row)
}

fn budget_outcome(
    budget: &Budget,
    trials: &[BudgetTrial],
    problems: &[u64],
    limit: u64,
    estimator: Estimator,
) -> BudgetOutcome {
    let point = budget.at(limit);
    let totals = token_cost::TokenTotals::new(trials, limit);
    // Of each trial: whether it is correct within the limit, and the tokens it uses.
    let design_effect = |value: &dyn Fn(&BudgetTrial) -> f64| {
        if problems.is_empty() {
            return 1.0;
        }
        design_effect_of_mean(&trials.iter().map(value).collect::<Vec<_>>(), problems)
    };
    let correct =
        |trial: &BudgetTrial| f64::from(u8::from(trial.outcome == Outcome::Correct && trial.tokens <= limit));
    let used = |trial: &BudgetTrial| trial.tokens.min(limit) as f64;
    let confidence = estimator.confidence;
    let of_accuracy = confidence.with_design_effect(design_effect(&correct));
    let of_tokens = confidence.with_design_effect(design_effect(&used));
    let ratio = totals.per_correct(confidence).map_or(0.0, |cost| cost.mean);
    let of_ratio =
        confidence.with_design_effect(design_effect(&|trial| used(trial) - ratio * correct(trial)));
    BudgetOutcome {
        budget: limit,
        n: point.counters.n(),
        n_e: point.counters.n_e(),
        n_u: point.counters.n_u(),
        n_t: point.counters.n_t(),
        g: point.counters.g(),
        accuracy: estimator.mode.estimate(&point.counters, of_accuracy).into(),
        mean_tokens: totals.per_trial(of_tokens),
        tokens_per_correct: totals.per_correct(of_ratio),
        exact: point.is_exact,
    }
}

/// The number of tokens within which this proportion of the correct answers arrived. Correct answers are never truncated, so
/// it is a plain quantile.
fn sufficient_budget(
    trials: &[BudgetTrial],
    problems: &[u64],
    keep: f64,
    confidence: Confidence,
) -> Result<Option<TokenQuantile>, PointsError> {
    let used: Vec<f64> = trials.iter().map(|trial| trial.tokens as f64).collect();
    let confidence = confidence.with_design_effect(design_effect_of_mean(&used, problems));
    let correct = trials.iter().filter(|trial| trial.outcome == Outcome::Correct);
    let correct: Vec<(u64, Outcome)> = correct.map(|trial| (trial.tokens, Outcome::Correct)).collect();
    if correct.is_empty() {
        return Ok(None);
    }
    let found = SurvivalData::new(correct)?.survival(confidence).quantile(keep)?;
    Ok(Some(TokenQuantile { tokens: found.tokens, low: found.low, high: found.high }))
}

impl TokensRow {
    fn summary(&self) -> String {
        let Some(now) = &self.now else { return "cannot tell: no token counts".to_owned() };
        let Some(SufficientBudget { keep, tokens: TokenQuantile { tokens: Some(tokens), low, high }, at }) =
            &self.sufficient
        else {
            return format!("cannot tell: no answer is correct ({} trials)", self.n);
        };
        let end = |end: &Option<u64>| end.map_or("?".to_owned(), |end| end.to_string());
        let found = format!(
            "a limit of {tokens} tokens ({} to {}) would keep {} % of the correct answers and use {:.0} tokens per \
             trial instead of {:.0}",
            end(low),
            end(high),
            in_percent(*keep),
            at.mean_tokens.mean,
            now.mean_tokens.mean
        );
        match self.exact_up_to {
            Some(limit) => {
                format!(
                    "{found}; outcomes beyond {limit} tokens are unknown, {:.0} trials were truncated",
                    now.n_t
                )
            }
            None if !self.group.truncation_known => {
                format!("{found}; it is unknown which trials were truncated")
            }
            None => found,
        }
    }
}
