//! `yes_no`: a truth value, alone, with an explanation after it, or at the end of a sentence.

use crate::answer::{folded, introduces_answer, plain, words};

/// The truth value of a text that is one.
pub(super) fn truth(text: &str) -> Option<bool> {
    match folded(text).as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

/// Whether an answer claims the truth value of the target.
pub(super) fn matches(answer: &str, target: &str) -> bool {
    let Some(target) = truth(target) else { return folded(answer) == folded(target) };
    let text = plain(answer).to_lowercase();
    claimed(text.trim().trim_matches(['"', '*', '_', '“', '”'])) == Some(target)
}

fn claimed(text: &str) -> Option<bool> {
    if text.ends_with('?') {
        return None;
    }
    truth(text).or_else(|| leading(text)).or_else(|| concluding(text))
}

/// "Yes, because …": the first word, unless the rest takes it back.
fn leading(text: &str) -> Option<bool> {
    const RETRACTIONS: [&str; 11] = [
        "wait",
        "actually",
        "sorry",
        "correction",
        "rather",
        "hmm",
        "mistake",
        "oops",
        "wrong",
        "or",
        "depends",
    ];
    const LINKS: [&str; 8] = [" -", " –", " —", "—", " (", " because", " since", " as "];
    let first = words(text).next().filter(|first| text.starts_with(first))?;
    let value = truth(first)?;
    let rest = text[first.len()..].trim_start_matches(['*', '_', '"']);
    let explains =
        rest.starts_with([',', '.', ';', ':', '!', '\n']) || LINKS.iter().any(|link| rest.starts_with(link));
    let is_taken_back = words(rest)
        .any(|word| RETRACTIONS.contains(&word) || truth(word).is_some_and(|other| other != value));
    (explains && !is_taken_back).then_some(value)
}

/// "The statement is true": the last word, presented as the result and neither denied nor doubted.
fn concluding(text: &str) -> Option<bool> {
    const DOUBTS: [&str; 19] = [
        "not", "or", "nor", "neither", "either", "never", "cannot", "maybe", "perhaps", "possibly",
        "probably", "likely", "if", "unless", "whether", "unclear", "hardly", "might", "could",
    ];
    let text = text.trim_end_matches(['.', '!', ' ', '"', '*']);
    let last = words(text).next_back().filter(|last| text.ends_with(last))?;
    let value = truth(last)?;
    let before = &text[..text.len() - last.len()];
    let is_doubted = words(before).any(|word| {
        DOUBTS.contains(&word) || word.ends_with("n't") || truth(word).is_some_and(|other| other != value)
    });
    (introduces_answer(before) && !is_doubted).then_some(value)
}
