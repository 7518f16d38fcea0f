//! Entries and marks as lines of JSON (JSONL), for other programs and other caches.
//!
//! A line without a `kind` is an entry.
//! Each entry has `key`, `namespace`, `repeat`, `status`, `latency_ms`, `received_ms`, `request` and `response`. A JSON
//! response is embedded as JSON, digit for digit (white space between tokens may change), other text as a string, and
//! bytes that are not UTF-8 as `response_hex`. `marked` means that the same export contains the mark of the entry's point;
//! `latency_us` is the latency in microseconds, if recorded. A line with the `kind` `mark` has `seed`, `eval`, `task`,
//! `params` and `requested`, and `fixed_count` and `stop_rule` where they are recorded.

use std::borrow::Cow;

use reasonscape_core::{CacheKey, EntryId, Json, JsonError, KeyError, canonical_json, from_hex, to_hex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::entry::{Entry, Response};
use crate::marks::{Mark, PointSampling};

/// The maximum `--count` of a run.
const MAX_REQUESTED: u64 = u32::MAX as u64;

/// Why a line is not a valid entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// Not a JSON object with the fields of an entry.
    #[error(
        "not an entry: column {column}: {problem}; expected a line written by `reasonscape cache export`"
    )]
    NotAnEntry {
        /// Column, from 1.
        column: usize,
        /// What was found there.
        problem: String,
    },
    /// The key is not a valid cache key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The request is not valid JSON.
    #[error("`request` is not JSON")]
    Request(#[from] JsonError),
    /// The key doesn't match the request.
    #[error(
        "`key` is {found}, but the request has the key {expected}; the request was changed, or the line is not \
         from this program: leave `key` out to have it computed"
    )]
    WrongKey {
        /// The key in the line.
        found: CacheKey,
        /// The key computed from the request.
        expected: CacheKey,
    },
    /// An unknown `kind`.
    #[error(
        "`kind` is `{kind}`; expected `mark`, or no `kind` for an entry; a newer program may have written it"
    )]
    Kind {
        /// The `kind` in the line.
        kind: String,
    },
    /// A mark higher than any run can set; scoring would generate problems for years.
    #[error("`requested` is {requested}; a run requests at most {MAX_REQUESTED} problems of a point")]
    Requested {
        /// The value in the line.
        requested: u64,
    },
    /// Both or neither of `response` and `response_hex` are given.
    #[error("expected one of `response` (JSON or text) and `response_hex` (hexadecimal digits)")]
    Response,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(default)]
    namespace: Cow<'a, str>,
    #[serde(default)]
    repeat: u32,
    status: u16,
    latency_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    latency_us: Option<u64>,
    received_ms: i64,
    request: Cow<'a, RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Cow<'a, RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response_hex: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    marked: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkLine<'a> {
    kind: Cow<'a, str>,
    seed: i64,
    eval: Cow<'a, str>,
    task: Cow<'a, str>,
    params: Cow<'a, RawValue>,
    requested: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fixed_count: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stop_rule: Option<Cow<'a, str>>,
}

/// A line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportLine {
    /// A line without a `kind`.
    Entry {
        /// The entry.
        entry: Entry,
        /// Whether the mark of the entry's point is in the same export.
        marked: bool,
    },
    /// A line of the kind `mark`.
    Mark(Mark),
}

impl ExportLine {
    /// Formats the line, without a line break.
    pub fn to_line(&self) -> String {
        match self {
            Self::Entry { entry, marked } => entry.line(*marked, entry.response.latency_us),
            Self::Mark(mark) => {
                let line = MarkLine {
                    kind: Cow::Borrowed("mark"),
                    seed: mark.seed,
                    eval: Cow::Borrowed(&mark.eval),
                    task: Cow::Borrowed(&mark.task),
                    params: Cow::Owned(json_or_string(&mark.params)),
                    requested: mark.requested,
                    fixed_count: mark.sampling.fixed_count,
                    stop_rule: mark.sampling.stop_rule.as_deref().map(Cow::Borrowed),
                };
                serde_json::to_string(&line).expect("strings, numbers and parsed JSON can be serialized")
            }
        }
    }

    /// Parses a line written by [`ExportLine::to_line`].
    ///
    /// # Errors
    /// A [`LineError`] with the cause.
    pub fn parse(line: &str) -> Result<Self, LineError> {
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(borrow)]
            kind: Option<Cow<'a, str>>,
        }
        // A line that is not an object is rejected as an entry below.
        match serde_json::from_str::<Kind<'_>>(line).ok().and_then(|line| line.kind).as_deref() {
            None => Entry::parse_line(line).map(|(entry, marked)| Self::Entry { entry, marked }),
            Some("mark") => {
                let line: MarkLine<'_> = parse(line)?;
                if line.requested > MAX_REQUESTED {
                    return Err(LineError::Requested { requested: line.requested });
                }
                Ok(Self::Mark(Mark {
                    seed: line.seed,
                    eval: line.eval.into_owned(),
                    task: line.task.into_owned(),
                    params: canonical_json(&Json::parse(&raw_text(&line.params))?),
                    requested: line.requested,
                    sampling: PointSampling {
                        fixed_count: line.fixed_count,
                        stop_rule: line.stop_rule.map(Cow::into_owned),
                    },
                }))
            }
            Some(kind) => Err(LineError::Kind { kind: kind.to_owned() }),
        }
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, LineError> {
    serde_json::from_str(line).map_err(|error| LineError::NotAnEntry {
        column: error.column(),
        problem: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    })
}

impl Entry {
    /// Formats the entry as one line of JSON without a line break, compatible with format 1.
    pub fn to_line(&self) -> String {
        self.line(false, None)
    }

    fn line(&self, marked: bool, latency_us: Option<u64>) -> String {
        let (response, response_hex) = match std::str::from_utf8(&self.response.body) {
            Ok(text) => (Some(Cow::Owned(json_or_string(text))), None),
            Err(_) => (None, Some(Cow::Owned(to_hex(&self.response.body)))),
        };
        let line = Line {
            key: Some(Cow::Owned(self.id.key.to_string())),
            namespace: Cow::Borrowed(&self.id.namespace),
            repeat: self.id.repeat,
            status: self.response.status,
            latency_ms: self.response.latency_ms,
            latency_us,
            received_ms: self.response.received_ms,
            request: Cow::Owned(json_or_string(&self.request)),
            response,
            response_hex,
            marked,
        };
        serde_json::to_string(&line).expect("strings, numbers and parsed JSON can be serialized")
    }

    /// Parses a line written by [`Entry::to_line`]. The key is computed from the request, and compared if the line has one.
    ///
    /// # Errors
    /// A [`LineError`] with the cause.
    pub fn from_line(line: &str) -> Result<Self, LineError> {
        Self::parse_line(line).map(|(entry, _)| entry)
    }

    /// The entry of a line, and whether it is marked.
    fn parse_line(line: &str) -> Result<(Self, bool), LineError> {
        let line: Line<'_> = parse(line)?;
        let request = canonical_json(&Json::parse(&raw_text(&line.request))?);
        let key = CacheKey::from_canonical_json(&request);
        if let Some(found) = line.key {
            let found: CacheKey = found.parse()?;
            if found != key {
                return Err(LineError::WrongKey { found, expected: key });
            }
        }
        let body = match (line.response, line.response_hex) {
            (Some(response), None) => raw_text(&response).into_owned().into_bytes(),
            (None, Some(hex)) => from_hex(&hex).ok_or(LineError::Response)?,
            _ => return Err(LineError::Response),
        };
        let response = Response {
            status: line.status,
            latency_ms: line.latency_ms,
            latency_us: line.latency_us,
            received_ms: line.received_ms,
            body,
        };
        let id = EntryId { key, namespace: line.namespace.into(), repeat: line.repeat };
        Ok((Self { id, request, response }, line.marked))
    }
}

/// Embeds an object or a list as JSON, anything else as a string. Line breaks between JSON tokens become spaces; within
/// strings they are escaped already.
fn json_or_string(text: &str) -> Box<RawValue> {
    let structured = text.trim_start().starts_with(['{', '[']);
    structured
        .then(|| RawValue::from_string(text.replace(['\n', '\r'], " ")).ok())
        .flatten()
        .unwrap_or_else(|| serde_json::value::to_raw_value(text).expect("a string is JSON"))
}

/// The inverse of [`json_or_string`].
fn raw_text(value: &RawValue) -> Cow<'_, str> {
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Cow::Owned(text),
        Err(_) => Cow::Borrowed(value.get()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(body: &[u8]) -> Entry {
        let request = r#"{"model": "m", "top_p": 1.0}"#.to_owned();
        let id = EntryId {
            key: CacheKey::from_canonical_json(&request),
            namespace: "spare \"x\"".into(),
            repeat: 3,
        };
        let response =
            Response { status: 200, latency_ms: 7, latency_us: None, received_ms: -1, body: body.to_vec() };
        Entry { id, request, response }
    }

    #[test]
    fn lines_round_trip_every_kind_of_body() {
        let bodies: [&[u8]; 8] = [
            br#"{"a":1.00,"b":[12345678901234567890123]}"#,
            b"[]",
            b"<html>\nno\r\n</html>",
            br#""a string""#,
            b"null",
            b"{broken",
            b"",
            &[0xff, 0, 10],
        ];
        for body in bodies {
            let line = entry(body).to_line();
            assert!(!line.contains('\n'));
            assert_eq!(Entry::from_line(&line).unwrap(), entry(body), "{line}");
        }
    }

    #[test]
    fn marks_and_marked_entries_round_trip() {
        let mark = Mark {
            seed: -3,
            eval: "abc123".into(),
            task: "sort".into(),
            params: r#"{"length": 4}"#.into(),
            requested: 64,
            sampling: PointSampling::default(),
        };
        let sampling = PointSampling { fixed_count: Some(24), stop_rule: Some("a rule".into()) };
        let sampled = Mark { sampling, ..mark.clone() };
        for line in [
            ExportLine::Mark(mark),
            ExportLine::Mark(sampled),
            ExportLine::Entry { entry: entry(b"{}"), marked: true },
        ] {
            assert_eq!(ExportLine::parse(&line.to_line()).unwrap(), line);
        }
        assert_eq!(
            ExportLine::parse(&entry(b"{}").to_line()).unwrap(),
            ExportLine::Entry { entry: entry(b"{}"), marked: false }
        );
        let endless = r#"{"kind":"mark","seed":0,"eval":"a","task":"sort","params":{},"requested":18446744073709551615}"#;
        let error = ExportLine::parse(endless).unwrap_err().to_string();
        assert!(error.contains("a run requests at most"), "{error}");
        let error = ExportLine::parse(r#"{"kind": "lease"}"#).unwrap_err().to_string();
        assert!(error.contains("`kind` is `lease`"), "{error}");
    }

    #[test]
    fn multi_line_json_becomes_one_line() {
        let back = Entry::from_line(&entry(b"{\n  \"a\": \"x\\ny\"\r\n}\n").to_line()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&back.response.body).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "x\ny" }));
    }

    #[test]
    fn rejects_edited_lines() {
        let line = entry(b"{}").to_line();
        let error_of = |line: &str| Entry::from_line(line).unwrap_err().to_string();
        assert!(error_of(&line.replace("\"m\"", "\"n\"")).contains("the request has the key"));
        assert!(error_of(&line.replace("repeat", "repeats")).contains("unknown field `repeats`"));
        assert!(error_of("").contains("not an entry"));
        assert!(error_of("[1]").contains("not an entry"));
        assert!(error_of(&line.replace(",\"response\":{}", "")).contains("response_hex"));
        assert!(
            error_of(&line.replace("\"response\":{}", "\"response_hex\":\"abc\"")).contains("response_hex")
        );
        assert!(error_of(&line.replace("\"key\":\"", "\"key\":\"x")).contains("64 hexadecimal digits"));
    }

    #[test]
    fn computes_the_key_when_it_is_absent() {
        let line = r#"{"status":200,"latency_ms":1,"received_ms":2,"request":{"top_p":1.0,"model":"m"},"response":"x"}"#;
        let read = Entry::from_line(line).unwrap();
        assert_eq!((read.id.key, read.request), (entry(b"").id.key, entry(b"").request));
    }

    proptest! {
        #[test]
        fn any_text_round_trips(body in ".*") {
            let back = Entry::from_line(&entry(body.as_bytes()).to_line()).unwrap();
            prop_assert_eq!(back.response.body, body.into_bytes());
        }

        #[test]
        fn parsing_never_panics(line in ".*") {
            let _ = Entry::from_line(&line);
        }
    }
}
