//! Bits per token of correct and incorrect answers of equal length.
//!
//! gzip has a fixed cost and learns as it goes, so a longer text has fewer bits per token, whatever its content. Correct answers
//! are often shorter; comparing bits per token directly then mostly compares lengths.

use std::collections::BTreeMap;

use reasonscape_points::PointsError;
use reasonscape_stats::adjusted_difference::{Observation, adjusted_difference};
use reasonscape_stats::{Confidence, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CompressedTrial, EMPTY_GZIP_SIZE};

/// Smallest difference of logarithms that is called a difference. The curve of compressed size over length is not exactly a
/// parabola: texts of one kind and different lengths differ by up to 0.4 % of bits per token in the test below.
const MIN_EFFECT: f64 = 0.005;

/// Bits per token of correct answers relative to incorrect ones of the same length and task, without gzip's fixed cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct EqualLengthEffect {
    /// The ratio: above 1 if correct answers have more bits per token.
    pub ratio: f64,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Whether the confidence interval excludes 1 by more than the regression's own error: the whole interval is more than
    /// half a percent away.
    pub clear: bool,
    /// Correlation of bits per token with the logarithm of the length, over the answers that were compared.
    pub length_correlation: Option<f64>,
    /// Correct answers that were compared.
    pub n_correct: usize,
    /// Incorrect answers that were compared.
    pub n_incorrect: usize,
}

impl EqualLengthEffect {
    /// The difference in percent with its confidence interval: `+3.1 % (+1.2 to +5.0)`.
    pub fn percent_text(&self) -> String {
        let [ratio, low, high] = [self.ratio, self.low, self.high].map(|ratio| 100.0 * (ratio - 1.0));
        format!("{ratio:+.1} % ({low:+.1} to {high:+.1})")
    }

    /// Which answers have more bits per token: `more`, `fewer` or `not significant`.
    pub fn verdict(&self) -> &'static str {
        match (self.clear, self.ratio > 1.0) {
            (false, _) => "not significant",
            (true, true) => "more",
            (true, false) => "fewer",
        }
    }

    pub(super) fn describe(&self) -> String {
        let numbers = self.percent_text();
        match self.verdict() {
            "not significant" => {
                format!(
                    "at equal length, correct answers don't differ significantly in bits per token, {numbers}"
                )
            }
            verdict => format!("at equal length, correct answers have {verdict} bits per token, {numbers}"),
        }
    }
}

/// The effect by a regression of the logarithm of the compressed size, without gzip's fixed cost, on the logarithm of the
/// length and its square; at a given length it is the difference of the logarithms of bits per token.
pub(super) fn effect(
    units: &[(String, Vec<CompressedTrial>)],
    confidence: Confidence,
) -> Result<Option<EqualLengthEffect>, PointsError> {
    let mut rows = Vec::new();
    for (stratum, (_, trials)) in units.iter().enumerate() {
        let mut clusters: BTreeMap<u64, u64> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| trial.outcome != Outcome::Truncated) {
            let Some(tokens) = trial.tokens else { continue };
            let alone = rows.len() as u64;
            let cluster = match trial.problem {
                Some(problem) => *clusters.entry(problem).or_insert(alone),
                None => alone,
            };
            rows.push(Observation {
                // A text with token counts has a larger size than an empty one.
                y: (trial.size.saturating_sub(EMPTY_GZIP_SIZE).max(1) as f64).ln(),
                x: tokens.ln(),
                is_first: trial.outcome == Outcome::Correct,
                stratum: stratum as u32,
                cluster,
            });
        }
    }
    let Some(found) = adjusted_difference(&rows, confidence)? else { return Ok(None) };
    Ok(Some(EqualLengthEffect {
        ratio: found.difference.exp(),
        low: found.low.exp(),
        high: found.high.exp(),
        clear: found.low > MIN_EFFECT || found.high < -MIN_EFFECT,
        length_correlation: length_correlation(&rows),
        n_correct: found.n_first,
        n_incorrect: found.n_second,
    }))
}

/// Pearson's correlation of bits per token with the logarithm of the length.
fn length_correlation(rows: &[Observation]) -> Option<f64> {
    let n = rows.len() as f64;
    let bits = |row: &Observation| (row.y - row.x).exp();
    let mean = |value: &dyn Fn(&Observation) -> f64| rows.iter().map(value).sum::<f64>() / n;
    let (mean_x, mean_bits) = (mean(&|row| row.x), mean(&bits));
    let product = mean(&|row| (row.x - mean_x) * (bits(row) - mean_bits));
    let spread =
        (mean(&|row| (row.x - mean_x).powi(2)) * mean(&|row| (bits(row) - mean_bits).powi(2))).sqrt();
    (spread > 0.0).then(|| (product / spread).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_points::GzipSizer;

    /// Texts of one kind: words from a small vocabulary.
    fn text(words: u64, seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("word{} ", (state >> 33) % 200)
        };
        (0..words).map(|_| word()).collect()
    }

    fn trials(lengths: impl Fn(u64) -> (u64, Outcome)) -> Vec<CompressedTrial> {
        let mut sizer = GzipSizer::default();
        (0..400)
            .map(|seed| {
                let (words, outcome) = lengths(seed);
                CompressedTrial {
                    outcome,
                    size: sizer.gzip_size(text(words, seed).as_bytes()),
                    completion_tokens: Some(words),
                    tokens: Some(words as f64),
                    problem: None,
                }
            })
            .collect()
    }

    #[test]
    fn the_fixed_cost_is_the_gzip_size_of_an_empty_text() {
        assert_eq!(GzipSizer::default().gzip_size(b""), EMPTY_GZIP_SIZE);
    }

    #[test]
    fn texts_of_one_kind_but_different_lengths_do_not_differ_at_equal_length() {
        // Correct answers are a third as long, and overlap with incorrect ones.
        let unit = trials(|seed| {
            if seed % 2 == 0 { (60 + seed, Outcome::Correct) } else { (180 + 3 * seed, Outcome::Incorrect) }
        });
        let found = effect(&[("task".to_owned(), unit)], Confidence::P95).unwrap().unwrap();
        assert!(!found.clear && (found.ratio - 1.0).abs() < 0.02, "{found:?}");
        assert!(found.length_correlation.unwrap() < -0.6, "{found:?}");
        assert_eq!((found.n_correct, found.n_incorrect), (200, 200));
    }

    #[test]
    fn more_information_at_equal_length_is_found() {
        let mut unit = trials(|seed| {
            (100 + seed % 50, if seed % 2 == 0 { Outcome::Correct } else { Outcome::Incorrect })
        });
        for trial in unit.iter_mut().filter(|trial| trial.outcome == Outcome::Correct) {
            trial.size += (trial.size - EMPTY_GZIP_SIZE) / 10;
        }
        let found = effect(&[("task".to_owned(), unit)], Confidence::P95).unwrap().unwrap();
        assert!(found.clear && (found.ratio - 1.1).abs() < 0.01, "{found:?}");
        assert_eq!(found.verdict(), "more");
    }
}
