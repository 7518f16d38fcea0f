//! One line of `samples_<task>_<time>.jsonl`: a document under one filter.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use reasonscape_core::Json;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::logs::sample::{DocumentId, LogSample, UNKNOWN_FINISH, document_index};
use crate::logs::score::{score_of_word, skip_reason};

/// lm-eval's placeholder if the filter's regular expression does not match.
const INVALID: &str = "[invalid]";

/// A line, with its larger parts not parsed yet.
pub(super) struct Line<'a> {
    /// `None` before lm-eval 0.4.7.
    pub(super) filter: Option<Cow<'a, str>>,
    doc_id: &'a RawValue,
    target: Value,
    arguments: Value,
    replies: Value,
    filtered: Value,
    metrics: Option<Vec<String>>,
    others: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Line<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(LineVisitor).map(|line: Line<'de>| line)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `doc_id`, `resps` and scores")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Line<'de>, M::Error> {
        let missing = |name| <M::Error as serde::de::Error>::missing_field(name);
        let mut doc_id = None;
        let mut line = Line {
            filter: None,
            doc_id: RawValue::NULL,
            target: Value::Null,
            arguments: Value::Null,
            replies: Value::Null,
            filtered: Value::Null,
            metrics: None,
            others: Vec::new(),
        };
        while let Some(Name(name)) = members.next_key()? {
            match &*name {
                "doc_id" => doc_id = Some(members.next_value()?),
                "target" => line.target = members.next_value()?,
                "arguments" => line.arguments = members.next_value()?,
                "resps" => line.replies = members.next_value()?,
                "filtered_resps" => line.filtered = members.next_value()?,
                "filter" => line.filter = Some(members.next_value::<Name<'de>>()?.0),
                "metrics" => line.metrics = members.next_value()?,
                "doc" | "doc_hash" | "prompt_hash" | "target_hash" => {
                    members.next_value::<IgnoredAny>()?;
                }
                _ => line.others.push((name, members.next_value()?)),
            }
        }
        line.doc_id = doc_id.ok_or_else(|| missing("doc_id"))?;
        if line.replies.is_null() {
            return Err(missing("resps"));
        }
        Ok(line)
    }
}

/// A string that is copied only if it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text).map(|name: Name<'de>| name)
    }
}

/// A prompt and, for log-likelihood requests, a continuation.
struct Request<'a> {
    prompt: &'a Value,
    /// The continuation whose log-likelihood was requested.
    continuation: Option<&'a str>,
}

impl Line<'_> {
    /// The metrics that score single documents. Those that need all of them, such as `f1`, hold a pair here.
    pub(super) fn scores(&self) -> Vec<String> {
        let is_score = |raw: &RawValue| !raw.get().starts_with(['[', '{']);
        let listed =
            |name: &str| self.metrics.as_ref().is_none_or(|metrics| metrics.iter().any(|m| m == name));
        let scores = self.others.iter().filter(|(name, raw)| listed(name) && is_score(raw));
        scores.map(|(name, _)| name.clone().into_owned()).collect()
    }

    /// Whether the model ranked given answers by log-likelihood instead of generating one: then a response is a pair of
    /// the log-likelihood and whether it is the greedy continuation.
    pub(super) fn is_likelihood(&self) -> bool {
        self.replies.get(0).and_then(|of_request| of_request.get(0)).is_some_and(Value::is_array)
    }

    /// The sample in the common form, or the reason why it is skipped; an invalid line is an error.
    pub(super) fn to_log_sample(
        &self,
        metric: &str,
        received_ms: i64,
    ) -> Result<Result<LogSample<'_>, &'static str>, String> {
        let digits = self.doc_id.get();
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!("`doc_id` is {digits}, not an integer"));
        }
        let Some((_, raw)) = self.others.iter().find(|(name, _)| name == metric) else {
            return Ok(Err(skip_reason::NO_SCORE));
        };
        let score = match serde_json::from_str(raw.get()) {
            Ok(Value::Bool(flag)) => f64::from(u8::from(flag)),
            Ok(Value::Number(number)) => number.as_f64().unwrap_or(f64::NAN),
            Ok(Value::Null) => return Ok(Err(skip_reason::NO_SCORE)),
            Ok(Value::String(word)) => match score_of_word(&word) {
                Some(score) => score,
                None => return Ok(Err(skip_reason::NOT_A_NUMBER)),
            },
            _ => return Ok(Err(skip_reason::NOT_A_NUMBER)),
        };
        let requests = requests(&self.arguments);
        let is_likelihood = self.is_likelihood();
        let (guess, answer, replies) = if is_likelihood {
            let weighed: BTreeSet<&str> =
                requests.iter().filter_map(|request| request.continuation).collect();
            let guess = if weighed.len() > 1 { 1.0 / weighed.len() as f64 } else { 0.0 };
            let chosen = if weighed.len() > 1 { self.most_likely(&requests) } else { None };
            (guess, chosen.map(|chosen| chosen.trim().to_owned()), chosen.into_iter().collect())
        } else {
            let replies: Vec<&str> = self.replies.get(0).map(texts).unwrap_or_default();
            let filtered = texts(&self.filtered).first().map(|text| (*text).to_owned());
            (0.0, filtered.filter(|answer| answer != INVALID), replies)
        };
        Ok(Ok(LogSample {
            index: document_index(DocumentId::Number(digits)),
            repeat: 0,
            doc_id: digits.parse().map_or_else(|_| Json::BigInt(digits.to_owned()), Json::Int),
            score,
            guess,
            is_truncated: false,
            finish: if is_likelihood { "weighed" } else { UNKNOWN_FINISH }.to_owned(),
            prompt_tokens: None,
            completion_tokens: None,
            reasoning_tokens: None,
            latency_ms: 0,
            latency_us: None,
            received_ms,
            answer,
            target: plain(&self.target),
            messages: requests.first().map(|request| messages(request.prompt)).unwrap_or_default(),
            reasoning: None,
            replies,
        }))
    }

    /// The continuation with the largest log-likelihood.
    fn most_likely<'l>(&'l self, requests: &[Request<'l>]) -> Option<&'l str> {
        let weights = self.replies.as_array()?.iter().map(|of_request| {
            let logprob = of_request.get(0).and_then(|pair| pair.get(0));
            logprob.and_then(|text| plain(text).parse::<f64>().ok()).unwrap_or(f64::NEG_INFINITY)
        });
        let weighed =
            weights.zip(requests).filter_map(|(weight, request)| Some((weight, request.continuation?)));
        // The first of equals, like numpy's `argmax`.
        let best = weighed.fold(None, |best: Option<(f64, &str)>, next| match best {
            Some(best) if next.0 <= best.0 => Some(best),
            _ => Some(next),
        });
        best.map(|(_, continuation)| continuation)
    }
}

/// The requests of a document, in order: an object of `gen_args_N`, or before 0.4.3 a list of pairs.
fn requests(arguments: &Value) -> Vec<Request<'_>> {
    match arguments {
        Value::Object(members) => {
            let mut numbered: Vec<(usize, Request<'_>)> = members
                .iter()
                .filter_map(|(name, arguments)| {
                    let index = name.strip_prefix("gen_args_")?.parse().ok()?;
                    let continuation = arguments.get("arg_1").and_then(Value::as_str);
                    Some((index, Request { prompt: arguments.get("arg_0")?, continuation }))
                })
                .collect();
            numbered.sort_by_key(|(index, _)| *index);
            numbered.into_iter().map(|(_, request)| request).collect()
        }
        Value::Array(items) => items
            .iter()
            .filter_map(|item| {
                let continuation = item.get(1).and_then(Value::as_str);
                Some(Request { prompt: item.get(0)?, continuation })
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// A prompt as messages: a text is the user's; for chat APIs it is a list that holds messages as a string of JSON.
fn messages(prompt: &Value) -> Vec<(String, String)> {
    let text = match prompt {
        Value::Array(items) if items.len() == 1 => plain(&items[0]),
        other => plain(other),
    };
    if prompt.is_array()
        && let Ok(Value::Array(messages)) = serde_json::from_str(&text)
    {
        let message = |message: &Value| {
            let member = |name: &str| message.get(name).map(plain).unwrap_or_default();
            (member("role"), member("content"))
        };
        return messages.iter().map(message).collect();
    }
    vec![("user".to_owned(), text)]
}

/// The strings in nested lists, in order.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// A string as it is, anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
