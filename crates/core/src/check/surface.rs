//! What a blind guesser sees: the words and numbers of a prompt, without its fixed text and without the list of options.

use std::ops::Range;

use super::Problem;
use crate::number_words::{SMALL, TENS};

/// The part of a prompt that differs between problems, as words.
pub(super) struct Surface<'a> {
    /// The prompt without the text that all problems share and without the list of options.
    pub(super) body: &'a str,
    /// Words, numbers and single punctuation marks.
    pub(super) tokens: Vec<&'a str>,
    /// The integers of the body, in digits or in words.
    pub(super) numbers: Vec<i64>,
}

impl<'a> Surface<'a> {
    pub(super) fn new(body: &'a str) -> Self {
        let tokens: Vec<&str> = tokens(body).collect();
        let numbers = numbers(body, &tokens);
        Self { body, tokens, numbers }
    }
}

/// The text that all prompts share at their beginning and at their end, as lengths in bytes. Both end at white space, so that
/// no word is divided.
pub(super) fn shared_text<'a>(mut prompts: impl Iterator<Item = &'a str>) -> (usize, usize) {
    let Some(first) = prompts.next() else { return (0, 0) };
    let (mut start, mut end) = (first.len(), first.len());
    for prompt in prompts {
        let pairs = first.bytes().zip(prompt.bytes());
        start = start.min(pairs.take_while(|(a, b)| a == b).count());
        let pairs = first.bytes().rev().zip(prompt.bytes().rev());
        end = end.min(pairs.take_while(|(a, b)| a == b).count());
    }
    let bytes = first.as_bytes();
    while start > 0 && !bytes[start - 1].is_ascii_whitespace() {
        start -= 1;
    }
    while end > 0 && !bytes[bytes.len() - end].is_ascii_whitespace() {
        end -= 1;
    }
    (start, end)
}

/// The prompt up to the list of its options, if one ends it.
pub(super) fn without_options(problem: &Problem) -> &str {
    let prompt = problem.prompt.as_str();
    let positions: Option<Vec<usize>> =
        problem.options.iter().map(|option| prompt.rfind(option.as_str())).collect();
    let Some(start) = positions.and_then(|positions| positions.into_iter().min()) else { return prompt };
    let list: usize = problem.options.iter().map(|option| option.len() + 8).sum();
    // Further up, the options are parts of the question.
    if prompt.len() - start > list + 80 { prompt } else { &prompt[..start] }
}

/// The part of a prompt within the shared text.
pub(super) fn body(prompt: &str, shared: (usize, usize)) -> &str {
    let end = prompt.len().saturating_sub(shared.1);
    prompt.get(shared.0.min(end)..end).unwrap_or(prompt)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Space,
    Mark,
}

fn class(c: char) -> Class {
    match c {
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_alphabetic() => Class::Lower,
        _ if c.is_ascii_digit() => Class::Digit,
        _ if c.is_whitespace() => Class::Space,
        _ => Class::Mark,
    }
}

/// Words, runs of digits and single marks. Words that are glued together are separated where digits or capitals end.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let mut chars = rest.char_indices();
        let (_, first) = chars.next()?;
        let kind = class(first);
        let mut end = rest.len();
        if kind == Class::Mark {
            end = first.len_utf8();
        } else {
            let mut previous = kind;
            for (index, c) in chars {
                let next = class(c);
                let continues = next == previous
                    // `Anna` is one word, `TRUEor` is two.
                    || (previous == Class::Upper && next == Class::Lower && index == first.len_utf8());
                if !continues {
                    end = index;
                    break;
                }
                previous = next;
            }
        }
        let (token, tail) = rest.split_at(end);
        rest = tail;
        Some(token)
    })
}

/// The value of a number word below 100.
fn small_number(word: &str) -> Option<i64> {
    let position =
        |words: &[&str]| words.iter().position(|known| *known == word).and_then(|i| i64::try_from(i).ok());
    position(&SMALL).or_else(|| position(&TENS).map(|tens| 10 * (tens + 2)))
}

/// The integers of a text: digits, with a minus that touches them, and numbers in words.
fn numbers(text: &str, tokens: &[&str]) -> Vec<i64> {
    let mut found = Vec::new();
    // Complete thousands, and what follows them, while a number in words continues.
    let mut words: Option<(i64, i64)> = None;
    for (index, token) in tokens.iter().enumerate() {
        words = match (words, small_number(token)) {
            (None, Some(value)) => Some((0, value)),
            // `thirty five` and `one hundred two` continue, `three four` are two numbers.
            (Some((thousands, value)), Some(next)) => {
                let continues =
                    (value % 100 == 0 && value > 0) || (value % 10 == 0 && next < 10 && value % 100 >= 20);
                if continues || (value == 0 && thousands > 0) {
                    Some((thousands, value + next))
                } else {
                    found.push(thousands + value);
                    Some((0, next))
                }
            }
            (Some((thousands, value)), None) if *token == "hundred" => Some((thousands, 100 * value)),
            (Some((0, value)), None) if *token == "thousand" => Some((1000 * value, 0)),
            (Some((thousands, value)), None) => {
                found.push(thousands + value);
                None
            }
            (None, None) => None,
        };
        if token.as_bytes()[0].is_ascii_digit()
            && let Ok(value) = token.parse::<i64>()
        {
            found.push(if is_negative(text, token, index, tokens) { -value } else { value });
        }
    }
    found.extend(words.map(|(thousands, value)| thousands + value));
    found
}

/// Whether a minus that belongs to the number touches it: `-3`, but not `5-3`.
fn is_negative(text: &str, token: &str, index: usize, tokens: &[&str]) -> bool {
    let offset = token.as_ptr() as usize - text.as_ptr() as usize;
    index > 0
        && tokens[index - 1] == "-"
        && text[..offset].ends_with('-')
        && text[..offset - 1].chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(' || c == ',')
}

/// Positions of a word or phrase in a text, at word boundaries.
pub(super) fn mentions<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase).filter_map(move |(start, _)| {
        let end = start + phrase.len();
        let is_whole = !is_word(text[..start].chars().next_back()) && !is_word(text[end..].chars().next());
        is_whole.then_some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_separate_glued_words() {
        let found: Vec<&str> = tokens("0andnot1 TRUEor(FALSE) Anna's -3.5").collect();
        let expected =
            ["0", "andnot", "1", "TRUE", "or", "(", "FALSE", ")", "Anna", "'", "s", "-", "3", ".", "5"];
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_are_read_in_digits_and_words() {
        let text = "two thousand five hundred eighty four, 7 and -3; 5-3, twelve apples, ninety-seven, three four, one hundred";
        assert_eq!(Surface::new(text).numbers, [2584, 7, -3, 5, 3, 12, 90, 7, 3, 4, 100]);
    }

    #[test]
    fn shared_text_ends_between_words() {
        let prompts = ["Add: 12 + 3 now please", "Add: 13 + 4 now please"];
        let shared = shared_text(prompts.into_iter());
        assert_eq!(body(prompts[0], shared), "12 + 3");
    }

    #[test]
    fn mentions_are_whole_words() {
        assert_eq!(mentions("Ada and Adam, Ada", "Ada").map(|at| at.start).collect::<Vec<_>>(), [0, 14]);
    }
}
