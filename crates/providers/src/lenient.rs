//! Reading what servers really send: a field of the wrong kind is a field that is not there, never a lost reply.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Writes the visits that a lenient visitor answers with nothing.
macro_rules! ignore {
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

/// Deserialises a type through its visitor, whatever is there.
macro_rules! lenient {
    ($type:ty, $visitor:expr, [$($generic:ident)?]) => {
        impl<'de, $($generic: Deserialize<'de>)?> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($visitor)
            }
        }
    };
}

fn anything(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("any value")
}

/// A whole number, if it is one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LenientU64(pub(crate) Option<u64>);

struct LenientU64Visitor;

impl<'de> Visitor<'de> for LenientU64Visitor {
    type Value = LenientU64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_u64<E>(self, whole: u64) -> Result<LenientU64, E> {
        Ok(LenientU64(Some(whole)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<LenientU64, E> {
        let is_whole = number >= 0.0 && number < 2_f64.powi(53) && number.fract() == 0.0;
        Ok(LenientU64(is_whole.then_some(number as u64)))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(LenientU64, LenientU64Visitor, []);

/// A number, if it is one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LenientF64(pub(crate) Option<f64>);

struct LenientF64Visitor;

impl<'de> Visitor<'de> for LenientF64Visitor {
    type Value = LenientF64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_u64<E>(self, whole: u64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(whole as f64)))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(whole as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<LenientF64, E> {
        Ok(LenientF64(Some(number)))
    }

    ignore! { visit_bool(bool) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(LenientF64, LenientF64Visitor, []);

/// A string, if it is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct LenientString(pub(crate) Option<String>);

struct LenientStringVisitor;

impl<'de> Visitor<'de> for LenientStringVisitor {
    type Value = LenientString;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_str<E>(self, text: &str) -> Result<LenientString, E> {
        Ok(LenientString(Some(text.to_owned())))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(LenientString, LenientStringVisitor, []);

/// The members of an object, if it is one.
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
        anything(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<LenientObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(|value| LenientObject(Some(value)))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
}

lenient!(LenientObject<T>, LenientObjectVisitor(PhantomData), [T]);

/// The items of a list, if it is one.
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
        anything(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<LenientVec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(LenientVec(list))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    ignore! { unit }
    ignore! { map }
}

lenient!(LenientVec<T>, LenientVecVisitor(PhantomData), [T]);

/// Text in any of its shapes: a string, a list of parts, a part. Parts that are thoughts are kept apart.
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

    /// All of it, said or thought, unless it is blank.
    pub(crate) fn whole(mut self) -> Option<String> {
        if self.answer.is_empty() {
            self.answer = self.reasoning_text;
        } else {
            self.answer.push_str(&self.reasoning_text);
        }
        Some(self.answer).filter(|whole| !whole.trim().is_empty())
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
                reasoning_text: reasoning_text.whole().unwrap_or_default(),
                answer: String::new(),
            });
        }
        if is_reasoning {
            LenientText { reasoning_text: text.whole().unwrap_or_default(), answer: String::new() }
        } else {
            text
        }
    }
}

struct LenientTextVisitor;

impl<'de> Visitor<'de> for LenientTextVisitor {
    type Value = LenientText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
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

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    ignore! { unit }
}

lenient!(LenientText, LenientTextVisitor, []);

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
