//! The normal form of an answer: equal answers have equal normal forms.

use std::borrow::Cow;

use super::Decimal;

/// Trims, lower-cases and, if `numbers` is set, writes plain numbers in one way: `1,000`, `1000.0` and `1e3` are `1000`.
///
/// White space and lower case are Python's (`str.strip`, `str.lower`). A number is compared digit by digit, so that no
/// two that differ become one; a text that merely contains a number, as `1,000 apples`, stays text.
///
/// ```
/// use reasonscape_core::normalize;
///
/// assert_eq!(normalize("  New York\n", true), "new york");
/// assert_eq!(normalize("+1,000.50", true), "1000.5");
/// assert_eq!(normalize("+1,000.50", false), "+1,000.50");
/// ```
pub fn normalize(text: &str, numbers: bool) -> Cow<'_, str> {
    let trimmed = text.trim_matches(is_space);
    if numbers && let Some(number) = number(trimmed) {
        return number;
    }
    let changes =
        if trimmed.is_ascii() { trimmed.bytes().any(|byte| byte.is_ascii_uppercase()) } else { true };
    if changes { Cow::Owned(trimmed.to_lowercase()) } else { Cow::Borrowed(trimmed) }
}

/// Python's white space: Unicode's, and four control characters that separate files, groups, records and units.
#[inline]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// The one way to write a text that is a number and nothing else.
fn number(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.') || text.starts_with('\u{2212}')) {
        return None;
    }
    // Fast path: most numbers are short integers in normal form already.
    if bytes.len() <= 18 && bytes.iter().all(u8::is_ascii_digit) && (first != b'0' || bytes.len() == 1) {
        return Some(Cow::Borrowed(text));
    }
    Decimal::parse(text).map(|number| Cow::Owned(number.plain()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalizes_number_notations() {
        for (text, expected) in [
            ("1,000", "1000"),
            ("1000.0", "1000"),
            ("1e3", "1000"),
            ("\u{2212}7", "-7"),
            ("-0.0", "0"),
            ("007", "7"),
            (".50", "0.5"),
            ("1.5E-3", "0.0015"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("1e41", "1e41"),
            ("10e40", "1e41"),
            ("1,00", "1,00"),
            ("5.", "5."),
            ("$5", "$5"),
            ("1,000 apples", "1,000 apples"),
            ("e3", "e3"),
            ("-", "-"),
            ("", ""),
        ] {
            assert_eq!(normalize(text, true), expected, "{text:?}");
        }
        assert_eq!(normalize("1,000", false), "1,000");
        assert_eq!(normalize("1E3", false), "1e3");
    }

    #[test]
    fn borrows_unchanged_text() {
        for text in ["yes", " yes\u{a0}", "42", ""] {
            assert!(matches!(normalize(text, true), Cow::Borrowed(_)), "{text:?}");
        }
    }
}
