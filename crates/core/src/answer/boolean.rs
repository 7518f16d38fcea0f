//! Truth values in any notation.

use super::text::{answer_before_remark, folded, introduces_answer, plain, words};

const TRUE: [&str; 8] = ["true", "t", "yes", "y", "on", "1", "correct", "⊤"];
const FALSE: [&str; 8] = ["false", "f", "no", "n", "off", "0", "incorrect", "⊥"];

/// The truth value of a single word.
fn truth(word: &str) -> Option<bool> {
    if TRUE.contains(&word) {
        Some(true)
    } else if FALSE.contains(&word) {
        Some(false)
    } else {
        None
    }
}

/// Whether `answer` claims the truth value of the target, in the target's notation or another.
///
/// A sentence counts if it presents its last word as the result ("it evaluates to false"), or holds exactly one truth
/// word and no negation: "not true" claims nothing. Words that are also ordinary English (on, no) count inside a
/// sentence only if the target is written with them.
pub(super) fn matches(answer: &str, target: &str) -> bool {
    let target = folded(target);
    let Some(value) = truth(&target) else { return folded(answer) == target };
    let text = plain(answer).to_lowercase();
    let text = text.trim();
    let claim =
        claimed(text, &target).or_else(|| answer_before_remark(text).and_then(|head| claimed(head, &target)));
    claim.or_else(|| claimed(text.rsplit_once('\n')?.1, &target)) == Some(value)
}

fn claimed(text: &str, target: &str) -> Option<bool> {
    if text.trim_end().ends_with('?') {
        return None;
    }
    let text = folded(text);
    truth(&text)
        .or_else(|| introduced(&text))
        .or_else(|| leading(&text))
        .or_else(|| only_truth_word(&text, target))
}

/// The value of "… = true" and "the result is false"; "is not" and "true if x is" present nothing.
fn introduced(text: &str) -> Option<bool> {
    let last = words(text).next_back().filter(|last| text.ends_with(last))?;
    let value = truth(last)?;
    let before = &text[..text.len() - last.len()];
    (introduces_answer(before) && !words(before).any(|word| ["if", "unless"].contains(&word)))
        .then_some(value)
}

/// The value of "yes, the light is on" where nothing else in the sentence denies it.
fn leading(text: &str) -> Option<bool> {
    let (first, rest) = text.split_once(", ")?;
    let value = truth(first)?;
    words(rest)
        .all(|word| truth(word).is_none_or(|other| other == value) && !is_negation(word))
        .then_some(value)
}

fn only_truth_word(text: &str, target: &str) -> Option<bool> {
    let counts = |word: &str| {
        let of_target = match target {
            "on" | "off" => ["on", "off"],
            "yes" | "no" => ["yes", "no"],
            _ => ["true", "false"],
        };
        ["true", "false"].contains(&word) || of_target.contains(&word)
    };
    let mut found = words(text).filter(|word| counts(word));
    let value = found.next().and_then(truth)?;
    (found.next().is_none() && !words(text).any(is_negation)).then_some(value)
}

fn is_negation(word: &str) -> bool {
    ["not", "or", "nor", "neither", "never", "cannot", "either", "maybe", "if"].contains(&word)
        || word.ends_with("n't")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_any_notation_of_the_value() {
        for answer in [
            "true",
            "True.",
            "T",
            "yes",
            "ON",
            "1",
            "**TRUE**",
            "The expression is true",
            "It evaluates to True.",
            "not (false and true) = true",
            "The final value is T",
            "True, because both sides are true",
            "True. The left side is false, and the right side makes up for it.",
            "Yes, it is on",
            "correct",
            "(T or F) → T\n= T",
        ] {
            assert!(matches(answer, "true"), "{answer}");
            assert!(!matches(answer, "false"), "{answer}");
        }
        assert!(matches("False", "off") && matches("0", "no") && matches("the switch is off", "off"));
    }

    #[test]
    fn rejects_negation_and_both_values() {
        for answer in [
            "not true",
            "It is not true",
            "It isn't true",
            "true or false",
            "true and true",
            "both true and false",
            "True? False?",
            "True. Wait, false.",
            "true if x is false",
            "based on the rules",
            "10",
            "truth",
            "",
        ] {
            assert!(!matches(answer, "true"), "{answer}");
            assert!(!matches(answer, "false"), "{answer}");
        }
    }
}
