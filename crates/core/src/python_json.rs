//! Lenient reading of JSON as written by Python tools.
//!
//! Beyond the standard, Python writes bare `NaN` and `Infinity` (log-probabilities that are not finite) and lone
//! surrogates (half an emoji, split by a token limit).

use serde::Deserialize;

/// Parses JSON. A document that doesn't parse is repaired into `spare` and parsed again.
///
/// # Errors
/// If the text isn't valid JSON even after the repair.
pub fn read<'a, T: Deserialize<'a>>(text: &'a [u8], spare: &'a mut Vec<u8>) -> Result<T, serde_json::Error> {
    match serde_json::from_slice(text) {
        Ok(value) => Ok(value),
        Err(error) => {
            if !repair_bytes(text, spare) {
                return Err(error);
            }
            serde_json::from_slice(spare)
        }
    }
}

/// Copies a text with everything that isn't valid JSON replaced; returns whether anything was.
fn repair_bytes(text: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    into.reserve(text.len());
    let mut changed = false;
    let mut in_string = false;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (taken, written): (usize, &[u8]) = if in_string {
            match rest {
                [b'\\', b'u', ..] => byte_escape(rest),
                [b'\\', _, ..] => (2, &rest[..2]),
                [byte, ..] => {
                    in_string = *byte != b'"';
                    (1, &rest[..1])
                }
                [] => break,
            }
        } else {
            in_string = rest[0] == b'"';
            let bare =
                [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find(|bare| rest.starts_with(bare));
            bare.map_or((1, &rest[..1]), |bare| (bare.len(), b"null"))
        };
        changed |= &rest[..taken] != written;
        into.extend_from_slice(written);
        at += taken;
    }
    changed
}

/// A `\uXXXX`, with its other half if it has one: how many bytes it takes, and what is written for it.
fn byte_escape(rest: &[u8]) -> (usize, &[u8]) {
    let unit = |text: &[u8]| -> Option<u16> {
        let digits = text.strip_prefix(b"\\u")?.get(..4)?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match unit(rest) {
        Some(0xd800..=0xdbff) => match rest.get(6..).and_then(unit) {
            Some(0xdc00..=0xdfff) => (12, &rest[..12]),
            _ => (6, b"\\ufffd"),
        },
        Some(0xdc00..=0xdfff) => (6, b"\\ufffd"),
        Some(_) => (6, &rest[..6]),
        None => (2, &rest[..2]),
    }
}

/// The text as UTF-8 in which a lone surrogate is U+FFFD and a bare `NaN` or `Infinity` is `null`.
///
/// Everything else is unchanged.
pub fn repair(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    let mut in_string = false;
    while let Some(next) = rest.find(['"', '\\', 'N', 'I', '-']) {
        fixed.push_str(&rest[..next]);
        rest = &rest[next..];
        let (written, length) = match rest.as_bytes()[0] {
            b'"' => {
                in_string = !in_string;
                ("\"", 1)
            }
            b'\\' if in_string => str_escape(rest),
            _ if in_string => (&rest[..1], 1),
            _ => ["NaN", "-Infinity", "Infinity"]
                .iter()
                .find(|word| rest.starts_with(**word))
                .map_or((&rest[..1], 1), |word| ("null", word.len())),
        };
        fixed.push_str(written);
        rest = &rest[length..];
    }
    fixed + rest
}

/// What to write for the escape at the start of `rest`, and how long it is.
fn str_escape(rest: &str) -> (&str, usize) {
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
    use serde_json::{Value, json};

    use super::*;

    fn read_value(text: &str) -> Result<Value, String> {
        read(text.as_bytes(), &mut Vec::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_python_json() {
        assert_eq!(read_value("[NaN, -Infinity, Infinity, 1]"), Ok(json!([null, null, null, 1])));
        assert_eq!(read_value(r#"{"NaN": "NaN \" Infinity", "a": NaN}"#).unwrap()["NaN"], "NaN \" Infinity");
        assert_eq!(
            read_value(r#"["\ud83d\ude00 \ud83d \ude00\\ud800"]"#),
            Ok(json!(["😀 \u{fffd} \u{fffd}\\ud800"]))
        );
        assert_eq!(read_value("100000000000000000000000000000"), Ok(json!(1e29)));
    }

    #[test]
    fn rejects_invalid_json() {
        for wrong in ["", "{", "[NaN", "[Nan]", r#""\u12"#, "\"\\", "[1,]", "[\"\\ud800\"", "\u{1}"] {
            assert!(read_value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn replaces_lone_surrogates_and_keeps_pairs() {
        assert_eq!(repair(br#"{"a": "x\ud83d"}"#), r#"{"a": "x\ufffd"}"#);
        assert_eq!(
            repair(br#"["\ude00", "\ud83d\ude00", "\ud83d\u0041"]"#),
            r#"["\ufffd", "\ud83d\ude00", "\ufffd\u0041"]"#
        );
    }

    #[test]
    fn replaces_bare_words_outside_strings() {
        assert_eq!(
            repair(br#"{"NaN": [NaN, -Infinity, Infinity, -1], "s": "NaN \" NaN"}"#),
            r#"{"NaN": [null, null, null, -1], "s": "NaN \" NaN"}"#
        );
    }

    #[test]
    fn handles_broken_bytes_and_escapes() {
        assert_eq!(repair(b"\"\xff\""), "\"\u{fffd}\"");
        for text in ["\"\\", "\"\\u", "\"\\u12", "\"\\ud83d", "\"\\ud83d\\u", "\"\\é", "\"\\u00é0\""] {
            let fixed = repair(text.as_bytes());
            assert!(fixed == text || fixed.contains("\\ufffd"), "{text}: {fixed}");
        }
    }
}
