//! Reads the fields of an item from a row.

use serde_json::{Map, Value};

use super::ColumnMap;

/// Extracts the answer from a dataset's target.
pub(super) type TargetOf<'f> = dyn Fn(&str) -> Result<String, String> + 'f;

/// A row that is being read.
pub(super) struct Row<'r> {
    pub(super) row: &'r Map<String, Value>,
    pub(super) columns: &'r ColumnMap,
}

impl Row<'_> {
    /// The message for a missing required field.
    pub(super) fn missing(&self, field: &str) -> String {
        let name = self.columns.name_of(field);
        let present: Vec<String> = self.row.keys().map(|key| format!("`{key}`")).collect();
        let present = if present.is_empty() { "nothing".to_owned() } else { present.join(", ") };
        format!("missing field `{name}` (found {present})")
    }

    /// The message for a field with a value of the wrong type.
    pub(super) fn invalid(&self, field: &str, found: &Value, expected: &str) -> String {
        format!("`{}` is {}; expected {expected}", self.columns.name_of(field), describe_value(found))
    }

    /// A text, unless it is blank.
    pub(super) fn text(&self, field: &str) -> Result<Option<String>, String> {
        match self.columns.find(self.row, field) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() && field == "input" => {
                Err(format!("`{}` is empty; expected a question", self.columns.name_of(field)))
            }
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
            Some(Value::Array(parts)) if field == "context" => {
                let part = |part: &Value| part.as_str().map(str::to_owned);
                let parts: Option<Vec<String>> = parts.iter().map(part).collect();
                let expected = "a text, or a list of texts";
                parts.map(|parts| Some(parts.join("\n\n"))).ok_or_else(|| {
                    self.invalid(field, self.columns.find(self.row, field).unwrap_or(&Value::Null), expected)
                })
            }
            Some(other) => Err(self.invalid(field, other, "a text")),
        }
    }

    /// A text or a number, as text.
    pub(super) fn scalar(&self, field: &str) -> Result<Option<String>, String> {
        match self.columns.find(self.row, field) {
            None => Ok(None),
            Some(value) => match scalar_text(value) {
                Some(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
                None => Err(self.invalid(field, value, "a text or a number")),
            },
        }
    }

    /// The correct answers, without duplicates.
    pub(super) fn targets(&self, target_of: Option<&TargetOf<'_>>) -> Result<Vec<String>, String> {
        let expected = "a text, a number, or a list of those";
        let value = self.columns.find(self.row, "target").ok_or_else(|| self.missing("target"))?;
        let items = match value {
            Value::Array(items) => items.iter().collect(),
            single => vec![single],
        };
        let mut targets: Vec<String> = Vec::new();
        for item in items {
            let text = scalar_text(item).ok_or_else(|| self.invalid("target", item, expected))?;
            let text = target_of.map_or(Ok(text.clone()), |target_of| target_of(&text))?;
            if text.trim().is_empty() {
                return Err(format!("`{}` is empty; expected an answer", self.columns.name_of("target")));
            }
            let text = text.trim().to_owned();
            if !targets.contains(&text) {
                targets.push(text);
            }
        }
        if targets.is_empty() {
            return Err(self.invalid("target", value, "at least one answer"));
        }
        Ok(targets)
    }
}

/// A text, a number or a truth value, as text.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// A value as an error names it.
fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(truth) => format!("`{truth}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() > 40 => {
            format!("`{}…`", text.chars().take(40).collect::<String>().escape_debug())
        }
        Value::String(text) => format!("`{}`", text.escape_debug()),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
