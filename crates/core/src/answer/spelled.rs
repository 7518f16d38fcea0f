//! Numbers in words.

use super::decimal::Decimal;
use super::text::words;
use crate::number_words::{SMALL, TENS};

/// A number in words, if it is the complete text or its end after "is".
pub(crate) fn claimed(text: &str) -> Option<Decimal> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = words(&lower).collect();
    let is_part = |word: &&&str| {
        small(word).is_some() || scale(word).is_some() || **word == "hundred" || **word == "and"
    };
    let run = words.iter().rev().take_while(is_part).count();
    let (before, run) = words.split_at(words.len() - run);
    let (before, negative) = match before {
        [before @ .., "minus" | "negative"] => (before, true),
        _ => (before, false),
    };
    if !matches!(before, [] | [.., "is" | "are" | "equals"]) || before.iter().any(|word| is_part(&word)) {
        return None;
    }
    let value = Decimal::from(value_of(run)?);
    Some(if negative { value.negated() } else { value })
}

fn small(word: &str) -> Option<u64> {
    let index_in = |names: &[&str]| names.iter().position(|name| *name == word).map(|index| index as u64);
    index_in(&SMALL).or_else(|| Some((index_in(&TENS)? + 2) * 10))
}

fn scale(word: &str) -> Option<u64> {
    match word {
        "thousand" => Some(1_000),
        "million" => Some(1_000_000),
        "billion" => Some(1_000_000_000),
        _ => None,
    }
}

/// The value of number words, each group of three digits before its scale and the scales falling.
fn value_of(mut words: &[&str]) -> Option<u64> {
    let mut total = 0;
    let mut smallest_scale = u64::MAX;
    while !words.is_empty() {
        let length = words.iter().position(|word| scale(word).is_some()).unwrap_or(words.len());
        let (group, rest) = words.split_at(length);
        let factor = rest.first().and_then(|word| scale(word)).unwrap_or(1);
        if factor >= smallest_scale {
            return None;
        }
        total += below_thousand(group)? * factor;
        smallest_scale = factor;
        words = rest.get(1..).unwrap_or_default();
    }
    (smallest_scale < u64::MAX).then_some(total)
}

fn below_thousand(words: &[&str]) -> Option<u64> {
    let words = words.strip_prefix(&["and"]).unwrap_or(words);
    match words {
        [hundreds, "hundred", rest @ ..] => {
            let hundreds = small(hundreds).filter(|digit| (1..10).contains(digit))? * 100;
            if rest.is_empty() {
                Some(hundreds)
            } else {
                Some(hundreds + below_hundred(rest.strip_prefix(&["and"]).unwrap_or(rest))?)
            }
        }
        _ => below_hundred(words),
    }
}

fn below_hundred(words: &[&str]) -> Option<u64> {
    match words {
        [word] => small(word),
        [tens, unit] => {
            let (tens, unit) = (small(tens)?, small(unit)?);
            (tens >= 20 && (1..10).contains(&unit)).then_some(tens + unit)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_spelled_numbers() {
        for (text, number) in [
            ("zero", "0"),
            ("Forty-two", "42"),
            ("forty two", "42"),
            ("one thousand and six", "1006"),
            ("nine hundred ninety nine", "999"),
            ("two million one", "2000001"),
            ("The total is seven", "7"),
            ("minus three", "-3"),
        ] {
            assert_eq!(claimed(text), Decimal::parse(number), "{text}");
        }
    }

    #[test]
    fn rejects_words_that_resemble_numbers() {
        for text in [
            "one integer",
            "two thirds",
            "twenty twelve",
            "five hundred thousand million",
            "hundred",
            "and",
            "seven is six",
            "twenty zero",
            "I counted two",
            "",
        ] {
            assert_eq!(claimed(text), None, "{text}");
        }
    }
}
