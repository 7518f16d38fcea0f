//! Makes control characters of foreign text visible.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces control characters by visible symbols: an escape character becomes `␛`, a bidirectional override its code
/// point. Line breaks and tabs stay.
///
/// ```
/// use reasonscape_core::escape_invisible;
///
/// assert_eq!(escape_invisible("\u{1b}[31mred"), "␛[31mred");
/// assert_eq!(escape_invisible("a\u{202e}b\n"), "a[U+202E]b\n");
/// ```
pub fn escape_invisible(text: &str) -> Cow<'_, str> {
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
