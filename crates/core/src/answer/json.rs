//! JSON values, however they are laid out.

use super::decimal::Decimal;
use super::text::plain;
use crate::{Json, canonical_json};

/// Whether `answer` holds the value of the target. Numbers are equal as numbers, objects in any order.
///
/// A list in Python's notation (`['a', None]`) is read as well. A value without the brackets that the target has is
/// wrong: `5` is not `[5]`.
pub(crate) fn matches(answer: &str, target: &str) -> bool {
    let Ok(target) = Json::parse(target) else { return answer.trim() == target.trim() };
    let plain = plain(answer);
    let is_right = |text: &str| read(text).is_some_and(|value| equal(&value, &target));
    is_right(answer)
        || is_right(&plain)
        || bracketed(answer).is_some_and(is_right)
        || bracketed(&plain).is_some_and(is_right)
        || matches!(&target, Json::String(text) if *text == plain.trim())
}

/// From the first opening bracket to the last closing one, for a value with words around it.
fn bracketed(text: &str) -> Option<&str> {
    let (open, close) = (text.find(['[', '{'])?, text.rfind([']', '}'])?);
    text.get(open..=close)
}

fn read(text: &str) -> Option<Json> {
    Json::parse(text.trim()).ok().or_else(|| Json::parse(&from_python(text.trim())?).ok())
}

/// Python's `repr` of a value as JSON. Nothing where quotes of both kinds would need care.
fn from_python(text: &str) -> Option<String> {
    if text.contains(['"', '\\']) {
        return None;
    }
    let mut result = String::with_capacity(text.len());
    for (i, piece) in text.split('\'').enumerate() {
        if i % 2 == 1 {
            result.push_str(&canonical_json(&Json::from(piece)));
        } else {
            result.push_str(&piece.replace("None", "null").replace("True", "true").replace("False", "false"));
        }
    }
    Some(result)
}

fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((key, a), (other, b))| key == other && equal(a, b))
        }
        _ => a == b || number(a).is_some_and(|a| Some(a) == number(b)),
    }
}

fn number(value: &Json) -> Option<Decimal> {
    matches!(value, Json::Int(_) | Json::BigInt(_) | Json::Float(_))
        .then(|| Decimal::parse(&canonical_json(value)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_values_not_text() {
        for (answer, target) in [
            ("[1,2.0]", "[1, 2]"),
            ("[\n  1,\n  2\n]", "[1, 2]"),
            ("The result is [1, 2].", "[1, 2]"),
            ("`[1, 2]`", "[1, 2]"),
            (r#"{"b": 1, "a": [2]}"#, r#"{"a": [2], "b": 1}"#),
            ("['a', None, True]", r#"["a", null, true]"#),
            (r#"["a\u00e9"]"#, r#"["aé"]"#),
            (r"\left[1, 2\right]", "[1, 2]"),
            ("[]", "[]"),
            ("abc", r#""abc""#),
        ] {
            assert!(matches(answer, target), "{answer}");
        }
        for (answer, target) in [
            ("[2, 1]", "[1, 2]"),
            ("[1, 2, 3]", "[1, 2]"),
            ("1, 2", "[1, 2]"),
            ("5", "[5]"),
            (r#"["1"]"#, "[1]"),
            ("[1, 2] or [2, 1]", "[1, 2]"),
            ("[1, 2", "[1, 2]"),
            ("[[1, 2]]", "[1, 2]"),
            ("[1009]", "[1000]"),
            ("][", "[]"),
            ("", "[]"),
        ] {
            assert!(!matches(answer, target), "{answer}");
        }
    }
}
