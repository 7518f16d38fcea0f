//! JSON as Python's `json` module reads it: integers of any size, `NaN`, the last of duplicate keys.
//!
//! `serde_json` isn't used here: it rejects the bare `NaN` that other tools write, and keeps large integers
//! only behind a feature that changes its `Number` for every crate in the build.

use std::collections::BTreeMap;

/// A JSON value that, like Python, distinguishes integers from floats and keeps all digits.
///
/// ```
/// use reasonscape_core::Json;
///
/// let value = Json::parse(r#"[1, 1.0, 100000000000000000000, NaN]"#)?;
/// let Json::Array(items) = value else { unreachable!() };
/// assert_eq!(items[0], Json::Int(1));
/// assert_eq!(items[1], Json::Float(1.0));
/// assert_eq!(items[2], Json::BigInt("100000000000000000000".into()));
/// # Ok::<(), reasonscape_core::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A larger integer: its digits, with a sign if negative.
    BigInt(String),
    /// A number written with a point or an exponent, `NaN`, or an infinity.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object. Keys are ordered by code point, which is also the order of their UTF-8 bytes.
    Object(BTreeMap<String, Json>),
}

/// A JSON syntax error with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct JsonError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub problem: String,
}

impl Json {
    /// Reads a text as Python's `json.loads` does.
    ///
    /// # Errors
    /// A [`JsonError`] with line and column. Two things that Python accepts are rejected: a lone surrogate
    /// (`"\ud800"`), which UTF-8 can't represent, and nesting deeper
    /// than 500.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        reader.skip_space();
        let value = reader.value()?;
        reader.skip_space();
        match reader.peek() {
            None => Ok(value),
            Some(_) => Err(reader.expected("the end of the document")),
        }
    }

    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(key),
            _ => None,
        }
    }

    /// The type of the value, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::BigInt(_) => "an integer",
            Json::Float(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        value.clone().into()
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::Bool(flag),
            Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(whole), _) => Json::Int(whole),
                (None, Some(whole)) => Json::BigInt(whole.to_string()),
                (None, None) => Json::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Json::String(text),
            Value::Array(items) => Json::Array(items.into_iter().map(Json::from).collect()),
            Value::Object(members) => {
                Json::Object(members.into_iter().map(|(key, value)| (key, Json::from(value))).collect())
            }
        }
    }
}

macro_rules! json_from {
    ($($from:ty => |$value:ident| $json:expr;)*) => {
        $(impl From<$from> for Json {
            fn from($value: $from) -> Self {
                $json
            }
        })*
    };
}

json_from! {
    bool => |flag| Json::Bool(flag);
    i64 => |whole| Json::Int(whole);
    f64 => |number| Json::Float(number);
    &str => |text| Json::String(text.to_owned());
    String => |text| Json::String(text);
    Vec<Json> => |items| Json::Array(items);
}

impl<K: Into<String>, const N: usize> From<[(K, Json); N]> for Json {
    fn from(members: [(K, Json); N]) -> Self {
        Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

/// A recursive-descent reader over the text; `at` is a byte offset on a character boundary.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    const MAX_DEPTH: usize = 500;

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn error(&self, problem: impl Into<String>) -> JsonError {
        let before = &self.text[..self.at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        JsonError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem: problem.into(),
        }
    }

    fn expected(&self, what: &str) -> JsonError {
        match self.peek() {
            Some('\u{feff}') => {
                self.error(format!("expected {what}, found a byte order mark; save the file without one"))
            }
            Some(found) if found.is_control() => {
                self.error(format!("expected {what}, found `{}`", found.escape_default()))
            }
            Some(found) => self.error(format!("expected {what}, found `{found}`")),
            None => self.error(format!("expected {what}, but the document ends")),
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        const WORDS: [(&str, Json); 6] = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("NaN", Json::Float(f64::NAN)),
            ("Infinity", Json::Float(f64::INFINITY)),
            ("-Infinity", Json::Float(f64::NEG_INFINITY)),
        ];
        match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"') => Ok(Json::String(self.string()?)),
            _ => {
                for (word, value) in WORDS {
                    if self.take(word) {
                        return Ok(value);
                    }
                }
                self.number()
            }
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        self.depth += 1;
        if self.depth > Self::MAX_DEPTH {
            return Err(self.error(format!("nested more than {} deep", Self::MAX_DEPTH)));
        }
        self.at += 1;
        self.skip_space();
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        if self.take("]") {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.end_of_item("]")? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        let mut members = BTreeMap::new();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            if self.peek() != Some('"') {
                return Err(self.expected("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(":") {
                return Err(self.expected("`:` after the key"));
            }
            self.skip_space();
            let value = self.value()?;
            members.insert(key, value);
            if self.end_of_item("}")? {
                return Ok(Json::Object(members));
            }
        }
    }

    /// After an item: true at the closing bracket, false after a comma.
    fn end_of_item(&mut self, close: &str) -> Result<bool, JsonError> {
        self.skip_space();
        if self.take(close) {
            return Ok(true);
        }
        if !self.take(",") {
            return Err(self.expected(&format!("`,` or `{close}`")));
        }
        self.skip_space();
        if self.rest().starts_with(close) {
            return Err(self.error(format!("a comma before `{close}`; remove it")));
        }
        Ok(false)
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let rest = self.rest();
        let digits_at = |from: usize| rest[from..].bytes().take_while(u8::is_ascii_digit).count() + from;
        let start = usize::from(rest.starts_with('-'));
        let mut end = if rest[start..].starts_with('0') { start + 1 } else { digits_at(start) };
        if end == start {
            return Err(self.expected("a value"));
        }
        let mut whole = true;
        if rest[end..].starts_with('.') && digits_at(end + 1) > end + 1 {
            end = digits_at(end + 1);
            whole = false;
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent_end = digits_at(end + 1 + sign);
            if exponent_end > end + 1 + sign {
                end = exponent_end;
                whole = false;
            }
        }
        let token = &rest[..end];
        let value = if !whole {
            Json::Float(token.parse().expect("the grammar of JSON numbers is within Rust's"))
        } else if let Ok(fits) = token.parse() {
            Json::Int(fits)
        } else {
            Json::BigInt(token.to_owned())
        };
        self.at += end;
        if self.peek().is_some_and(|next| next.is_ascii_alphanumeric() || next == '.') {
            return Err(self.expected("the end of a number"));
        }
        Ok(value)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            value.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some('"') => {
                    self.at += 1;
                    return Ok(value);
                }
                Some('\\') => value.push(self.escape()?),
                Some(_) => {
                    return Err(self
                        .expected("a closing `\"` (control characters are written as `\\n` or `\\u000a`)"));
                }
                None => return Err(self.expected("a closing `\"`")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        const ESCAPES: [(&str, char); 8] = [
            ("\\\"", '"'),
            ("\\\\", '\\'),
            ("\\/", '/'),
            ("\\b", '\u{8}'),
            ("\\f", '\u{c}'),
            ("\\n", '\n'),
            ("\\r", '\r'),
            ("\\t", '\t'),
        ];
        for (escape, character) in ESCAPES {
            if self.take(escape) {
                return Ok(character);
            }
        }
        let start = self.at;
        let first = self.hex()?;
        let joined = match first {
            0xd800..=0xdbff if self.rest().starts_with("\\u") => {
                let second = self.hex()?;
                if (0xdc00..=0xdfff).contains(&second) {
                    0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    first
                }
            }
            _ => first,
        };
        char::from_u32(joined).ok_or_else(|| {
            self.at = start;
            self.error(format!(
                "`\\u{first:04x}` is half of a surrogate pair; expected both halves, or the character itself"
            ))
        })
    }

    /// `\uXXXX`.
    fn hex(&mut self) -> Result<u32, JsonError> {
        let code = self.rest().get(2..6).filter(|_| self.rest().starts_with("\\u"));
        match code.filter(|code| code.bytes().all(|b| b.is_ascii_hexdigit())) {
            Some(code) => {
                let value = u32::from_str_radix(code, 16).expect("four hexadecimal digits");
                self.at += 6;
                Ok(value)
            }
            None => Err(self.error("unknown escape; expected one of `\\\"` `\\\\` `\\/` `\\b` `\\f` `\\n` `\\r` `\\t` or `\\u` and four hexadecimal digits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_keep_digits_and_minus_zero_is_zero() {
        assert_eq!(Json::parse("-0").unwrap(), Json::Int(0));
        assert_eq!(Json::parse("9223372036854775808").unwrap(), Json::BigInt("9223372036854775808".into()));
        assert_eq!(Json::parse("-9223372036854775808").unwrap(), Json::Int(i64::MIN));
        assert_eq!(Json::parse("1e999").unwrap(), Json::Float(f64::INFINITY));
    }

    #[test]
    fn last_duplicate_key_wins() {
        assert_eq!(Json::parse(r#"{"a": 1, "a": 2}"#).unwrap(), Json::from([("a", Json::Int(2))]));
    }

    #[test]
    fn joins_surrogate_pairs_and_rejects_lone_ones() {
        assert_eq!(Json::parse(r#""\ud83d\ude00""#).unwrap(), Json::from("😀"));
        for lone in [r#""\ud800""#, r#""\ude00""#, r#""\ud800\u0041""#, r#""\ud800x""#] {
            assert!(Json::parse(lone).unwrap_err().problem.contains("surrogate pair"), "{lone}");
        }
    }

    #[test]
    fn errors_report_position_and_expectation() {
        let message = |text| Json::parse(text).unwrap_err().to_string();
        assert_eq!(message("{\n  \"a\": 1,\n}"), "line 3, column 1: a comma before `}`; remove it");
        assert_eq!(message("{'a': 1}"), "line 1, column 2: expected a key in double quotes, found `'`");
        assert_eq!(message(""), "line 1, column 1: expected a value, but the document ends");
        assert_eq!(message("[1 2]"), "line 1, column 4: expected `,` or `]`, found `2`");
        assert_eq!(message("01"), "line 1, column 2: expected the end of a number, found `1`");
        assert_eq!(message("1."), "line 1, column 2: expected the end of a number, found `.`");
        assert_eq!(message("1\0"), "line 1, column 2: expected the end of the document, found `\\u{0}`");
        assert_eq!(message("1 2"), "line 1, column 3: expected the end of the document, found `2`");
        assert!(message(&"[".repeat(100_000)).contains("nested more than 500 deep"));
    }

    proptest! {
        #[test]
        fn never_panics_on_any_text(text in r#"[\[\]{}",:\\/u0-9a-fA-F.eE+\- \nNtrulsI]{0,40}"#) {
            let _ = Json::parse(&text);
        }

        #[test]
        fn never_panics_on_any_unicode(text in any::<String>()) {
            let _ = Json::parse(&text);
        }
    }
}
