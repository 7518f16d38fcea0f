//! Making JSON of what is nearly JSON, so that an answer that was paid for is not lost.

/// The body as UTF-8 in which a lone surrogate is U+FFFD and a bare `NaN` or `Infinity` is `null`.
///
/// Python's servers write all of these: half an emoji where the token limit cut it in two, and log-probabilities that
/// are not finite. Everything else is left as it is.
pub(crate) fn repair_json(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut mended = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    let mut in_string = false;
    while let Some(next) = rest.find(['"', '\\', 'N', 'I', '-']) {
        mended.push_str(&rest[..next]);
        rest = &rest[next..];
        let (written, length) = match rest.as_bytes()[0] {
            b'"' => {
                in_string = !in_string;
                ("\"", 1)
            }
            b'\\' if in_string => escape(rest),
            _ if in_string => (&rest[..1], 1),
            _ => ["NaN", "-Infinity", "Infinity"]
                .iter()
                .find(|word| rest.starts_with(**word))
                .map_or((&rest[..1], 1), |word| ("null", word.len())),
        };
        mended.push_str(written);
        rest = &rest[length..];
    }
    mended + rest
}

/// What to write for the escape at the start of `rest`, and how long it is.
fn escape(rest: &str) -> (&str, usize) {
    let Some(unit) = unit(rest) else {
        // Two characters, the second of which is whole.
        let length = rest.chars().take(2).map(char::len_utf8).sum();
        return (&rest[..length], length);
    };
    let is_pair = matches!(unit, 0xd800..=0xdbff) && rest.get(6..).and_then(self::unit).is_some_and(is_low);
    match unit {
        _ if is_pair => (&rest[..12], 12),
        0xd800..=0xdfff => ("\\ufffd", 6),
        _ => (&rest[..6], 6),
    }
}

fn is_low(unit: u16) -> bool {
    matches!(unit, 0xdc00..=0xdfff)
}

/// The UTF-16 unit of a `\uXXXX` at the start of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_lone_surrogates() {
        assert_eq!(repair_json(br#"{"a": "x\ud83d"}"#), r#"{"a": "x\ufffd"}"#);
        assert_eq!(
            repair_json(br#"["\ude00", "\ud83d\ude00", "\ud83d\u0041"]"#),
            r#"["\ufffd", "\ud83d\ude00", "\ufffd\u0041"]"#
        );
    }

    #[test]
    fn bare_words_become_null_outside_strings() {
        assert_eq!(
            repair_json(br#"{"NaN": [NaN, -Infinity, Infinity, -1], "s": "NaN \" NaN"}"#),
            r#"{"NaN": [null, null, null, -1], "s": "NaN \" NaN"}"#
        );
    }

    #[test]
    fn tolerates_invalid_bytes_and_escapes() {
        assert_eq!(repair_json(b"\"\xff\""), "\"\u{fffd}\"");
        for text in ["\"\\", "\"\\u", "\"\\u12", "\"\\ud83d", "\"\\ud83d\\u", "\"\\é", "\"\\u00é0\""] {
            let mended = repair_json(text.as_bytes());
            assert!(mended == text || mended.contains("\\ufffd"), "{text}: {mended}");
        }
    }
}
