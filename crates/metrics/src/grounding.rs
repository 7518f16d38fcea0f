//! Grounding: finds sentences with numbers, names or quotations that occur in no source.
//!
//! This is a lookup without understanding: a sentence that draws an incorrect conclusion from given numbers is
//! supported, and a correct one with a number from elsewhere (60 minutes per hour) is not. Numbers that follow from an
//! equation that holds, and whose operands are supported, are supported.

mod items;
mod sentences;

use std::collections::HashSet;

use super::equations;
use items::{Item, Quantity, capitals, items, next_number, owner, words};
use reasonscape_core::number_words::{SMALL, TENS};

/// The items of a task's context and question that can be looked up; built once for all answers to it.
///
/// ```
/// use reasonscape_metrics::{Sources, ground};
///
/// let sources = Sources::new(&["Janet's ducks lay 16 eggs. She eats three."]);
/// let found = ground("Janet has 16 - 3 = 13 eggs left. Bob takes 5 of the 13.", &sources);
/// assert_eq!(found.sentences, 2);
/// assert_eq!(found.unsupported.len(), 1);
/// assert_eq!(found.unsupported[0].sentence, "Bob takes 5 of the 13.");
/// assert_eq!(found.unsupported[0].missing, ["5"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Sources {
    numbers: HashSet<Quantity>,
    words: HashSet<String>,
    /// The texts in lower case with single spaces, for quotations.
    folded: String,
}

/// How well a reasoning text is supported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grounding<'a> {
    /// Sentences that mention something that can be looked up.
    pub sentences: u32,
    /// Those with an item that is in no source.
    pub unsupported: Vec<Unsupported<'a>>,
}

/// A sentence that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported<'a> {
    /// The sentence, as it is in the reasoning.
    pub sentence: &'a str,
    /// Its items that are in no source, without duplicates.
    pub missing: Vec<&'a str>,
}

impl Sources {
    /// Indexes the texts that reasoning may draw from.
    ///
    /// Numbers in words count ("three", "twenty-five", "half", "twice", "dozen"), and a percentage also counts as a
    /// proportion.
    pub fn new(texts: &[&str]) -> Self {
        let mut sources = Self::default();
        for text in texts {
            sources.add(text);
        }
        sources
    }

    fn add(&mut self, text: &str) {
        let mut at = 0;
        while let Some(number) = next_number(text, at) {
            at = number.end;
            if let Some(quantity) = Quantity::parse(number.text) {
                self.numbers.insert(quantity);
                if text[at..].starts_with(['%']) || text[at..].trim_start().starts_with("percent") {
                    self.numbers.insert(quantity.hundredth());
                }
            }
        }
        let mut tens = None;
        for (_, word) in words(text) {
            let word = owner(word).to_lowercase();
            if let Some(value) = number_word(&word) {
                self.numbers.insert(Quantity::integer(value));
                if let Some(tens) = tens
                    && value < 10
                {
                    self.numbers.insert(Quantity::integer(tens + value));
                }
                tens = (20..100).contains(&value).then_some(value);
            } else {
                tens = None;
                self.numbers.extend(part_word(&word).iter().filter_map(|text| Quantity::parse(text)));
            }
            self.words.insert(word);
        }
        self.folded.push(' ');
        self.folded.push_str(&folded(text));
    }

    fn has_number(&self, text: &str, percent: bool) -> bool {
        Quantity::parse(text).map_or_else(
            || self.folded.contains(text),
            |quantity| {
                self.numbers.contains(&quantity) || (percent && self.numbers.contains(&quantity.hundredth()))
            },
        )
    }

    fn has_name(&self, span: &str) -> bool {
        words(span).all(|(_, word)| {
            let word = owner(word).to_lowercase();
            self.words.contains(&word)
                || self.words.contains(&format!("{word}s"))
                || word.strip_suffix('s').is_some_and(|singular| self.words.contains(singular))
        })
    }
}

/// Looks up the items of the sentences of a reasoning text.
///
/// Looked up are numbers (`1,000` is `1000`), names (words with a capital where not every word has one; a word that
/// starts a sentence is a name if it has a capital elsewhere, too) and quotations of more than one character, each
/// without regard to case. Not looked up are the numbers of steps. A sentence is unsupported when anything it mentions
/// is in no source. See [`Sources`] for an example.
pub fn ground<'a>(cot: &'a str, sources: &Sources) -> Grounding<'a> {
    let mut names = HashSet::new();
    for sentence in sentences::sentences(cot) {
        capitals(&cot[sentence], |span, first| {
            if !first {
                names.extend(words(span).map(|(_, word)| owner(word).to_owned()));
            }
        });
    }
    let mut equations = Vec::new();
    equations::visit(cot, |found| equations.push(found));
    let mut equations = equations.into_iter().filter(|found| found.holds).peekable();
    let mut derived: HashSet<Quantity> = HashSet::new();
    let mut grounding = Grounding::default();
    for range in sentences::sentences(cot) {
        while let Some(found) = equations.next_if(|found| found.left.start < range.end) {
            let sides = [&cot[found.left], &cot[found.right]];
            let known = sides.map(|side| {
                numbers(side).all(|number| {
                    sources.has_number(number, false)
                        || Quantity::parse(number).is_some_and(|quantity| derived.contains(&quantity))
                })
            });
            for (side, other_known) in [(sides[1], known[0]), (sides[0], known[1])] {
                if other_known {
                    derived.extend(numbers(side).filter_map(Quantity::parse));
                }
            }
        }
        let sentence = &cot[range];
        let mut missing: Vec<&str> = Vec::new();
        let found = items(sentence, &names);
        for item in &found {
            let (text, supported) = match *item {
                Item::Number(text, percent) => {
                    let is_derived =
                        Quantity::parse(text).is_some_and(|quantity| derived.contains(&quantity));
                    (text, is_derived || sources.has_number(text, percent))
                }
                Item::Name(span) => (span, sources.has_name(span)),
                Item::Quotation(span) => (span, sources.folded.contains(&folded(span))),
            };
            if !supported && !missing.contains(&text) {
                missing.push(text);
            }
        }
        grounding.sentences += u32::from(!found.is_empty());
        // In the order of the text.
        missing.sort_by_key(|text| text.as_ptr().addr());
        if !missing.is_empty() {
            grounding.unsupported.push(Unsupported { sentence, missing });
        }
    }
    grounding
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let number = next_number(text, at)?;
        at = number.end;
        Some(number.text)
    })
}

/// Lower case, single spaces, plain quotation marks.
fn folded(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !result.is_empty() {
            result.push(' ');
        }
        for c in word.chars().flat_map(char::to_lowercase) {
            result.push(match c {
                '’' | '‘' => '\'',
                '“' | '”' => '"',
                _ => c,
            });
        }
    }
    result
}

fn number_word(word: &str) -> Option<u64> {
    let index_in = |names: &[&str]| names.iter().position(|name| *name == word).map(|index| index as u64);
    index_in(&SMALL).or_else(|| Some((index_in(&TENS)? + 2) * 10)).or(match word {
        "hundred" => Some(100),
        "thousand" => Some(1_000),
        "million" => Some(1_000_000),
        "billion" => Some(1_000_000_000),
        _ => None,
    })
}

/// The values of words for parts and multiples, in each notation.
fn part_word(word: &str) -> &'static [&'static str] {
    match word {
        "half" | "halves" => &["0.5", "1", "2", "50"],
        "third" | "thirds" => &["1", "3"],
        "quarter" | "quarters" | "fourth" | "fourths" => &["0.25", "1", "4", "25"],
        "fifth" | "fifths" => &["0.2", "1", "5", "20"],
        "sixth" | "sixths" => &["1", "6"],
        "eighth" | "eighths" => &["0.125", "1", "8"],
        "tenth" | "tenths" => &["0.1", "1", "10"],
        "once" => &["1"],
        "twice" | "double" | "doubled" | "doubles" | "pair" | "pairs" | "couple" | "both" => &["2"],
        "thrice" | "triple" | "tripled" | "triples" => &["3"], // wording: allow
        "dozen" | "dozens" => &["12"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn missing<'a>(cot: &'a str, sources: &[&str]) -> Vec<Vec<&'a str>> {
        ground(cot, &Sources::new(sources)).unsupported.into_iter().map(|found| found.missing).collect()
    }

    const DUCKS: &str = "Janet’s ducks lay 16 eggs per day. She eats three for breakfast every morning and bakes muffins \
        for her friends every day with four. She sells the remainder at the farmers' market daily for $2 per fresh \
        duck egg. How much does she make every day?";

    #[test]
    fn reasoning_from_the_question_is_supported() {
        let cot = "1. Janet's ducks lay 16 eggs.\n2. She uses 3 + 4 = 7 eggs herself.\nStep 3: So 16 - 7 = 9 eggs are \
            left.\nShe earns 9 * $2 = $18, i.e. $18.00 every day.";
        let found = ground(cot, &Sources::new(&[DUCKS]));
        assert_eq!((found.sentences, found.unsupported), (4, vec![]));
    }

    #[test]
    fn reports_items_missing_from_sources() {
        let cot = "Janet has 16 eggs. Her neighbour Bob Miller takes 5 of them. On Friday he said \"thanks a lot\".";
        assert_eq!(missing(cot, &[DUCKS]), [["Bob Miller", "5"], ["Friday", "thanks a lot"]]);
    }

    #[test]
    fn only_true_equations_of_known_numbers_support_results() {
        assert_eq!(missing("So 16 - 7 = 9 are left.", &["There are 16, and 7 go."]), Vec::<Vec<&str>>::new());
        assert_eq!(missing("So 16 - 7 = 8 are left.", &["There are 16, and 7 go."]), [["8"]]);
        assert_eq!(missing("So 16 - 5 = 11 are left.", &["There are 16, and 7 go."]), [vec!["5", "11"]]);
    }

    #[test]
    fn number_notation_is_ignored() {
        let source =
            "Twenty-five of 1,000 people, half of them from NEW YORK, pay 20% of \"the  Whole\" price.";
        let cot =
            "There are 1000.0 people. It is 25. They are from New York. They pay 0.2. It says “the whole”.";
        assert_eq!(missing(cot, &[source]), Vec::<Vec<&str>>::new());
    }

    #[test]
    fn sentence_initial_word_is_a_name_if_used_as_one_elsewhere() {
        let source = "A farmer sells eggs.";
        assert_eq!(
            missing("Sells are low. The eggs of Carol are sold. Carol eats.", &[source]),
            [["Carol"], ["Carol"]]
        );
        assert_eq!(
            missing("Clearly the farmer sells. However, eggs are sold.", &[source]),
            Vec::<Vec<&str>>::new()
        );
    }

    #[test]
    fn sentences_without_items_are_not_counted() {
        let found = ground("Let us think.\n\n## The Plan Of Attack\nFirst we add.", &Sources::new(&["3"]));
        assert_eq!(found, Grounding::default());
        assert_eq!(ground("", &Sources::new(&[])), Grounding::default());
    }

    #[test]
    fn combines_several_sources() {
        assert_eq!(missing("Alice has 5.", &["Alice is here.", "Bob has 5."]), Vec::<Vec<&str>>::new());
    }

    #[test]
    fn long_text_terminates() {
        let cot = "The 12 apples of Alice cost 3 + 4 = 7. ".repeat(20_000);
        assert_eq!(ground(&cot, &Sources::new(&["Alice 12 3 4"])).sentences, 20_000);
    }

    proptest! {
        #[test]
        fn never_panics_on_any_text(cot in "\\PC{0,120}", source in "\\PC{0,60}") {
            let found = ground(&cot, &Sources::new(&[&source]));
            prop_assert!(found.unsupported.len() <= found.sentences as usize);
            // Every text supports itself.
            prop_assert_eq!(ground(&cot, &Sources::new(&[&cot])).unsupported, vec![]);
        }
    }
}
