//! `math`: equal as formulas, or as text where formulas have no normal form.

use super::{ScorerVerdict, numeric, yes_no};
use crate::answer::{changes_number, introduces_answer, is_hedged, words};
use crate::math::{Equality, Ratio, equality};

/// Compares an answer with a formula.
pub(super) fn compare(answer: &str, target: &str) -> ScorerVerdict {
    let decided = |is_correct| ScorerVerdict { is_correct, is_undecided: false };
    if is_same_word(answer, target) {
        return decided(true);
    }
    let mut is_undecided = false;
    for answer in [Some(answer), claimed_formula(answer)].into_iter().flatten() {
        match equality(answer, target) {
            Equality::Equal => return decided(true),
            Equality::Different => is_undecided = false,
            // Text is compared only where algebra can't tell: `1 2` isn't 12, and `V` isn't `v`.
            Equality::Undecided if normalized(answer) == normalized(target) => return decided(true),
            Equality::Undecided => is_undecided = true,
        }
    }
    if is_undecided && numeric::target(target).is_some() {
        return decided(numeric::matches(answer, target, Ratio::ZERO));
    }
    ScorerVerdict { is_correct: false, is_undecided }
}

/// Whether two texts are the same word, of which one may be capitalized: not a product of symbols.
fn is_same_word(a: &str, b: &str) -> bool {
    let is_word = |text: &str| text.chars().count() > 1 && text.chars().all(char::is_alphabetic);
    let truth = |text: &str| text.chars().all(char::is_alphabetic).then(|| yes_no::truth(text)).flatten();
    let tail = |text: &str| text.chars().skip(1).collect::<String>();
    truth(a).is_some_and(|value| truth(b) == Some(value) && a.len() == b.len())
        || is_word(a) && is_word(b) && tail(a) == tail(b) && a.to_lowercase() == b.to_lowercase()
}

/// The only formula of a sentence: the text between dollar signs, or after "is".
fn claimed_formula(answer: &str) -> Option<&str> {
    if is_hedged(answer) || answer.ends_with('?') || numeric::is_condition(answer) {
        return None;
    }
    if let Some((before, formula, after)) = only_delimited(answer) {
        return (presents(before) && leaves(after)).then_some(formula);
    }
    answer.rsplit_once(" is ").map(|(_, formula)| formula.trim())
}

/// The only formula between delimiters, and the text before and after it.
fn only_delimited(answer: &str) -> Option<(&str, &str, &str)> {
    [["$", "$"], [r"\(", r"\)"]].into_iter().find_map(|[open, close]| {
        let (before, rest) = answer.split_once(open)?;
        let (formula, after) = rest.split_once(close)?;
        (!after.contains(open)).then_some((before, formula, after))
    })
}

/// Whether the words before a formula present it as the answer: nothing, "is", "we get". "Twice" and "the opposite of" don't.
fn presents(before: &str) -> bool {
    const PRESENTING: [&str; 14] = [
        "answer", "exactly", "has", "have", "obtain", "only", "simply", "just", "solution", "value",
        "interval", "choose", "contains", "find",
    ];
    let before = before.trim();
    before.is_empty()
        || introduces_answer(before)
        || words(before).next_back().is_some_and(|last| {
            before.ends_with(last) && PRESENTING.iter().any(|known| known.eq_ignore_ascii_case(last))
        })
}

/// Whether the words after a formula leave it as it is: a unit, not "squared" or "million".
fn leaves(after: &str) -> bool {
    after.len() < 24
        && !after.contains(|c: char| c.is_ascii_digit() || "+*/^=<>%√!".contains(c))
        && !after.trim_start().starts_with('-')
        && !words(after).any(changes_number)
}

/// The text without spacing, sizes and delimiters, and without a type command around it. Words are lower-cased; symbols
/// keep their case, and numbers their distance.
fn normalized(text: &str) -> String {
    const DROPPED: [&str; 8] = [r"\left", r"\right", r"\displaystyle", r"\,", r"\!", "$", r"\(", r"\)"];
    const SPACES: [&str; 4] = [r"\;", r"\:", r"\quad", r"\ "];
    let mut text = text.replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac");
    for command in [r"\textbf{", r"\text{", r"\mathrm{", r"\mbox{"] {
        if let Some(inner) = text.strip_prefix(command).and_then(|rest| rest.strip_suffix('}')) {
            text = inner.to_owned();
        }
    }
    for (pieces, replacement) in [(&DROPPED[..], ""), (&SPACES[..], " ")] {
        for piece in pieces {
            if text.contains(piece) {
                text = text.replace(piece, replacement);
            }
        }
    }
    if is_prose(&text) {
        let word = |word: &str| {
            if word.chars().count() > 1 { word.to_lowercase() } else { word.to_owned() }
        };
        return text.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    }
    let mut result = String::with_capacity(text.len());
    for piece in text.split_whitespace() {
        let is_number = |c: char| c.is_ascii_digit();
        if result.ends_with(is_number) && piece.starts_with(is_number) {
            result.push(' ');
        }
        result.push_str(piece);
    }
    result
}

/// Whether a text is words: nothing but letters and the punctuation between them, and a word that is no product of symbols.
fn is_prose(text: &str) -> bool {
    text.chars().all(|c| c.is_alphabetic() || c.is_whitespace() || "-',".contains(c))
        && words(text).any(|word| word.chars().count() > 3)
}
