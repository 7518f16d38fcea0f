//! What a stored response is known by.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::{Json, canonical_json};

/// The SHA-256 of a request's canonical JSON: `reasonscape_core::cache_key`, as bytes.
///
/// ```
/// use reasonscape_core::{CacheKey, Json};
///
/// let key = CacheKey::of(&Json::parse(r#"{"length": 16, "depth": 3}"#)?);
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

    /// The key of a payload that already is canonical JSON, for those who need that text too.
    pub fn from_canonical_json(request: &str) -> Self {
        Self(Sha256::digest(request).into())
    }

    /// The old name of [`CacheKey::from_payload`].
    // removed when all users name the new function
    pub fn of(payload: &Json) -> Self {
        Self::from_payload(payload)
    }

    /// The old name of [`CacheKey::from_canonical_json`].
    // removed when all users name the new function
    pub fn of_canonical(request: &str) -> Self {
        Self::from_canonical_json(request)
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

/// A text that is not a key.
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

/// What an entry is known by: storing it twice changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// The key of the complete request as sent.
    pub key: CacheKey,
    /// Empty, unless an eval keeps its responses apart (`cache_namespace`).
    pub namespace: Arc<str>,
    /// Which of several answers to the same request; 0 unless repeats are asked for.
    pub repeat: u32,
}

impl EntryId {
    /// The identity of a request that is asked once and shares its answers.
    pub fn new(key: CacheKey) -> Self {
        Self { key, namespace: Arc::from(""), repeat: 0 }
    }

    /// The old name of [`EntryId::new`].
    // removed when all users name the new function
    pub fn of(key: CacheKey) -> Self {
        Self::new(key)
    }
}

/// The key, and the rest where it is not the usual.
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

/// The bytes that pairs of hexadecimal digits stand for, if they are that.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits_and_nothing_else() {
        let key = CacheKey::of_canonical("{}");
        assert_eq!(key.to_string().to_uppercase().parse(), Ok(key));
        let hex = key.to_string();
        for wrong in ["", "ab", &hex[1..], &format!("{hex}00"), &hex.replace(&hex[..1], "g"), &"é".repeat(32)]
        {
            assert!(wrong.parse::<CacheKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_key_is_the_one_that_core_computes() {
        let payload =
            Json::parse(r#"{"model": "m", "messages": [{"content": "é\n😀"}], "top_p": 1.0}"#).unwrap();
        assert_eq!(CacheKey::of(&payload).to_string(), crate::cache_key(&payload));
    }
}
