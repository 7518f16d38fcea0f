//! Generates a simulated model's reply to a question.

use std::fmt::Write;

use reasonscape_core::Suite;
use reasonscape_providers::{Completion, Finish, Usage};

use crate::distractors;
use crate::model_profiles::Style;
use crate::question_index::{QuestionIndex, QuestionMatch};
use crate::rng::{Rng, hash};
use crate::skill::{CONTEXT_TOKENS, SimulatedModel};
use crate::text_gen::{self, Ending};

/// The reply to a question that is in no suite.
const UNKNOWN: &str = "I do not know this question.";

/// The simulated models and the questions they can know, without a network.
///
/// ```
/// use reasonscape_core::{Suite, TestStream};
/// use reasonscape_simulator::{ResolvedPrompt, SimulatedModel, Simulator};
///
/// let suite = Suite::parse(Suite::built_in("quick").expect("it is built in"))?;
/// let point = &suite.points()[0];
/// let test = TestStream::new(point.task, point.params, suite.seed).next().expect("tests never end");
/// let all_knowing = SimulatedModel::by_name("sim-p1").expect("one of the family");
///
/// let simulator = Simulator::new(std::slice::from_ref(&suite), None, 0);
/// let reply = simulator.complete(&all_knowing, &ResolvedPrompt::new(&test.prompt));
/// assert!(reply.content.contains(&test.target));
/// # Ok::<(), reasonscape_core::SuiteError>(())
/// ```
#[derive(Debug)]
pub struct Simulator {
    questions: QuestionIndex,
    seed: u64,
}

/// A request to a simulated model.
#[derive(Debug, Clone, Copy)]
pub struct ResolvedPrompt<'a> {
    /// The text that contains the question; the last known question in it is answered.
    pub text: &'a str,
    /// Maximum number of tokens in the reply.
    pub max_tokens: u32,
    /// Which of several replies to return; 0 is the reply at temperature 0.
    pub repeat: u64,
    /// Whether the reply should end with a line such as `Confidence: 85%`.
    pub states_confidence: bool,
}

impl<'a> ResolvedPrompt<'a> {
    /// A prompt at temperature 0, limited only by the context length.
    pub fn new(text: &'a str) -> Self {
        Self { text, max_tokens: CONTEXT_TOKENS, repeat: 0, states_confidence: false }
    }
}

/// The text of a reply: reasoning, which needs no escaping in JSON, and the closing that follows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Text {
    pub(crate) reasoning: String,
    pub(crate) closing: String,
}

/// A reply, independent of any API.
#[derive(Debug)]
pub(crate) struct Reply {
    /// Identical for the same model, question and repeat.
    pub(crate) id: u64,
    pub(crate) text: Text,
    /// The range of the answer within the closing.
    pub(crate) answer: std::ops::Range<usize>,
    /// Whether the reasoning is returned separately.
    pub(crate) thinks: bool,
    /// Whether the reply was truncated at the token limit.
    pub(crate) truncated: bool,
    pub(crate) completion_tokens: u32,
    pub(crate) reasoning_tokens: u32,
    /// The probability that the answer is correct.
    pub(crate) confidence: f64,
    pub(crate) known_question: bool,
}

impl Simulator {
    /// Generates the tests of the suites, `count` per point or as many as each suite sets.
    ///
    /// `seed` determines which answers a model knows, not how many.
    pub fn new(suites: &[Suite], count: Option<usize>, seed: u64) -> Self {
        Self { questions: QuestionIndex::new(suites, count), seed }
    }

    /// How many questions the models can know.
    pub fn question_count(&self) -> usize {
        self.questions.len()
    }

    /// A model's reply; identical for the same model, question and repeat.
    pub fn complete(&self, model: &SimulatedModel, prompt: &ResolvedPrompt<'_>) -> Completion {
        let reply = self.reply(model, prompt);
        let Reply { text: Text { reasoning, closing }, .. } = reply;
        let (reasoning, content) = match (reply.thinks, reasoning.is_empty(), closing.is_empty()) {
            (true, _, _) => (Some(reasoning), closing),
            (false, true, _) => (None, closing),
            (false, false, true) => (None, reasoning),
            (false, false, false) => (None, format!("{reasoning}\n\n{closing}")),
        };
        Completion {
            content,
            reasoning,
            finish: if reply.truncated { Finish::Length } else { Finish::Stop },
            usage: Usage {
                prompt_tokens: Some(count_words(prompt.text).into()),
                completion_tokens: Some(reply.completion_tokens.into()),
                reasoning_tokens: Some(reply.reasoning_tokens.into()),
            },
            ..Completion::default()
        }
    }

    pub(crate) fn reply(&self, model: &SimulatedModel, prompt: &ResolvedPrompt<'_>) -> Reply {
        let limit = prompt.max_tokens.clamp(1, CONTEXT_TOKENS);
        match self.questions.find(prompt.text) {
            Some(found) => self.reply_to(model, found, limit, prompt),
            None => unknown(hash(prompt.text.as_bytes(), self.seed), limit),
        }
    }

    fn reply_to(
        &self,
        model: &SimulatedModel,
        found: QuestionMatch<'_>,
        limit: u32,
        prompt: &ResolvedPrompt<'_>,
    ) -> Reply {
        let QuestionMatch { prompt: prompt_hash, question } = found;
        let mut rng = Rng::new(
            hash(
                &model.identity().to_le_bytes(),
                self.seed ^ prompt.repeat.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            ),
            &prompt_hash.to_le_bytes(),
        );
        let truth = model.truth_at(&question.difficulty, &*question.task, limit);
        // Every number is drawn even if it is not used, so that a larger limit only changes where the reply is truncated.
        let id = rng.next();
        let knows = rng.happens(truth.knows);
        let loops = rng.happens(truth.loops) && !knows;
        let cut = rng.happens(truth.cut);
        let tokens = model.tokens(&question.difficulty, rng.unit());

        let answer = if knows {
            question.target.to_string()
        } else if question.options.is_empty() && question.guess > 0.0 && rng.happens(question.guess) {
            // The commonest answer happens to be the correct one.
            question.target.to_string()
        } else if question.options.is_empty() {
            distractors::answer(question.task.answer_type(), &question.target, &mut rng)
        } else {
            question.options[rng.below(question.options.len())].to_string()
        };
        let completed = truth.knows + (1.0 - truth.knows) * (1.0 - truth.loops);
        let confidence = (truth.knows + (completed - truth.knows) * question.guess) / completed.max(1e-9);
        let (mut closing, answer) = closing(model.style(), &answer);
        if prompt.states_confidence {
            let stated = model.stated_confidence().unwrap_or(confidence);
            let _ = write!(closing, "\nConfidence: {:.0}%", 100.0 * stated);
        }
        let closing_tokens = count_words(&closing);
        let tokens = tokens.max(closing_tokens);
        let too_long = if model.is_cut_by_chance() { cut } else { tokens > limit };
        let truncated = loops || too_long || closing_tokens > limit;
        let completion_tokens = if truncated { limit } else { tokens };
        let ending = match (truncated, loops) {
            (false, _) => Ending::Finished,
            (true, false) => Ending::Cut,
            (true, true) => Ending::Looping,
        };
        let (closing, answer, closing_tokens) =
            if truncated { (String::new(), 0..0, 0) } else { (closing, answer, closing_tokens) };
        let thinking = completion_tokens - closing_tokens;
        let mut reasoning = Vec::new();
        text_gen::write(&mut reasoning, thinking, ending, &mut rng);

        Reply {
            id,
            text: Text { reasoning: String::from_utf8(reasoning).expect("prose is ASCII"), closing },
            answer,
            thinks: model.thinks(),
            truncated,
            completion_tokens,
            reasoning_tokens: if model.thinks() { thinking } else { 0 },
            confidence,
            known_question: true,
        }
    }
}

fn unknown(id: u64, limit: u32) -> Reply {
    let words = count_words(UNKNOWN);
    let truncated = words > limit;
    Reply {
        id,
        text: Text {
            reasoning: String::new(),
            closing: if truncated { String::new() } else { UNKNOWN.to_owned() },
        },
        answer: 0..0,
        thinks: false,
        truncated,
        completion_tokens: words.min(limit),
        reasoning_tokens: 0,
        confidence: 1e-9,
        known_question: false,
    }
}

/// The sentence that states the answer, and the range of the answer in it.
fn closing(style: Style, answer: &str) -> (String, std::ops::Range<usize>) {
    let (before, after) = match style {
        Style::Sentence => ("The answer is ", "."),
        Style::Boxed => ("The answer is \\boxed{", "}."),
        Style::Label => ("Answer: ", ""),
    };
    (format!("{before}{answer}{after}"), before.len()..before.len() + answer.len())
}

/// A token is a word here: text between white space.
pub(crate) fn count_words(text: &str) -> u32 {
    text.split_ascii_whitespace().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_questions_get_a_fixed_reply() {
        let simulator = Simulator::new(&[], None, 0);
        let model = SimulatedModel::by_name("sim-strong").unwrap();
        let reply = simulator.complete(&model, &ResolvedPrompt::new("Who wrote Faust?"));
        assert_eq!((reply.content.as_str(), reply.finish), (UNKNOWN, Finish::Stop));
    }

    #[test]
    fn answer_span_is_correct() {
        for style in [Style::Sentence, Style::Boxed, Style::Label] {
            let (text, answer) = closing(style, ")]}");
            assert_eq!(&text[answer], ")]}");
        }
    }
}
