//! Words, labels and file names to be put in order.

use std::cmp::Ordering;
use std::ops::Range;

use self::words::{PREFIX_WORDS, WORDS};
use super::Version;
use super::text::write_number;
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

mod words;

/// The task in a version.
pub(super) struct Sort(pub(super) Version);

const PARAMETERS: &[Parameter] = &[
    Parameter::int("length", Dimension::Length, [2, 64, 12], "how many items there are"),
    Parameter::word(
        "key",
        Dimension::MultiStep,
        &["alphabetic", "reverse", "length", "numeric", "natural"],
        "the order: alphabetic, its reverse, by length and then alphabetic, by the number in a label, or natural \
         (file2 before file10)",
    ),
    Parameter::proportion(
        "case_mutation",
        Dimension::Format,
        0.0,
        "the probability that an item has capital letters, which never count",
    ),
    Parameter::int(
        "shared_prefix",
        Dimension::Interference,
        [0, 6, 0],
        "how many letters (digits, by number) all items begin with",
    ),
    Parameter::word(
        "separator",
        Dimension::Format,
        &["comma", "semicolon", "pipe", "newline", "space"],
        "separator between items",
    ),
];

impl Task for Sort {
    fn name(&self) -> &'static str {
        self.0.of(["sort", "sort@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Put a list of words or numbered labels in a stated order. Harder with more items, orders that look at more than \
         the alphabet, mixed case, items that begin alike, and weaker separators."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::List
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let key = Key::from_name(params.word("key"));
        let shared_prefix = params.size("shared_prefix");
        let mut items = items(key, params.size("length"), shared_prefix, rng);
        let case_mutation = params.real("case_mutation");
        let separator = match params.word("separator") {
            "semicolon" => "; ",
            "pipe" => " | ",
            "newline" => "\n",
            "space" => " ",
            _ => ", ",
        };
        let mut prompt = String::with_capacity(480 + (10 + shared_prefix) * items.len());
        prompt.push_str(key.question());
        prompt.push_str("\n\n");
        for (i, item) in items.iter_mut().enumerate() {
            if i > 0 {
                prompt.push_str(separator);
            }
            item.write(case_mutation, &mut prompt, rng);
        }
        prompt.push_str("\n\n");
        prompt.push_str(key.rules());
        prompt.push_str(self.0.of([" The answer is all ", " Reply with all "]));
        write_number(items.len() as i64, &mut prompt);
        prompt.push_str(if key.is_numbered() { " labels" } else { " words" });
        prompt.push_str(" in that order, each exactly as written above, separated by commas");
        prompt.push_str(self.0.of([".", ", like one, two, three."]));

        items.sort_unstable_by(|a, b| key.compare(a, b));
        let mut target = String::with_capacity((10 + shared_prefix) * items.len());
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                target.push_str(", ");
            }
            target.push_str(&prompt[item.shown]);
        }
        Test::free_form(prompt, target)
    }
}

/// Letters, all lower case, and the number that follows them in a label.
#[derive(Clone)]
struct Item {
    /// What all items of a test begin with.
    prefix: &'static str,
    stem: &'static str,
    /// The stem as a number that has its place in the alphabet.
    alphabetic: u64,
    number: Option<i64>,
    /// Where in the prompt the item stands, once it is written.
    shown: Range<usize>,
}

impl Item {
    /// Appends the item, some of it in capitals with the probability given.
    fn write(&mut self, case_mutation: f64, text: &mut String, rng: &mut PyRandom) {
        let start = text.len();
        text.push_str(self.prefix);
        text.push_str(self.stem);
        if rng.random() < case_mutation {
            let letters = &mut text[start..];
            match rng.index(3) {
                0 => letters.make_ascii_uppercase(),
                1 => letters[..1].make_ascii_uppercase(),
                _ => {
                    let mut capitals = rng.getrandbits(32);
                    for position in 0..letters.len() {
                        capitals = capitals.rotate_right(1);
                        if capitals & 1 == 1 {
                            letters[position..=position].make_ascii_uppercase();
                        }
                    }
                }
            }
        }
        if let Some(number) = self.number {
            write_number(number, text);
        }
        self.shown = start..text.len();
    }
}

#[derive(Clone, Copy)]
enum Key {
    Alphabetic,
    Reverse,
    Length,
    Numeric,
    Natural,
}

impl Key {
    fn from_name(name: &str) -> Self {
        match name {
            "reverse" => Self::Reverse,
            "length" => Self::Length,
            "numeric" => Self::Numeric,
            "natural" => Self::Natural,
            _ => Self::Alphabetic,
        }
    }

    fn is_numbered(self) -> bool {
        matches!(self, Self::Numeric | Self::Natural)
    }

    fn compare(self, a: &Item, b: &Item) -> Ordering {
        let letters = a.alphabetic.cmp(&b.alphabetic);
        match self {
            Self::Alphabetic => letters,
            Self::Reverse => letters.reverse(),
            Self::Length => a.stem.len().cmp(&b.stem.len()).then(letters),
            Self::Numeric => a.number.cmp(&b.number),
            Self::Natural => letters.then(a.number.cmp(&b.number)),
        }
    }

    fn question(self) -> &'static str {
        match self {
            Self::Alphabetic => "Put these words in alphabetical order.",
            Self::Reverse => "Put these words in reverse alphabetical order, from Z to A.",
            Self::Length => "Put these words in order of length, shortest first.",
            Self::Numeric => "Put these labels in order of the number at their end, smallest first.",
            Self::Natural => "Put these labels in natural order.",
        }
    }

    fn rules(self) -> &'static str {
        match self {
            Self::Alphabetic => {
                "Capital and small letters count as the same letter, and a word comes before any longer word that \
                 begins with it."
            }
            Self::Reverse => {
                "Capital and small letters count as the same letter, and a word comes after any longer word that \
                 begins with it."
            }
            Self::Length => {
                "Words of the same length are in alphabetical order, in which capital and small letters count as the \
                 same letter."
            }
            Self::Numeric => "The letters do not count.",
            Self::Natural => {
                "Natural order is alphabetical order of the letters, in which capital and small letters count as the \
                 same letter and a group of letters comes before any longer group that begins with it; labels with \
                 the same letters are in order of their numbers, smallest first."
            }
        }
    }
}

/// Items of which no two are equal in the order of `key`.
fn items(key: Key, length: usize, shared_prefix: usize, rng: &mut PyRandom) -> Vec<Item> {
    let mut used = Vec::with_capacity(length);
    match key {
        Key::Alphabetic | Key::Reverse | Key::Length => words(length, shared_prefix, rng),
        Key::Numeric => {
            // The shared digits begin with a digit other than 0, as numbers do.
            let head = (0..shared_prefix)
                .fold(0, |head, position| head * 10 + rng.randint(i64::from(position == 0), 9));
            words(length, 0, rng)
                .into_iter()
                .map(|word| {
                    let scale = 10_i64.pow(rng.randint(2, 4) as u32);
                    let range =
                        if shared_prefix == 0 { scale / 10..scale } else { head * scale..(head + 1) * scale };
                    let start = rng.randrange(range.start, range.end);
                    Item { number: Some(unused(0, start, range, &mut used)), ..word }
                })
                .collect()
        }
        Key::Natural => {
            // Few enough groups of letters that most are shared and the numbers matter.
            let words = words(1 + length / 6, shared_prefix, rng);
            (0..length)
                .map(|_| {
                    let word = rng.index(words.len());
                    // Numbers of one, two and three digits side by side are what natural order is about.
                    let digits = rng.randint(1, 3) as u32;
                    let start = rng.randrange(1, 10_i64.pow(digits));
                    Item { number: Some(unused(word, start, 1..1000, &mut used)), ..words[word].clone() }
                })
                .collect()
        }
    }
}

/// Different words that begin with the same letters.
fn words(count: usize, shared_prefix: usize, rng: &mut PyRandom) -> Vec<Item> {
    let prefix = &rng.choice(PREFIX_WORDS)[..shared_prefix];
    let stems = rng.sample(WORDS, count).into_iter();
    stems.map(|stem| Item { prefix, stem, alphabetic: alphabetic(stem), number: None, shown: 0..0 }).collect()
}

/// A number that is smaller for words that come earlier in the alphabet. Eight letters fit, and no word has more.
fn alphabetic(word: &str) -> u64 {
    let mut letters = [0; 8];
    letters[..word.len()].copy_from_slice(word.as_bytes());
    u64::from_be_bytes(letters)
}

/// The first number from `start` on, round the range, that its group has not used yet; ranges hold more numbers than
/// there are items.
fn unused(group: usize, start: i64, range: Range<i64>, used: &mut Vec<(usize, i64)>) -> i64 {
    let mut number = start;
    while used.contains(&(group, number)) {
        number = if number + 1 == range.end { range.start } else { number + 1 };
    }
    used.push((group, number));
    number
}
