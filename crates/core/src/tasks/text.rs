//! Pieces of English that several tasks write.

use super::Version;
use crate::number_words::{SMALL, TENS};

/// A whole number in words, without hyphens or "and": `forty two`, `one thousand six`.
///
/// A hyphen could be read as a minus, so none is written.
pub(super) fn number_in_words(number: u64) -> String {
    let (head, rest) = match number {
        0..20 => return SMALL[number as usize].to_owned(),
        20..100 => (TENS[number as usize / 10 - 2].to_owned(), number % 10),
        100..1000 => (format!("{} hundred", SMALL[number as usize / 100]), number % 100),
        1000..1_000_000 => (format!("{} thousand", number_in_words(number / 1000)), number % 1000),
        _ => (format!("{} million", number_in_words(number / 1_000_000)), number % 1_000_000),
    };
    if rest == 0 { head } else { format!("{head} {}", number_in_words(rest)) }
}

/// Appends a number in digits. Most of what tasks write is numbers, and formatting takes several times as long.
pub(super) fn write_number(number: i64, text: &mut String) {
    if number < 0 {
        text.push('-');
    }
    write_digits(number.unsigned_abs(), text);
}

fn write_digits(number: u64, text: &mut String) {
    if number >= 10 {
        write_digits(number / 10, text);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

/// Appends a number of two digits, the first of which may be 0.
pub(super) fn write_two_digits(number: i64, text: &mut String) {
    if number < 10 {
        text.push('0');
    }
    write_number(number, text);
}

/// Ends a question with what there is to choose from, a letter before each.
pub(super) fn write_options(version: Version, options: &[String], prompt: &mut String) {
    prompt.push_str(version.of([" The answer is one of these:", " Reply with one of these:"]));
    for (letter, option) in ('A'..='Z').zip(options) {
        prompt.push('\n');
        prompt.push(letter);
        prompt.push_str(") ");
        prompt.push_str(option);
    }
}

/// Appends items joined as in a sentence: `a`, `a and b`, `a, b and c`.
pub(super) fn write_list<T>(items: &[T], text: &mut String, write: impl Fn(&T, &mut String)) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push_str(if i + 1 == items.len() { " and " } else { ", " });
        }
        write(item, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_numbers() {
        for (number, words) in [
            (0, "zero"),
            (19, "nineteen"),
            (42, "forty two"),
            (100, "one hundred"),
            (1006, "one thousand six"),
            (9999, "nine thousand nine hundred ninety nine"),
            (2_000_001, "two million one"),
        ] {
            assert_eq!(number_in_words(number), words);
        }
    }

    #[test]
    fn digits_match_standard_library() {
        for number in [0, 7, -7, 10, 99, -100, 12_345, i64::MAX, i64::MIN] {
            let mut text = String::new();
            write_number(number, &mut text);
            assert_eq!(text, number.to_string());
        }
        let mut text = String::new();
        write_two_digits(7, &mut text);
        write_two_digits(12, &mut text);
        assert_eq!(text, "0712");
    }

    #[test]
    fn writes_lists_as_in_a_sentence() {
        let list = |items: &[&str]| {
            let mut text = String::new();
            write_list(items, &mut text, |item, text| text.push_str(item));
            text
        };
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
