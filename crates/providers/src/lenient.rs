//! Types that read what servers really send: a field of the wrong JSON type is read as absent, so that it never costs a
//! reply that was paid for.
//!
//! `serde` alone would refuse the whole reply. These are the replies that made each type necessary (the tests have them):
//!
//! | type | reply |
//! |---|---|
//! | [`LenientU64`] | token counts written as floats (`5.0`, LM Studio), as strings (`"9"`, dropped), as `null` or `NaN` |
//! | [`LenientF64`] | log-probabilities that are integers (`-2`), `null` for the first token (llama-cpp-python), or `-Infinity` |
//! | [`LenientString`] | `finish_reason` that is `null`, absent or a number; `model` that is `null` |
//! | [`LenientObject`] | `usage`, `message`, `logprobs` or `completion_tokens_details` that is `null` (Mistral, vLLM, LM Studio) |
//! | [`LenientVec`] | `choices` that is `null` beside an `error` (gateways that answer 200), `logprobs` of another API |
//! | [`LenientText`] | `content` that is a string, `null` (vLLM, refusals), or a list of parts (Mistral, Anthropic); reasoning as a string, a list of parts or a part (OpenRouter) |

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The `visit_*` methods for JSON types that are read as absent.
macro_rules! read_as_absent {
    ($($method:ident($kind:ty))*) => {
        $(fn $method<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        })*
    };
    (unit) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (map) => {
        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

/// Implements `Deserialize` through a visitor that accepts every JSON type.
macro_rules! deserialize_with {
    ($type:ty, $visitor:expr, [$($generic:ident)?]) => {
        impl<'de, $($generic: Deserialize<'de>)?> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

fn expect_any_value(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("any value")
}

/// A non-negative integer; a float without a fraction counts as one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LenientU64(pub(crate) Option<u64>);

struct LenientU64Visitor;

impl<'de> Visitor<'de> for LenientU64Visitor {
    type Value = LenientU64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_u64<E>(self, number: u64) -> Result<LenientU64, E> {
        Ok(LenientU64(Some(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<LenientU64, E> {
        let is_integer = number >= 0.0 && number < 2_f64.powi(53) && number.fract() == 0.0;
        Ok(LenientU64(is_integer.then_some(number as u64)))
    }

    read_as_absent! { visit_bool(bool) visit_i64(i64) visit_str(&str) }
    read_as_absent! { unit }
    read_as_absent! { seq }
    read_as_absent! { map }
}

deserialize_with!(LenientU64, LenientU64Visitor, []);

/// A number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LenientF64(pub(crate) Option<f64>);

struct LenientF64Visitor;

impl<'de> Visitor<'de> for LenientF64Visitor {
    type Value = LenientF64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_u64<E>(self, number: u64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(number as f64)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(number)))
    }

    read_as_absent! { visit_bool(bool) visit_str(&str) }
    read_as_absent! { unit }
    read_as_absent! { seq }
    read_as_absent! { map }
}

deserialize_with!(LenientF64, LenientF64Visitor, []);

/// A string.
#[derive(Debug, Clone, Default)]
pub(crate) struct LenientString(pub(crate) Option<String>);

struct LenientStringVisitor;

impl<'de> Visitor<'de> for LenientStringVisitor {
    type Value = LenientString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_str<E>(self, text: &str) -> Result<LenientString, E> {
        Ok(LenientString(Some(text.to_owned())))
    }

    read_as_absent! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    read_as_absent! { unit }
    read_as_absent! { seq }
    read_as_absent! { map }
}

deserialize_with!(LenientString, LenientStringVisitor, []);

/// An object.
#[derive(Debug, Clone)]
pub(crate) struct LenientObject<T>(pub(crate) Option<T>);

impl<T> Default for LenientObject<T> {
    fn default() -> Self {
        Self(None)
    }
}

struct LenientObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LenientObjectVisitor<T> {
    type Value = LenientObject<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<LenientObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(|value| LenientObject(Some(value)))
    }

    read_as_absent! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    read_as_absent! { unit }
    read_as_absent! { seq }
}

deserialize_with!(LenientObject<T>, LenientObjectVisitor(PhantomData), [T]);

/// A list; absent is empty.
#[derive(Debug, Clone)]
pub(crate) struct LenientVec<T>(pub(crate) Vec<T>);

impl<T> Default for LenientVec<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct LenientVecVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LenientVecVisitor<T> {
    type Value = LenientVec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<LenientVec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(LenientVec(list))
    }

    read_as_absent! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    read_as_absent! { unit }
    read_as_absent! { map }
}

deserialize_with!(LenientVec<T>, LenientVecVisitor(PhantomData), [T]);

/// Text in any of its shapes: a string, a list of parts, a part. Reasoning parts are separated from the answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct LenientText {
    pub(crate) answer: String,
    pub(crate) reasoning_text: String,
}

impl LenientText {
    fn add(&mut self, other: LenientText) {
        if self.answer.is_empty() {
            self.answer = other.answer;
        } else {
            self.answer.push_str(&other.answer);
        }
        if self.reasoning_text.is_empty() {
            self.reasoning_text = other.reasoning_text;
        } else if !other.reasoning_text.is_empty() {
            self.reasoning_text.push('\n');
            self.reasoning_text.push_str(&other.reasoning_text);
        }
    }

    /// Answer and reasoning as one text, unless it is blank.
    pub(crate) fn into_combined(mut self) -> Option<String> {
        if self.answer.is_empty() {
            self.answer = self.reasoning_text;
        } else {
            self.answer.push_str(&self.reasoning_text);
        }
        Some(self.answer).filter(|text| !text.trim().is_empty())
    }
}

/// A part of a content list. Which fields it has depends on its type and on who sends it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "type")]
    kind: LenientString,
    text: LenientText,
    thinking: LenientText,
    summary: LenientText,
    reasoning: LenientText,
    refusal: LenientText,
}

impl From<Part> for LenientText {
    fn from(part: Part) -> Self {
        let is_reasoning =
            part.kind.0.is_some_and(|kind| kind.starts_with("thinking") || kind.starts_with("reasoning"));
        let mut text = part.text;
        text.add(part.refusal);
        for reasoning_text in [part.thinking, part.summary, part.reasoning] {
            text.add(LenientText {
                reasoning_text: reasoning_text.into_combined().unwrap_or_default(),
                answer: String::new(),
            });
        }
        if is_reasoning {
            LenientText { reasoning_text: text.into_combined().unwrap_or_default(), answer: String::new() }
        } else {
            text
        }
    }
}

struct LenientTextVisitor;

impl<'de> Visitor<'de> for LenientTextVisitor {
    type Value = LenientText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expect_any_value(f)
    }

    fn visit_str<E>(self, text: &str) -> Result<LenientText, E> {
        Ok(LenientText { answer: text.to_owned(), reasoning_text: String::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<LenientText, A::Error> {
        let mut text = LenientText::default();
        while let Some(item) = items.next_element::<LenientText>()? {
            text.add(item);
        }
        Ok(text)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<LenientText, A::Error> {
        Part::deserialize(MapAccessDeserializer::new(members)).map(LenientText::from)
    }

    read_as_absent! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    read_as_absent! { unit }
}

deserialize_with!(LenientText, LenientTextVisitor, []);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_wrong_type_are_ignored() {
        for wrong in ["null", "true", "-3", "1.5", "\"7\"", "[7]", "{\"a\": 7}", "1e300"] {
            assert_eq!(serde_json::from_str::<LenientU64>(wrong).unwrap().0, None, "{wrong}");
        }
        assert_eq!(serde_json::from_str::<LenientU64>("7.0").unwrap().0, Some(7));
        assert_eq!(serde_json::from_str::<LenientF64>("[{}]").unwrap().0, None);
        assert_eq!(serde_json::from_str::<LenientString>("{\"a\": [1]}").unwrap().0, None);
        assert!(serde_json::from_str::<LenientObject<Part>>("[1, 2]").unwrap().0.is_none());
        assert!(serde_json::from_str::<LenientVec<LenientString>>("{\"a\": 1}").unwrap().0.is_empty());
    }

    #[test]
    fn reasoning_parts_are_separated_from_the_answer() {
        let parts = r#"[{"type": "thinking", "thinking": [{"type": "text", "text": "six sevens"}]},
            {"type": "redacted_thinking", "data": "xxxx"},
            {"type": "text", "text": "Answer: "}, {"type": "text", "text": "42"}]"#;
        let text: LenientText = serde_json::from_str(parts).unwrap();
        assert_eq!((text.answer.as_str(), text.reasoning_text.as_str()), ("Answer: 42", "six sevens"));
    }
}
