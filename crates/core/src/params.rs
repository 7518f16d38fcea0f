//! The parameter values of a point, checked against the schema of its task.

mod error;
mod parameter;

pub use error::ParamError;
pub use parameter::{Dimension, ParamValue, Parameter, Range};

use crate::{Ineffective, Json, Task, canonical_json, closest};

/// The parameters of a point: a valid value for every parameter of its task.
///
/// Missing parameters take their default, or where that has no effect the nearest value that has one, and an integer given for a real parameter becomes real, so that
/// a point has one identity however it was written. `count` is not a parameter and is excluded.
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
    /// In schema order; a linear search is faster than a map for so few entries.
    values: Vec<(&'static str, ParamValue)>,
}

impl Params {
    /// Validates parameters against the schema of their task.
    ///
    /// # Errors
    /// A [`ParamError`] that names the parameter, its range and the nearest valid value.
    pub fn new(task: &dyn Task, given: &Json) -> Result<Self, ParamError> {
        let parameters = task.parameters();
        let Json::Object(given) = given else {
            let example = parameters[0].name;
            return Err(ParamError::NotAnObject {
                task: task.family().to_owned(),
                found: given.kind(),
                example,
            });
        };
        let known: Vec<&'static str> = parameters.iter().map(|parameter| parameter.name).collect();
        if let Some(name) = given.keys().find(|name| *name != "count" && !known.contains(&name.as_str())) {
            return Err(ParamError::Unknown {
                task: task.family().to_owned(),
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
                    task: task.family().to_owned(),
                    name: parameter.name,
                    found: canonical_json(value),
                    range: parameter.range.to_string(),
                    nearest: parameter.range.nearest(value).to_string(),
                })?,
            };
            values.push((parameter.name, value));
        }
        let mut params = Self { values };
        task.validate(&params)?;
        // Each parameter is set at most once, so this ends.
        for _ in 0..=parameters.len() {
            let Some(Ineffective { name, effective, limit }) = task.ineffective(&params) else { break };
            if given.contains_key(name) {
                return Err(ParamError::Ineffective {
                    task: task.family().to_owned(),
                    name,
                    found: params.value(name).map_or_else(String::new, |value| value.to_string()),
                    limit,
                    effective: effective.to_string(),
                });
            }
            for (known, value) in &mut params.values {
                if *known == name {
                    *value = effective;
                }
            }
        }
        Ok(params)
    }

    /// The value of an integer parameter.
    ///
    /// # Panics
    /// If the task has no such parameter, which is a bug in the task.
    pub fn int(&self, name: &str) -> i64 {
        match self.value(name) {
            Some(ParamValue::Int(integer)) => integer,
            other => panic!("`{name}` is not a whole-number parameter: {other:?}"),
        }
    }

    /// An integer parameter as `usize`.
    ///
    /// # Panics
    /// As [`int`](Self::int).
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).expect("a size is not negative in its schema")
    }

    /// The value of a real-number parameter.
    ///
    /// # Panics
    /// If the task has no such parameter, which is a bug in the task.
    pub fn real(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(ParamValue::Real(number)) => number,
            other => panic!("`{name}` is not a real-number parameter: {other:?}"),
        }
    }

    /// The value of a word parameter.
    ///
    /// # Panics
    /// If the task has no such parameter, which is a bug in the task.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(ParamValue::Word(word)) => word,
            other => panic!("`{name}` is not a word parameter: {other:?}"),
        }
    }

    fn value(&self, name: &str) -> Option<ParamValue> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// The parameters as a JSON object, which identifies the point within its task.
    pub fn to_json(&self) -> Json {
        Json::Object(self.values.iter().map(|(name, value)| ((*name).to_owned(), value.to_json())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnswerType, PyRandom, Test};

    /// A task whose values are valid individually but conflict with each other.
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
                    Parameter::proportion("noise", Dimension::Interference, 0.25, "noise"),
                    Parameter::word("style", Dimension::Format, &["plain", "fancy", "mixed"], "style")
                        .with_default(1),
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
                task: self.name().to_owned(),
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
            "`length` of `picky` is 1, but must be an integer from 2 to 64; the nearest is 2"
        );
        assert_eq!(
            says(r#"{"length": 4.5}"#),
            "`length` of `picky` is 4.5, but must be an integer from 2 to 64; the nearest is 5"
        );
        assert_eq!(
            says(r#"{"length": -100000000000000000000}"#),
            "`length` of `picky` is -100000000000000000000, but must be an integer from 2 to 64; the nearest is 2"
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
            "unknown parameter `lenght` of `picky` (did you mean `length`?); expected one of length, depth, noise, style"
        );
        assert_eq!(
            says("[]"),
            "invalid parameters of `picky`: found a list, expected an object such as {\"length\": …}"
        );
        assert_eq!(
            says(r#"{"length": 3, "depth": 5}"#),
            "`depth` of `picky` is 5, which conflicts with `length` = 3, which it must stay below; the nearest is 2"
        );
    }
}
