//! Dates in the notations of the world, as far as they cannot be confused.

use super::text::{answer_before_remark, folded, introduces_answer, is_hedged, plain, words};

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Date {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        ((1..=12).contains(&month) && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }
}

/// Whether the one date that `answer` claims is the target.
///
/// A date in numbers alone counts only when it cannot be read in two ways: `2024-03-05`, `13/05/2024`, `05/05/2024`,
/// but not `05/03/2024`, unless that is how the target itself is written. A weekday beside the date is not compared.
pub(super) fn matches(answer: &str, target: &str) -> bool {
    if folded(answer) == folded(target) {
        return true;
    }
    let target = claimed(target);
    target.is_some()
        && (claimed(answer) == target || answer_before_remark(&plain(answer)).and_then(claimed) == target)
}

/// The date that a text claims: the only one, or the last where the words before present it as the result.
fn claimed(text: &str) -> Option<Date> {
    let text = plain(text).to_lowercase();
    if is_hedged(&text) || text.contains(" + ") || text.trim_end().ends_with('?') {
        return None;
    }
    let dates = dates(&text)?;
    let last = dates.last()?;
    if is_reference(&text[..last.start]) {
        return None;
    }
    let clear = match dates.iter().rev().nth(1) {
        None => true,
        Some(previous) => {
            let between = without_weekday(&text[previous.end..last.start]);
            dates.iter().all(|date| date.date == last.date)
                || (introduces_answer(between) || between.trim_end().ends_with(" on"))
                    && !words(between).any(|word| ["and", "to"].contains(&word))
        }
    };
    clear.then_some(last.date)
}

/// Whether the words before a date only relate another one to it: "the day before 1998-01-06".
fn is_reference(before: &str) -> bool {
    const RELATIONS: [&str; 8] = ["before", "after", "until", "till", "since", "around", "about", "near"];
    let before = without_weekday(before).trim_end();
    words(before).next_back().is_some_and(|word| before.ends_with(word) && RELATIONS.contains(&word))
}

fn without_weekday(text: &str) -> &str {
    let text = text.trim_end_matches([' ', ',', '(']);
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        .iter()
        .find_map(|weekday| text.strip_suffix(weekday))
        .unwrap_or(text)
}

struct Found {
    date: Date,
    start: usize,
    end: usize,
}

/// A run of digits or of letters.
#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    start: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn year(&self) -> Option<u32> {
        self.text.parse().ok().filter(|_| self.text.len() == 4)
    }

    /// A day or a month in digits.
    fn short(&self) -> Option<u32> {
        self.text.parse().ok().filter(|_| self.text.len() <= 2)
    }

    fn month_name(&self) -> Option<u32> {
        const MONTHS: [&str; 12] = [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ];
        let is_name = |month: &&str| {
            *month == self.text
                || month[..3] == *self.text
                || self.text == "sept" && month.starts_with("sept")
        };
        MONTHS.iter().position(is_name).map(|month| month as u32 + 1)
    }
}

/// All dates of a text; nothing when one of them could be read in two ways.
fn dates(text: &str) -> Option<Vec<Found>> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    let mut i = 0;
    while let Some(&[a, b, c]) = tokens.get(i..i + 3) {
        match read(text, a, b, c) {
            Reading::Date(date) => {
                found.push(Found { date, start: a.start, end: c.end() });
                i += 3;
            }
            Reading::Ambiguous => return None,
            Reading::Nothing => i += 1,
        }
    }
    Some(found)
}

/// Digits and letters apart, without ordinal endings and the "of" in "5th of March".
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(char::is_alphanumeric) {
        let start = at + offset;
        let digits = text[start..].starts_with(|c: char| c.is_ascii_digit());
        let is_other = |c: char| !c.is_alphanumeric() || c.is_ascii_digit() != digits;
        let end = text[start..].find(is_other).map_or(text.len(), |length| start + length);
        let token = Token { text: &text[start..end], start };
        let after_digits =
            tokens.last().is_some_and(|last| last.text.starts_with(|c: char| c.is_ascii_digit()));
        if !(after_digits && ["st", "nd", "rd", "th", "of"].contains(&token.text)) {
            tokens.push(token);
        }
        at = end;
    }
    tokens
}

enum Reading {
    Date(Date),
    Ambiguous,
    Nothing,
}

fn read(text: &str, a: Token<'_>, b: Token<'_>, c: Token<'_>) -> Reading {
    let is_loose = |gap: &str| gap.len() <= 8 && !gap.contains(['\n', ';', ':', '(']);
    let (first_gap, second_gap) = (&text[a.end()..b.start], &text[b.end()..c.start]);
    let tight = first_gap == second_gap && ["-", "/", "."].contains(&first_gap);
    let date = |year, month, day| Date::new(year, month, day).map_or(Reading::Nothing, Reading::Date);
    if is_loose(first_gap) && is_loose(second_gap) {
        if let (Some(month), Some(day), Some(year)) = (a.month_name(), b.short(), c.year()) {
            return date(year, month, day);
        }
        if let (Some(day), Some(month), Some(year)) = (a.short(), b.month_name(), c.year()) {
            return date(year, month, day);
        }
        if let (Some(year), Some(month), Some(day)) = (a.year(), b.month_name(), c.short()) {
            return date(year, month, day);
        }
    }
    if !tight {
        return Reading::Nothing;
    }
    if let (Some(year), Some(month), Some(day)) = (a.year(), b.short(), c.short()) {
        return date(year, month, day);
    }
    let (Some(a), Some(b), Some(year)) = (a.short(), b.short(), c.year()) else { return Reading::Nothing };
    match (Date::new(year, a, b), Date::new(year, b, a)) {
        (Some(us), Some(eu)) if us != eu => Reading::Ambiguous,
        (Some(only), _) | (None, Some(only)) => Reading::Date(only),
        (None, None) => Reading::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_date_notations() {
        for answer in [
            "2024-03-25",
            "2024/03/25",
            "2024-3-25",
            "March 25, 2024",
            "25 March 2024",
            "Mar 25 2024",
            "the 25th of March, 2024",
            "Monday, March 25th, 2024",
            "25-Mar-2024",
            "25/03/2024",
            "03/25/2024",
            "25.03.2024",
            "The date is **March 25, 2024**.",
            "20 days after March 5, 2024 is Monday, March 25, 2024",
            "2024-03-05 → 2024-03-25",
            "2024-03-25. That is 20 days after 2024-03-05.",
            "2024-03-25T00:00:00",
            "March 25, 2024 (2024-03-25)",
        ] {
            assert!(matches(answer, "2024-03-25"), "{answer}");
        }
        assert!(matches("05/05/2024", "2024-05-05"));
        assert!(matches("05/03/2024", "05/03/2024"));
        assert!(matches("September 9, 1999", "09 Sept 1999"));
    }

    #[test]
    fn rejects_other_and_ambiguous_dates() {
        for answer in [
            "2024-03-06",
            "2024-05-03",
            "03/05/2024",
            "05/03/2024",
            "March 5 or 6, 2024",
            "not March 5, 2024",
            "March 5",
            "March 2024",
            "March 5, 20245",
            "March 5, 2024 and March 6, 2024",
            "from 2024-03-05 to 2024-03-09",
            "2024-03-05 + 15 days",
            "March 15, 2024",
            "from 2024-02-01 to 2024-03-05",
            "2024-02-30",
            "20240305",
            "",
        ] {
            assert!(!matches(answer, "2024-03-05"), "{answer}");
        }
    }
}
