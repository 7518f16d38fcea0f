//! Removes markup around an answer that can't be part of it.

/// Stop tokens that an inference server leaves at the end of a text if it doesn't know them.
const END_TOKENS: [&str; 8] =
    ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<|return|>", "<end_of_turn>", "<eos>", "</s>"];

/// A text without the stop tokens at its end.
pub(super) fn without_end_tokens(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(shorter) = END_TOKENS.iter().find_map(|token| text.strip_suffix(token)) {
        text = shorter.trim_end();
    }
    text.trim_start()
}

/// Characters that may surround an answer: quotes, emphasis, the delimiters of formulas.
const PAIRS: [[&str; 2]; 11] = [
    ["\"", "\""],
    ["'", "'"],
    ["“", "”"],
    ["‘", "’"],
    ["*", "*"],
    ["_", "_"],
    ["$$", "$$"],
    ["$", "$"],
    [r"\(", r"\)"],
    [r"\[", r"\]"],
    ["<code>", "</code>"],
];

/// Commands that set their argument in another type.
pub(crate) const TYPE_COMMANDS: [&str; 7] =
    [r"\text{", r"\textbf{", r"\texttt{", r"\mathrm{", r"\mathbf{", r"\mathtt{", r"\operatorname{"];

/// A candidate without emphasis, backticks, headings, quotes, formula delimiters and closing punctuation around it.
///
/// Brackets stay, and so do `>` and `-` at the start: they may be the answer. An ellipsis stays as well, for it says
/// that something is missing.
pub(crate) fn tidy(candidate: &str) -> &str {
    let mut text = candidate;
    loop {
        let before = text.len();
        text = text.trim();
        let heading = text.trim_start_matches('#');
        if heading.starts_with(' ') {
            text = heading.trim_start();
        }
        text = trim_pairs(without_tags(text).trim_matches('`'));
        if !text.ends_with("..") {
            text = text.trim_end_matches(['.', ',', ';', '!']);
        }
        if text.len() == before {
            return text;
        }
    }
}

/// A text without the HTML tags of emphasis around it, also where only one of the two was cut out.
fn without_tags(text: &str) -> &str {
    const TAGS: [[&str; 2]; 6] = [
        ["<b>", "</b>"],
        ["<strong>", "</strong>"],
        ["<i>", "</i>"],
        ["<em>", "</em>"],
        ["<p>", "</p>"],
        ["<span>", "</span>"],
    ];
    if !text.ends_with('>') {
        return text;
    }
    TAGS.iter().fold(text, |text, [open, close]| match text.strip_suffix(close) {
        Some(inner) => inner.strip_prefix(open).unwrap_or(inner).trim(),
        None => text,
    })
}

fn trim_pairs(mut text: &str) -> &str {
    let starts = text.starts_with("**");
    if starts || text.ends_with("**") {
        // An odd one lost its partner when the candidate was cut out: `**Answer: 42**`.
        let odd = text.matches("**").count() % 2 == 1;
        text = match text.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")) {
            Some(inner) if !odd && !inner.contains("**") => inner,
            _ if odd && starts => &text[2..],
            _ if odd => &text[..text.len() - 2],
            _ => text,
        };
    }
    for [open, close] in PAIRS {
        let inner = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        // `"a" and "b"` is not quoted as a whole.
        if let Some(inner) = inner.filter(|inner| !inner.contains(open) && !inner.contains(close)) {
            text = inner;
        }
    }
    for command in TYPE_COMMANDS {
        let inner = text.strip_prefix(command).and_then(|rest| rest.strip_suffix('}'));
        if let Some(inner) = inner.filter(|inner| !has_brace(inner)) {
            text = inner;
        }
    }
    text
}

/// Whether a text holds a brace that is not escaped.
fn has_brace(text: &str) -> bool {
    text.match_indices(['{', '}']).any(|(at, _)| !text[..at].ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_markup_around_the_answer() {
        for (candidate, answer) in [
            ("**42**.", "42"),
            ("**42.**", "42"),
            ("### 42", "42"),
            (r"$\text{B}$", "B"),
            (r"\( 17 \)", "17"),
            ("\"Anna\".", "Anna"),
            ("`)]}>`", ")]}>"),
            ("> ) ]", "> ) ]"),
            ("[1, 2]", "[1, 2]"),
            (r#"["a", "b"]"#, r#"["a", "b"]"#),
            (r#""a", "b""#, r#""a", "b""#),
            ("-5", "-5"),
            ("10...", "10..."),
            ("**", ""),
            ("42**", "42"),
            ("a **kite**", "a **kite**"),
            ("**a** and **b**", "**a** and **b**"),
        ] {
            assert_eq!(tidy(candidate), answer, "{candidate:?}");
        }
    }

    #[test]
    fn strips_stop_tokens() {
        assert_eq!(without_end_tokens(" 42<|im_end|>\n</s>"), "42");
    }
}
