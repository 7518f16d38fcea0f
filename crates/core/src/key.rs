//! Canonical JSON, keys of documents and of cache entries, and the random generator of a point.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;

use reasonscape_stats::random::PyRandom;
use sha2::{Digest, Sha256};

use crate::Json;

/// Python's `json.dumps(value, sort_keys=True)`, byte for byte.
///
/// `", "` and `": "` between items, ASCII with `\uXXXX` escapes, floats as Python's `repr`, keys by code point.
///
/// ```
/// use reasonscape_core::{Json, canonical_json};
///
/// let value = Json::parse(r#"{"b":[1,1e-7,1e16],"a":"é"}"#)?;
/// assert_eq!(canonical_json(&value), r#"{"a": "\u00e9", "b": [1, 1e-07, 1e+16]}"#);
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
pub fn canonical_json(value: &Json) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// The lower-case hexadecimal SHA-256 of [`canonical_json`], which identifies a document.
///
/// ```
/// use reasonscape_core::{Json, cache_key};
///
/// let coordinates = Json::parse(r#"{"length": 16, "depth": 3}"#)?;
/// assert_eq!(cache_key(&coordinates), "814011ef82bb8d115e434842ce081f9a513b8fcc96c3e35d6f6e2db37cdbdb0e");
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
pub fn cache_key(value: &Json) -> String {
    let mut key = String::with_capacity(64);
    for byte in Sha256::digest(canonical_json(value)) {
        write!(key, "{byte:02x}").expect("writing to a string does not fail");
    }
    key
}

/// The seed of a point: the last 8 hexadecimal digits of the key of its coordinates without `count`.
///
/// `count` is excluded because the number of tests doesn't affect which tests they are.
///
/// ```
/// use reasonscape_core::{Json, base_seed};
///
/// let few = Json::parse(r#"{"length": 16, "depth": 3, "count": 32}"#)?;
/// let many = Json::parse(r#"{"length": 16, "depth": 3, "count": 128}"#)?;
/// assert_eq!(base_seed(&few), 0x7cdbdb0e);
/// assert_eq!(base_seed(&few), base_seed(&many));
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
pub fn base_seed(params: &Json) -> u32 {
    let key = match params {
        Json::Object(members) if members.contains_key("count") => {
            let mut members = members.clone();
            members.remove("count");
            cache_key(&Json::Object(members))
        }
        _ => cache_key(params),
    };
    u32::from_str_radix(&key[56..], 16).expect("the key is 64 hexadecimal digits")
}

/// The generator of a point: CPython's `random.Random(global_seed + base_seed)`.
///
/// ```
/// use reasonscape_core::{Json, seeded};
///
/// let mut rng = seeded(&Json::parse(r#"{"length": 16, "depth": 3}"#)?, 0);
/// assert_eq!((rng.random(), rng.random()), (0.46270868789986597, 0.719273070044232));
/// assert_eq!([(); 5].map(|()| rng.randint(0, 99)), [7, 46, 43, 61, 13]);
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
pub fn seeded(params: &Json, global_seed: i64) -> PyRandom {
    PyRandom::new(i128::from(global_seed) + i128::from(base_seed(params)))
}

/// The SHA-256 of a request's canonical JSON: [`cache_key`] as bytes.
///
/// ```
/// use reasonscape_core::{CacheKey, Json};
///
/// let key = CacheKey::from_payload(&Json::parse(r#"{"length": 16, "depth": 3}"#)?);
/// assert_eq!(key.to_string(), "814011ef82bb8d115e434842ce081f9a513b8fcc96c3e35d6f6e2db37cdbdb0e");
/// assert_eq!(key.to_string().parse(), Ok(key));
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey(pub [u8; 32]);

impl CacheKey {
    /// The key of a complete request payload.
    pub fn from_payload(payload: &Json) -> Self {
        Self::from_canonical_json(&canonical_json(payload))
    }

    /// The key of a payload that already is canonical JSON.
    pub fn from_canonical_json(request: &str) -> Self {
        Self(Sha256::digest(request).into())
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An invalid cache key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cache key; expected 64 hexadecimal digits")]
pub struct KeyError(String);

impl FromStr for CacheKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        from_hex(text)
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| KeyError(text.chars().take(80).collect()))
    }
}

/// The identity of an entry of the response cache; storing it twice changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// The key of the complete request as sent.
    pub key: CacheKey,
    /// Empty, unless an eval sets `cache_namespace` to keep its responses separate.
    pub namespace: Arc<str>,
    /// Index of the sample among several for the same request; 0 unless repeats are configured.
    pub repeat: u32,
}

impl EntryId {
    /// The identity of a request with a single response and no namespace.
    pub fn new(key: CacheKey) -> Self {
        Self { key, namespace: Arc::from(""), repeat: 0 }
    }
}

/// The key, then namespace and repeat where they are not the default.
impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)?;
        if !self.namespace.is_empty() {
            write!(f, " in namespace {}", self.namespace)?;
        }
        if self.repeat > 0 {
            write!(f, " repeat {}", self.repeat)?;
        }
        Ok(())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from(DIGITS[usize::from(half)]));
    bytes.iter().flat_map(digits).collect()
}

/// Decodes hexadecimal digits; `None` for anything else, and for an odd number of digits.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn write_value(text: &mut String, value: &Json) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Bool(true) => text.push_str("true"),
        Json::Bool(false) => text.push_str("false"),
        Json::Int(integer) => write!(text, "{integer}").expect("writing to a string does not fail"),
        Json::BigInt(digits) => text.push_str(digits),
        Json::Float(number) => write_float(text, *number),
        Json::String(string) => write_string(text, string),
        Json::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                write_value(text, item);
            }
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (i, (key, value)) in members.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                write_string(text, key);
                text.push_str(": ");
                write_value(text, value);
            }
            text.push('}');
        }
    }
}

/// Python's `repr`: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16 on.
fn write_float(text: &mut String, number: f64) {
    if !number.is_finite() {
        text.push_str(match number {
            f64::INFINITY => "Infinity",
            f64::NEG_INFINITY => "-Infinity",
            _ => "NaN",
        });
        return;
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("`{:e}` always writes an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
    let written = if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(text, "{digits}e{sign}{:02}", exponent.abs())
    } else if number == number.trunc() {
        write!(text, "{number:.1}")
    } else {
        write!(text, "{number}")
    };
    written.expect("writing to a string does not fail");
}

fn write_string(text: &mut String, string: &str) {
    text.reserve(string.len() + 2);
    text.push('"');
    // Copy runs of characters that need no escape at once.
    let mut rest = string;
    while let Some(plain) =
        rest.bytes().position(|byte| !matches!(byte, b' '..=b'~') || byte == b'"' || byte == b'\\')
    {
        text.push_str(&rest[..plain]);
        let character = rest[plain..].chars().next().expect("there is a byte");
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(text, "\\u{unit:04x}").expect("writing to a string does not fail");
                }
            }
        }
        rest = &rest[plain + character.len_utf8()..];
    }
    text.push_str(rest);
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_64_hexadecimal_digits() {
        let key = CacheKey::from_canonical_json("{}");
        assert_eq!(key.to_string().to_uppercase().parse(), Ok(key));
        let hex = key.to_string();
        for invalid in
            ["", "ab", &hex[1..], &format!("{hex}00"), &hex.replace(&hex[..1], "g"), &"é".repeat(32)]
        {
            assert!(invalid.parse::<CacheKey>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn cache_key_type_matches_cache_key_function() {
        let payload =
            Json::parse(r#"{"model": "m", "messages": [{"content": "é\n😀"}], "top_p": 1.0}"#).unwrap();
        assert_eq!(CacheKey::from_payload(&payload).to_string(), cache_key(&payload));
    }
}
