//! Compressed sizes of trials by outcome, and repetition loops.

mod at_equal_length;
mod by_parameter;
mod figure;
mod loops;
mod quartiles;

use rayon::prelude::*;
use reasonscape_points::{Measure, PointsDb, PointsError, StoredTrial, TrialColumns};
use reasonscape_stats::Outcome;
use reasonscape_stats::design_effect::design_effect_of_mean;
use reasonscape_stats::effect_size::{Effect, Sample, Size};
use reasonscape_stats::{Confidence, wilson};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::at_equal_length::EqualLengthEffect;
pub use self::by_parameter::{EntropyByParameter, EntropyRow, entropy_by_parameter};
pub use self::figure::compression_figure;
use self::loops::LoopCandidate;
pub use self::loops::{LoopExample, LoopRule};
pub use self::quartiles::QuartileSummary;
use super::IntervalEstimate;
use super::query::PointQuery;
use super::trials::{GroupBy, TrialGroup, TrialGroupName, load_trial_groups};

/// The gzip size of an empty text: header and trailer. At this size, there was no text to compress.
const EMPTY_GZIP_SIZE: u64 = 20;

/// The columns that bits per token are computed from.
const MEASURES: [Measure; 5] = [
    Measure::CompletionTokens,
    Measure::ReasoningTokens,
    Measure::ReasoningChars,
    Measure::AnswerChars,
    Measure::CompressedSize,
];

/// Options of the analysis.
#[derive(Debug, Clone, Copy)]
pub struct CompressionOptions {
    /// How trials are grouped into rows.
    pub by: GroupBy,
    /// The level of confidence intervals.
    pub confidence: Confidence,
    /// Bits per token below which a long trial is a loop; by default computed from the answers of the evaluation.
    pub loop_bits: Option<f64>,
    /// The number of examples of loops to look up.
    pub examples: usize,
}

/// Compressed sizes of trials by outcome, and repetition loops.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Compression {
    /// One row for each evaluation and task.
    pub rows: Vec<CompressionRow>,
    /// The loop with the fewest bits per token of each row, in that order.
    pub examples: Vec<LoopExample>,
}

/// One evaluation on one task, or on all of them together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CompressionRow {
    /// What the row is about.
    #[serde(flatten)]
    pub group: TrialGroupName,
    /// Trials.
    pub n: u64,
    /// Correct answers.
    pub correct: OutcomeStats,
    /// Incorrect answers.
    pub incorrect: OutcomeStats,
    /// Truncated trials.
    pub truncated: OutcomeStats,
    /// Bits per token of correct answers against incorrect ones, not adjusted for their lengths.
    pub bits_effect: Option<EffectSize>,
    /// Bits per token of correct answers relative to incorrect ones at equal length.
    pub equal_length_effect: Option<EqualLengthEffect>,
    /// Compressed sizes of correct answers against incorrect ones.
    pub size_effect: Option<EffectSize>,
    /// Repetition loops.
    pub loops: Loops,
    /// The result as a sentence.
    pub finding: String,
}

/// Trials of one outcome.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[schemars(rename = "Ended")]
pub struct OutcomeStats {
    /// Trials.
    pub n: u64,
    /// Trials whose tokens are known.
    pub with_bits: u64,
    /// Bits per token.
    pub bits_per_token: Option<QuartileSummary>,
    /// Bytes after gzip.
    pub compressed_size: Option<QuartileSummary>,
}

/// How much larger the numbers of correct answers tend to be than those of incorrect ones.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct EffectSize {
    /// Cliff's delta.
    pub delta: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Probability that a correct answer has the larger number.
    pub auc: f64,
    /// Lower end of its confidence interval.
    pub auc_low: f64,
    /// Upper end of its confidence interval.
    pub auc_high: f64,
    /// Whether the confidence interval of delta excludes zero.
    pub clear: bool,
    /// The size of the effect: `negligible`, `small`, `medium` or `large`.
    pub size: &'static str,
    /// Correct answers that were compared.
    pub n_correct: usize,
    /// Incorrect answers that were compared.
    pub n_incorrect: usize,
}

impl From<Effect> for EffectSize {
    fn from(effect: Effect) -> Self {
        Self {
            delta: effect.delta,
            low: effect.low,
            high: effect.high,
            auc: effect.auc(),
            auc_low: f64::midpoint(1.0, effect.low),
            auc_high: f64::midpoint(1.0, effect.high),
            clear: effect.is_clear(),
            size: match effect.size() {
                Size::Negligible => "negligible",
                Size::Small => "small",
                Size::Medium => "medium",
                Size::Large => "large",
            },
            n_correct: effect.n_a,
            n_incorrect: effect.n_b,
        }
    }
}

/// Repetition loops: long trials with few bits per token.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Loops {
    /// The number of loops.
    pub count: u64,
    /// Trials whose bits per token are known.
    pub of: u64,
    /// The proportion of loops.
    #[serde(rename = "share")]
    pub proportion: IntervalEstimate,
    /// What makes a trial a loop.
    pub rule: LoopRule,
}

/// The compressed size and tokens of one trial.
#[derive(Debug, Clone, Copy)]
struct CompressedTrial {
    outcome: Outcome,
    size: u64,
    completion_tokens: Option<u64>,
    /// Tokens of the compressed text.
    tokens: Option<f64>,
    /// A number that samples of one problem share; `None` if every problem has one sample.
    problem: Option<u64>,
}

impl CompressedTrial {
    fn bits(&self) -> Option<f64> {
        bits(self.size, self.tokens)
    }
}

/// Compressed sizes of the trials that the query selects.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn compression(
    db: &PointsDb,
    query: &PointQuery,
    options: CompressionOptions,
) -> Result<Compression, PointsError> {
    let groups = load_trial_groups(db, query, &MEASURES, options.by).await?;
    let mut of_evals: Vec<Vec<TrialGroup>> = Vec::new();
    for row in groups {
        // The rows of an evaluation are adjacent.
        match of_evals.last_mut().filter(|rows| rows[0].name.eval.eval_id == row.name.eval.eval_id) {
            Some(rows) => rows.push(row),
            None => of_evals.push(vec![row]),
        }
    }
    let found: Vec<(Vec<CompressionRow>, Vec<LoopCandidate>)> =
        of_evals.into_par_iter().map(|rows| eval_rows(rows, options)).collect::<Result<_, PointsError>>()?;
    let (rows, candidates): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let candidates = candidates.into_iter().flatten().collect();
    let examples = loops::examples(db, query, candidates, options.examples).await?;
    Ok(Compression { rows: rows.into_iter().flatten().collect(), examples })
}

/// The rows of one evaluation, and the loop with the fewest bits per token of each. Columns are dropped once they are
/// processed, since there may be millions of trials.
fn eval_rows(
    mut groups: Vec<TrialGroup>,
    options: CompressionOptions,
) -> Result<(Vec<CompressionRow>, Vec<LoopCandidate>), PointsError> {
    let compressed: Vec<Vec<(String, Vec<CompressedTrial>)>> = groups
        .iter_mut()
        .map(|row| {
            let units = std::mem::take(&mut row.units).into_iter();
            units.map(|unit| (unit.base_task.clone(), measure_compression(&unit))).collect()
        })
        .collect();
    let rule =
        LoopRule::from_trials(compressed.iter().flatten().flat_map(|(_, trials)| trials), options.loop_bits);
    let both = || groups.iter().zip(&compressed);
    let candidates = both().filter_map(|(row, units)| loops::lowest_entropy_loop(row, units, rule)).collect();
    let rows = both().map(|(row, units)| self::row(row, units, rule, options.confidence));
    Ok((rows.collect::<Result<_, _>>()?, candidates))
}

fn measure_compression(unit: &TrialColumns) -> Vec<CompressedTrial> {
    let tokens = unit.measure(Measure::CompletionTokens).zip(unit.measure(Measure::ReasoningTokens));
    let chars = unit.measure(Measure::ReasoningChars).zip(unit.measure(Measure::AnswerChars));
    let sizes = unit.status.iter().zip(unit.measure(Measure::CompressedSize));
    let problems = unit.problem.iter().map(|problem| Some(*problem)).chain(std::iter::repeat(None));
    sizes
        .zip(tokens.zip(chars))
        .zip(problems)
        .map(|(((outcome, size), (tokens, chars)), problem)| {
            let (completion_tokens, reasoning_tokens) = tokens;
            let (reasoning_chars, answer_chars) = chars;
            let text = CompressedText {
                size: size.unwrap_or(0),
                completion_tokens,
                reasoning_tokens,
                reasoning_chars: reasoning_chars.unwrap_or(0),
                answer_chars: answer_chars.unwrap_or(0),
            };
            CompressedTrial {
                outcome: *outcome,
                size: text.size,
                completion_tokens,
                tokens: text.tokens(),
                problem,
            }
        })
        .collect()
}

/// The compressed size of a trial in bits, divided by its tokens; `None` if these aren't known.
pub fn bits_per_token(trial: &StoredTrial) -> Option<f64> {
    let text = CompressedText {
        size: trial.compressed_size,
        completion_tokens: trial.completion_tokens,
        reasoning_tokens: trial.reasoning_tokens,
        reasoning_chars: trial.reasoning_chars,
        answer_chars: trial.answer_chars,
    };
    bits(text.size, text.tokens())
}

fn bits(size: u64, tokens: Option<f64>) -> Option<f64> {
    Some(8.0 * size as f64 / tokens?)
}

/// The measures of a compressed text: the reasoning, or the whole output if there is none.
struct CompressedText {
    size: u64,
    completion_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
    reasoning_chars: u64,
    answer_chars: u64,
}

impl CompressedText {
    /// Tokens of the compressed text.
    ///
    /// Without a count of reasoning tokens, the completion's tokens are split in proportion to characters. Reasoning
    /// tokens without visible text were not compressed and are subtracted.
    fn tokens(&self) -> Option<f64> {
        let (reasoning_chars, answer_chars) = (self.reasoning_chars as f64, self.answer_chars as f64);
        let reasoning = self.reasoning_tokens.filter(|tokens| *tokens > 0);
        let tokens = if reasoning_chars > 0.0 {
            let by_chars =
                || Some(self.completion_tokens? as f64 * reasoning_chars / (reasoning_chars + answer_chars));
            reasoning.map(|tokens| tokens as f64).or_else(by_chars)
        } else {
            self.completion_tokens.map(|tokens| tokens.saturating_sub(reasoning.unwrap_or(0)) as f64)
        };
        tokens.filter(|tokens| *tokens > 0.0 && self.size > EMPTY_GZIP_SIZE)
    }
}

fn row(
    group: &TrialGroup,
    units: &[(String, Vec<CompressedTrial>)],
    rule: LoopRule,
    level: Confidence,
) -> Result<CompressionRow, PointsError> {
    let trials = || units.iter().flat_map(|(_, trials)| trials);
    let sample = |outcome: Outcome,
                  value: fn(&CompressedTrial) -> Option<f64>|
     -> Result<Option<Sample>, PointsError> {
        let with_outcome = trials().filter(|trial| trial.outcome == outcome);
        let values: Vec<f64> = with_outcome.filter_map(value).collect();
        Ok(if values.is_empty() { None } else { Some(Sample::new(values)?) })
    };
    // Samples of one problem are correlated; the regression clusters them itself.
    let confidence = level.with_design_effect(bits_design_effect(units));
    let mut stats = Vec::new();
    let mut samples = Vec::new();
    for outcome in [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated] {
        let bits = sample(outcome, CompressedTrial::bits)?;
        let sizes = sample(outcome, |trial| Some(trial.size as f64))?;
        stats.push(OutcomeStats {
            n: sizes.as_ref().map_or(0, Sample::len) as u64,
            with_bits: bits.as_ref().map_or(0, Sample::len) as u64,
            bits_per_token: bits.as_ref().map(|sample| QuartileSummary::new(sample, confidence)),
            compressed_size: sizes.as_ref().map(|sample| QuartileSummary::new(sample, confidence)),
        });
        samples.push((bits, sizes));
    }
    let effect = |correct: Option<&Sample>, incorrect: Option<&Sample>| {
        Some(EffectSize::from(correct?.compared_with(incorrect?, confidence)))
    };
    let [correct, incorrect, _] = &samples[..] else { unreachable!("three outcomes") };
    let of = stats.iter().map(|stats| stats.with_bits).sum::<u64>();
    let count = trials().filter(|trial| rule.is_loop(trial)).count() as u64;
    let proportion = wilson(count as f64, of as f64, confidence)?.into();
    let mut row = CompressionRow {
        group: group.name.clone(),
        n: trials().count() as u64,
        correct: stats[0],
        incorrect: stats[1],
        truncated: stats[2],
        bits_effect: effect(correct.0.as_ref(), incorrect.0.as_ref()),
        equal_length_effect: at_equal_length::effect(units, level)?,
        size_effect: effect(correct.1.as_ref(), incorrect.1.as_ref()),
        loops: Loops { count, of, proportion, rule },
        finding: String::new(),
    };
    row.finding = row.summary();
    Ok(row)
}

/// The design effect of bits per token; 1 if every problem has one sample.
fn bits_design_effect(units: &[(String, Vec<CompressedTrial>)]) -> f64 {
    let (mut bits, mut problems) = (Vec::new(), Vec::new());
    for (place, (_, trials)) in units.iter().enumerate() {
        for trial in trials {
            if let (Some(of_trial), Some(problem)) = (trial.bits(), trial.problem) {
                bits.push(of_trial);
                problems.push(problem ^ place as u64);
            }
        }
    }
    design_effect_of_mean(&bits, &problems)
}

impl CompressionRow {
    fn summary(&self) -> String {
        if self.loops.of == 0 {
            return "cannot tell: no token counts".to_owned();
        }
        let separation = match &self.bits_effect {
            None if self.correct.with_bits + self.incorrect.with_bits == 0 => {
                "no comparison of correct and incorrect answers: every trial was truncated".to_owned()
            }
            None if self.correct.with_bits == 0 => {
                "no comparison of correct and incorrect answers: no answer is correct".to_owned()
            }
            None => "no comparison of correct and incorrect answers: no answer is incorrect".to_owned(),
            Some(raw) => {
                let unadjusted = format!(
                    "not adjusted for length: delta {:+.2} ({:+.2} to {:+.2})",
                    raw.delta, raw.low, raw.high
                );
                match &self.equal_length_effect {
                    None => format!(
                        "cannot tell whether bits per token differ at equal length: too few answers of equal length; \
                         {unadjusted}"
                    ),
                    Some(effect) => format!("{}; {unadjusted}", effect.describe()),
                }
            }
        };
        match self.loops.count {
            0 => separation,
            count => format!(
                "{separation}; {count} of {} trials are repetition loops ({:.1} to {:.1} %)",
                self.loops.of,
                100.0 * self.loops.proportion.low,
                100.0 * self.loops.proportion.high
            ),
        }
    }
}
