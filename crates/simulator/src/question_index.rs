//! Index of the questions that the simulated models can know, and lookup of a question in a prompt.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use rayon::prelude::*;
use reasonscape_core::{Params, Suite, Task, TestStream};

use crate::rng::hash;
use crate::skill::Difficulty;

/// A question without its text.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) task: Arc<dyn Task>,
    pub(crate) difficulty: Difficulty,
    pub(crate) target: Box<str>,
    pub(crate) options: Box<[Box<str>]>,
    /// The probability that a blind guess is correct.
    pub(crate) guess: f64,
}

/// All questions of some suites, by the hash of their prompts.
#[derive(Debug, Default)]
pub(crate) struct QuestionIndex {
    by_prompt: HashMap<u64, Question, BuildHasherDefault<IdentityHasher>>,
    /// The first eight bytes of every prompt: a cheap filter before hashing.
    openings: Vec<[u8; OPENING_LEN]>,
}

/// A question and the hash of its prompt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionMatch<'a> {
    pub(crate) prompt: u64,
    pub(crate) question: &'a Question,
}

const OPENING_LEN: usize = 8;
/// Maximum length of a label such as `Question:` at the start of a line.
const MAX_LABEL_LEN: usize = 48;
/// Longer lines are only compared as a whole.
const MAX_LINE_LEN: usize = 8192;

impl QuestionIndex {
    /// Generates `count` tests per point, or as many as the suite sets.
    pub(crate) fn new(suites: &[Suite], count: Option<usize>) -> Self {
        let mut questions = Self::default();
        for suite in suites {
            let of_points: Vec<Vec<(u64, [u8; OPENING_LEN], Question)>> = suite
                .points()
                .into_par_iter()
                .map(|point| {
                    point_questions(
                        shared_task(suite, point.task),
                        point.params,
                        suite.seed,
                        count.unwrap_or(point.count),
                    )
                })
                .collect();
            for (prompt, opening, question) in of_points.into_iter().flatten() {
                if !questions.openings.contains(&opening) {
                    questions.openings.push(opening);
                }
                questions.by_prompt.entry(prompt).or_insert(question);
            }
        }
        questions
    }

    pub(crate) fn len(&self) -> usize {
        self.by_prompt.len()
    }

    /// Finds the last known question in a text, whatever text a template adds around it.
    ///
    /// A prompt is recognized if it starts at the beginning of a line, or after a label such as `Question: `, and ends at
    /// the end of a line; otherwise, if it ends before a space or before the `<` or `[` of a chat template's token.
    pub(crate) fn find(&self, text: &str) -> Option<QuestionMatch<'_>> {
        self.find_ending(text, Self::ends_with_line)
            .or_else(|| self.find_ending(text, Self::ends_within_line))
    }

    fn find_ending(
        &self,
        text: &str,
        ending: for<'a> fn(&'a Self, u64, &str) -> Option<QuestionMatch<'a>>,
    ) -> Option<QuestionMatch<'_>> {
        let mut end = text.len();
        loop {
            let start = text[..end].rfind('\n').map_or(0, |newline| newline + 1);
            let label = text[start..end].find(": ").filter(|length| *length <= MAX_LABEL_LEN);
            for start in [Some(start), label.map(|length| start + length + 2)].into_iter().flatten() {
                if let Some(found) = self.find_at(&text[start..], ending) {
                    return Some(found);
                }
            }
            if start == 0 {
                return None;
            }
            end = start - 1;
        }
    }

    /// The question that `text` starts with.
    fn find_at(
        &self,
        text: &str,
        ending: for<'a> fn(&'a Self, u64, &str) -> Option<QuestionMatch<'a>>,
    ) -> Option<QuestionMatch<'_>> {
        let opening = opening(text);
        if !self.openings.contains(&opening) {
            return None;
        }
        let mut state = 0;
        for line in text.split('\n') {
            if let Some(found) = ending(self, state, line) {
                return Some(found);
            }
            state = hash(line.as_bytes(), state);
        }
        None
    }

    fn get(&self, prompt: u64) -> Option<QuestionMatch<'_>> {
        self.by_prompt.get(&prompt).map(|question| QuestionMatch { prompt, question })
    }

    fn ends_with_line(&self, state: u64, line: &str) -> Option<QuestionMatch<'_>> {
        self.get(hash(line.as_bytes(), state)).or_else(|| {
            let trimmed = line.trim_end();
            (trimmed.len() < line.len()).then(|| self.get(hash(trimmed.as_bytes(), state))).flatten()
        })
    }

    fn ends_within_line(&self, state: u64, line: &str) -> Option<QuestionMatch<'_>> {
        if line.len() > MAX_LINE_LEN {
            return None;
        }
        line.match_indices([' ', '<', '['])
            .find_map(|(end, _)| self.get(hash(&line.as_bytes()[..end], state)))
    }
}

/// The hash of a prompt. It is computed line by line, so that testing every line end as a prompt end takes one pass.
fn prompt_hash(prompt: &str) -> u64 {
    prompt.split('\n').fold(0, |state, line| hash(line.as_bytes(), state))
}

/// The first bytes of a text, padded with zeros.
fn opening(text: &str) -> [u8; OPENING_LEN] {
    let mut opening = [0; OPENING_LEN];
    let length = text.len().min(OPENING_LEN);
    opening[..length].copy_from_slice(&text.as_bytes()[..length]);
    opening
}

/// The task of a point.
fn shared_task<'s>(suite: &'s Suite, task: &dyn Task) -> &'s Arc<dyn Task> {
    let manifold = suite.manifolds.iter().find(|manifold| manifold.task.name() == task.name());
    &manifold.expect("a point lies on a manifold").task
}

fn point_questions(
    task: &Arc<dyn Task>,
    params: &Params,
    seed: i64,
    count: usize,
) -> Vec<(u64, [u8; OPENING_LEN], Question)> {
    let difficulty = Difficulty::new(&**task, params);
    TestStream::new(&**task, params, seed)
        .take(count)
        .map(|test| {
            let question = Question {
                task: Arc::clone(task),
                difficulty,
                guess: test.guess(),
                target: test.target.into(),
                options: test.options.into_iter().map(Into::into).collect(),
            };
            (prompt_hash(&test.prompt), opening(&test.prompt), question)
        })
        .collect()
}

/// Identity hasher: the keys are hashes already.
#[derive(Debug, Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes, self.0);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> (QuestionIndex, Vec<String>) {
        let suite = Suite::parse(Suite::built_in("quick").unwrap()).unwrap();
        let prompts = suite
            .points()
            .iter()
            .flat_map(|point| {
                TestStream::new(point.task, point.params, suite.seed).take(2).map(|test| test.prompt)
            })
            .collect();
        (QuestionIndex::new(&[suite], Some(4)), prompts)
    }

    #[test]
    fn finds_questions_inside_any_template() {
        let (questions, prompts) = quick();
        let another = &prompts[0];
        for prompt in &prompts {
            let expected = prompt_hash(prompt);
            for text in [
                prompt.clone(),
                format!("{prompt}\n\nThink step by step, then write: The answer is X."),
                format!("Answer this question.\n\n{prompt}"),
                format!("Question: {prompt}\nAnswer:"),
                format!("Q1: {another}\nA: 7\n\nQ2: {prompt}  \nA:"),
                format!("<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"),
                format!("[INST]\n{prompt} [/INST]"),
                format!("{prompt} Reason before you answer."),
            ] {
                let found = questions.find(&text).map(|found| found.prompt);
                assert_eq!(found, Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn does_not_find_unknown_questions() {
        let (questions, prompts) = quick();
        let cut = &prompts[3][..prompts[3].len() - 1];
        for text in ["", "\n", "What is the value of this expression?", "Was ist größer: ä oder ö?", cut]
        {
            assert!(questions.find(text).is_none(), "{text}");
        }
    }
}
