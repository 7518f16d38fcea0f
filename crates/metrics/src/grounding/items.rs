//! The items of a sentence that can be looked up: numbers, names, quotations.

use std::collections::HashSet;

/// A number by its digits: `digits / 10^decimals`, with no zero at the end of the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Quantity {
    digits: u128,
    decimals: u32,
}

impl Quantity {
    pub(super) fn integer(value: u64) -> Self {
        Self { digits: u128::from(value), decimals: 0 }
    }

    /// Reads digits with commas between thousands and a decimal point; `None` when there are too many.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mut digits, mut decimals, mut after_point) = (0_u128, 0, false);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(u128::from(byte - b'0'))?;
                    decimals += u32::from(after_point);
                }
                b'.' => after_point = true,
                _ => {}
            }
        }
        Some(Self { digits, decimals }.shortest())
    }

    fn shortest(mut self) -> Self {
        while self.decimals > 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.decimals -= 1;
        }
        self
    }

    /// The number divided by 100.
    pub(super) fn hundredth(self) -> Self {
        Self { digits: self.digits, decimals: self.decimals + 2 }.shortest()
    }
}

/// An item that can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A number and whether it is a percentage.
    Number(&'a str, bool),
    /// One or more words with capitals.
    Name(&'a str),
    /// The text between quotation marks.
    Quotation(&'a str),
}

/// A number in a text, with the context needed to distinguish it from a label.
pub(super) struct Digits<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The next number at or after `from` that is not part of a word.
pub(super) fn next_number(text: &str, mut from: usize) -> Option<Digits<'_>> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    loop {
        from += bytes.get(from..)?.iter().position(u8::is_ascii_digit)?;
        let start = from;
        while digit(from) {
            from += 1;
        }
        while bytes.get(from) == Some(&b',')
            && (1..4).all(|ahead| digit(from + ahead))
            && !digit(from + 4)
            && from - start <= 3 + 4 * 8
        {
            from += 4;
        }
        if bytes.get(from) == Some(&b'.') && digit(from + 1) {
            from += 1;
            while digit(from) {
                from += 1;
            }
        }
        let joined = start > 0 && (bytes[start - 1].is_ascii_alphabetic() || bytes[start - 1] == b'_');
        let ordinal = ["st", "nd", "rd", "th"].iter().any(|ending| text[from..].starts_with(ending));
        if !joined && !ordinal {
            return Some(Digits { text: &text[start..from], start, end: from });
        }
    }
}

/// The items of a sentence; `names` are words known to be names even where every word has a capital.
pub(super) fn items<'a>(sentence: &'a str, names: &HashSet<String>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(number) = next_number(sentence, at) {
        at = number.end;
        if !is_label(sentence, &number) {
            items.push(Item::Number(number.text, sentence[number.end..].starts_with('%')));
        }
    }
    let mut quotations = sentence.match_indices(['"', '“', '”']);
    while let (Some((open, mark)), Some((close, _))) = (quotations.next(), quotations.next()) {
        let quoted = sentence[open + mark.len()..close].trim();
        if quoted.chars().count() > 1 {
            items.push(Item::Quotation(quoted));
        }
    }
    if !is_heading(sentence) {
        capitals(sentence, |span, first| {
            if !first || span.split(|c: char| !c.is_alphanumeric()).any(|word| names.contains(word)) {
                items.push(Item::Name(span));
            }
        });
    }
    items
}

/// Whether a number only counts steps: "2." and "2)" at the start, "Step 2", "(2)".
fn is_label(sentence: &str, number: &Digits<'_>) -> bool {
    const LABELS: [&str; 8] = ["step", "part", "case", "question", "problem", "option", "equation", "line"];
    let before = sentence[..number.start].trim_end_matches([' ', '*', '_', '#', '(', '-', '>', '\t']);
    let after = &sentence[number.end..];
    if before.is_empty() {
        let mark = after.trim_start_matches('*');
        return number.text.len() <= 3
            && !number.text.contains(['.', ','])
            && mark.starts_with(['.', ')', ':'])
            && !mark[1..].starts_with(|c: char| c.is_ascii_digit());
    }
    let word = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    LABELS.iter().any(|label| label.eq_ignore_ascii_case(word))
}

/// Headings and titles have capitals everywhere.
fn is_heading(sentence: &str) -> bool {
    let sentence = sentence.trim();
    sentence.starts_with('#')
        || (sentence.starts_with("**") && sentence.trim_end_matches(':').ends_with("**"))
}

/// Calls `each` with every run of words that start with a capital, and whether every word has a capital there.
pub(super) fn capitals<'a>(sentence: &'a str, mut each: impl FnMut(&'a str, bool)) {
    let mut first = true;
    let mut run: Option<(usize, usize, bool)> = None;
    let mut last_end = 0;
    for (start, word) in words(sentence) {
        let gap = &sentence[last_end..start];
        // A sentence begins after these, with a capital or not.
        first |= gap.contains([':', '"', '“', '.', '!', '?', '|', '(', '[', '*', '—', '→']);
        let end = start + word.len();
        last_end = end;
        let is_command = start > 0 && sentence.as_bytes()[start - 1] == b'\\';
        let capital = !is_command
            && word.chars().count() > 1
            && word.starts_with(char::is_uppercase)
            && !is_common(word);
        match (&mut run, capital) {
            // The first word of a sentence is not part of the name after it: "On Friday".
            (Some((_, run_end, false)), true) if gap == " " && !first => *run_end = end,
            (_, _) => {
                if let Some((run_start, run_end, at_start)) = run.take() {
                    each(&sentence[run_start..run_end], at_start);
                }
                if capital {
                    run = Some((start, end, first));
                }
            }
        }
        first = false;
    }
    if let Some((run_start, run_end, at_start)) = run {
        each(&sentence[run_start..run_end], at_start);
    }
}

/// Words with a capital that aren't names.
fn is_common(word: &str) -> bool {
    let bare = word.split(['\'', '’']).next().unwrap_or(word);
    matches!(
        bare,
        "I" | "OK"
            | "Ok"
            | "Mr"
            | "Mrs"
            | "Ms"
            | "Dr"
            | "Step"
            | "Answer"
            | "So"
            | "The"
            | "Then"
            | "Total"
            | "Let"
            | "Therefore"
            | "Thus"
            | "Since"
            | "If"
            | "We"
            | "He"
            | "She"
            | "It"
            | "They"
            | "This"
            | "That"
            | "In"
            | "AM"
            | "PM"
    )
}

/// The words of a text; an apostrophe inside a word is part of it.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '\'' || c == '’';
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let start = at + rest.find(is_part)?;
            let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
            at = start + length;
            let word = text[start..at].trim_matches(['\'', '’']);
            if !word.is_empty() {
                let offset = word.as_ptr() as usize - text.as_ptr() as usize;
                return Some((offset, word));
            }
        }
    })
}

/// A word without the ending of a possessive.
pub(super) fn owner(word: &str) -> &str {
    ["'s", "’s", "'", "’"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}
