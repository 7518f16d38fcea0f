//! Makes control characters in model output visible.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces control characters by visible symbols: an escape character becomes `␛`, a bidirectional override its code
/// point. Line breaks and tabs stay. HTML is escaped by the templates.
pub(crate) fn escape_invisible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            // A Windows line ending.
            '\r' if characters.peek() == Some(&'\n') => {}
            hidden if !is_invisible(hidden) => shown.push(hidden),
            '\u{7f}' => shown.push('\u{2421}'),
            control @ '\0'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(control))),
            other => {
                let _ = write!(shown, "[U+{:04X}]", u32::from(other));
            }
        }
    }
    Cow::Owned(shown)
}

fn is_invisible(character: char) -> bool {
    let is_direction = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    is_direction || character.is_control() && !matches!(character, '\n' | '\t')
}

/// The beginning of a text on one line, for a table.
pub(crate) fn excerpt(text: &str, max: usize) -> String {
    let mut shown: String =
        escape_invisible(text).chars().take(max).map(|c| if c == '\n' { ' ' } else { c }).collect();
    if text.chars().nth(max).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_control_characters() {
        assert_eq!(escape_invisible("plain\n\ttext"), "plain\n\ttext");
        assert_eq!(escape_invisible("\u{1b}[31mred\u{7}\r\nnext\rover"), "␛[31mred␇\nnext␍over");
        assert_eq!(escape_invisible("a\u{202e}b\u{85}"), "a[U+202E]b[U+0085]");
        assert_eq!(escape_invisible("<script>"), "<script>");
        assert_eq!(excerpt("one\ntwo three", 7), "one two…");
        assert_eq!(excerpt("one", 3), "one");
    }
}
