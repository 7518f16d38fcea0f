//! Choices among options, by text or by letter.

use super::text::{answer_before_remark, folded, leading_answer, plain, words};

/// Whether `answer` chooses the target among the options.
///
/// An option's own text always wins; letters stand for options by place only if no option is a single letter itself.
/// A sentence chooses when it mentions exactly one option, the longest that fits, and denies nothing. Where letter
/// and text disagree, or two options are mentioned, nothing is chosen.
pub(super) fn matches(answer: &str, target: &str, options: &[String]) -> bool {
    let options = Options { is_generated: true, ..Options::new(options) };
    let right = options.texts.iter().position(|text| *text == normal(target));
    right.is_some() && options.chosen(answer) == right
}

/// The index of the option that an answer chooses, if any.
pub(crate) fn chosen(answer: &str, options: &[impl AsRef<str>]) -> Option<usize> {
    Options::new(options).chosen(answer)
}

struct Options {
    texts: Vec<String>,
    letters: bool,
    /// For generated problems: "green" stands for "green cup" if all options are cups, "but" excludes what follows,
    /// and a remark may follow a dash. Datasets without a scorer are compared without this, as they always were.
    is_generated: bool,
}

/// Folded, without an article: "the dark red ball" and "dark red ball" are one option.
fn normal(text: &str) -> String {
    let folded = folded(text);
    ["the ", "a ", "an "]
        .iter()
        .find_map(|article| folded.strip_prefix(article))
        .unwrap_or(&folded)
        .to_owned()
}

impl Options {
    fn new(options: &[impl AsRef<str>]) -> Self {
        let texts: Vec<String> = options.iter().map(|option| normal(option.as_ref())).collect();
        let is_letter = |text: &String| text.len() == 1 && text.starts_with(char::is_alphabetic);
        Self { letters: options.len() <= 26 && !texts.iter().any(is_letter), texts, is_generated: false }
    }

    fn chosen(&self, answer: &str) -> Option<usize> {
        let text = plain(answer);
        let text = text.trim();
        self.by_text(text)
            .or_else(|| self.by_letter(text))
            .or_else(|| self.by_short_name(text))
            .or_else(|| self.by_mention(text))
            .or_else(|| self.by_leading_answer(text))
            .or_else(|| self.by_last_line(text))
    }

    /// The option that the last line mentions, unless it only ends a list of options: a copied list chooses nothing.
    fn by_last_line(&self, text: &str) -> Option<usize> {
        let (before, last) = text.rsplit_once('\n')?;
        let chosen = self.by_mention(last)?;
        let previous = before.lines().rev().find(|line| !line.trim().is_empty())?;
        let is_listed = self.is_generated
            && self.option_of_line(last).is_some()
            && self.option_of_line(previous).is_some_and(|option| option != chosen);
        (!is_listed).then_some(chosen)
    }

    /// The option that a line consists of, with its letter or without: "B) Anna", "Anna".
    fn option_of_line(&self, line: &str) -> Option<usize> {
        let line = line.trim();
        self.by_text(line).or_else(|| {
            let (letter, text) = line.split_once([')', '.', ':'])?;
            let option = self.by_text(text.trim())?;
            (self.by_letter(letter) == Some(option)).then_some(option)
        })
    }

    fn by_text(&self, text: &str) -> Option<usize> {
        let text = normal(text);
        self.texts.iter().position(|option| *option == text)
    }

    /// A letter alone, however bracketed, also after "option".
    fn by_letter(&self, text: &str) -> Option<usize> {
        let lower = folded(text);
        let letter = ["option ", "choice ", "answer ", "letter "]
            .iter()
            .find_map(|word| lower.strip_prefix(word))
            .unwrap_or(&lower)
            .trim_matches(['(', ')', '[', ']', ':', '.', '*']);
        self.letter(letter)
    }

    fn letter(&self, letter: &str) -> Option<usize> {
        match letter.as_bytes() {
            [letter] if self.letters && letter.is_ascii_alphabetic() => {
                Some(usize::from(letter.to_ascii_lowercase() - b'a'))
                    .filter(|index| *index < self.texts.len())
            }
            _ => None,
        }
    }

    /// The part that distinguishes an option from the others: `3` of "seat 3", "green" of "green cup".
    fn by_short_name(&self, text: &str) -> Option<usize> {
        const FILLERS: [&str; 6] = ["number", "no", "is", "the", "one", "it"];
        if !self.is_generated {
            return None;
        }
        let options: Vec<Vec<&str>> = self.texts.iter().map(|option| split(option).collect()).collect();
        let shortest = options.iter().map(Vec::len).min()?;
        if shortest < 2 {
            return None;
        }
        let has_same = |word_of: &dyn Fn(&[&'_ str]) -> String| {
            let first = word_of(&options[0]);
            options.iter().all(|option| word_of(option) == first).then_some(first)
        };
        let (noun, is_first) = match has_same(&|option| option[0].to_owned()) {
            Some(noun) => (noun, true),
            None => (has_same(&|option| option[option.len() - 1].to_owned())?, false),
        };
        let folded = normal(text);
        let said: Vec<&str> =
            split(&folded).filter(|word| !FILLERS.contains(word) && *word != noun.as_str()).collect();
        let name = |option: &Vec<&str>| {
            if is_first { option[1..] == said } else { option[..option.len() - 1] == said }
        };
        options.iter().position(name)
    }

    fn by_leading_answer(&self, text: &str) -> Option<usize> {
        let head = if self.is_generated { answer_before_remark(text) } else { leading_answer(text) }?;
        let chosen =
            self.by_text(head).or_else(|| self.by_letter(head)).or_else(|| self.by_short_name(head))?;
        let rest = &text[text.find(head)? + head.len()..];
        let next = rest.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or_default();
        if self.is_generated && self.option_of_line(next).is_some_and(|option| option != chosen) {
            return None;
        }
        let explanation = rest.trim_matches([' ', '.', '(', ')']);
        // "B. Anna" says the option twice; "B. Carl" contradicts itself unless B is Carl. A whole sentence explains.
        let restated = self.by_text(explanation).or_else(|| self.by_letter(explanation));
        restated.is_none_or(|restated| restated == chosen).then_some(chosen)
    }

    /// The only option that a sentence mentions, by text or as a marked letter.
    fn by_mention(&self, text: &str) -> Option<usize> {
        if text.trim_end().ends_with('?') || is_negation(text) || self.is_generated && is_excluding(text) {
            return None;
        }
        let mut mentioned = self.mentioned_texts(text);
        mentioned.extend(self.mentioned_letters(text));
        let first = *mentioned.first()?;
        mentioned.iter().all(|other| *other == first).then_some(first)
    }

    /// Whole words only, and the longest option that fits at each place.
    fn mentioned_texts(&self, text: &str) -> Vec<usize> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = split(&lower).collect();
        let options: Vec<Vec<&str>> = self.texts.iter().map(|option| split(option).collect()).collect();
        let mut mentioned = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let fits = |option: &&Vec<&str>| !option.is_empty() && words[at..].starts_with(option);
            let longest = options
                .iter()
                .enumerate()
                .filter(|(_, option)| fits(option))
                .max_by_key(|(_, option)| option.len());
            mentioned.extend(longest.map(|(index, _)| index));
            at += longest.map_or(1, |(_, option)| option.len());
        }
        mentioned
    }

    /// `(B)`, `B)`, `B.` or `B:` at the start, and "option B" anywhere.
    fn mentioned_letters(&self, text: &str) -> Vec<usize> {
        let mut mentioned = Vec::new();
        let mut announced = false;
        for (i, token) in text.split_whitespace().enumerate() {
            let bare = token.trim_matches(['(', ')', '[', ']', '.', ':', ',', ';']);
            let bracketed =
                token.starts_with('(') && token.trim_end_matches(['.', ',', ';', ':']).ends_with(')');
            if announced || bracketed || i == 0 && token.len() > bare.len() {
                mentioned.extend(self.letter(bare));
            }
            announced = ["option", "choice", "letter"].iter().any(|word| word.eq_ignore_ascii_case(bare));
        }
        mentioned
    }
}

/// Words for comparison; a possessive is the word itself.
fn split(text: &str) -> impl Iterator<Item = &str> {
    words(text).map(|word| word.strip_suffix("'s").unwrap_or(word).trim_matches('\''))
}

/// "Anything but the taxi" is not the taxi.
fn is_excluding(text: &str) -> bool {
    words(text).any(|word| word.eq_ignore_ascii_case("but"))
}

fn is_negation(text: &str) -> bool {
    const NEGATIONS: [&str; 11] =
        ["not", "or", "nor", "neither", "never", "cannot", "either", "maybe", "perhaps", "unless", "except"];
    let lower = text.to_lowercase();
    words(&lower.replace('’', "'")).any(|word| NEGATIONS.contains(&word) || word.ends_with("n't"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(answer: &str, target: &str, options: &[&str]) -> bool {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        matches(answer, target, &options)
    }

    const PEOPLE: [&str; 4] = ["Carl", "Anna", "Bob", "Mary Ann"];

    #[test]
    fn matches_by_letter_or_text() {
        for answer in [
            "B",
            "(B)",
            "B)",
            "b.",
            "**B**",
            "option B",
            "Option (B)",
            "B. Anna",
            "B) Anna",
            "(B) Anna",
            "anna",
            "\"Anna\"",
            "Anna has the ball.",
            "It is Anna's ball",
            "Anna (option B)",
            "B: Anna has it",
            "B because she got it last",
            r"\text{B}",
            "Anna. Bob gave it to her.",
        ] {
            assert!(right(answer, "Anna", &PEOPLE), "{answer}");
            assert!(!right(answer, "Carl", &PEOPLE), "{answer}");
        }
    }

    #[test]
    fn rejects_disagreement_negation_and_several_options() {
        for answer in [
            "A or B",
            "A. Anna",
            "B. Carl",
            "Anna (option C)",
            "Anna gave it to Bob",
            "Anna or Bob",
            "not Anna",
            "Anna doesn't have it",
            "Annabel",
            "Is it Anna?",
            "E",
            "A and B",
            "Anna. Wait, Bob.",
            "2",
            "",
        ] {
            assert!(!right(answer, "Anna", &PEOPLE), "{answer}");
        }
    }

    #[test]
    fn a_copied_list_of_options_chooses_nothing() {
        for answer in [
            "A) Carl\nB) Anna",
            "A) Carl\nB) Anna\n\nC) Bob",
            "Carl\nAnna",
            "A. Carl\nB. Anna\nC. Bob\nD. Mary Ann",
        ] {
            for option in PEOPLE {
                assert!(!right(answer, option, &PEOPLE), "{answer}");
            }
        }
        assert!(right("B) Anna\n\nThe answer is B) Anna.", "Anna", &PEOPLE));
        assert!(right("Carl and Bob swap.\nB) Anna", "Anna", &PEOPLE));
    }

    #[test]
    fn longest_option_wins_and_articles_are_ignored() {
        let colours = ["red", "dark red", "the blue one"];
        assert!(right("The ball is dark red.", "dark red", &colours));
        assert!(!right("The ball is dark red.", "red", &colours));
        assert!(right("blue one", "the blue one", &colours));
        assert!(right("A", "red", &colours));
    }

    #[test]
    fn letter_and_number_options_match_as_text() {
        assert!(right("B", "B", &["B", "A", "C"]));
        assert!(!right("A", "B", &["B", "A", "C"]));
        assert!(right("3", "3", &["5", "3", "1"]));
        assert!(!right("2", "3", &["5", "3", "1"]));
        assert!(right("B", "3", &["5", "3", "1"]));
        assert!(!right("13", "3", &["5", "3", "1"]));
    }
}
