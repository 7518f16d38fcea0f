//! Coordinates: the typed parameters of a task, their ranges, and a point's values.

use std::fmt;

use crate::{Json, Task, canonical_json, closest};

/// What a parameter makes harder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// Working-memory load.
    Length,
    /// Structural complexity.
    Depth,
    /// Selective attention.
    Interference,
    /// Tokenisation and notation.
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
    /// A whole number from `low` to `high`.
    Int {
        /// Smallest value.
        low: i64,
        /// Largest value.
        high: i64,
        /// Value when none is given.
        default: i64,
    },
    /// A real number from `low` to `high`.
    Real {
        /// Smallest value.
        low: f64,
        /// Largest value.
        high: f64,
        /// Value when none is given.
        default: f64,
    },
    /// One of several words.
    Word {
        /// The words, the easiest first where they have an order.
        words: &'static [&'static str],
        /// Value when none is given.
        default: &'static str,
    },
}

impl Range {
    /// The value when none is given.
    pub fn default_value(&self) -> ParamValue {
        match *self {
            Self::Int { default, .. } => ParamValue::Int(default),
            Self::Real { default, .. } => ParamValue::Real(default),
            Self::Word { default, .. } => ParamValue::Word(default),
        }
    }

    /// The value that a JSON value stands for, if it is of the right kind and within the range.
    fn read(&self, value: &Json) -> Option<ParamValue> {
        match (self, value) {
            (Self::Int { low, high, .. }, Json::Int(whole)) => {
                (low..=high).contains(&whole).then_some(ParamValue::Int(*whole))
            }
            (Self::Real { low, high, .. }, Json::Float(number)) => {
                (low..=high).contains(&number).then_some(ParamValue::Real(*number))
            }
            (Self::Real { .. }, Json::Int(whole)) => self.read(&Json::Float(*whole as f64)),
            (Self::Word { words, .. }, Json::String(text)) => {
                words.iter().find(|word| *word == text).map(|word| ParamValue::Word(word))
            }
            _ => None,
        }
    }

    /// The legal value nearest to what was given, for the error that refuses it.
    fn nearest(&self, value: &Json) -> ParamValue {
        let number = match value {
            Json::Int(whole) => Some(*whole as f64),
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
            Self::Int { low, high, .. } => write!(f, "a whole number from {low} to {high}"),
            Self::Real { low, high, .. } => write!(f, "a number from {low} to {high}"),
            Self::Word { words, .. } => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// One dimension of a task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Lower-case name.
    pub name: &'static str,
    /// What it makes harder.
    pub dimension: Dimension,
    /// Its values.
    pub range: Range,
    /// One line for a person.
    pub description: &'static str,
}

impl Parameter {
    /// A whole number from `low` to `high`.
    pub const fn int(
        name: &'static str,
        dimension: Dimension,
        [low, high, default]: [i64; 3],
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Int { low, high, default }, description }
    }

    /// A share from 0 to 1.
    pub const fn share(
        name: &'static str,
        dimension: Dimension,
        default: f64,
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Real { low: 0.0, high: 1.0, default }, description }
    }

    /// One of several words, the first unless [`or`](Self::or) names another.
    pub const fn word(
        name: &'static str,
        dimension: Dimension,
        words: &'static [&'static str],
        description: &'static str,
    ) -> Self {
        Self { name, dimension, range: Range::Word { words, default: words[0] }, description }
    }

    /// The same, with another default than the first word.
    #[must_use]
    pub const fn or(self, place: usize) -> Self {
        match self.range {
            Range::Word { words, .. } => Self { range: Range::Word { words, default: words[place] }, ..self },
            _ => panic!("only words are chosen by their place"),
        }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamValue {
    /// A whole number.
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
            Self::Int(whole) => Json::Int(whole),
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

/// Why coordinates are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The coordinates are not a JSON object.
    #[error("parameters of `{task}` are {found}, but must be an object such as {{\"{example}\": …}}")]
    NotAnObject {
        /// The task.
        task: &'static str,
        /// What was found.
        found: &'static str,
        /// A parameter of the task.
        example: &'static str,
    },
    /// A name that the task does not have.
    #[error("`{task}` has no parameter `{name}`{hint}; it has {known}", hint = did_you_mean(nearest.as_ref()))]
    Unknown {
        /// The task.
        task: &'static str,
        /// The stranger.
        name: String,
        /// The parameter it may have meant.
        nearest: Option<&'static str>,
        /// The names that there are.
        known: String,
    },
    /// A value of the wrong kind or out of range.
    #[error("`{name}` of `{task}` is {found}, but must be {range}; the nearest is {nearest}")]
    Invalid {
        /// The task.
        task: &'static str,
        /// The parameter.
        name: &'static str,
        /// What was given, as JSON.
        found: String,
        /// The values that there are, in words.
        range: String,
        /// The legal value nearest to it.
        nearest: String,
    },
    /// Values that are each legal but cannot go together.
    #[error("`{name}` of `{task}` is {found}, which cannot go with {conflict}; the nearest is {nearest}")]
    Impossible {
        /// The task.
        task: &'static str,
        /// The parameter.
        name: &'static str,
        /// Its value.
        found: String,
        /// The other parameter and why it conflicts, in words.
        conflict: String,
        /// The value nearest to it that would do.
        nearest: String,
    },
}

fn did_you_mean(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

/// A point's coordinates: a legal value for every parameter of its task.
///
/// Parameters that are not given take their default, and a whole number given for a real one becomes real, so that
/// a point has one name however it was written down. `count` is no coordinate and is left out.
///
/// ```
/// use reasonscape_core::{Json, Params, tasks};
///
/// let task = tasks::by_name("arithmetic").expect("a built-in task");
/// let params = Params::new(task, &Json::parse(r#"{"length": 16, "count": 32}"#)?)?;
/// assert_eq!(params.int("length"), 16);
///
/// let error = Params::new(task, &Json::parse(r#"{"lenght": 16}"#)?).unwrap_err();
/// assert!(error.to_string().contains("did you mean `length`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// In the order of the schema, which is short: looking through it beats a map.
    values: Vec<(&'static str, ParamValue)>,
}

impl Params {
    /// Reads coordinates against the schema of their task.
    ///
    /// # Errors
    /// A [`ParamError`] that names the parameter, its range and the nearest legal value.
    pub fn new(task: &dyn Task, given: &Json) -> Result<Self, ParamError> {
        let parameters = task.parameters();
        let Json::Object(given) = given else {
            let example = parameters[0].name;
            return Err(ParamError::NotAnObject { task: task.name(), found: given.kind(), example });
        };
        let known: Vec<&'static str> = parameters.iter().map(|parameter| parameter.name).collect();
        if let Some(name) = given.keys().find(|name| *name != "count" && !known.contains(&name.as_str())) {
            return Err(ParamError::Unknown {
                task: task.name(),
                name: name.clone(),
                nearest: closest(name, &known),
                known: known.join(", "),
            });
        }
        let mut values = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let value = match given.get(parameter.name) {
                None => parameter.range.default_value(),
                Some(value) => parameter.range.read(value).ok_or_else(|| ParamError::Invalid {
                    task: task.name(),
                    name: parameter.name,
                    found: canonical_json(value),
                    range: parameter.range.to_string(),
                    nearest: parameter.range.nearest(value).to_string(),
                })?,
            };
            values.push((parameter.name, value));
        }
        let params = Self { values };
        task.validate(&params)?;
        Ok(params)
    }

    /// The value of a whole-number parameter.
    ///
    /// # Panics
    /// When the task has no such parameter: a mistake in the task's own code.
    pub fn int(&self, name: &str) -> i64 {
        match self.value(name) {
            Some(ParamValue::Int(whole)) => whole,
            other => panic!("`{name}` is not a whole-number parameter: {other:?}"),
        }
    }

    /// A whole-number parameter as a size.
    ///
    /// # Panics
    /// As [`int`](Self::int).
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).expect("a size is not negative in its schema")
    }

    /// The value of a real-number parameter.
    ///
    /// # Panics
    /// When the task has no such parameter: a mistake in the task's own code.
    pub fn real(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(ParamValue::Real(number)) => number,
            other => panic!("`{name}` is not a real-number parameter: {other:?}"),
        }
    }

    /// The value of a word parameter.
    ///
    /// # Panics
    /// When the task has no such parameter: a mistake in the task's own code.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(ParamValue::Word(word)) => word,
            other => panic!("`{name}` is not a word parameter: {other:?}"),
        }
    }

    fn value(&self, name: &str) -> Option<ParamValue> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The coordinates as a JSON object, the identity of the point within its task.
    pub fn to_json(&self) -> Json {
        Json::Object(self.values.iter().map(|(name, value)| ((*name).to_owned(), value.to_json())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnswerType, PyRandom, Test};

    /// A task whose values are each legal but cannot all go together.
    struct Picky;

    impl Task for Picky {
        fn name(&self) -> &'static str {
            "picky"
        }

        fn description(&self) -> &'static str {
            "Never asked."
        }

        fn parameters(&self) -> &'static [Parameter] {
            const {
                &[
                    Parameter::int("length", Dimension::Length, [2, 64, 8], "items"),
                    Parameter::int("depth", Dimension::Depth, [0, 8, 2], "nesting"),
                    Parameter::share("noise", Dimension::Interference, 0.25, "noise"),
                    Parameter::word("style", Dimension::Format, &["plain", "fancy", "mixed"], "style").or(1),
                ]
            }
        }

        fn answer_type(&self) -> AnswerType {
            AnswerType::Integer
        }

        fn validate(&self, params: &Params) -> Result<(), ParamError> {
            if params.int("depth") < params.int("length") {
                return Ok(());
            }
            Err(ParamError::Impossible {
                task: self.name(),
                name: "depth",
                found: params.int("depth").to_string(),
                conflict: format!("`length` = {}, which it must stay below", params.int("length")),
                nearest: (params.int("length") - 1).to_string(),
            })
        }

        fn generate(&self, _params: &Params, _rng: &mut PyRandom) -> Test {
            Test::free_form(String::new(), "")
        }
    }

    fn read(text: &str) -> Result<Params, ParamError> {
        Params::new(&Picky, &Json::parse(text).unwrap())
    }

    #[test]
    fn equivalent_parameters_give_the_same_point() {
        let written = ["{}", r#"{"noise": 0.25, "length": 8}"#, r#"{"style": "fancy", "count": 5}"#];
        let points = written.map(|text| canonical_json(&read(text).unwrap().to_json()));
        assert_eq!(points[0], r#"{"depth": 2, "length": 8, "noise": 0.25, "style": "fancy"}"#);
        assert!(points.iter().all(|point| *point == points[0]));
        assert_eq!(read(r#"{"noise": 1}"#), read(r#"{"noise": 1.0}"#));
    }

    #[test]
    fn rejection_names_parameter_range_and_nearest_value() {
        let says = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            says(r#"{"length": 1}"#),
            "`length` of `picky` is 1, but must be a whole number from 2 to 64; the nearest is 2"
        );
        assert_eq!(
            says(r#"{"length": 4.5}"#),
            "`length` of `picky` is 4.5, but must be a whole number from 2 to 64; the nearest is 5"
        );
        assert_eq!(
            says(r#"{"length": -100000000000000000000}"#),
            "`length` of `picky` is -100000000000000000000, but must be a whole number from 2 to 64; the nearest is 2"
        );
        assert_eq!(
            says(r#"{"noise": NaN}"#),
            "`noise` of `picky` is NaN, but must be a number from 0 to 1; the nearest is 0.25"
        );
        assert_eq!(
            says(r#"{"style": "fency"}"#),
            "`style` of `picky` is \"fency\", but must be one of plain, fancy, mixed; the nearest is \"fancy\""
        );
        assert_eq!(
            says(r#"{"lenght": 4}"#),
            "`picky` has no parameter `lenght` (did you mean `length`?); it has length, depth, noise, style"
        );
        assert_eq!(
            says("[]"),
            "parameters of `picky` are a list, but must be an object such as {\"length\": …}"
        );
        assert_eq!(
            says(r#"{"length": 3, "depth": 5}"#),
            "`depth` of `picky` is 5, which cannot go with `length` = 3, which it must stay below; the nearest is 2"
        );
    }
}
