//! Repetition loops: long trials with few bits per token.

use reasonscape_points::{PointsDb, PointsError, TranscriptReader, TrialMatch};
use reasonscape_stats::Outcome;
use schemars::JsonSchema;
use serde::Serialize;

use super::{CompressedTrial, PointQuery, TrialGroup};

/// Answers that an evaluation needs before their median is used.
const MIN_ANSWERS: usize = 20;
/// No trial with more bits per token than this is a loop. Prose has five to twelve. Short texts have more, because gzip has
/// nothing yet to refer to; without this limit, a model with short answers would have a loop in every long trial.
const MAX_BITS: f64 = 2.0;
/// A loop has at most this fraction of the median bits per token.
const FRACTION_OF_MEDIAN: f64 = 0.25;
/// Shorter trials are never loops: gzip's header dominates their size, and a regular list compresses as well.
const MIN_TOKENS: f64 = 256.0;

/// What makes a trial a loop: few bits per token over many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LoopRule {
    /// A loop has fewer bits per token than this.
    pub bits_below: f64,
    /// A loop has at least this many tokens.
    pub tokens_from: f64,
    /// Answers that the limit was computed from; 0 if it is the default or set by the user.
    pub made_from: usize,
}

impl LoopRule {
    /// A quarter of the median over the answers of an evaluation, since tokenizers differ between models; at most
    /// [`MAX_BITS`].
    pub(super) fn from_trials<'a>(
        trials: impl Iterator<Item = &'a CompressedTrial>,
        given: Option<f64>,
    ) -> Self {
        let rule = |bits_below, made_from| Self { bits_below, tokens_from: MIN_TOKENS, made_from };
        if let Some(bits) = given {
            return rule(bits, 0);
        }
        let answers = trials.filter(|trial| trial.outcome != Outcome::Truncated);
        let mut bits: Vec<f64> = answers.filter_map(CompressedTrial::bits).collect();
        if bits.len() < MIN_ANSWERS {
            return rule(MAX_BITS, 0);
        }
        let middle = bits.len() / 2;
        let (_, typical, _) = bits.select_nth_unstable_by(middle, f64::total_cmp);
        rule((FRACTION_OF_MEDIAN * *typical).min(MAX_BITS), bits.len())
    }

    pub(super) fn is_loop(&self, trial: &CompressedTrial) -> bool {
        let is_long = trial.tokens.is_some_and(|tokens| tokens >= self.tokens_from);
        is_long && trial.bits().is_some_and(|bits| bits < self.bits_below)
    }
}

/// A repetition loop and the trial that it is in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoopExample {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// The parameters, as canonical JSON.
    pub params: String,
    /// The index of the problem at its point.
    pub index: u64,
    /// The number of the sample.
    pub repeat: u32,
    /// The key of the response in the cache.
    pub cache_key: String,
    /// The outcome.
    pub status: &'static str,
    /// Tokens of the completion.
    pub completion_tokens: u64,
    /// Bytes after gzip.
    pub compressed_size: u64,
    /// Bits per token.
    pub bits_per_token: f64,
    /// The repeated text, if the cache has the response.
    pub words: Option<String>,
}

/// A loop that has not been looked up yet.
#[derive(Debug)]
pub(super) struct LoopCandidate {
    eval_id: String,
    model: String,
    label: String,
    task: String,
    status: &'static str,
    completion_tokens: u64,
    size: u64,
    bits: f64,
}

/// The loop with the fewest bits per token in a row.
pub(super) fn lowest_entropy_loop(
    row: &TrialGroup,
    units: &[(String, Vec<CompressedTrial>)],
    rule: LoopRule,
) -> Option<LoopCandidate> {
    let candidates = units.iter().flat_map(|(task, trials)| {
        trials.iter().filter(move |trial| rule.is_loop(trial)).filter_map(move |trial| {
            Some(LoopCandidate {
                eval_id: row.name.eval.eval_id.clone(),
                model: row.name.eval.model.clone(),
                label: row.name.label.clone(),
                task: task.clone(),
                status: trial.outcome.name(),
                completion_tokens: trial.completion_tokens?,
                size: trial.size,
                bits: trial.bits()?,
            })
        })
    });
    // Trials come in no order; ties are broken so that the result is deterministic.
    candidates.min_by(|a, b| {
        let order = |one: &LoopCandidate| (one.task.clone(), one.size, one.completion_tokens, one.status);
        a.bits.total_cmp(&b.bits).then_with(|| order(a).cmp(&order(b)))
    })
}

/// Looks up the candidates with the fewest bits per token.
pub(super) async fn examples(
    db: &PointsDb,
    query: &PointQuery,
    mut candidates: Vec<LoopCandidate>,
    max: usize,
) -> Result<Vec<LoopExample>, PointsError> {
    candidates.sort_by(|a, b| {
        a.bits.total_cmp(&b.bits).then_with(|| (&a.eval_id, &a.task).cmp(&(&b.eval_id, &b.task)))
    });
    candidates.truncate(max);
    let wanted: Vec<TrialMatch<'_>> = candidates
        .iter()
        .map(|candidate| TrialMatch {
            eval_id: &candidate.eval_id,
            base_task: &candidate.task,
            completion_tokens: candidate.completion_tokens,
            compressed_size: candidate.size,
        })
        .collect();
    let locations = db.locate_trials(&query.filter, &wanted).await?;
    let mut transcripts =
        if candidates.is_empty() { None } else { TranscriptReader::open_study(db.study()).ok() };
    let found = candidates.into_iter().zip(locations).filter_map(|(candidate, location)| {
        let location = location?;
        let text = transcripts.as_mut().and_then(|transcripts| {
            reasoning_or_reply(transcripts, &location.cache_key, location.repeat, &candidate.model)
        });
        Some(LoopExample {
            eval_id: candidate.eval_id,
            label: candidate.label,
            base_task: candidate.task.clone(),
            task: candidate.task,
            params: location.params,
            index: location.index,
            repeat: location.repeat,
            cache_key: location.cache_key,
            status: candidate.status,
            completion_tokens: candidate.completion_tokens,
            compressed_size: candidate.size,
            bits_per_token: candidate.bits,
            words: text.as_deref().and_then(loop_text),
        })
    });
    Ok(found.collect())
}

/// The reasoning of a trial, or its reply where it has none. The analysis doesn't need it, so a text that can't be read
/// is not shown.
fn reasoning_or_reply(
    transcripts: &mut TranscriptReader,
    key: &str,
    repeat: u32,
    model: &str,
) -> Option<String> {
    let transcript = transcripts.find(key, repeat, model).ok()??;
    Some(transcript.reasoning.filter(|text| !text.is_empty()).unwrap_or(transcript.reply))
}

/// The first words of the text that is repeated at the end; `None` if the end doesn't repeat exactly.
fn loop_text(text: &str) -> Option<String> {
    const MAX_PERIOD_LEN: usize = 2_000;
    const MAX_WORDS: usize = 12;
    const MAX_CHARS: usize = 100;
    let chars: Vec<char> = text.trim_end().chars().collect();
    let n = chars.len();
    // Two repetitions can be a coincidence, so three are required.
    let period = (1..=MAX_PERIOD_LEN.min(n / 3)).find(|&period| {
        let last = &chars[n - period..];
        last == &chars[n - 2 * period..n - period] && last == &chars[n - 3 * period..n - 2 * period]
    })?;
    let start = (0..n - period).rev().take_while(|&index| chars[index] == chars[index + period]).last()?;
    let repeated: String = chars[start..].iter().take(MAX_CHARS).collect();
    // The loop may begin with the end of a sentence, which reads badly.
    let repeated = repeated.trim_start_matches(['.', ',', ';', ':', ' ']);
    let words: Vec<&str> = repeated.split_whitespace().take(MAX_WORDS).collect();
    Some(words.join(" ").chars().filter(|character| !character.is_control()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_text_starts_with_the_loop() {
        let text =
            format!("First I add the numbers. {}Wait, let me", "Wait, let me check that again. ".repeat(9));
        assert_eq!(
            loop_text(&text).unwrap(),
            "Wait, let me check that again. Wait, let me check that again."
        );
        assert_eq!(loop_text("1 1 1 1 1 1").unwrap(), "1 1 1 1 1 1");
        assert_eq!(loop_text("The answer is 4."), None);
        assert_eq!(loop_text(""), None);
        assert_eq!(loop_text("ああああ").unwrap(), "ああああ");
    }

    fn trial(outcome: Outcome, size: u64, tokens: f64) -> CompressedTrial {
        CompressedTrial {
            outcome,
            size,
            completion_tokens: Some(tokens as u64),
            tokens: Some(tokens),
            problem: None,
        }
    }

    #[test]
    fn rule_is_a_quarter_of_the_median_and_ignores_short_trials() {
        let typical = vec![trial(Outcome::Correct, 1_000, 1_000.0); MIN_ANSWERS];
        let rule = LoopRule::from_trials(typical.iter(), None);
        assert_eq!((rule.bits_below, rule.made_from), (2.0, MIN_ANSWERS));
        assert!(rule.is_loop(&trial(Outcome::Truncated, 200, 1_000.0)));
        assert!(!rule.is_loop(&trial(Outcome::Truncated, 250, 1_000.0)));
        assert!(!rule.is_loop(&trial(Outcome::Truncated, 30, 255.0)));
        let short = vec![trial(Outcome::Correct, 100, 20.0); MIN_ANSWERS];
        assert_eq!(LoopRule::from_trials(short.iter(), None).bits_below, MAX_BITS);
        let cut = vec![trial(Outcome::Truncated, 50, 1_000.0); 100];
        assert_eq!(LoopRule::from_trials(cut.iter(), None).bits_below, MAX_BITS);
        assert_eq!(LoopRule::from_trials(typical.iter(), Some(0.5)).bits_below, 0.5);
    }
}
