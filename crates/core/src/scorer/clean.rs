//! The same cleaning for answers and targets.

use crate::extract::tidy;

/// A text without `\boxed{…}`, formula delimiters, type commands, emphasis, quotes and final punctuation around it.
pub(crate) fn clean(text: &str) -> &str {
    let mut text = text;
    loop {
        let before = text.len();
        text = without_box(without_double_period(tidy(text)));
        if text.len() == before {
            return text;
        }
    }
}

/// A sentence that ends with a target that ends with a period; three are an ellipsis, which says that something is missing.
fn without_double_period(text: &str) -> &str {
    text.strip_suffix("..").filter(|rest| !rest.ends_with('.')).unwrap_or(text)
}

/// What a box holds that encloses the whole text.
fn without_box(text: &str) -> &str {
    let inner = [r"\boxed{", r"\fbox{"].iter().find_map(|open| text.strip_prefix(open)?.strip_suffix('}'));
    inner.filter(|inner| is_balanced(inner)).unwrap_or(text)
}

fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i64;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// An answer without the `A:` of a dialog of questions and answers.
pub(super) fn without_answer_label(answer: &str) -> &str {
    let trimmed = answer.trim_start();
    trimmed.strip_prefix("A:").map(str::trim_start).filter(|rest| !rest.is_empty()).unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_and_targets_are_cleaned_alike() {
        for (text, expected) in [
            (r"$\boxed{D}$.", "D"),
            (r"\text{(C)}", "(C)"),
            (r"$10-4 n$", "10-4 n"),
            (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
            (r"\boxed{1}, \boxed{2}", r"\boxed{1}, \boxed{2}"),
            (r"**\(\text{odd}\)**", "odd"),
        ] {
            assert_eq!(clean(text), expected, "{text}");
        }
    }
}
