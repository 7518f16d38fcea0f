//! What a task is: a name, typed parameters, and a generator that turns coordinates into tests.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::params::{ParamError, Parameter, Params};
use crate::{Item, PyRandom, answer};

/// One question with its right answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The question, with every rule that a reader cannot know and the form of the answer; no advice on how to think.
    pub prompt: String,
    /// The right answer, in the form that the prompt asks for.
    pub target: String,
    /// Other answers that are right too; a generated test has none.
    pub alternative_targets: Vec<String>,
    /// What can be chosen from, in the order shown; empty for a write-in.
    pub options: Vec<String>,
}

impl Test {
    /// A write-in: nothing to choose from.
    pub fn free_form(prompt: String, target: impl Into<String>) -> Self {
        Self { prompt, target: target.into(), alternative_targets: Vec::new(), options: Vec::new() }
    }

    /// A choice among `options`, of which `options[right]` is the target.
    pub fn choice(prompt: String, options: Vec<String>, right: usize) -> Self {
        Self { prompt, target: options[right].clone(), alternative_targets: Vec::new(), options }
    }

    /// The probability that a blind guess is right: one over the number of options, 0 for a write-in.
    pub fn guess(&self) -> f64 {
        if self.options.is_empty() { 0.0 } else { 1.0 / self.options.len() as f64 }
    }
}

/// What kind of answer a task asks for, which is also how an answer is compared with the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerType {
    /// A whole number.
    Integer,
    /// A list of whole numbers or words, in order.
    List,
    /// A string of symbols in which white space does not count.
    Symbols,
    /// A calendar date.
    Date,
    /// A JSON value.
    Json,
    /// A word or a number, as a table cell holds.
    Cell,
    /// True or false, in any notation.
    Boolean,
    /// One of the options shown, by its text or its letter.
    Choice,
    /// Anything, equal to the target after [`normalize`](crate::normalize).
    Text,
}

impl AnswerType {
    /// The kind as the seed counts them: `write-in`, `boolean` or `choice`.
    pub fn family(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Choice => "choice",
            _ => "write-in",
        }
    }
}

/// A family of tests spanned by parameters.
///
/// Adding one is a file in `tasks/` and a line in its registry; CONTRIBUTING.md walks through it.
pub trait Task: Send + Sync {
    /// Lower-case name, unique.
    fn name(&self) -> &str;

    /// Raised whenever the text that some coordinates give would change.
    fn version(&self) -> u32 {
        1
    }

    /// One paragraph for a person who wonders what is asked.
    fn description(&self) -> &'static str;

    /// The dimensions, in the order in which tables show them.
    fn parameters(&self) -> &'static [Parameter];

    /// The kind of answer where nothing is to choose from.
    fn answer_type(&self) -> AnswerType;

    /// Refuses combinations of values that are each legal but cannot go together.
    ///
    /// # Errors
    /// A [`ParamError`] that names a parameter and the nearest value that would do.
    fn validate(&self, _params: &Params) -> Result<(), ParamError> {
        Ok(())
    }

    /// The next test of the stream. Draws from `rng` alone, and never a number that depends on how many tests are
    /// wanted.
    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test;

    /// The tests of a task that has a list of them and generates none.
    fn listed(&self) -> Option<&[Item]> {
        None
    }

    /// Whether an extracted answer is right.
    fn check(&self, answer: &str, test: &Test) -> bool {
        let kind = if test.options.is_empty() || self.answer_type() == AnswerType::Boolean {
            self.answer_type()
        } else {
            AnswerType::Choice
        };
        answer::matches(kind, answer, test)
    }
}

/// The tests of a point, one after the other: the same for everybody, whatever number is taken. Those that are
/// generated have no end; those of a dataset end with it.
///
/// Where the coordinates span a small world, chance repeats itself. A prompt that the point has shown already is
/// drawn again, up to [`TestStream::REDRAWS`] times; only a world that is nearly used up then shows it twice.
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
    /// How often a repeated prompt is drawn again.
    pub const REDRAWS: usize = 20;

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
        let mut redraws = 0..Self::REDRAWS;
        loop {
            let test = self.task.generate(self.params, &mut self.rng);
            if self.seen.insert(prompt_fingerprint(&test.prompt)) || redraws.next().is_none() {
                return Some(test);
            }
        }
    }
}

/// What a prompt is remembered by: 64 bits of its text, 32 bytes mixed in at a time.
///
/// Two prompts that share their bits by accident would cost a redraw, so which tests a point has depends on this
/// function and it must stay as it is. It is written out here because the standard library's may change. The mixing
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
        // The second product does not wait for the first.
        fold(word(0) ^ KEYS[0], word(1) ^ mixed) ^ fold(word(2) ^ KEYS[1], word(3) ^ KEYS[2])
    });
    fold(mixed ^ KEYS[1], prompt.len() as u64 ^ KEYS[0])
}

/// The hasher of what is a hash already.
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

    /// Which tests a point has hangs on this function, so it may not change by accident.
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
