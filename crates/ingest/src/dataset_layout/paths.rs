//! Values by path: `question.stem`, `choices.text`, `answers.0`, and several columns as one list, `A+B+C+D`.

use serde_json::{Map, Value};

/// Whether a name is more than a column.
pub(super) fn is_path(name: &str) -> bool {
    name.contains(['.', '+'])
}

/// The value of a column or a path. A step into a list is an index, or taken in each of its objects.
pub(super) fn resolve(row: &Map<String, Value>, name: &str) -> Option<Value> {
    if let Some(value) = row.get(name) {
        return Some(value.clone()).filter(|value| !value.is_null());
    }
    if name.contains('+') {
        let parts: Vec<Value> = name.split('+').filter_map(|part| resolve(row, part.trim())).collect();
        return (!parts.is_empty()).then_some(Value::Array(parts));
    }
    let mut path = name.split('.');
    let first = row.get(path.next()?)?.clone();
    path.try_fold(first, |value, step| take(&value, step)).filter(|value| !value.is_null())
}

fn take(value: &Value, step: &str) -> Option<Value> {
    match value {
        Value::Object(members) => members.get(step).cloned(),
        Value::Array(items) => match step.parse::<usize>() {
            Ok(index) => items.get(index).cloned(),
            Err(_) => {
                items.iter().map(|item| item.get(step).cloned()).collect::<Option<_>>().map(Value::Array)
            }
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_go_through_objects_and_lists() {
        let Value::Object(row) = json!({
            "question": {"stem": "?", "choices": [{"text": "a", "label": "A"}, {"text": "b", "label": "B"}]},
            "answers": ["x", "y"], "A": "1", "B": "2", "a.b": "own", "none": null
        }) else {
            unreachable!()
        };
        for (path, expected) in [
            ("question.stem", json!("?")),
            ("question.choices.text", json!(["a", "b"])),
            ("question.choices.1.label", json!("B")),
            ("answers.0", json!("x")),
            ("A+B+C", json!(["1", "2"])),
            ("a.b", json!("own")),
        ] {
            assert_eq!(resolve(&row, path), Some(expected), "{path}");
        }
        for path in ["question.title", "answers.2", "C+D", "none", "A.B"] {
            assert_eq!(resolve(&row, path), None, "{path}");
        }
    }
}
