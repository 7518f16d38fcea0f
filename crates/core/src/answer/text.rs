//! Reading prose: decoration removed, words, hedges.

use crate::extract::TYPE_COMMANDS;

/// Text without Markdown and LaTeX, and with one character for each of the many dashes, quotes and spaces.
pub(crate) fn plain(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    // For each brace that is open: whether it belongs to a command and goes with it.
    let mut braces: Vec<bool> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(command) = TYPE_COMMANDS.iter().find(|command| c == '\\' && rest.starts_with(**command)) {
            braces.push(true);
            rest = &rest[command.len()..];
            continue;
        }
        if let Some((from, to)) = REPLACED.iter().find(|(from, _)| rest.starts_with(from)) {
            result.push_str(to);
            rest = &rest[from.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '{' => braces.push(false),
            '}' if braces.pop() == Some(true) => continue,
            _ => {}
        }
        result.push(c);
    }
    result
}

const REPLACED: [(&str, &str); 34] = [
    ("**", ""),
    ("`", ""),
    ("{,}", ","),
    (r"\left", ""),
    (r"\right", ""),
    (r"\displaystyle", ""),
    (r"\quad", " "),
    (r"\times", "×"),
    (r"\cdot", "·"),
    (r"\approx", "≈"),
    (r"\(", ""),
    (r"\)", ""),
    (r"\[", ""),
    (r"\]", ""),
    (r"\{", "{"),
    (r"\}", "}"),
    (r"\,", " "),
    (r"\;", " "),
    (r"\:", " "),
    (r"\!", ""),
    (r"\ ", " "),
    (r"\$", ""),
    (r"\%", "%"),
    (r"\_", "_"),
    (r"\*", "*"),
    ("$", ""),
    ("\u{2212}", "-"),
    ("\u{2013}", "-"),
    ("\u{2011}", "-"),
    ("\u{a0}", " "),
    ("\u{2009}", " "),
    ("\u{202f}", " "),
    ("“", "\""),
    ("”", "\""),
];

/// Plain text in lower case with single spaces, without quotes and punctuation around it.
pub(crate) fn folded(text: &str) -> String {
    let lower = plain(text).to_lowercase();
    let folded = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    folded.trim_matches(|c: char| c.is_whitespace() || "\"'‘’*_.,;!".contains(c)).to_owned()
}

/// The words of a text, split at everything that is neither letter, digit nor apostrophe.
pub(crate) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

/// Whether a text denies, doubts or names an alternative, so that what it mentions is not what it claims.
pub(crate) fn is_hedged(text: &str) -> bool {
    const HEDGES: [&str; 19] = [
        "not",
        "no",
        "or",
        "either",
        "neither",
        "nor",
        "cannot",
        "never",
        "maybe",
        "perhaps",
        "possibly",
        "unless",
        "than",
        "least",
        "between",
        "approximately",
        "if",
        "whether",
        "but",
    ];
    text.contains('≈')
        || words(text).any(|word| {
            let word = word.to_lowercase();
            HEDGES.contains(&word.as_str()) || word.ends_with("n't")
        })
}

/// Whether a word behind a number changes it, so that it is no unit: "3 squared", "3 million", "3 plus".
pub(crate) fn changes_number(word: &str) -> bool {
    const CHANGES: [&str; 41] = [
        "hundred",
        "hundreds",
        "thousand",
        "thousands",
        "million",
        "millions",
        "billion",
        "billions",
        "trillion",
        "trillions",
        "dozen",
        "dozens",
        "tens",
        "score",
        "squared",
        "cubed",
        "factorial",
        "halves",
        "thirds",
        "fourths",
        "fifths",
        "sixths",
        "eighths",
        "tenths",
        "hundredths",
        "half",
        "twice",
        "times",
        "plus",
        "minus",
        "over",
        "divided",
        "multiplied",
        "modulo",
        "about",
        "around",
        "roughly",
        "nearly",
        "almost",
        "approximately",
        "where",
    ];
    CHANGES.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a text takes something back.
fn has_self_correction(text: &str) -> bool {
    const CORRECTIONS: [&str; 14] = [
        "actually",
        "wait",
        "no",
        "not",
        "sorry",
        "correction",
        "rather",
        "or",
        "hmm",
        "mistake",
        "instead",
        "if",
        "oops",
        "wrong",
    ];
    words(text).any(|word| CORRECTIONS.contains(&word.to_lowercase().as_str()))
}

/// What a candidate says before it explains itself: "42" of "42. That is because 6 * 7 = 42". Nothing when there is
/// no explanation, or when it takes the answer back.
pub(super) fn leading_answer(text: &str) -> Option<&str> {
    const ENDS: [&str; 9] = [". ", "! ", ".\n", "\n", " because ", ", because ", " since ", ", since ", " ("];
    let end = ENDS.iter().filter_map(|end| text.find(end)).min()?;
    Some(text[..end].trim())
        .filter(|leading_answer| !leading_answer.is_empty() && !has_self_correction(&text[end..]))
}

/// What a candidate says before a remark: as [`leading_answer`], and "42" of "42 - as computed above" and of "42, as
/// computed above".
pub(super) fn answer_before_remark(text: &str) -> Option<&str> {
    leading_answer(text).or_else(|| {
        let dash = [" - ", " – ", " — "].iter().filter_map(|dash| {
            let at = text.find(dash)?;
            text[at + dash.len()..].starts_with(char::is_alphabetic).then_some(at)
        });
        let end = dash.chain(text.find(", as ")).min()?;
        Some(text[..end].trim()).filter(|head| !head.is_empty() && !has_self_correction(&text[end..]))
    })
}

/// Whether a text ends with a word or sign that presents what comes next as a result.
pub(crate) fn introduces_answer(before: &str) -> bool {
    const WORDS: [&str; 9] = ["is", "are", "equals", "gives", "get", "be", "to", "therefore", "so"];
    let before = before.trim_end_matches([' ', '*', '_', '"', '(']);
    before.ends_with(['=', ':', '→', '⇒'])
        || before.ends_with("->")
        || before.ends_with("=>")
        || words(before).next_back().is_some_and(|word| {
            before.ends_with(word) && WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_decoration() {
        for (text, expected) in [
            (r"\text{dark red}", "dark red"),
            (r"1{,}000", "1,000"),
            (r"\left[ 1,\, 2 \right]", "[ 1,  2 ]"),
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            ("**a**, `b`", "a, b"),
            ("−5", "-5"),
            (r"\{1\}", "{1}"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
    }

    #[test]
    fn leading_answer_needs_no_later_correction() {
        assert_eq!(leading_answer("42. That is because 6 * 7 = 42"), Some("42"));
        assert_eq!(leading_answer("42 (six times seven)"), Some("42"));
        assert_eq!(leading_answer("42. Wait, 43."), None);
        assert_eq!(leading_answer("42 (or 43)"), None);
        assert_eq!(leading_answer("42"), None);
    }

    #[test]
    fn recognizes_introduced_results() {
        for before in ["12 + 5 = ", "The sum is", "we get ", "Total: ", "a → "] {
            assert!(introduces_answer(before), "{before}");
        }
        for before in ["3 or", "12 +", "this", "between 3 and "] {
            assert!(!introduces_answer(before), "{before}");
        }
    }
}
