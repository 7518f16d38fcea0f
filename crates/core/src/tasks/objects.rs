//! Counting what belongs to a category in a cluttered list.

mod nouns;

use self::nouns::{CATEGORIES, Noun};
use super::text::{number_in_words, write_list, write_number};
use crate::{AnswerType, Dimension, Parameter, Params, PyRandom, Task, Test};

/// The task.
pub(super) struct Objects;

const PARAMETERS: &[Parameter] = &[
    Parameter::int("length", Dimension::Length, [2, 64, 12], "how many entries the list has"),
    Parameter::int(
        "target_groups",
        Dimension::MultiStep,
        [1, 3, 2],
        "how many categories are counted together",
    ),
    Parameter::proportion(
        "distractor_ratio",
        Dimension::Interference,
        0.5,
        "proportion of entries from other categories, as far as each requested category keeps an entry",
    ),
    Parameter::int("adjectives", Dimension::Interference, [0, 3, 1], "how many adjectives an entry has"),
    Parameter::word(
        "quantities",
        Dimension::Format,
        &["digits", "words", "mixed"],
        "whether quantities are written 3, three, or either",
    ),
];

const MAX_QUANTITY: i64 = 12;

/// Adjectives that suit any noun, in the order in which English puts their kinds: opinion, size, colour.
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
        "objects"
    }

    fn description(&self) -> &'static str {
        "Add up how many things of some categories are in a list. Harder with a longer list, more categories to \
         count together, more entries of other categories, more adjectives, and quantities in words."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Integer
    }

    fn generate(&self, params: &Params, rng: &mut PyRandom) -> Test {
        let mut categories = CATEGORIES.each_ref();
        rng.shuffle(&mut categories);
        let (targets, others) = categories.split_at(params.size("target_groups"));

        let length = params.size("length");
        let wanted = (params.real("distractor_ratio") * length as f64).round() as usize;
        let distractors = wanted.min(length.saturating_sub(targets.len()));
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
        prompt.push_str(" are there in all? Add up their quantities. The answer is one integer.");
        Test::free_form(prompt, total.to_string())
    }
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
