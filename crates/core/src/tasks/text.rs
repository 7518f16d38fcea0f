//! Pieces of English that several tasks write.

/// A whole number in words, without hyphens or "and": `forty two`, `one thousand six`.
///
/// A hyphen could be read as a minus, so none is written.
pub(super) fn number_in_words(number: u64) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] =
        ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let (head, rest) = match number {
        0..20 => return SMALL[number as usize].to_owned(),
        20..100 => (TENS[number as usize / 10].to_owned(), number % 10),
        100..1000 => (format!("{} hundred", SMALL[number as usize / 100]), number % 100),
        1000..1_000_000 => (format!("{} thousand", number_in_words(number / 1000)), number % 1000),
        _ => (format!("{} million", number_in_words(number / 1_000_000)), number % 1_000_000),
    };
    if rest == 0 { head } else { format!("{head} {}", number_in_words(rest)) }
}

/// Items joined as in a sentence: `a`, `a and b`, `a, b and c`.
pub(super) fn and_list<T: AsRef<str>>(items: &[T]) -> String {
    let mut text = String::new();
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push_str(if i + 1 == items.len() { " and " } else { ", " });
        }
        text.push_str(item.as_ref());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled() {
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
    fn lists_read_as_in_a_sentence() {
        assert_eq!(and_list(&["a"]), "a");
        assert_eq!(and_list(&["a", "b"]), "a and b");
        assert_eq!(and_list(&["a", "b", "c"]), "a, b and c");
    }
}
