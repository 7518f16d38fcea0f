//! One answered question and its metrics.

use std::borrow::Cow;

use super::{Grounding, Sources, Step, check_steps, check_truncated_steps, ground, text_stats, words};
use reasonscape_core::{is_correct, normalize};

/// A question with its target and a model's response. Fields that were not recorded are `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct SampleRecord<'a> {
    /// Id of the question.
    pub id: &'a str,
    /// Index of the sample, if there are several.
    pub repeat: u32,
    /// The question; reasoning may take its numbers and names from it.
    pub input: Option<&'a str>,
    /// Correct answers.
    pub targets: &'a [Cow<'a, str>],
    /// The options of a multiple-choice question: a letter and its option count as the same answer.
    pub options: &'a [Cow<'a, str>],
    /// The model's answer.
    pub answer: Option<&'a str>,
    /// Its reasoning.
    pub cot: Option<&'a str>,
    /// Context given to the model.
    pub context: &'a [Cow<'a, str>],
    /// Stated probability that the answer is correct, from 0 to 1.
    pub prob_correct: Option<f64>,
    /// Tokens of the prompt, as the endpoint counted them.
    pub prompt_tokens: Option<u32>,
    /// Tokens of the reply, as the endpoint counted them.
    pub completion_tokens: Option<u32>,
    /// Latency of the response.
    pub latency_ms: Option<f64>,
    /// Whether the response was truncated.
    pub truncated: bool,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The model.
    pub model: Option<&'a str>,
    /// Category of the question.
    pub category: Option<&'a str>,
    /// The stored verdict, if there is one: then the answer is not compared with the targets.
    pub verdict: Option<bool>,
    /// The evaluation of a study that the answer belongs to. Only answers of one evaluation are samples of each other.
    pub eval_id: Option<&'a str>,
    /// The task of a study.
    pub base_task: Option<&'a str>,
    /// The template of the prompt.
    pub template: Option<&'a str>,
    /// The sampler of the answer.
    pub sampler: Option<&'a str>,
}

/// Options of the metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricOptions {
    /// Whether plain numbers are compared as numbers.
    pub numbers: bool,
    /// Temperature of answers that don't record one.
    pub temperature: Option<f64>,
}

impl Default for MetricOptions {
    fn default() -> Self {
        Self { numbers: true, temperature: None }
    }
}

/// Metrics of one answered question.
#[derive(Debug, Clone, PartialEq)]
pub struct PerTaskResult<'a> {
    /// Id of the question.
    pub id: &'a str,
    /// Index of the sample.
    pub repeat: u32,
    /// The evaluation that the answer belongs to.
    pub eval_id: Option<&'a str>,
    /// Whether the answer is one of the targets, or was scored as correct before, and the response was not truncated.
    pub correct: bool,
    /// Whether the response was truncated.
    pub truncated: bool,
    /// The normalized answer.
    pub answer: Option<Cow<'a, str>>,
    /// Words of the answer.
    pub answer_tokens: Option<u64>,
    /// The reasoning; an empty one counts as zero words.
    pub cot: Option<&'a str>,
    /// Words of the reasoning.
    pub cot_tokens: Option<u64>,
    /// Code points of the reasoning.
    pub cot_chars: Option<u64>,
    /// Lines of the reasoning that look like steps.
    pub step_count: Option<u64>,
    /// Whether the reasoning contains a self-correction.
    pub self_correcting: Option<bool>,
    /// Words of the reasoning for each word of the answer.
    pub ra_ratio: Option<f64>,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u32>,
    /// Tokens of the reply.
    pub completion_tokens: Option<u32>,
    /// Tokens of both, where both are known.
    pub total_tokens: Option<u64>,
    /// Latency of the response.
    pub latency_ms: Option<f64>,
    /// Stated probability that the answer is correct.
    pub prob_correct: Option<f64>,
    /// Equations of the reasoning that could be checked.
    pub equations_checked: Option<u32>,
    /// Those of them that are false.
    pub false_steps: Vec<Step<'a>>,
    /// Grounding of the reasoning in the context; `None` without context or reasoning.
    pub grounding: Option<Grounding<'a>>,
    /// Whether the temperature was 0; `None` if unknown.
    pub deterministic: Option<bool>,
}

/// Measures one answered question.
///
/// ```
/// use reasonscape_metrics::{SampleRecord, MetricOptions, measure};
///
/// let targets = ["Paris".into(), "Paris, France".into()];
/// let row = SampleRecord { id: "q1", targets: &targets, answer: Some(" paris "), ..SampleRecord::default() };
/// assert!(measure(&row, &MetricOptions::default()).correct);
/// // A truncated response is never correct.
/// assert!(!measure(&SampleRecord { truncated: true, ..row }, &MetricOptions::default()).correct);
/// ```
pub fn measure<'a>(row: &SampleRecord<'a>, options: &MetricOptions) -> PerTaskResult<'a> {
    let cot = row.cot;
    let counted = cot.map(text_stats);
    let answer = row.answer.map(|answer| normalize(answer, options.numbers));
    let answer_tokens = row.answer.map(words);
    let steps = cot.map(if row.truncated { check_truncated_steps } else { check_steps });
    let temperature = row.temperature.or(options.temperature);
    let is_right =
        || row.answer.is_some_and(|answer| is_correct(answer, row.targets, row.options, options.numbers));
    PerTaskResult {
        id: row.id,
        repeat: row.repeat,
        eval_id: row.eval_id,
        correct: !row.truncated && row.verdict.unwrap_or_else(is_right),
        truncated: row.truncated,
        answer_tokens,
        cot,
        cot_tokens: counted.map(|cot| cot.tokens),
        cot_chars: counted.map(|cot| cot.chars),
        step_count: counted.map(|cot| cot.steps),
        self_correcting: counted.map(|cot| cot.self_correcting),
        ra_ratio: counted.zip(answer_tokens).map(|(cot, answer)| cot.tokens as f64 / answer.max(1) as f64),
        answer,
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
        total_tokens: row
            .prompt_tokens
            .zip(row.completion_tokens)
            .map(|(prompt, completion)| u64::from(prompt) + u64::from(completion)),
        latency_ms: row.latency_ms,
        prob_correct: row.prob_correct,
        equations_checked: steps.as_ref().map(|steps| steps.len() as u32),
        false_steps: steps.unwrap_or_default().into_iter().filter(|step| !step.holds).collect(),
        grounding: cot.filter(|_| !row.context.is_empty()).map(|cot| grounding(cot, row)),
        deterministic: temperature.map(|temperature| temperature == 0.0),
    }
}

fn grounding<'a>(cot: &'a str, row: &SampleRecord<'a>) -> Grounding<'a> {
    let texts: Vec<&str> = row.context.iter().map(AsRef::as_ref).chain(row.input).collect();
    ground(cot, &Sources::new(&texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correct(answer: &str, target: &str, options: &[&str]) -> bool {
        let options: Vec<Cow<'_, str>> = options.iter().map(|option| Cow::Borrowed(*option)).collect();
        let targets = [Cow::Borrowed(target)];
        let row = SampleRecord {
            answer: Some(answer),
            targets: &targets,
            options: &options,
            ..SampleRecord::default()
        };
        measure(&row, &MetricOptions::default()).correct
    }

    #[test]
    fn option_matches_by_letter_and_text() {
        let options = ["Paris", "Rome", "1,000"];
        assert!(correct("B", "rome", &options));
        assert!(correct("ROME", "b", &options));
        assert!(correct("1e3", "C", &options));
        assert!(!correct("A", "rome", &options));
        assert!(!correct("D", "rome", &options));
        assert!(!correct("B", "rome", &[]));
        // The text of an option takes precedence over its letter.
        assert!(!correct("b", "A", &["b", "a"]));
        // If options are letters themselves, a letter has no other meaning.
        assert!(!correct("B", "a", &["b", "c"]));
        assert!(correct("(B) Rome.", "Rome", &options));
        assert!(!correct("(B) Paris", "Rome", &options));
    }

    #[test]
    fn missing_fields_give_absent_metrics() {
        let targets = ["x".into()];
        let row = SampleRecord { targets: &targets, ..SampleRecord::default() };
        let found = measure(&row, &MetricOptions::default());
        assert!(!found.correct);
        assert_eq!(
            (found.cot, found.cot_tokens, found.ra_ratio, found.total_tokens),
            (None, None, None, None)
        );
        assert_eq!(found.equations_checked, None);
        let reasoned = measure(&SampleRecord { cot: Some("two words"), ..row }, &MetricOptions::default());
        assert_eq!((reasoned.cot_tokens, reasoned.ra_ratio), (Some(2), None));
        let answered = measure(
            &SampleRecord { answer: Some(""), cot: Some("two words"), ..row },
            &MetricOptions::default(),
        );
        assert_eq!(answered.ra_ratio, Some(2.0));
    }

    #[test]
    fn empty_reasoning_counts_as_zero() {
        let targets = ["x".into()];
        let row = SampleRecord { targets: &targets, answer: Some("x"), ..SampleRecord::default() };
        for (cot, chars) in [("", 0), (" \n\u{1f} ", 4)] {
            let found = measure(&SampleRecord { cot: Some(cot), ..row }, &MetricOptions::default());
            assert_eq!((found.cot, found.cot_tokens, found.cot_chars), (Some(cot), Some(0), Some(chars)));
            assert_eq!((found.step_count, found.self_correcting), (Some(0), Some(false)));
            assert_eq!((found.ra_ratio, found.equations_checked), (Some(0.0), Some(0)));
        }
    }

    #[test]
    fn stored_verdict_replaces_the_comparison() {
        let targets = ["x".into()];
        let row = SampleRecord { targets: &targets, answer: Some("y"), ..SampleRecord::default() };
        let correct = |row: SampleRecord<'_>| measure(&row, &MetricOptions::default()).correct;
        assert!(correct(SampleRecord { verdict: Some(true), ..row }));
        assert!(!correct(SampleRecord { verdict: Some(false), answer: Some("x"), ..row }));
        assert!(!correct(SampleRecord { verdict: Some(true), truncated: true, ..row }));
    }
}
