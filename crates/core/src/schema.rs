//! The parameters of a task as a JSON Schema, for editors and other programs.

use serde_json::{Map, Value, json};

use crate::{ParamValue, Range, Task};

/// The JSON Schema (2020-12) of a task's parameters.
///
/// ```
/// use reasonscape_core::{json_schema, tasks};
///
/// let schema = json_schema(tasks::by_name("arithmetic").expect("a built-in task"));
/// assert_eq!(schema["properties"]["length"]["maximum"], 64);
/// assert_eq!(schema["additionalProperties"], false);
/// ```
pub fn json_schema(task: &dyn Task) -> Value {
    let mut properties = Map::new();
    for parameter in task.parameters() {
        let mut property = match parameter.range {
            Range::Int { low, high, .. } => json!({ "type": "integer", "minimum": low, "maximum": high }),
            Range::Real { low, high, .. } => json!({ "type": "number", "minimum": low, "maximum": high }),
            Range::Word { words, .. } => json!({ "type": "string", "enum": words }),
        };
        property["default"] = match parameter.range.default_value() {
            ParamValue::Int(integer) => json!(integer),
            ParamValue::Real(number) => json!(number),
            ParamValue::Word(word) => json!(word),
        };
        property["description"] =
            json!(format!("{} ({})", parameter.description, parameter.dimension.name()));
        properties.insert(parameter.name.to_owned(), property);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{}@{}", task.family(), task.version()),
        "description": task.description(),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}
