//! Tasks: a name, typed parameters, and a generator that turns parameters into problems.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::params::{ParamError, ParamValue, Parameter, Params};
use crate::{Item, PyRandom, Scorer, answer};

/// One problem with its correct answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The prompt, including every rule a solver needs and the answer format; no advice on how to reason.
    pub prompt: String,
    /// The correct answer, in the format that the prompt requests.
    pub target: String,
    /// Other correct answers; empty for generated problems.
    pub alternative_targets: Vec<String>,
    /// The options in the order shown; empty for free-form problems.
    pub options: Vec<String>,
    /// How answers are compared with the target; `None` for generated problems, and for datasets without a scorer.
    pub scorer: Option<Scorer>,
    /// The probability that the best constant answer is correct, where it differs from one over the number of options.
    pub stated_guess: Option<f64>,
}

impl Test {
    /// A free-form problem, without options.
    pub fn free_form(prompt: String, target: impl Into<String>) -> Self {
        Self {
            prompt,
            target: target.into(),
            alternative_targets: Vec::new(),
            options: Vec::new(),
            scorer: None,
            stated_guess: None,
        }
    }

    /// A choice among `options`, of which `options[right]` is the target.
    pub fn choice(prompt: String, options: Vec<String>, right: usize) -> Self {
        Self {
            prompt,
            target: options[right].clone(),
            alternative_targets: Vec::new(),
            options,
            scorer: None,
            stated_guess: None,
        }
    }

    /// States the probability that the best constant answer is correct, for free-form problems with few possible answers.
    #[must_use]
    pub fn with_guess(self, probability: f64) -> Self {
        Self { stated_guess: Some(probability), ..self }
    }

    /// The probability that a blind guess is correct: the stated one, or else one over the number of options, 0 for
    /// free-form problems.
    pub fn guess(&self) -> f64 {
        let by_options = if self.options.is_empty() { 0.0 } else { 1.0 / self.options.len() as f64 };
        self.stated_guess.unwrap_or(by_options)
    }
}

/// The answer type of a task, which decides how an answer is compared with the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerType {
    /// An integer.
    Integer,
    /// An ordered list of integers or words.
    List,
    /// A string of symbols, ignoring white space.
    Symbols,
    /// A calendar date.
    Date,
    /// A JSON value.
    Json,
    /// A word or a number, as a table cell holds.
    Cell,
    /// True or false, in any notation.
    Boolean,
    /// One of the options, by its text or its letter.
    Choice,
    /// Free text, equal to the target after [`normalize`](crate::normalize).
    Text,
}

impl AnswerType {
    /// The answer type as users read it: `free-form`, `boolean` or `choice`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Boolean | Self::Choice => self.family(),
            _ => "free-form",
        }
    }

    /// The answer type in JSON, by its name in the source document: `write-in`, `boolean` or `choice`. // wording: allow
    pub fn family(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Choice => "choice",
            _ => "write-in", // wording: allow
        }
    }
}

/// A parameterized family of problems.
///
/// Adding one is a file in `tasks/` and a line in its registry; CONTRIBUTING.md walks through it.
pub trait Task: Send + Sync {
    /// The unique lower-case name under which trials are stored: `boolean` in version 1, `boolean@2` in version 2.
    fn name(&self) -> &str;

    /// The name without the version, as prompts and command lines have it.
    fn family(&self) -> &str {
        match self.name().rsplit_once('@') {
            Some((family, version)) if version.parse() == Ok(self.version()) => family,
            _ => self.name(),
        }
    }

    /// Raised whenever the text generated for some parameters changes.
    fn version(&self) -> u32 {
        1
    }

    /// A one-paragraph description.
    fn description(&self) -> &'static str;

    /// The parameters, in table order.
    fn parameters(&self) -> &'static [Parameter];

    /// The answer type of problems without options.
    fn answer_type(&self) -> AnswerType;

    /// Rejects combinations of values that are valid individually but conflict.
    ///
    /// # Errors
    /// A [`ParamError`] that names a parameter and the nearest valid value.
    fn validate(&self, _params: &Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// A parameter whose value makes the same problems as a smaller or larger one would, given the other parameters.
    ///
    /// A value that was given is rejected, and an omitted one takes the effective value, so no two points are the same.
    fn ineffective(&self, _params: &Params) -> Option<Ineffective> {
        None
    }

    /// At least how many different problems a point has; `None` if there are more than anyone asks for.
    fn distinct_problems(&self, _params: &Params) -> Option<u64> {
        None
    }

    /// Generates the next problem. Must depend on `rng` and `params` alone, not on how many problems are
    /// requested.
    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test;

    /// The fixed list of problems of a task that doesn't generate them.
    fn listed(&self) -> Option<&[Item]> {
        None
    }

    /// Whether an extracted answer is correct.
    fn check(&self, answer: &str, test: &Test) -> bool {
        let kind = if test.options.is_empty() || self.answer_type() == AnswerType::Boolean {
            self.answer_type()
        } else {
            AnswerType::Choice
        };
        answer::matches(kind, answer, test)
    }
}

/// A value without effect, as [`Task::ineffective`] finds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Ineffective {
    /// The parameter.
    pub name: &'static str,
    /// The value that has the same effect.
    pub effective: ParamValue,
    /// The other parameter that limits it, as in `` `length` = 4 ``.
    pub limit: String,
}

/// The reproducible stream of problems of a point, independent of how many are taken. Generated
/// streams are endless; those of a dataset end with it.
///
/// A prompt that the point already has is drawn again. From version 2 of a task on, a stream never repeats a prompt: it
/// ends when [`TestStream::MAX_REDRAWS`] draws in a row gave nothing new. Version 1 gives up after
/// [`TestStream::REDRAWS`], so a nearly exhausted point repeats prompts.
///
/// ```
/// use reasonscape_core::{Json, tasks, TestStream, Params};
///
/// let task = tasks::by_name("arithmetic").expect("a built-in task");
/// let params = Params::new(task, &Json::parse(r#"{"length": 4}"#)?)?;
/// let few: Vec<_> = TestStream::new(task, &params, 0).take(2).collect();
/// let many: Vec<_> = TestStream::new(task, &params, 0).take(8).collect();
/// assert_eq!(few, many[..2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TestStream<'a> {
    task: &'a dyn Task,
    params: &'a Params,
    rng: PyRandom,
    seen: HashSet<u64, BuildHasherDefault<IdentityHasher>>,
    /// The next of a list.
    next: usize,
}

impl<'a> TestStream<'a> {
    /// How many times version 1 of a task draws a repeated prompt again.
    pub const REDRAWS: usize = 20;
    /// How many draws in a row may repeat a prompt before a stream ends.
    pub const MAX_REDRAWS: usize = 10_000;

    /// The stream of a point under a global seed.
    pub fn new(task: &'a dyn Task, params: &'a Params, global_seed: i64) -> Self {
        let rng = crate::seeded(&params.to_json(), global_seed);
        Self { task, params, rng, seen: HashSet::default(), next: 0 }
    }
}

impl Iterator for TestStream<'_> {
    type Item = Test;

    fn next(&mut self) -> Option<Test> {
        if let Some(items) = self.task.listed() {
            let item = items.get(self.next)?;
            self.next += 1;
            return Some(item.test.clone());
        }
        let may_repeat = self.task.version() == 1;
        let mut redraws = 0..if may_repeat { Self::REDRAWS } else { Self::MAX_REDRAWS };
        loop {
            let test = self.task.generate(self.params, &mut self.rng);
            if self.seen.insert(prompt_fingerprint(&test.prompt)) {
                return Some(test);
            }
            if redraws.next().is_none() {
                return may_repeat.then_some(test);
            }
        }
    }
}

/// A 64-bit hash of a prompt, processing 32 bytes at a time.
///
/// A collision causes a redraw, so the problems of a point depend on this
/// function and it must not change. It is implemented here because the standard library's may change. The mixing
/// is that of wyhash: the two halves of a product of 128 bits, folded.
fn prompt_fingerprint(prompt: &str) -> u64 {
    const KEYS: [u64; 3] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db, 0x8ebc_6af0_9c88_c6e3];
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let (blocks, rest) = prompt.as_bytes().as_chunks::<32>();
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    let mixed = blocks.iter().chain([&last]).fold(0, |mixed, block| {
        let word = |index: usize| u64::from_le_bytes(std::array::from_fn(|i| block[8 * index + i]));
        // The two products are independent, for instruction-level parallelism.
        fold(word(0) ^ KEYS[0], word(1) ^ mixed) ^ fold(word(2) ^ KEYS[1], word(3) ^ KEYS[2])
    });
    fold(mixed ^ KEYS[1], prompt.len() as u64 ^ KEYS[0])
}

/// An identity hasher for values that already are hashes.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only whole fingerprints are looked up");
    }

    fn write_u64(&mut self, prompt_fingerprint: u64) {
        self.0 = prompt_fingerprint;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a point depend on this function, so it must not change.
    #[test]
    fn fingerprints_are_frozen() {
        let texts = [
            "",
            "a",
            "a\0",
            "What is the value of this expression?",
            "What is the value of that expression?",
        ];
        let frozen = [
            0xb180_8530_6a24_01c0,
            0xaff2_76e0_c703_7b73,
            0xac23_3a93_206f_f2a2,
            0x9f8c_e293_883b_3f76,
            0x88f5_04e2_f3b1_0b3f,
        ];
        assert_eq!(texts.map(prompt_fingerprint), frozen);
    }
}
