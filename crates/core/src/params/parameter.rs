//! The parameters that a task declares: their ranges, defaults and values.

use std::fmt;

use crate::{Json, canonical_json, closest};

/// The kind of difficulty that a parameter controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// Working-memory load.
    Length,
    /// Structural complexity.
    Depth,
    /// Selective attention.
    Interference,
    /// Tokenization and notation.
    Format,
    /// Sequential reasoning.
    MultiStep,
}

impl Dimension {
    /// The name, as in `multi-step`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Depth => "depth",
            Self::Interference => "interference",
            Self::Format => "format",
            Self::MultiStep => "multi-step",
        }
    }
}

/// The values that a parameter can take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// An integer from `low` to `high`.
    Int {
        /// Smallest value.
        low: i64,
        /// Largest value.
        high: i64,
        /// Default value.
        default: i64,
    },
    /// A real number from `low` to `high`.
    Real {
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
        /// Default value.
        default: f64,
    },
    /// One of several words.
    Word {
        /// The words, the easiest first where they have an order.
        words: &'static [&'static str],
        /// Default value.
        default: &'static str,
    },
}

impl Range {
    /// The default value.
    pub fn default_value(&self) -> ParamValue {
        match *self {
            Self::Int { default, .. } => ParamValue::Int(default),
            Self::Real { default, .. } => ParamValue::Real(default),
            Self::Word { default, .. } => ParamValue::Word(default),
        }
    }

    /// Converts a JSON value, if it has the right type and is within the range.
    pub(super) fn read(&self, value: &Json) -> Option<ParamValue> {
        match (self, value) {
            (Self::Int { low, high, .. }, Json::Int(integer)) => {
                (low..=high).contains(&integer).then_some(ParamValue::Int(*integer))
            }
            (Self::Real { low, high, .. }, Json::Float(number)) => {
                (low..=high).contains(&number).then_some(ParamValue::Real(*number))
            }
            (Self::Real { .. }, Json::Int(integer)) => self.read(&Json::Float(*integer as f64)),
            (Self::Word { words, .. }, Json::String(text)) => {
                words.iter().find(|word| *word == text).map(|word| ParamValue::Word(word))
            }
            _ => None,
        }
    }

    /// The nearest valid value, for error messages.
    pub(super) fn nearest(&self, value: &Json) -> ParamValue {
        let number = match value {
            Json::Int(integer) => Some(*integer as f64),
            Json::Float(number) if !number.is_nan() => Some(*number),
            Json::BigInt(digits) => Some(if digits.starts_with('-') { f64::MIN } else { f64::MAX }),
            _ => None,
        };
        match (self, number, value) {
            (Self::Int { low, high, .. }, Some(number), _) => {
                ParamValue::Int((number.round() as i64).clamp(*low, *high))
            }
            (Self::Real { low, high, .. }, Some(number), _) => ParamValue::Real(number.clamp(*low, *high)),
            (Self::Word { words, default }, _, Json::String(text)) => {
                ParamValue::Word(closest(text, words).unwrap_or(default))
            }
            _ => self.default_value(),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { low, high, .. } => write!(f, "an integer from {low} to {high}"),
            Self::Real { low, high, .. } => write!(f, "a number from {low} to {high}"),
            Self::Word { words, .. } => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// One difficulty parameter of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Lower-case name.
    pub name: &'static str,
    /// The kind of difficulty it controls.
    pub dimension: Dimension,
    /// Its values.
    pub range: Range,
    /// A one-line description.
    pub description: &'static str,
}

impl Parameter {
    /// An integer from `low` to `high`.
    pub const fn int(
        name: &'static str,
        dimension: Dimension,
        [low, high, default]: [i64; 3],
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Int { low, high, default }, description }
    }

    /// A proportion from 0 to 1.
    pub const fn proportion(
        name: &'static str,
        dimension: Dimension,
        default: f64,
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Real { low: 0.0, high: 1.0, default }, description }
    }

    /// One of several words; the first is the default unless [`with_default`](Self::with_default) sets another.
    pub const fn word(
        name: &'static str,
        dimension: Dimension,
        words: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Word { words, default: words[0] }, description }
    }

    /// The same, with the word at `index` as the default.
    #[must_use]
    pub const fn with_default(self, index: usize) -> Self {
        match self.range {
            Range::Word { words, .. } => Self { range: Range::Word { words, default: words[index] }, ..self },
            _ => panic!("only a word parameter has words to choose a default from"),
        }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamValue {
    /// An integer.
    Int(i64),
    /// A real number.
    Real(f64),
    /// A word.
    Word(&'static str),
}

impl ParamValue {
    /// The value as JSON.
    pub fn to_json(self) -> Json {
        match self {
            Self::Int(integer) => Json::Int(integer),
            Self::Real(number) => Json::Float(number),
            Self::Word(word) => Json::from(word),
        }
    }
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&canonical_json(&self.to_json()))
    }
}
