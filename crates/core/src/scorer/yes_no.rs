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
    match truth(target) {
        Some(target) => claimed_by(answer) == Some(target),
        None => folded(answer) == folded(target),
    }
}

/// The truth value that an answer claims.
pub(super) fn claimed_by(answer: &str) -> Option<bool> {
    let text = plain(answer).to_lowercase().replace('’', "'");
    claimed(text.trim().trim_matches(['"', '*', '_', '“', '”']))
}

fn claimed(text: &str) -> Option<bool> {
    if text.ends_with('?') {
        return None;
    }
    truth(text).or_else(|| leading(text)).or_else(|| concluding(text))
}

/// "Yes, because …": the first word, unless the rest takes it back.
fn leading(text: &str) -> Option<bool> {
    const LINKS: [&str; 8] = [" -", " –", " —", "—", " (", " because", " since", " as "];
    let first = words(text).next().filter(|first| text.starts_with(first))?;
    let value = truth(first)?;
    let rest = text[first.len()..].trim_start_matches(['*', '_', '"']);
    let explains =
        rest.starts_with([',', '.', ';', ':', '!', '\n']) || LINKS.iter().any(|link| rest.starts_with(link));
    (explains && !is_taken_back(rest, value)).then_some(value)
}

/// Whether an explanation takes the truth value before it back. "No" before a noun, "true" before "that" and "or"
/// between two things are ordinary words.
fn is_taken_back(rest: &str, value: bool) -> bool {
    const CUES: [&str; 9] =
        ["wait", "hmm", "oops", "sorry", "correction", "actually", "rather", "or", "scratch"];
    const ADMISSIONS: [&str; 8] = [
        "my mistake",
        "a mistake",
        "i was wrong",
        "i am wrong",
        "i'm wrong",
        "i was mistaken",
        "it depends",
        "that depends",
    ];
    let mut clauses =
        rest.split([',', '.', ';', ':', '!', '?', '\n', '(', ')', '—', '–']).chain(rest.split(" - "));
    clauses.any(|clause| {
        let words: Vec<&str> = words(clause).collect();
        let Some((last, before)) = words.split_last() else { return false };
        let says = match *last {
            "wrong" | "incorrect" => Some(false),
            last => truth(last),
        };
        let is_negated =
            before.iter().rev().take(3).any(|word| ["not", "never"].contains(word) || word.ends_with("n't"));
        CUES.contains(&words[0])
            || words[0] == "depends"
            || says.is_some_and(|says| (says != is_negated) != value)
    }) || ADMISSIONS.iter().any(|admission| rest.contains(admission))
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
