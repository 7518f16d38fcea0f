//! `numeric`: the one number that an answer claims.

use super::is_equal;
use crate::answer::{
    Decimal, changes_number, claimed_number, is_hedged, number_length, plain, spelled_number, words,
};
use crate::math::Ratio;

/// A number, and whether it has a percent sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantity {
    pub(super) value: Ratio,
    percent: bool,
}

/// Whether an answer claims the number of the target. A target that isn't a number is compared as text.
pub(super) fn matches(answer: &str, target_text: &str, tolerance: Ratio) -> bool {
    match target(target_text) {
        Some(target) => claimed(answer).is_some_and(|claimed| is_close(claimed, target, tolerance)),
        None => is_equal(answer, target_text),
    }
}

/// The number that a target is.
pub(super) fn target(text: &str) -> Option<Quantity> {
    quantity(&readable(text))
}

fn is_close(a: Quantity, b: Quantity, tolerance: Ratio) -> bool {
    let within = |a: Ratio, b: Ratio| {
        // `a - b <= t` by cross-multiplication.
        a.minus(b)
            .and_then(|difference| tolerance.minus(difference.abs()))
            .is_ok_and(|rest| !rest.is_negative())
    };
    if within(a.value, b.value) {
        return true;
    }
    if a.percent == b.percent {
        return false;
    }
    // `20%` is also 0.2; above 1 nobody means hundredths.
    let (percent, plain) = if a.percent { (a.value, b.value) } else { (b.value, a.value) };
    Ratio::ONE.minus(plain.abs()).is_ok_and(|rest| !rest.is_negative())
        && percent.over(Ratio::from(100)).is_ok_and(|hundredths| within(hundredths, plain))
}

/// The number that an answer claims: all of it, what it ends with, or the only one of a sentence.
fn claimed(answer: &str) -> Option<Quantity> {
    let text = readable(answer);
    let text = text.trim_end_matches(['.', '!', ' ', ',']);
    if text.contains(['~', '±', '≈', '<', '≤', '≥']) || text.ends_with('?') {
        return None;
    }
    if let Some(quantity) = quantity(text) {
        return Some(quantity);
    }
    let result = ["=", " is ", ": "].iter().find_map(|link| {
        let (before, result) = text.rsplit_once(link)?;
        if is_hedged(before) || is_condition(before) { None } else { quantity(result) }
    });
    result.or_else(|| sentence(text)).or_else(|| conclusion(text)).or_else(|| before_explanation(text))
}

/// Whether a text says under which condition the rest holds: "2x + 1 where x is 3" doesn't claim 3.
pub(super) fn is_condition(text: &str) -> bool {
    const CONDITIONS: [&str; 5] = ["where", "when", "whenever", "assuming", "suppose"];
    text.contains("given that")
        || words(text).any(|word| CONDITIONS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// The only number after the last "so" of a sentence: "9 eggs at $2 each, so she makes $18".
fn conclusion(text: &str) -> Option<Quantity> {
    const LINKS: [&str; 6] = [" so ", " therefore ", " thus ", "Therefore, ", "In total, ", "So, "];
    let clause = LINKS.iter().filter_map(|link| Some(text.rfind(link)? + link.len())).max()?;
    sentence(&text[clause..])
}

/// The number before an explanation in parentheses that has words of its own: "18 (9 for each)".
fn before_explanation(text: &str) -> Option<Quantity> {
    let (head, explanation) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let words = explanation.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic)).count();
    if words < 2 || is_hedged(explanation) || explanation.contains("wait") {
        return None;
    }
    sentence(head)
}

/// The number of a sentence, by the same rules as for generated problems.
fn sentence(text: &str) -> Option<Quantity> {
    const SCALES: [&str; 6] = ["hundred", "thousand", "million", "billion", "trillion", "dozen"];
    if text.split(|c: char| !c.is_alphanumeric()).any(|word| SCALES.contains(&word)) {
        return None;
    }
    if is_operand(text) {
        return None;
    }
    let percent = text.matches('%').count();
    let without_sign = text.replace('%', "");
    let number = claimed_number(if percent == 1 { &without_sign } else { text })?;
    Some(Quantity { value: number_ratio(&number)?, percent: percent == 1 })
}

/// Whether a number of a sentence is what something is computed from: "twice 3", "the opposite of 3", "3 squared".
fn is_operand(text: &str) -> bool {
    const OPERATIONS: [&str; 13] = [
        "twice",
        "double",
        "triple",
        "half",
        "third",
        "quarter",
        "opposite",
        "inverse",
        "reciprocal",
        "square",
        "cube",
        "root",
        "factorial",
    ];
    let words: Vec<&str> = words(text).collect();
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    (0..words.len()).filter(|at| is_number(&words[*at])).any(|at| {
        let before = words[..at].iter().rev().find(|word| !["of", "the", "a"].contains(word));
        let is_direct = at.checked_sub(1).is_none_or(|before| !["the", "a"].contains(&words[before]));
        let changed =
            before.is_some_and(|word| OPERATIONS.contains(&word.to_lowercase().as_str())) && is_direct;
        changed || words.get(at + 1).is_some_and(|word| changes_number(word))
    })
}

/// LaTeX, currency and units removed as far as they aren't part of the number.
fn readable(text: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in [
        (r"\!", ""),
        (r"\%", "%"),
        (r"\pm", "±"),
        ("{,}", ","),
        (r"\dfrac", r"\frac"),
        (r"\tfrac", r"\frac"),
        (r"^\circ", ""),
        (r"^{\circ}", ""),
        ("°", ""),
        ("€", ""),
        ("£", ""),
        ("¥", ""),
        (" percent", "%"),
        (" %", "%"),
    ] {
        if text.contains(from) {
            text = text.replace(from, to);
        }
    }
    without_unit_powers(&plain(&text))
}

/// `5 cm^2`, `5 m/s` and `5 cm²` without the parts of the unit that look like arithmetic.
fn without_unit_powers(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut seen_digit = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_alphabetic() && seen_digit {
            let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            result.push_str(&rest[..end]);
            rest = &rest[end..];
            let power =
                ["^{2}", "^{3}", "^2", "^3", "²", "³"].iter().find_map(|power| rest.strip_prefix(power));
            rest = power.unwrap_or(rest);
            if let Some(unit) = rest.strip_prefix('/')
                && unit.starts_with(char::is_alphabetic)
            {
                result.push(' ');
                rest = unit;
            }
            continue;
        }
        seen_digit |= c.is_ascii_digit();
        result.push(c);
        rest = &rest[c.len_utf8()..];
    }
    result
}

/// A text that is a number, with words after it at most.
fn quantity(text: &str) -> Option<Quantity> {
    let text = text.trim();
    if text.starts_with(char::is_alphabetic)
        && let Some(value) = spelled_number(text)
    {
        return Some(Quantity { value: number_ratio(&value)?, percent: false });
    }
    let mut reader = Reader { rest: text };
    for code in ["USD", "EUR", "GBP", "US"] {
        if let Some(rest) = reader.rest.strip_prefix(code) {
            reader.rest = rest.trim_start();
        }
    }
    let negative = reader.sign();
    let mut value = reader.number()?;
    if negative {
        value = value.negated();
    }
    let percent = reader.take("%");
    if let Some(scale) = reader.scale() {
        value = value.times(scale).ok()?;
    }
    reader.is_unit().then_some(Quantity { value, percent })
}

/// Reads a number from the start of a text.
struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn take(&mut self, prefix: &str) -> bool {
        let stripped = self.rest.strip_prefix(prefix);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    fn sign(&mut self) -> bool {
        let negative = ["-", "minus ", "negative "].iter().any(|sign| self.take(sign));
        self.take("+");
        self.rest = self.rest.trim_start();
        negative
    }

    /// A decimal, a fraction, a mixed number or a power of ten.
    fn number(&mut self) -> Option<Ratio> {
        if let Some(fraction) = self.fraction() {
            return Some(fraction);
        }
        let value = self.decimal()?;
        let after = self.rest;
        if self.rest.starts_with([' ', '\\']) {
            // `2 1/2` and `2 \frac{1}{2}`
            self.rest = self.rest.trim_start();
            let mixed = self.fraction().or_else(|| self.slashed());
            if let (Some(mixed), Some(_)) = (mixed, value.integer()) {
                return value.plus(mixed).ok();
            }
            self.rest = after;
        }
        let spaced = self.rest.trim_start();
        if let Some(rest) = spaced.strip_prefix(['×', '·', '*']) {
            self.rest = rest.trim_start();
            return if self.take("10") { value.times(self.power_of_ten()?).ok() } else { None };
        }
        if value == Ratio::from(10) && self.rest.starts_with('^') {
            return self.power_of_ten();
        }
        if let Some(rest) = spaced.strip_prefix('/') {
            self.rest = rest.trim_start();
            return value.over(self.decimal()?).ok();
        }
        Some(value)
    }

    fn power_of_ten(&mut self) -> Option<Ratio> {
        if !self.take("^") {
            return None;
        }
        let braced = self.take("{");
        let negative = self.sign();
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let exponent: i128 = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        if braced && !self.take("}") {
            return None;
        }
        Ratio::from(10).power(if negative { -exponent } else { exponent }).ok()
    }

    /// `\frac{3}{4}` and `\frac34`.
    fn fraction(&mut self) -> Option<Ratio> {
        let before = self.rest;
        let fraction = self.try_fraction();
        if fraction.is_none() {
            self.rest = before;
        }
        fraction
    }

    fn try_fraction(&mut self) -> Option<Ratio> {
        if !self.take(r"\frac") {
            return None;
        }
        self.rest = self.rest.trim_start();
        let (a, b) = (self.argument()?, self.argument()?);
        a.over(b).ok()
    }

    fn argument(&mut self) -> Option<Ratio> {
        if self.take("{") {
            let negative = self.sign();
            let value = self.decimal()?;
            return self.take("}").then_some(if negative { value.negated() } else { value });
        }
        let digit = self.rest.chars().next()?.to_digit(10)?;
        self.rest = &self.rest[1..];
        Some(Ratio::from(i64::from(digit)))
    }

    fn slashed(&mut self) -> Option<Ratio> {
        let a = self.decimal()?;
        if !self.take("/") {
            return None;
        }
        a.over(self.decimal()?).ok()
    }

    fn decimal(&mut self) -> Option<Ratio> {
        let length = number_length(self.rest).filter(|length| *length > 0)?;
        let (text, after) = self.rest.split_at(length);
        // `1,00` and `1.2.3` are no numbers; `1 000` is one.
        let mut next = after.chars();
        if next.next().is_some_and(|c| ",.:_'".contains(c)) && next.next().is_some_and(|c| c.is_ascii_digit())
        {
            return None;
        }
        self.rest = after;
        let mut text = text.to_owned();
        if text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            while let Some(group) = self.rest.strip_prefix(' ').and_then(|rest| rest.get(..3))
                && group.bytes().all(|byte| byte.is_ascii_digit())
                && !self.rest[4..].starts_with(|c: char| c.is_ascii_digit() || c == '/')
            {
                text.push_str(group);
                self.rest = &self.rest[4..];
            }
        }
        number_ratio(&Decimal::parse(&text)?)
    }

    /// "million" after a number.
    fn scale(&mut self) -> Option<Ratio> {
        let rest = self.rest.trim_start();
        let (word, zeros) = [("thousand", 3), ("million", 6), ("billion", 9), ("trillion", 12)]
            .into_iter()
            .find(|(word, _)| rest.starts_with(word))?;
        self.rest = &rest[word.len()..];
        Ratio::from(10).power(zeros).ok()
    }

    /// Whether what is left can be a unit: words without digits, doubts and arithmetic.
    fn is_unit(&self) -> bool {
        const DOUBTS: [&str; 4] = ["or", "to", "and", "k"];
        let rest = self.rest;
        if rest.is_empty() {
            return true;
        }
        let is_word = rest.starts_with([' ', '-']) && rest.len() < 60 && rest.contains(char::is_alphabetic)
            || rest.starts_with(char::is_lowercase) && rest.len() <= 3;
        is_word
            && !rest.contains(|c: char| c.is_ascii_digit() || "+*/^=<>?%√\\:,;.".contains(c))
            && !rest.starts_with(" - ")
            && !is_hedged(rest)
            && !words(rest).any(|word| DOUBTS.contains(&word) || changes_number(word))
    }
}

/// A number that was read digit by digit, as a fraction; none if it is too large.
fn number_ratio(number: &Decimal) -> Option<Ratio> {
    let plain = number.plain();
    let (negative, unsigned) = plain.strip_prefix('-').map_or((false, plain.as_str()), |rest| (true, rest));
    let value = Ratio::parse(unsigned).ok()?;
    Some(if negative { value.negated() } else { value })
}
