//! Splits a text into sentences.

use std::ops::Range;

/// The byte ranges of the sentences of a text, trimmed and never empty. A line break ends a sentence, too.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            at = end(text, start);
            let sentence = text[start..at].trim();
            if !sentence.is_empty() {
                let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
                return Some(start..start + sentence.len());
            }
        }
        None
    })
}

/// Where the sentence that starts at `start` ends.
fn end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => return at + 1,
            b'.' | b'!' | b'?' => {
                let mut after = at + 1;
                // Closing marks belong to the sentence.
                while after < bytes.len()
                    && matches!(bytes[after], b'"' | b'\'' | b')' | b'*' | b'.' | b'!' | b'?')
                {
                    after += 1;
                }
                let pause = bytes.get(after).is_none_or(u8::is_ascii_whitespace);
                if pause && !(bytes[at] == b'.' && is_abbreviation(&text[start..at])) {
                    return after;
                }
                at = after;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Whether the period after this doesn't end a sentence: "Mr", "e.g", an initial, the number of a step.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let bare = word.trim_start_matches(['(', '*', '"', '#']);
    let initial = bare.len() == 1 && bare.starts_with(|c: char| c.is_ascii_uppercase());
    let alone = before.trim_start().len() == word.len();
    let step = alone && !bare.is_empty() && bare.len() <= 3 && bare.bytes().all(|byte| byte.is_ascii_digit());
    initial
        || step
        || ["Mr", "Mrs", "Ms", "Dr", "St", "vs", "e.g", "i.e", "approx", "No", "Prof"].contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_sentences_at_their_ends() {
        let text = "Mr. J. Smith has 3.5 apples. He said \"no.\" Why?\n1. First, e.g. this\n\n* A list";
        let found: Vec<&str> = sentences(text).map(|range| &text[range]).collect();
        assert_eq!(
            found,
            ["Mr. J. Smith has 3.5 apples.", "He said \"no.\"", "Why?", "1. First, e.g. this", "* A list"]
        );
        assert_eq!(sentences(" \n\t\n").count(), 0);
    }
}
