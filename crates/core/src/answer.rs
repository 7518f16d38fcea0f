//! Compares an extracted answer with the target, without accepting incorrect answers.
//!
//! Each answer type accepts its common notations. A candidate that gives two answers, hedges, or
//! negates what it mentions is incorrect, even if it contains the target.

mod boolean;
mod choice;
mod date;
mod decimal;
mod integer;
mod json;
mod list;
mod normalize;
mod spelled;
mod text;

pub(crate) use decimal::{Decimal, number_length};
pub(crate) use integer::claimed as claimed_number;
pub(crate) use json::matches as json_matches;
pub(crate) use list::matches as list_matches;
pub use normalize::{is_space, normalize};
pub(crate) use spelled::claimed as spelled_number;
pub(crate) use text::{changes_number, folded, introduces_answer, is_hedged, plain, words};

use choice::chosen;

use crate::{AnswerType, Test};

/// Maximum text around a target, in bytes; a longer candidate is a runaway line.
const MAX_REMARK_LEN: usize = 4096;

/// Whether `answer` is the target of `test`, read as `kind`.
///
/// The target verbatim is always correct; everything else depends on the answer type.
pub(crate) fn matches(kind: AnswerType, answer: &str, test: &Test) -> bool {
    let mut targets = std::iter::once(&test.target).chain(&test.alternative_targets);
    targets.any(|target| matches_one(kind, answer, target.trim(), &test.options))
}

/// Whether an answer is one of the targets: equal to it when both are normalized, or the choice of the same option.
///
/// With `numbers`, plain numbers are compared as numbers.
///
/// ```
/// use reasonscape_core::is_correct;
///
/// assert!(is_correct("1e3", ["1,000"], &[] as &[&str], true));
/// assert!(is_correct("B", ["rome"], &["Paris", "Rome"], true));
/// ```
pub fn is_correct<T: AsRef<str>>(
    answer: &str,
    targets: impl IntoIterator<Item = T>,
    options: &[impl AsRef<str>],
    numbers: bool,
) -> bool {
    let plain = normalize(answer, numbers);
    // The text of an option takes precedence over its letter.
    let option_of = |answer_text: &str, plain: &str| {
        let by_text = options.iter().position(|option| normalize(option.as_ref(), numbers) == plain);
        by_text.or_else(|| chosen(answer_text, options))
    };
    let option = (!options.is_empty()).then(|| option_of(answer, &plain)).flatten();
    targets.into_iter().any(|target| {
        let target = normalize(target.as_ref(), numbers);
        plain == target || option.is_some() && option == option_of(&target, &target)
    })
}

fn matches_one(kind: AnswerType, answer: &str, target: &str, options: &[String]) -> bool {
    if answer.trim() == target {
        return true;
    }
    if answer.len() > MAX_REMARK_LEN + 8 * target.len() {
        return false;
    }
    match kind {
        AnswerType::Integer => integer::matches(answer, target),
        AnswerType::List => list::matches(answer, target),
        AnswerType::Symbols => symbols_match(answer, target),
        AnswerType::Date => date::matches(answer, target),
        AnswerType::Json => json::matches(answer, target),
        AnswerType::Cell => cell_matches(answer, target),
        AnswerType::Boolean => boolean::matches(answer, target),
        AnswerType::Choice => choice::matches(answer, target, options),
        AnswerType::Text => normalize(answer, true) == normalize(target, true),
    }
}

/// Symbols are compared without white space; nothing may be added or missing.
///
/// Words before the symbols are skipped if they contain no symbol; a reply that repeats the problem
/// before the answer doesn't match.
fn symbols_match(answer: &str, target: &str) -> bool {
    let compact = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let target = compact(target);
    let mut unescaped = answer.replace(r"\rangle", ">");
    for bracket in ["(", ")", "[", "]", "{", "}", "<", ">"] {
        unescaped = unescaped.replace(&format!("\\{bracket}"), bracket);
    }
    // Brackets may stand apart: `)`, `]`.
    unescaped.retain(|c| !"`,\"".contains(c) || target.contains(c));
    let start = unescaped
        .rfind(char::is_alphanumeric)
        .map_or(0, |at| at + unescaped[at..].chars().next().map_or(0, char::len_utf8));
    let (words, symbols) = unescaped.split_at(if target.contains(char::is_alphanumeric) { 0 } else { start });
    let is_quote = |c: char| "`\"'“”‘’*".contains(c);
    let symbols = symbols.trim().trim_start_matches(':').trim();
    !words.contains(|c: char| target.contains(c) || "()[]{}<>".contains(c))
        && compact(symbols.trim_matches(is_quote)) == target
}

/// Numbers are compared as numbers; text ignoring case, spacing and markup, alone or after "is".
fn cell_matches(answer: &str, target: &str) -> bool {
    if Decimal::parse(target).is_some() {
        return integer::matches(answer, target);
    }
    let (answer, target) = (text::folded(answer), text::folded(target));
    let is_claimed = |answer: &str| {
        answer.strip_suffix(&target).is_some_and(|before| {
            before.is_empty()
                || [" is ", ": ", " = "].iter().any(|link| before.ends_with(link)) && !text::is_hedged(before)
        })
    };
    is_claimed(&answer) || text::answer_before_remark(&answer).is_some_and(is_claimed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(kind: AnswerType, answer: &str, target: &str) -> bool {
        matches(kind, answer, &Test::free_form(String::new(), target))
    }

    #[test]
    fn symbols_ignore_only_whitespace() {
        for answer in [")]}>", ") ] } >", "`)]}>`", r")]\}>", "The closing string is: )]}>", "\")]}>\""] {
            assert!(right(AnswerType::Symbols, answer, ")]}>"), "{answer}");
        }
        for answer in
            [")]}", ")]}>>", "([{<>}])", ")]}> )", ">}])", "", "([{<a>}])", "( [ a ) ] } >", "( x )]}>"]
        {
            assert!(!right(AnswerType::Symbols, answer, ")]}>"), "{answer}");
        }
    }

    #[test]
    fn overlong_answer_is_incorrect() {
        assert!(!right(AnswerType::Integer, &format!("7 {}", "because ".repeat(1000)), "7"));
    }

    #[test]
    fn cells_match_as_numbers_or_text() {
        for (answer, target) in [
            ("1,200", "1200"),
            ("1200.50", "1200.5"),
            ("the city is **New  York**", "New York"),
            ("new york", "New York"),
        ] {
            assert!(right(AnswerType::Cell, answer, target), "{answer}");
        }
        for (answer, target) in [
            ("1201", "1200"),
            ("New York City", "New York"),
            ("not New York", "New York"),
            ("East New York", "New York"),
            ("1200.05", "1200.5"),
            ("it is not clear that it is Oslo", "Oslo"),
        ] {
            assert!(!right(AnswerType::Cell, answer, target), "{answer}");
        }
    }
}
