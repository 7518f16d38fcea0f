//! Samplers: the parameters that go into a request as they are.

use std::path::Path;

use serde_json::{Map, Value};
use toml::de::DeValue;

use crate::StudyError;
use crate::builtins::{Builtins, check_name};
use crate::keys::sampler;
use crate::toml_document::{Document, Fields, SpannedValue, kind};

/// The samplers that are built in.
pub(crate) const BUILTINS: Builtins = Builtins {
    kind: "sampler",
    dir: "samplers",
    built_in: &[
        ("greedy-2k", include_str!("../samplers/greedy-2k.toml")),
        ("greedy-2k-logprobs", include_str!("../samplers/greedy-2k-logprobs.toml")),
        ("greedy-4k", include_str!("../samplers/greedy-4k.toml")),
        ("greedy-8k", include_str!("../samplers/greedy-8k.toml")),
        ("greedy-16k", include_str!("../samplers/greedy-16k.toml")),
        ("sampled-2k", include_str!("../samplers/sampled-2k.toml")),
        ("sampled-4k", include_str!("../samplers/sampled-4k.toml")),
        ("sampled-8k", include_str!("../samplers/sampled-8k.toml")),
        ("sampled-16k", include_str!("../samplers/sampled-16k.toml")),
    ],
};

/// The parameter that limits the tokens of a completion, under the name that samplers use.
pub(crate) const MAX_TOKENS: &str = "max_tokens";

/// What the program sets itself, and who sets it.
const RESERVED: [(&str, &str); 4] = [
    ("model", "the eval's `model` is sent"),
    ("messages", "the template writes the messages"),
    ("prompt", "the template writes the prompt"),
    ("system", "a message of the template with the role `system` is sent"),
];

/// How tokens are chosen and how many: parameters that a request carries untouched.
///
/// ```
/// use reasonscape_study::Sampler;
///
/// let sampler = Sampler::built_in("greedy-2k").expect("a built-in sampler");
/// assert_eq!(serde_json::to_string(&sampler.params)?, r#"{"max_tokens":2048,"temperature":0}"#);
///
/// let vendor = "[params]\nmin_p = 0.05\nchat_template_kwargs = { enable_thinking = false }";
/// let sampler = Sampler::parse("mine", "`mine.toml`", vendor)?;
/// assert_eq!(sampler.params["chat_template_kwargs"]["enable_thinking"], false);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler {
    /// The name by which evals call it.
    pub name: String,
    /// One line for a person.
    pub description: String,
    /// The parameters.
    pub params: Map<String, Value>,
}

impl Sampler {
    /// The token limit of a response, if it has one.
    pub fn max_tokens(&self) -> Option<u64> {
        self.params.get(MAX_TOKENS)?.as_u64()
    }

    /// The names of the built-in samplers.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILTINS.built_in.iter().map(|(name, _)| *name)
    }

    /// A built-in sampler.
    pub fn built_in(name: &str) -> Option<Self> {
        let (origin, text) = BUILTINS.built_in_text(name)?;
        Some(Self::parse(name, &origin, text).expect("a test parses every built-in sampler"))
    }

    /// The sampler of this name: a file in the folder's `samplers/`, or else a built-in one.
    ///
    /// # Errors
    /// When there is none of this name, naming those there are; or when the file is wrong, naming the line.
    pub fn load(name: &str, dir: &Path) -> Result<Self, StudyError> {
        let (origin, text) = BUILTINS.find(name, dir)?;
        Self::parse(name, &origin, &text)
    }

    /// Reads a sampler. `origin` is how errors call the text.
    ///
    /// # Errors
    /// A [`StudyError`] with the line of what is wrong.
    pub fn parse(name: &str, origin: &str, text: &str) -> Result<Self, StudyError> {
        let document = Document { origin, text };
        let mut fields = Fields::new(document, &sampler::KEYS, document.table()?)?;
        check_name(document, fields.text(sampler::NAME)?.as_ref(), name)?;
        let description =
            fields.text(sampler::DESCRIPTION)?.map(toml::Spanned::into_inner).unwrap_or_default();
        let params = fields
            .table(sampler::PARAMS)?
            .ok_or_else(|| fields.missing(sampler::PARAMS, "{ max_tokens = 2048 }"))?
            .into_inner();
        let mut members = Map::new();
        for (key, value) in &params {
            let key = key.get_ref().as_ref();
            let json = to_json(document, key, value)?;
            check_param(key, &json).map_err(|problem| document.error(value.span(), problem))?;
            members.insert(key.to_owned(), json);
        }
        Ok(Self { name: name.to_owned(), description, params: members })
    }

    /// The parameters with `max_tokens` under the name that a provider wants.
    pub fn params_with_limit_called(&self, field: &str) -> Map<String, Value> {
        let mut params = self.params.clone();
        if let Some(limit) = params.remove(MAX_TOKENS) {
            params.insert(field.to_owned(), limit);
        }
        params
    }
}

/// Refuses parameters that no sampler may set.
fn check_param(key: &str, value: &Value) -> Result<(), String> {
    if let Some((_, who)) = RESERVED.iter().find(|(reserved, _)| *reserved == key) {
        return Err(format!("`{key}` does not belong in a sampler: {who}; take the line out"));
    }
    match key {
        "stream" if value != false => {
            Err("`stream` must be off: replies are read and stored whole; take the line out".to_owned())
        }
        "n" | "best_of" if value != 1 => Err(format!(
            "`{key}` asks for several answers in one reply; take the line out and set `repeats` in study.toml"
        )),
        _ => Ok(()),
    }
}

/// The JSON of a TOML value.
fn to_json(document: Document<'_>, key: &str, value: &SpannedValue<'_>) -> Result<Value, StudyError> {
    let problem = |problem: &str| document.error(value.span(), format!("`{key}` {problem}"));
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map(Value::from)
            .map_err(|_| problem("is too large an integer; it must fit 64 bits"))?,
        DeValue::Float(digits) => {
            let number: f64 = digits.as_str().parse().unwrap_or(f64::NAN);
            serde_json::Number::from_f64(number)
                .map(Value::Number)
                .ok_or_else(|| problem("is not a finite number, which JSON cannot carry"))?
        }
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| to_json(document, key, item)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(members) => members
            .iter()
            .map(|(name, member)| {
                Ok((name.get_ref().to_string(), to_json(document, name.get_ref(), member)?))
            })
            .collect::<Result<Map<_, _>, StudyError>>()?
            .into(),
        other @ DeValue::Datetime(_) => {
            return Err(problem(&format!(
                "is {}, which JSON cannot carry; write it as a string",
                kind(other)
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_sampler_parses_and_has_a_limit() {
        for name in Sampler::built_in_names() {
            let sampler = Sampler::built_in(name).unwrap();
            let thousands = name.split('-').find_map(|part| part.strip_suffix('k'));
            let thousands: u64 = thousands.unwrap().parse().unwrap();
            assert_eq!(sampler.params[MAX_TOKENS], thousands * 1024, "{name}");
            assert_eq!(sampler.params["temperature"] == 0, name.starts_with("greedy"), "{name}");
        }
    }

    #[test]
    fn token_limit_can_be_renamed() {
        let params =
            Sampler::built_in("greedy-2k").unwrap().params_with_limit_called("max_completion_tokens");
        assert_eq!(params["max_completion_tokens"], 2048);
        assert!(!params.contains_key(MAX_TOKENS));
    }
}
