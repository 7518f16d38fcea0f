//! JSON as Python's tools write it.

use serde::Deserialize;

/// Reads JSON. If it is none, it is read again with what Python writes beyond the standard put right: bare `NaN` and
/// `Infinity` are taken for nothing, half a surrogate pair for a character that could not be read. Most documents have
/// neither, so that most are read once.
pub(super) fn read<'a, T: Deserialize<'a>>(
    text: &'a [u8],
    spare: &'a mut Vec<u8>,
) -> Result<T, serde_json::Error> {
    match serde_json::from_slice(text) {
        Ok(value) => Ok(value),
        Err(error) => {
            if !mend(text, spare) {
                return Err(error);
            }
            serde_json::from_slice(spare)
        }
    }
}

/// Copies a text with what is not JSON in it replaced; says whether there was any.
fn mend(text: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    into.reserve(text.len());
    let mut changed = false;
    let mut in_string = false;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (taken, written): (usize, &[u8]) = if in_string {
            match rest {
                [b'\\', b'u', ..] => escape(rest),
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
fn escape(rest: &[u8]) -> (usize, &[u8]) {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn lenient(text: &str) -> Result<Value, String> {
        read(text.as_bytes(), &mut Vec::new()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_python_writes_is_read() {
        assert_eq!(lenient("[NaN, -Infinity, Infinity, 1]"), Ok(json!([null, null, null, 1])));
        assert_eq!(lenient(r#"{"NaN": "NaN \" Infinity", "a": NaN}"#).unwrap()["NaN"], "NaN \" Infinity");
        assert_eq!(
            lenient(r#"["\ud83d\ude00 \ud83d \ude00\\ud800"]"#),
            Ok(json!(["😀 \u{fffd} \u{fffd}\\ud800"]))
        );
        assert_eq!(lenient("100000000000000000000000000000"), Ok(json!(1e29)));
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for wrong in ["", "{", "[NaN", "[Nan]", r#""\u12"#, "\"\\", "[1,]", "[\"\\ud800\"", "\u{1}"] {
            assert!(lenient(wrong).is_err(), "{wrong}");
        }
    }
}
