//! Counting what belongs to a category in a cluttered list.

mod nouns;

use self::nouns::{CATEGORIES, Noun};
use super::Version;
use super::text::{number_in_words, write_list, write_number};
use crate::{AnswerType, Dimension, Ineffective, ParamValue, Parameter, Params, PyRandom, Task, Test};

/// The task in a version.
pub(super) struct Objects(pub(super) Version);

static PARAMETERS_1: [Parameter; 5] = parameters(
    [2, 64, 12],
    "proportion of entries from other categories, as far as each requested category keeps an entry",
);
static PARAMETERS: [Parameter; 5] = parameters(
    [4, 64, 12],
    "proportion of entries from other categories on average; 0 is a baseline in which every number counts",
);

const fn parameters(length: [i64; 3], distractors: &'static str) -> [Parameter; 5] {
    [
        Parameter::int("length", Dimension::Length, length, "how many entries the list has"),
        Parameter::int(
            "target_groups",
            Dimension::MultiStep,
            [1, 3, 2],
            "how many categories are counted together",
        ),
        Parameter::proportion("distractor_ratio", Dimension::Interference, 0.5, distractors),
        Parameter::int("adjectives", Dimension::Interference, [0, 3, 1], "how many adjectives an entry has"),
        Parameter::word(
            "quantities",
            Dimension::Format,
            &["digits", "words", "mixed"],
            "whether quantities are written 3, three, or either",
        ),
    ]
}

/// How many entries count on average, at least: fewer would leave few answers.
const MIN_COUNTED: usize = 3;

const MAX_QUANTITY: i64 = 12;

/// Adjectives that suit any noun, in the order of English: opinion, size, color.
const ADJECTIVES: [&[&str]; 3] = [
    &[
        "beautiful",
        "boring",
        "charming",
        "curious",
        "funny",
        "lovely",
        "ordinary",
        "plain",
        "splendid",
        "strange",
    ],
    &["big", "enormous", "huge", "large", "little", "small", "tiny"],
    &["black", "blue", "brown", "green", "grey", "pink", "purple", "red", "white", "yellow"],
];

impl Task for Objects {
    fn name(&self) -> &'static str {
        self.0.of(["objects", "objects@2"])
    }

    fn version(&self) -> u32 {
        self.0.number()
    }

    fn description(&self) -> &'static str {
        "Add up how many things of some categories are in a list. Harder with a longer list, more categories to \
         count together, more entries of other categories, more adjectives, and quantities in words."
    }

    fn parameters(&self) -> &'static [Parameter] {
        match self.0 {
            Version::V1 => &PARAMETERS_1,
            Version::V2 => &PARAMETERS,
        }
    }

    fn ineffective(&self, params: &Params) -> Option<Ineffective> {
        if self.0 == Version::V1 {
            return None;
        }
        let (length, groups) = (params.size("length"), params.size("target_groups"));
        let ratio = params.real("distractor_ratio");
        let max_distractors = length - MIN_COUNTED.max(groups);
        (ratio * length as f64 > max_distractors as f64).then(|| Ineffective {
            name: "distractor_ratio",
            // Rounded down, so that it can be typed.
            effective: ParamValue::Real((max_distractors as f64 / length as f64 * 100.0).floor() / 100.0),
            limit: format!("`length` = {length} and `target_groups` = {groups}"),
        })
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Integer
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let mut categories = CATEGORIES.each_ref();
        rng.shuffle(&mut categories);
        let (targets, others) = categories.split_at(params.size("target_groups"));

        let length = params.size("length");
        let wanted = params.real("distractor_ratio") * length as f64;
        let wanted = match self.0 {
            Version::V1 => wanted.round() as usize,
            // So that each ratio differs from every other on average.
            Version::V2 => wanted as usize + usize::from(rng.random() < wanted.fract()),
        };
        let spread = spread(wanted, length, targets.len());
        let distractors = match self.0 {
            Version::V1 => wanted.min(length.saturating_sub(targets.len())),
            Version::V2 => wanted - spread + rng.index(2 * spread + 1),
        };
        let mut entries: Vec<Entry<'_>> = (0..length)
            .map(|i| {
                let counts = i >= distractors;
                let category = match i.checked_sub(distractors) {
                    None => rng.choice(others),
                    // Every category asked for is met once before chance decides.
                    Some(index) => targets.get(index).unwrap_or_else(|| rng.choice(targets)),
                };
                let noun = rng.choice(&category.nouns);
                Entry { noun, quantity: rng.randint(1, MAX_QUANTITY), counts }
            })
            .collect();
        rng.shuffle(&mut entries);
        let total: i64 = entries.iter().filter(|entry| entry.counts).map(|entry| entry.quantity).sum();

        let prob_words = match params.word("quantities") {
            "digits" => 0.0,
            "words" => 1.0,
            _ => 0.5,
        };
        let adjectives = params.size("adjectives");
        let mut prompt = String::with_capacity(160 + (16 + 8 * adjectives) * length);
        prompt.push_str("Here is a list of things:\n\n");
        for (i, entry) in entries.iter().enumerate() {
            if i > 0 {
                prompt.push_str(", ");
            }
            entry.write(prob_words, adjectives, &mut prompt, rng);
        }
        prompt.push_str("\n\nHow many ");
        write_list(targets, &mut prompt, |category, text| text.push_str(category.name));
        prompt.push_str(" are there in all? Add up their quantities. ");
        prompt.push_str(self.0.of(["The answer is one integer.", "Reply with one integer."]));
        let test = Test::free_form(prompt, total.to_string());
        match self.0 {
            Version::V1 => test,
            Version::V2 => test.with_guess(guess(length - wanted, spread)),
        }
    }
}

/// By how many the number of distractors may differ from the average, so that each category keeps an entry.
fn spread(wanted: usize, length: usize, categories: usize) -> usize {
    wanted.saturating_sub(1).min(length.saturating_sub(wanted + categories)).min(length / 4)
}

/// How often the commonest total comes up: the peak of a normal distribution with the variance of the total.
fn guess(counted: usize, spread: usize) -> f64 {
    const MEAN: f64 = 6.5;
    const VARIANCE: f64 = 143.0 / 12.0;
    let numbers = (2 * spread + 1) as f64;
    let variance = counted as f64 * VARIANCE + MEAN * MEAN * (numbers * numbers - 1.0) / 12.0;
    1.0 / (std::f64::consts::TAU * variance).sqrt()
}

/// So many of one thing.
struct Entry<'a> {
    noun: &'a Noun,
    quantity: i64,
    counts: bool,
}

impl Entry<'_> {
    fn write(&self, prob_words: f64, adjectives: usize, text: &mut String, rng: &mut PyRandom) {
        if rng.random() < prob_words {
            text.push_str(&number_in_words(self.quantity.unsigned_abs()));
        } else {
            write_number(self.quantity, text);
        }
        text.push(' ');
        // Which kinds are used is drawn by leaving some out, so that the order of the rest stays English.
        let mut left = adjectives;
        for (i, kind) in ADJECTIVES.iter().enumerate() {
            if rng.index(ADJECTIVES.len() - i) < left {
                left -= 1;
                text.push_str(rng.choice::<&str>(kind));
                text.push(' ');
            }
        }
        text.push_str(if self.quantity == 1 { self.noun.singular } else { &self.noun.plural });
    }
}
