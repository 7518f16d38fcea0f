//! A sample of an Inspect log. Events and attachments, which are most of its size, are skipped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, NaiveDateTime};
use reasonscape_core::Json;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::logs::sample::{DocumentId, LogSample, UNKNOWN_FINISH, document_index};
use crate::logs::score::{score_of_word, skip_reason};

/// A scorer and, where its scores have several parts, one of them: `match`, `graded.exact`. Scorer names may contain
/// dots too, so the full name is tried first.
#[derive(Debug)]
pub(super) struct ChosenScore<'n> {
    pub(super) name: &'n str,
    pub(super) part: Option<(&'n str, &'n str)>,
}

impl<'n> ChosenScore<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        Self { name, part: name.rsplit_once('.') }
    }
}

/// The fields that are read from a sample. Inspect omits nulls, so any field may be missing.
#[derive(Debug, Deserialize)]
pub(super) struct Sample<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(default = "first")]
    epoch: u32,
    #[serde(default)]
    input: Option<Input>,
    #[serde(default)]
    choices: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    target: Value,
    #[serde(default)]
    messages: Option<Vec<Message>>,
    #[serde(default)]
    output: Option<Output>,
    #[serde(borrow, default)]
    scores: Option<BTreeMap<Cow<'a, str>, Score>>,
    /// Early logs had one.
    #[serde(default)]
    score: Option<Score>,
    #[serde(default)]
    model_usage: Option<BTreeMap<String, Usage>>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(default)]
    completed_at: Option<String>,
    #[serde(default)]
    started_at: Option<String>,
    #[serde(default)]
    working_time: Option<f64>,
}

fn first() -> u32 {
    1
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    choices: Vec<Choice>,
    completion: Option<String>,
    usage: Option<Usage>,
    time: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Message,
    stop_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_cache_write: Option<u64>,
    input_tokens_cache_read: Option<u64>,
    reasoning_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Score {
    #[serde(default)]
    value: Value,
    #[serde(default)]
    answer: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    role: String,
    content: Content,
    /// Early logs had reasoning next to the content.
    reasoning: Option<String>,
}

/// Text, or parts of which some are reasoning.
#[derive(Debug, Default)]
struct Content {
    text: String,
    reasoning: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    reasoning: Option<String>,
    summary: Option<String>,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text, or a list of parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content { text: text.to_owned(), reasoning: None })
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(Content { text, reasoning: None })
            }

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut parts: S) -> Result<Content, S::Error> {
                let mut content = Content::default();
                while let Some(part) = parts.next_element::<Part>()? {
                    content.add(part);
                }
                Ok(content)
            }
        }
        deserializer.deserialize_any(Parts)
    }
}

impl Content {
    fn add(&mut self, part: Part) {
        let add = |to: &mut String, text: &str| {
            if !to.is_empty() {
                to.push('\n');
            }
            to.push_str(text);
        };
        match part.kind.as_str() {
            "reasoning" => {
                // Redacted reasoning has a summary at best.
                let text =
                    part.reasoning.filter(|text| !text.is_empty()).or(part.summary).unwrap_or_default();
                add(self.reasoning.get_or_insert_default(), &text);
            }
            "text" => add(&mut self.text, &part.text.unwrap_or_default()),
            other => add(&mut self.text, &format!("[{other}]")),
        }
    }
}

/// The input of a sample: text or messages.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Input {
    Text(String),
    Messages(Vec<Message>),
    Other(IgnoredAny),
}

impl Sample<'_> {
    /// The scores that it has, parts by name: `match`, `graded.exact`.
    pub(super) fn scorers(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (name, score) in self.scores.iter().flatten() {
            match &score.value {
                Value::Object(parts) => names.extend(parts.keys().map(|part| format!("{name}.{part}"))),
                Value::Array(parts) => names.extend((0..parts.len()).map(|part| format!("{name}.{part}"))),
                _ => names.push(name.clone().into_owned()),
            }
        }
        if names.is_empty() && self.score.is_some() {
            names.push("score".to_owned());
        }
        names
    }

    /// The sample in the common form, or the reason why it is skipped.
    pub(super) fn to_log_sample(
        &self,
        chosen: &ChosenScore<'_>,
        model: &str,
    ) -> Result<LogSample<'_>, &'static str> {
        let Some((scored, part)) = self.scored(chosen) else {
            return Err(if self.error.is_some() { skip_reason::ERROR } else { skip_reason::NO_SCORE });
        };
        let score = number(&scored.value, part)?;
        let id = self.id.get();
        let text: Option<String> = serde_json::from_str(id).ok();
        let document = text.as_deref().map_or(DocumentId::Number(id), DocumentId::Text);
        let doc_id = match &text {
            Some(text) => Json::String(text.clone()),
            None => id.parse().map_or_else(|_| Json::String(id.to_owned()), Json::Int),
        };
        let output = self.output.as_ref();
        let choice = output.and_then(|output| output.choices.first());
        let message = choice.map(|choice| &choice.message);
        let reasoning =
            message.and_then(|message| message.content.reasoning.as_deref().or(message.reasoning.as_deref()));
        let completion = output.and_then(|output| output.completion.as_deref());
        let reply =
            completion.or_else(|| message.map(|message| message.content.text.as_str())).unwrap_or_default();
        let stop = choice.and_then(|choice| choice.stop_reason.as_deref()).unwrap_or(UNKNOWN_FINISH);
        let is_truncated = matches!(stop, "max_tokens" | "model_length" | "length");
        let usage = self.usage(model);
        let tokens = |count: fn(&Usage) -> Option<u64>| usage.and_then(count);
        let seconds = output.and_then(|output| output.time).or(self.working_time);
        let guess = match self.choices.as_ref().map_or(0, Vec::len) {
            0 | 1 => 0.0,
            choices => 1.0 / choices as f64,
        };
        Ok(LogSample {
            index: document_index(document),
            repeat: self.epoch.saturating_sub(1),
            doc_id,
            score,
            guess,
            is_truncated,
            finish: if is_truncated { "length".to_owned() } else { stop.to_owned() },
            prompt_tokens: tokens(|usage| {
                let cached =
                    [usage.input_tokens_cache_read, usage.input_tokens_cache_write].into_iter().flatten();
                usage.input_tokens.map(|tokens| cached.fold(tokens, u64::saturating_add))
            }),
            completion_tokens: tokens(|usage| usage.output_tokens),
            reasoning_tokens: tokens(|usage| usage.reasoning_tokens),
            latency_ms: (seconds.unwrap_or(0.0) * 1000.0).max(0.0) as u64,
            latency_us: seconds.map(|seconds| (seconds * 1e6).round().max(0.0) as u64),
            received_ms: self
                .completed_at
                .as_deref()
                .or(self.started_at.as_deref())
                .and_then(parse_timestamp)
                .unwrap_or(0),
            answer: match &scored.answer {
                Value::String(text) => Some(text.clone()),
                Value::Null => None,
                other => Some(other.to_string()),
            },
            target: plain(&self.target),
            messages: self.prompt(),
            reasoning: reasoning.filter(|text| !text.is_empty()),
            replies: vec![reply],
        })
    }

    fn scored<'n>(&self, chosen: &ChosenScore<'n>) -> Option<(&Score, Option<&'n str>)> {
        let named = |name: &str| self.scores.as_ref().and_then(|scores| scores.get(name));
        let full_name = named(chosen.name).map(|score| (score, None));
        let part = || chosen.part.and_then(|(scorer, part)| named(scorer).map(|score| (score, Some(part))));
        full_name.or_else(part).or(self.score.as_ref().map(|score| (score, None)))
    }

    /// Tokens: of the one answer, or of all turns of a conversation that had several.
    fn usage(&self, model: &str) -> Option<&Usage> {
        let answers = self.messages.iter().flatten().filter(|message| message.role == "assistant").count();
        let all = || self.model_usage.as_ref().and_then(|usage| usage.get(model));
        let last = || self.output.as_ref().and_then(|output| output.usage.as_ref());
        if answers > 1 { all().or_else(last) } else { last().or_else(all) }
    }

    /// The conversation before the last answer.
    fn prompt(&self) -> Vec<(String, String)> {
        let pair = |message: &Message| (message.role.clone(), message.content.text.clone());
        match (&self.messages, &self.input) {
            (Some(messages), _) if !messages.is_empty() => {
                let answer = messages.iter().rposition(|message| message.role == "assistant");
                messages[..answer.unwrap_or(messages.len())].iter().map(pair).collect()
            }
            (_, Some(Input::Text(text))) => vec![("user".to_owned(), text.clone())],
            (_, Some(Input::Messages(messages))) => messages.iter().map(pair).collect(),
            _ => Vec::new(),
        }
    }
}

/// The number that a score is.
fn number(value: &Value, part: Option<&str>) -> Result<f64, &'static str> {
    let value = match (value, part) {
        (Value::Object(parts), Some(part)) => parts.get(part).ok_or(skip_reason::NO_SCORE)?,
        (Value::Array(parts), Some(part)) => {
            part.parse().ok().and_then(|index: usize| parts.get(index)).ok_or(skip_reason::NO_SCORE)?
        }
        (value, _) => value,
    };
    match value {
        Value::Null => Err(skip_reason::NO_SCORE),
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(number) => {
            number.as_f64().filter(|number| number.is_finite()).ok_or(skip_reason::NOT_A_NUMBER)
        }
        Value::String(word) => score_of_word(word).ok_or(skip_reason::NOT_A_NUMBER),
        Value::Array(_) | Value::Object(_) => Err(skip_reason::NOT_A_NUMBER),
    }
}

/// A single target as it is, several joined by commas.
fn plain(target: &Value) -> String {
    match target {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Milliseconds since 1970 of a time such as `2026-11-16T03:56:12.675360+00:00`.
/// A time without a zone is in UTC.
fn parse_timestamp(text: &str) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    let time = time.or_else(|_| text.parse::<NaiveDateTime>().map(|time| time.and_utc()));
    time.ok().map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_match_python() {
        let texts = [
            "1970-01-01T00:00:00+00:00",
            "2026-11-16T03:56:12.675360+00:00",
            "2024-02-29T23:59:59-05:30",
            "2000-03-01T00:00:00.5+02:00",
        ];
        let script = "import sys, datetime\nfor line in sys.stdin.read().split():\n    print(int(datetime.datetime.fromisoformat(line).timestamp() * 1000))";
        let Some(text) = reasonscape_test_support::python(script, &texts.join("\n")) else { return };
        let ours: Vec<String> = texts.iter().map(|text| parse_timestamp(text).unwrap().to_string()).collect();
        assert_eq!(ours, text.split_whitespace().collect::<Vec<_>>());
        assert_eq!(parse_timestamp("2026-11-16T03:56:12Z"), parse_timestamp("2026-11-16T03:56:12+00:00"));
        assert_eq!(parse_timestamp("yesterday"), None);
    }

    #[test]
    fn reads_keys_of_early_logs() {
        let text = r#"{"id": 7, "epoch": 2, "input": "q", "target": ["a", "b"], "score": {"value": "C"},
            "output": {"choices": [{"message": {"role": "assistant", "content": "a", "reasoning": "since"},
            "stop_reason": "length"}]}}"#;
        let sample: Sample<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(sample.scorers(), ["score"]);
        let log_sample = sample.to_log_sample(&ChosenScore::new("score"), "m").unwrap();
        assert_eq!(
            (log_sample.index, log_sample.repeat, log_sample.score, log_sample.is_truncated),
            (7, 1, 1.0, true)
        );
        assert_eq!(
            (log_sample.reasoning, log_sample.replies.as_slice(), log_sample.target.as_str()),
            (Some("since"), &["a"][..], "a, b")
        );
        assert_eq!(log_sample.messages, [("user".to_owned(), "q".to_owned())]);
    }
}
