//! Tokens to an answer as survival data, and whether late answers are worse.

mod change_point;
mod figure;

use rayon::prelude::*;
use reasonscape_points::{Measure, PointsDb, PointsError};
use reasonscape_stats::Outcome;
use reasonscape_stats::design_effect::design_effect_of_mean;
use reasonscape_stats::survival::{Cause, HazardBin, RiskSet, SurvivalCurve, SurvivalData};
use reasonscape_stats::{Confidence, Interval};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::change_point::ChangePoint;
pub use self::figure::{hazard_figure, histogram_figure};
use super::IntervalEstimate;
use super::query::PointQuery;
use super::trials::{GroupBy, TrialGroup, TrialGroupName, load_trial_groups, powers_of_two};

/// The maximum number of bins of equal width.
const MAX_BINS: u64 = 1_000;

/// Options of the analysis.
#[derive(Debug, Clone, Copy)]
pub struct HazardOptions {
    /// How trials are grouped into rows.
    pub by: GroupBy,
    /// Tokens of a bin; without it each bin is twice as wide as the one before.
    pub width: Option<u64>,
    /// The level of confidence intervals.
    pub confidence: Confidence,
}

/// One evaluation on one task, or on all of them together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HazardRow {
    /// What the row is about.
    #[serde(flatten)]
    pub group: TrialGroupName,
    /// Trials whose tokens were counted.
    pub n: u64,
    /// Trials without a token count, which are left out.
    pub without_tokens: u64,
    /// Trials answered correctly.
    pub correct: u64,
    /// Trials answered incorrectly.
    pub incorrect: u64,
    /// Truncated trials, which are censored.
    pub censored: u64,
    /// The number of tokens after which half of the trials have an answer.
    pub median: TokenQuantile,
    /// The number of tokens beyond which accuracy is clearly lower, if there is one.
    pub stops_helping: Option<ChangePoint>,
    /// The result as a sentence.
    pub finding: String,
    /// Bins of tokens.
    pub bins: Vec<Bin>,
    /// The curves for figures.
    #[serde(skip)]
    pub curve: Vec<CurvePoint>,
}

/// A number of tokens with its confidence interval; null beyond the range of the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ReachedAt")]
pub struct TokenQuantile {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Lower end of the confidence interval.
    pub low: Option<u64>,
    /// Upper end of the confidence interval.
    pub high: Option<u64>,
}

/// The trials that reached a bin of tokens.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "HazardBin")]
pub struct Bin {
    /// The lower end, which is not in the bin.
    pub above: u64,
    /// The upper end, which is in the bin.
    pub up_to: u64,
    /// Trials that used more tokens than `above`.
    pub at_risk: u64,
    /// Trials answered correctly here.
    pub correct: u64,
    /// Trials answered incorrectly here.
    pub incorrect: u64,
    /// Trials truncated here.
    pub censored: u64,
    /// Proportion of trials at risk that are answered correctly in the bin.
    pub correct_hazard: IntervalEstimate,
    /// Proportion of trials at risk that are answered incorrectly in the bin.
    pub incorrect_hazard: IntervalEstimate,
    /// Proportion of correct answers in the bin.
    pub accuracy: IntervalEstimate,
    /// Proportion of trials without an answer at the end of the bin (Kaplan-Meier).
    pub survival: IntervalEstimate,
    /// Proportion of trials answered correctly by the end of the bin (Aalen-Johansen).
    pub answered_correct: IntervalEstimate,
    /// Proportion of trials answered incorrectly by the end of the bin (Aalen-Johansen).
    pub answered_incorrect: IntervalEstimate,
}

/// The curves at one number of tokens.
#[derive(Debug, Clone, Copy)]
pub struct CurvePoint {
    /// Tokens.
    pub tokens: u64,
    /// Proportion of trials without an answer so far.
    pub thinking: Interval,
    /// Proportion answered correctly so far.
    pub correct: Interval,
    /// Proportion answered incorrectly so far.
    pub incorrect: Interval,
}

/// Tokens to an answer of the trials that the query selects.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn hazard(
    db: &PointsDb,
    query: &PointQuery,
    options: HazardOptions,
) -> Result<Vec<HazardRow>, PointsError> {
    let groups = load_trial_groups(db, query, &[Measure::CompletionTokens], options.by).await?;
    groups.into_par_iter().map(|group| row(group, options)).collect()
}

fn row(group: TrialGroup, options: HazardOptions) -> Result<HazardRow, PointsError> {
    let trials: Vec<(u64, Outcome)> =
        group.with_tokens().map(|(tokens, status, _)| (tokens, status)).collect();
    // Samples of one problem are correlated in length and in outcome; the larger design effect is used for both.
    let problems = group.problems_with_tokens();
    let design_effect = |value: &dyn Fn(&(u64, Outcome)) -> f64| {
        if problems.is_empty() {
            return 1.0;
        }
        design_effect_of_mean(&trials.iter().map(value).collect::<Vec<_>>(), &problems)
    };
    let of_length = design_effect(&|(tokens, _)| *tokens as f64);
    let of_outcome = design_effect(&|(_, outcome)| f64::from(u8::from(*outcome == Outcome::Correct)));
    let confidence = options.confidence.with_design_effect(of_length.max(of_outcome));
    let n = trials.len() as u64;
    let mut row = HazardRow {
        n,
        without_tokens: group.n() - n,
        group: group.name,
        correct: 0,
        incorrect: 0,
        censored: 0,
        median: TokenQuantile::default(),
        stops_helping: None,
        finding: String::new(),
        bins: Vec::new(),
        curve: Vec::new(),
    };
    if n > 0 {
        let survival_data = SurvivalData::new(trials)?;
        [row.correct, row.incorrect, row.censored] =
            [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated]
                .map(|outcome| survival_data.count(outcome));
        let bin_ends = bin_ends(survival_data.longest(), options.width)?;
        let bins = survival_data.hazards(&bin_ends, RiskSet::Full, confidence)?;
        let curve = survival_data.survival(confidence);
        let [correct, incorrect] = [Cause::Correct, Cause::Incorrect].map(|cause| {
            let curve = survival_data.incidence(cause, confidence);
            move |tokens| {
                let step = curve.at(tokens);
                Interval { low: step.low, high: step.high, point: Some(step.proportion) }
            }
        });
        let curve_point = |tokens| {
            let step = curve.at(tokens);
            CurvePoint {
                tokens,
                thinking: Interval { low: step.low, high: step.high, point: Some(step.proportion) },
                correct: correct(tokens),
                incorrect: incorrect(tokens),
            }
        };
        let median = curve.median();
        row.median = TokenQuantile { tokens: median.tokens, low: median.low, high: median.high };
        row.stops_helping = change_point::find(&bins, confidence)?;
        row.bins = bins
            .iter()
            // Bins before the first event hold no information.
            .skip_while(|bin| bin.correct + bin.incorrect + bin.censored == 0)
            .map(|bin| bin_with_curves(bin, &curve_point(bin.up_to)))
            .collect();
        row.curve = curve_tokens(&curve, survival_data.longest()).into_iter().map(curve_point).collect();
    }
    row.finding = row.summary();
    Ok(row)
}

/// The ends of bins. The last is the longest trial, so that the token limit is the end of a bin.
fn bin_ends(longest: u64, width: Option<u64>) -> Result<Vec<u64>, PointsError> {
    let Some(width) = width else { return Ok(powers_of_two(longest)) };
    let longest = longest.max(1);
    if longest / width > MAX_BINS {
        return Err(PointsError::InvalidQuery(format!(
            "`--width {width}` makes more than {MAX_BINS} bins up to {longest} tokens; use {} or more",
            longest.div_ceil(MAX_BINS)
        )));
    }
    let multiples = (1..).map(|bin| bin * width);
    Ok(multiples.take_while(|end| *end < longest).chain([longest]).collect())
}

/// The token counts at which a figure shows the curve, thinned out.
fn curve_tokens(curve: &SurvivalCurve, longest: u64) -> Vec<u64> {
    const MAX: usize = 150;
    let steps = curve.steps();
    let stride = steps.len().div_ceil(MAX).max(1);
    let mut curve_tokens: Vec<u64> = steps.iter().step_by(stride).map(|step| step.tokens).collect();
    curve_tokens.extend(steps.last().map(|step| step.tokens));
    curve_tokens.push(longest);
    curve_tokens.dedup();
    curve_tokens
}

fn bin_with_curves(bin: &HazardBin, end: &CurvePoint) -> Bin {
    Bin {
        above: bin.above,
        up_to: bin.up_to,
        at_risk: bin.at_risk,
        correct: bin.correct,
        incorrect: bin.incorrect,
        censored: bin.censored,
        correct_hazard: bin.correct_hazard.into(),
        incorrect_hazard: bin.incorrect_hazard.into(),
        accuracy: bin.accuracy.into(),
        survival: end.thinking.into(),
        answered_correct: end.correct.into(),
        answered_incorrect: end.incorrect.into(),
    }
}

impl HazardRow {
    fn summary(&self) -> String {
        let answers = self.correct + self.incorrect;
        let bins_with_answers = self.bins.iter().filter(|bin| bin.correct + bin.incorrect > 0).count();
        match &self.stops_helping {
            Some(change) => change.summary(),
            None if self.n == 0 => "cannot tell: no token counts".to_owned(),
            None if answers == 0 => format!("cannot tell: every trial was truncated ({})", self.n),
            None if bins_with_answers < 2 => {
                format!("cannot tell: every answer ({answers}) is in the same bin of tokens")
            }
            None => "accuracy does not drop significantly with more tokens".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double_or_have_one_width_and_end_at_the_longest_trial() {
        assert_eq!(bin_ends(10, None).unwrap(), [1, 2, 4, 8, 10]);
        assert_eq!(bin_ends(8, None).unwrap(), [1, 2, 4, 8]);
        assert_eq!(bin_ends(0, None).unwrap(), [1]);
        assert_eq!(bin_ends(10, Some(4)).unwrap(), [4, 8, 10]);
        assert_eq!(bin_ends(u64::MAX >> 2, None).unwrap().len(), 63);
        let error = bin_ends(5_000_000, Some(7)).unwrap_err().to_string();
        assert!(error.contains("`--width 7`") && error.contains("use 5000 or more"), "{error}");
    }
}
