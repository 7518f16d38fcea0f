//! Parses one line of answered questions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use reasonscape_core::Test;
use reasonscape_metrics::SampleRecord;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::field_map::{Field, FieldMap, NamesSeen};

/// One answered question. Texts without escapes are borrowed from the line.
#[derive(Debug, Default)]
pub struct AnswerRow<'a> {
    id: Option<Cow<'a, str>>,
    input: Option<Cow<'a, str>>,
    targets: Vec<Cow<'a, str>>,
    options: Vec<Cow<'a, str>>,
    answer: Option<Cow<'a, str>>,
    /// Whether the line has the field, even if it is null.
    says_answer: bool,
    cot: Option<Cow<'a, str>>,
    context: Vec<Cow<'a, str>>,
    prob_correct: Option<f64>,
    prompt_tokens: Option<u32>,
    completion_tokens: Option<u32>,
    latency_ms: Option<f64>,
    latency_us: Option<f64>,
    truncated: bool,
    repeat: u32,
    temperature: Option<f64>,
    model: Option<Cow<'a, str>>,
    category: Option<Cow<'a, str>>,
    alternative_targets: Vec<Cow<'a, str>>,
    /// The raw value: it is validated only if stored scores are used.
    correct: Option<&'a str>,
    is_stored: bool,
    eval_id: Option<Cow<'a, str>>,
    base_task: Option<Cow<'a, str>>,
    template: Option<Cow<'a, str>>,
    sampler: Option<Cow<'a, str>>,
    names: NamesSeen,
}

/// How an answer is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scorer {
    /// The answer equals a target after both are normalized.
    Exact,
    /// By the `correct` field of the line.
    Stored,
    /// By one of the scorers of datasets.
    Dataset(reasonscape_core::Scorer),
}

impl Scorer {
    /// The name of the scorer, as the command line takes it.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            Self::Exact => Cow::Borrowed("exact"),
            Self::Stored => Cow::Borrowed("stored"),
            Self::Dataset(scorer) => Cow::Owned(scorer.to_string()),
        }
    }
}

impl<'a> AnswerRow<'a> {
    /// Parses a line. If it has no `id`, its number in the file is its id.
    ///
    /// # Errors
    /// A message about the first problem in the line.
    pub fn parse(line: &'a str, number: u64, names: &FieldMap) -> Result<Self, String> {
        let mut deserializer = serde_json::Deserializer::from_str(line);
        let read = RowSeed { names }.deserialize(&mut deserializer);
        let mut row =
            read.and_then(|row| deserializer.end().map(|()| row)).map_err(|error| without_line(&error))?;
        let seen = row.names;
        let missing = |field: Field| {
            let name = names.name_of(field);
            match seen.suggestions().find(|usual| usual.field == field) {
                Some(usual) => format!(
                    "`{name}` is missing; is it `{0}`? Then use `--map {1}={0}`",
                    usual.name,
                    field.name()
                ),
                None => format!(
                    "`{name}` is missing; if the field has another name, use `--map {}=NAME`",
                    field.name()
                ),
            }
        };
        if row.targets.is_empty() {
            return Err(missing(Field::Target));
        }
        if !row.says_answer {
            return Err(missing(Field::Answer));
        }
        row.id.get_or_insert_with(|| Cow::Owned(number.to_string()));
        row.targets.append(&mut row.alternative_targets);
        Ok(row)
    }

    /// The model that the line names.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The names that the line has.
    pub fn names(&self) -> NamesSeen {
        self.names
    }

    /// The targets and options as a test for the scorers of datasets.
    pub fn to_test(&self) -> Test {
        let owned = |texts: &[Cow<'_, str>]| texts.iter().map(|text| text.clone().into_owned()).collect();
        let (target, others) = self.targets.split_first().expect("a line without a target is refused");
        Test {
            stated_guess: None,
            prompt: String::new(),
            target: target.clone().into_owned(),
            alternative_targets: owned(others),
            options: owned(&self.options),
            scorer: None,
        }
    }

    /// The text of a field by which answers can be grouped.
    pub fn group_value(&self, field: Field) -> Option<&str> {
        match field {
            Field::Model => self.model.as_deref(),
            Field::EvalId => self.eval_id.as_deref(),
            Field::BaseTask => self.base_task.as_deref(),
            Field::Template => self.template.as_deref(),
            Field::Sampler => self.sampler.as_deref(),
            _ => None,
        }
    }

    /// The scorer that the line names: `stored` in an export of a study.
    pub fn scorer(&self) -> Scorer {
        if self.is_stored { Scorer::Stored } else { Scorer::Exact }
    }

    /// The stored score, if this scorer uses it.
    ///
    /// # Errors
    /// A message if `correct` is needed and is neither true nor false. A truncated answer needs none.
    pub fn verdict(&self, scorer: Scorer) -> Result<Option<bool>, String> {
        if scorer != Scorer::Stored {
            return Ok(None);
        }
        match self.correct {
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            None | Some("null") if self.truncated => Ok(Some(false)),
            None => Err("`correct` is missing; scorer `stored` needs true or false".to_owned()),
            Some(raw) => Err(format!("`correct` is {}, but scorer `stored` needs true or false", kind(raw))),
        }
    }

    /// The evaluation, if the line is from an export: other tools may use `eval_id` for something else.
    fn evaluation(&self) -> Option<&str> {
        self.base_task.as_ref().and(self.eval_id.as_deref())
    }

    /// The input of the metrics, without a score.
    pub fn to_sample_record(&self) -> SampleRecord<'_> {
        SampleRecord {
            id: self.id.as_deref().unwrap_or_default(),
            repeat: self.repeat,
            input: self.input.as_deref(),
            targets: &self.targets,
            options: &self.options,
            answer: self.answer.as_deref(),
            cot: self.cot.as_deref(),
            context: &self.context,
            prob_correct: self.prob_correct,
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            latency_ms: self.latency_us.map(|latency| latency / 1000.0).or(self.latency_ms),
            truncated: self.truncated,
            temperature: self.temperature,
            model: self.model.as_deref(),
            category: self.category.as_deref(),
            verdict: None,
            eval_id: self.evaluation(),
            base_task: self.base_task.as_deref(),
            template: self.template.as_deref(),
            sampler: self.sampler.as_deref(),
        }
    }

    fn take<M: MapAccess<'a>>(&mut self, field: Field, name: &str, map: &mut M) -> Result<(), M::Error> {
        // Long texts are deserialized directly; other values are kept raw, so that errors can name their type.
        match field {
            Field::Cot => self.cot = map.next_value_seed(Text { name })?,
            Field::Input => self.input = map.next_value_seed(Text { name })?,
            _ => {
                let raw: &'a RawValue = map.next_value()?;
                self.take_raw(field, raw.get())
                    .map_err(|problem| M::Error::custom(format_args!("`{name}` {problem}")))?;
            }
        }
        Ok(())
    }

    fn take_raw(&mut self, field: Field, raw: &'a str) -> Result<(), String> {
        match field {
            Field::Id => self.id = text(raw)?,
            Field::Target => self.targets = texts(raw)?,
            Field::Options => self.options = texts(raw)?,
            Field::Answer => {
                self.answer = text(raw)?;
                self.says_answer = true;
            }
            Field::Context => self.context = texts(raw)?,
            Field::ProbCorrect => {
                const RANGE: &str = "a number from 0 to 1";
                self.prob_correct = number(raw, RANGE)?;
                if self.prob_correct.is_some_and(|p| !(0.0..=1.0).contains(&p)) {
                    return Err(format!("is {raw}, but must be {RANGE}"));
                }
            }
            Field::PromptTokens => self.prompt_tokens = count(raw)?,
            Field::CompletionTokens => self.completion_tokens = count(raw)?,
            Field::LatencyMs => self.latency_ms = not_negative(raw)?,
            Field::LatencyUs => self.latency_us = not_negative(raw)?,
            Field::Temperature => self.temperature = not_negative(raw)?,
            Field::Truncated => {
                self.truncated = match raw {
                    "true" => true,
                    "false" | "null" => false,
                    _ => return Err(format!("is {}, but must be true or false", kind(raw))),
                }
            }
            Field::Repeat => self.repeat = count(raw)?.unwrap_or(0),
            Field::Model => self.model = text(raw)?,
            Field::Category => self.category = text(raw)?,
            Field::AlternativeTargets => self.alternative_targets = texts(raw)?,
            // Other tools use these names for other things, so unusable values are ignored.
            Field::Correct => self.correct = Some(raw),
            Field::Scorer => self.is_stored = raw == "\"stored\"",
            Field::EvalId => self.eval_id = text(raw).unwrap_or(None),
            Field::BaseTask => self.base_task = text(raw).unwrap_or(None),
            Field::Template => self.template = text(raw).unwrap_or(None),
            Field::Sampler => self.sampler = text(raw).unwrap_or(None),
            // Only by a path; otherwise long texts are deserialized directly.
            Field::Cot => self.cot = long_text(raw)?,
            Field::Input => self.input = long_text(raw)?,
        }
        Ok(())
    }
}

fn long_text(raw: &str) -> Result<Option<Cow<'_, str>>, String> {
    match raw.as_bytes().first() {
        Some(b'"' | b'n') => text(raw),
        _ => Err(format!("is {}, but must be text", kind(raw))),
    }
}

/// The value at a path below a raw one: members of objects, and items of lists by their index.
fn at_path<'a>(raw: &'a RawValue, steps: &[String]) -> Option<&'a RawValue> {
    let Some((step, rest)) = steps.split_first() else { return Some(raw) };
    let next = if raw.get().starts_with('[') {
        let items: Vec<&'a RawValue> = serde_json::from_str(raw.get()).ok()?;
        *items.get(step.parse::<usize>().ok()?)?
    } else {
        let members: HashMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(raw.get()).ok()?;
        *members.get(step.as_str())?
    };
    at_path(next, rest)
}

/// The type of a raw value, for messages.
fn kind(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'"') => "text",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b'n') => "null",
        Some(b't' | b'f') => "true or false",
        _ => "a number",
    }
}

/// A text, or a number or boolean as written, with all its digits.
fn text(raw: &str) -> Result<Option<Cow<'_, str>>, String> {
    match raw.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'"') => unquoted(raw).map(Some),
        Some(b'[' | b'{') => Err(format!("is {}, but must be text", kind(raw))),
        _ => Ok(Some(Cow::Borrowed(raw))),
    }
}

fn unquoted(raw: &str) -> Result<Cow<'_, str>, String> {
    let inner = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str(raw)
        .map(Cow::Owned)
        .map_err(|error| format!("is not valid text: {}", without_line(&error)))
}

/// A text or a list of texts.
fn texts(raw: &str) -> Result<Vec<Cow<'_, str>>, String> {
    if !raw.starts_with('[') {
        return Ok(text(raw).map_err(|problem| problem + " or a list of texts")?.into_iter().collect());
    }
    let entries: Vec<&RawValue> = serde_json::from_str(raw).map_err(|error| without_line(&error))?;
    let each = entries.into_iter().map(|entry| match text(entry.get()) {
        Ok(Some(text)) => Ok(text),
        _ => Err(format!("has {} in its list, but all items must be text", kind(entry.get()))),
    });
    each.collect()
}

fn number(raw: &str, expected: &str) -> Result<Option<f64>, String> {
    match raw.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'-' | b'0'..=b'9') => {
            let value = raw.parse().ok().filter(|value: &f64| value.is_finite());
            value.map(Some).ok_or_else(|| format!("is {raw}, but must be {expected}"))
        }
        _ => Err(format!("is {}, but must be {expected}", kind(raw))),
    }
}

fn not_negative(raw: &str) -> Result<Option<f64>, String> {
    const EXPECTED: &str = "a number, 0 or more";
    match number(raw, EXPECTED)? {
        Some(value) if value < 0.0 => Err(format!("is {raw}, but must be {EXPECTED}")),
        value => Ok(value),
    }
}

/// An integer. pandas turns `12` into `12.0` in columns with missing values.
fn count(raw: &str) -> Result<Option<u32>, String> {
    const EXPECTED: &str = "an integer from 0 to 4294967294";
    if let Ok(value) = raw.parse::<u32>()
        && value < u32::MAX
    {
        return Ok(Some(value));
    }
    match number(raw, EXPECTED)? {
        None => Ok(None),
        Some(value) if value >= 0.0 && value < f64::from(u32::MAX) && value.fract() == 0.0 => {
            Ok(Some(value as u32))
        }
        Some(_) => Err(format!("is {raw}, but must be {EXPECTED}")),
    }
}

/// The message of the JSON parser with the column, but without the line, which is always 1.
fn without_line(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    match message.strip_suffix(&position) {
        Some(message) if error.is_data() => message.to_owned(),
        Some(message) => format!("is not JSON: {message} at column {}", error.column()),
        None => message,
    }
}

struct RowSeed<'n> {
    names: &'n FieldMap,
}

impl<'a> DeserializeSeed<'a> for RowSeed<'_> {
    type Value = AnswerRow<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<AnswerRow<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for RowSeed<'_> {
    type Value = AnswerRow<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `target` and `answer`")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<AnswerRow<'a>, M::Error> {
        let mut row = AnswerRow::default();
        while let Some(key) = map.next_key_seed(Key { names: self.names, seen: &mut row.names })? {
            let field = match key {
                FoundKey::Field(field) => field,
                FoundKey::Paths(fields) => {
                    let raw: &'a RawValue = map.next_value()?;
                    for (field, steps) in fields {
                        let name = self.names.name_of(field);
                        if let Some(found) = at_path(raw, steps) {
                            row.names.fields |= 1 << field as u32;
                            row.take_raw(field, found.get())
                                .map_err(|problem| M::Error::custom(format_args!("`{name}` {problem}")))?;
                        }
                    }
                    continue;
                }
                FoundKey::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let name = self.names.name_of(field);
            let bit = 1 << field as u32;
            if row.names.fields & bit != 0 {
                return Err(M::Error::custom(format_args!("`{name}` is given twice")));
            }
            row.names.fields |= bit;
            row.take(field, name, &mut map)?;
        }
        Ok(row)
    }
}

/// The name of a field.
struct Key<'n, 's> {
    names: &'n FieldMap,
    seen: &'s mut NamesSeen,
}

/// The field that a name refers to.
enum FoundKey<'n> {
    Field(Field),
    /// Fields below it, with the steps to them.
    Paths(Vec<(Field, &'n [String])>),
    Unknown,
}

impl<'a, 'n> DeserializeSeed<'a> for Key<'n, '_> {
    type Value = FoundKey<'n>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'n> Visitor<'_> for Key<'n, '_> {
    type Value = FoundKey<'n>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        if let Some(field) = self.names.field(name) {
            return Ok(FoundKey::Field(field));
        }
        if self.names.has_paths() {
            let below: Vec<(Field, &'n [String])> = self.names.paths_from(name).collect();
            if !below.is_empty() {
                return Ok(FoundKey::Paths(below));
            }
        }
        self.seen.add_unknown(name);
        Ok(FoundKey::Unknown)
    }
}

/// A long text or null.
struct Text<'n> {
    name: &'n str,
}

impl<'a> DeserializeSeed<'a> for Text<'_> {
    type Value = Option<Cow<'a, str>>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Text<'_> {
    fn unexpected<T, E: Error>(&self, kind: &str) -> Result<T, E> {
        Err(E::custom(format_args!("`{}` is {kind}, but must be text", self.name)))
    }
}

impl<'a> Visitor<'a> for Text<'_> {
    type Value = Option<Cow<'a, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        self.unexpected("true or false")
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        self.unexpected("a number")
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        self.unexpected("a number")
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        self.unexpected("a number")
    }

    fn visit_seq<A: serde::de::SeqAccess<'a>>(self, _: A) -> Result<Self::Value, A::Error> {
        self.unexpected("a list")
    }

    fn visit_map<A: MapAccess<'a>>(self, _: A) -> Result<Self::Value, A::Error> {
        self.unexpected("an object")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(line: &str) -> String {
        AnswerRow::parse(line, 1, &FieldMap::default()).expect_err("a bad line")
    }

    #[test]
    fn borrows_texts_without_escapes() {
        let line = r#"{"id": 7, "target": ["a", 1.50], "answer": "x", "cot": "plain", "extra": {"id": [1]}}"#;
        let row = AnswerRow::parse(line, 1, &FieldMap::default()).unwrap();
        assert!(matches!(row.cot, Some(Cow::Borrowed("plain"))));
        let answered = row.to_sample_record();
        assert_eq!((answered.id, answered.targets[1].as_ref(), answered.answer), ("7", "1.50", Some("x")));
        let escaped = AnswerRow::parse(
            r#"{"id":"\u00e9","target":"a\nb","answer":null,"cot":"a\tb"}"#,
            1,
            &FieldMap::default(),
        );
        let escaped = escaped.unwrap();
        let answered = escaped.to_sample_record();
        assert_eq!((answered.id, answered.answer, answered.cot), ("é", None, Some("a\tb")));
        assert_eq!(answered.targets[0], "a\nb");
    }

    #[test]
    fn reports_invalid_fields_with_what_was_expected() {
        for (fields, expected) in [
            (r#""prob_correct": 1.5"#, "`prob_correct` is 1.5, but must be a number from 0 to 1"),
            (r#""prob_correct": "high""#, "`prob_correct` is text, but must be a number from 0 to 1"),
            (r#""prob_correct": 1e999"#, "`prob_correct` is 1e999, but must be a number from 0 to 1"),
            (
                r#""prompt_tokens": 1.5"#,
                "`prompt_tokens` is 1.5, but must be an integer from 0 to 4294967294",
            ),
            (r#""prompt_tokens": -1"#, "`prompt_tokens` is -1, but must be an integer from 0 to 4294967294"),
            (r#""latency_ms": -0.5"#, "`latency_ms` is -0.5, but must be a number, 0 or more"),
            (r#""truncated": 1"#, "`truncated` is a number, but must be true or false"),
            (r#""cot": ["a"]"#, "`cot` is a list, but must be text"),
            (r#""options": {"A": 1}"#, "`options` is an object, but must be text or a list of texts"),
            (r#""options": [null]"#, "`options` has null in its list, but all items must be text"),
            (r#""id": 1"#, "`id` is given twice"),
        ] {
            assert_eq!(problem(&format!(r#"{{"id": 1, "target": "x", "answer": "x", {fields}}}"#)), expected);
        }
        assert!(problem(r#"{"id": 1, "answer": 2}"#).starts_with("`target` is missing"));
        assert!(problem(r#"{"id": 1, "target": 2}"#).starts_with("`answer` is missing"));
        assert!(problem("[1]").contains("expected an object with `target` and `answer`"));
        assert_eq!(problem("{\"id\": 1"), "is not JSON: EOF while parsing an object at column 8");
        assert_eq!(problem("{} x"), "is not JSON: trailing characters at column 4");
    }

    #[test]
    fn line_number_is_the_id_of_a_line_without_one() {
        for line in [r#"{"target": 2, "answer": 2}"#, r#"{"id": null, "target": 2, "answer": 2}"#] {
            let row = AnswerRow::parse(line, 7, &FieldMap::default()).unwrap();
            assert_eq!(row.to_sample_record().id, "7");
        }
    }

    #[test]
    fn verdicts_are_read_only_where_they_count() {
        let row = |fields: &str| format!(r#"{{"target": "x", "answer": "x", {fields}}}"#);
        for (fields, expected) in [
            (r#""correct": true"#, Ok(Some(true))),
            (r#""correct": false"#, Ok(Some(false))),
            (r#""correct": null, "truncated": true"#, Ok(Some(false))),
            (r#""truncated": true"#, Ok(Some(false))),
            (r#""correct": null"#, Err("`correct` is null, but scorer `stored` needs true or false")),
            (r#""correct": 1"#, Err("`correct` is a number, but scorer `stored` needs true or false")),
            (r#""repeat": 0"#, Err("`correct` is missing; scorer `stored` needs true or false")),
        ] {
            let line = row(fields);
            let row = AnswerRow::parse(&line, 1, &FieldMap::default()).unwrap();
            assert_eq!(row.verdict(Scorer::Stored), expected.map_err(str::to_owned), "{fields}");
            assert_eq!((row.scorer(), row.verdict(Scorer::Exact)), (Scorer::Exact, Ok(None)));
        }
        let line = row(r#""scorer": "stored", "eval_id": {"of": "another tool"}, "template": [1]"#);
        let row = AnswerRow::parse(&line, 1, &FieldMap::default()).unwrap();
        assert_eq!((row.scorer(), row.to_sample_record().eval_id), (Scorer::Stored, None));
    }

    #[test]
    fn microseconds_count_instead_of_milliseconds() {
        for (fields, expected) in [
            (r#""latency_ms": 12.5"#, 12.5),
            (r#""latency_ms": 12, "latency_us": 12345"#, 12.345),
            (r#""latency_ms": 12, "latency_us": null"#, 12.0),
        ] {
            let line = format!(r#"{{"target": "x", "answer": "x", {fields}}}"#);
            let row = AnswerRow::parse(&line, 1, &FieldMap::default()).unwrap();
            assert_eq!(row.to_sample_record().latency_ms, Some(expected));
        }
    }

    #[test]
    fn accepts_counts_with_zero_decimals() {
        let line = r#"{"id": 1, "target": "x", "answer": "x", "prompt_tokens": 12.0, "repeat": 1e1}"#;
        let row = AnswerRow::parse(line, 1, &FieldMap::default()).unwrap();
        assert_eq!((row.to_sample_record().prompt_tokens, row.to_sample_record().repeat), (Some(12), 10));
    }

    #[test]
    fn maps_renamed_fields() {
        let names = FieldMap::parse(&["target=answer".to_owned(), "answer=output".to_owned()]).unwrap();
        let row =
            AnswerRow::parse(r#"{"id": 1, "answer": "gold", "output": "found", "target": 5}"#, 1, &names)
                .unwrap();
        assert_eq!(
            (row.to_sample_record().targets[0].as_ref(), row.to_sample_record().answer),
            ("gold", Some("found"))
        );
        for (pair, expected) in
            [("target", "has no `=`"), ("traget=x", "did you mean `target`?"), ("target=", "no name after")]
        {
            assert!(FieldMap::parse(&[pair.to_owned()]).unwrap_err().contains(expected), "{pair}");
        }
        assert!(FieldMap::parse(&["id=a".to_owned(), "id=b".to_owned()]).unwrap_err().contains("twice"));
        assert!(
            FieldMap::parse(&["id=a".to_owned(), "input=a".to_owned()])
                .unwrap_err()
                .contains("`a` is mapped twice")
        );
    }
}
