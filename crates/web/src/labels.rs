//! Labels of evaluations, points and numbers on pages.

use reasonscape_points::PointsDb;
use serde_json::Value;

use super::sanitize::escape_invisible;

/// The label of an evaluation in tables.
pub(crate) fn eval_label(db: &PointsDb, eval_id: &str) -> String {
    let eval = db.evals().iter().find(|eval| eval.eval_id == eval_id);
    eval.map_or_else(|| eval_id.to_owned(), |eval| reasonscape_analysis::eval_label(db.evals(), eval))
}

/// Parameters as text: `depth=1 length=16`.
pub(crate) fn coordinates(params: &str) -> String {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match serde_json::from_str::<Value>(params) {
        Ok(Value::Object(members)) => {
            let shown = members.iter().map(|(name, value)| format!("{name}={}", plain(value)));
            escape_invisible(&shown.collect::<Vec<_>>().join(" ")).into_owned()
        }
        _ => escape_invisible(params).into_owned(),
    }
}

/// An integer with separators: 12,345.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn separates_thousands() {
        assert_eq!(
            [0, 999, 1_000, 12_345, 1_234_567].map(thousands),
            ["0", "999", "1,000", "12,345", "1,234,567"]
        );
    }
}
