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
pub(crate) struct Whole(pub(crate) Option<u64>);

struct WholeVisitor;

impl<'de> Visitor<'de> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Whole, E> {
        Ok(Whole(Some(whole)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Whole, E> {
        let is_whole = number >= 0.0 && number < 2_f64.powi(53) && number.fract() == 0.0;
        Ok(Whole(is_whole.then_some(number as u64)))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(Whole, WholeVisitor, []);

/// A number, if it is one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Real(pub(crate) Option<f64>);

struct RealVisitor;

impl<'de> Visitor<'de> for RealVisitor {
    type Value = Real;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Real, E> {
        Ok(Real(Some(whole as f64)))
    }

    fn visit_i64<E>(self, whole: i64) -> Result<Real, E> {
        Ok(Real(Some(whole as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Real, E> {
        Ok(Real(Some(number)))
    }

    ignore! { visit_bool(bool) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(Real, RealVisitor, []);

/// A string, if it is one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word(pub(crate) Option<String>);

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_str<E>(self, text: &str) -> Result<Word, E> {
        Ok(Word(Some(text.to_owned())))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    ignore! { unit }
    ignore! { seq }
    ignore! { map }
}

lenient!(Word, WordVisitor, []);

/// The members of an object, if it is one.
#[derive(Debug, Clone)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(|value| Object(Some(value)))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    ignore! { unit }
    ignore! { seq }
}

lenient!(Object<T>, ObjectVisitor(PhantomData), [T]);

/// The items of a list, if it is one.
#[derive(Debug, Clone)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(List(list))
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }
    ignore! { unit }
    ignore! { map }
}

lenient!(List<T>, ListVisitor(PhantomData), [T]);

/// Text in any of its shapes: a string, a list of parts, a part. Parts that are thoughts are kept apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) said: String,
    pub(crate) thought: String,
}

impl Text {
    fn add(&mut self, other: Text) {
        if self.said.is_empty() {
            self.said = other.said;
        } else {
            self.said.push_str(&other.said);
        }
        if self.thought.is_empty() {
            self.thought = other.thought;
        } else if !other.thought.is_empty() {
            self.thought.push('\n');
            self.thought.push_str(&other.thought);
        }
    }

    /// All of it, said or thought, unless it is blank.
    pub(crate) fn whole(mut self) -> Option<String> {
        if self.said.is_empty() {
            self.said = self.thought;
        } else {
            self.said.push_str(&self.thought);
        }
        Some(self.said).filter(|whole| !whole.trim().is_empty())
    }
}

/// A part of a content list. Which fields it has depends on its type and on who sends it.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "type")]
    kind: Word,
    text: Text,
    thinking: Text,
    summary: Text,
    reasoning: Text,
    refusal: Text,
}

impl From<Part> for Text {
    fn from(part: Part) -> Self {
        let is_thought =
            part.kind.0.is_some_and(|kind| kind.starts_with("thinking") || kind.starts_with("reasoning"));
        let mut text = part.text;
        text.add(part.refusal);
        for thought in [part.thinking, part.summary, part.reasoning] {
            text.add(Text { thought: thought.whole().unwrap_or_default(), said: String::new() });
        }
        if is_thought {
            Text { thought: text.whole().unwrap_or_default(), said: String::new() }
        } else {
            text
        }
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        anything(f)
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text { said: text.to_owned(), thought: String::new() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Text, A::Error> {
        let mut text = Text::default();
        while let Some(item) = items.next_element::<Text>()? {
            text.add(item);
        }
        Ok(text)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Text, A::Error> {
        Part::deserialize(MapAccessDeserializer::new(members)).map(Text::from)
    }

    ignore! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) }
    ignore! { unit }
}

lenient!(Text, TextVisitor, []);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_wrong_kind_is_not_there() {
        for wrong in ["null", "true", "-3", "1.5", "\"7\"", "[7]", "{\"a\": 7}", "1e300"] {
            assert_eq!(serde_json::from_str::<Whole>(wrong).unwrap().0, None, "{wrong}");
        }
        assert_eq!(serde_json::from_str::<Whole>("7.0").unwrap().0, Some(7));
        assert_eq!(serde_json::from_str::<Real>("[{}]").unwrap().0, None);
        assert_eq!(serde_json::from_str::<Word>("{\"a\": [1]}").unwrap().0, None);
        assert!(serde_json::from_str::<Object<Part>>("[1, 2]").unwrap().0.is_none());
        assert!(serde_json::from_str::<List<Word>>("{\"a\": 1}").unwrap().0.is_empty());
    }

    #[test]
    fn thoughts_are_kept_apart_from_what_is_said() {
        let parts = r#"[{"type": "thinking", "thinking": [{"type": "text", "text": "six sevens"}]},
            {"type": "redacted_thinking", "data": "xxxx"},
            {"type": "text", "text": "Answer: "}, {"type": "text", "text": "42"}]"#;
        let text: Text = serde_json::from_str(parts).unwrap();
        assert_eq!((text.said.as_str(), text.thought.as_str()), ("Answer: 42", "six sevens"));
    }
}
