//! The OpenAPI document: paths from the table of operations, schemas from the types of the replies.

pub(crate) mod operations;
mod parameters;

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::response::Response;
use schemars::Schema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Map, Value, json};

use self::operations::{Operation, ROOT};
use crate::app::App;
use crate::error::{ApiError, ErrorReply};
use crate::response;

/// Error replies by status code.
const ERRORS: [(u16, &str, &str); 8] = [
    (400, "BadRequest", "The request is invalid, or nothing matches it."),
    (401, "Unauthorized", "The server requires its token."),
    (403, "Forbidden", "The server is read-only, or the request comes from another site."),
    (404, "NotFound", "There is no such run, dataset, trial or figure."),
    (409, "Conflict", "The run is active, or another run blocks it."),
    (413, "TooLarge", "The dataset is longer than 64 MiB."),
    (503, "Unavailable", "Too many clients watch runs."),
    (507, "DiskFull", "The disk is full."),
];

/// The document without its server URL.
static DOCUMENT: LazyLock<Value> = LazyLock::new(document);

/// The document with the base URL of this server.
pub(crate) async fn openapi(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let mut document = DOCUMENT.clone();
    document["servers"] = json!([{ "url": format!("{}{ROOT}", app.base) }]);
    response::json(&document)
}

fn document() -> Value {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
    };
    let mut replies = settings().for_serialize().into_generator();
    let mut requests = settings().for_deserialize().into_generator();
    let (mut paths, mut parameters) = (Map::new(), Map::new());
    for operation in operations::all() {
        for parameter in operation.parameters {
            parameters.insert(parameter.key.to_owned(), parameter.to_json());
        }
        let described = describe(&operation, &mut replies, &mut requests);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described;
    }
    let error = replies.subschema_for::<ErrorReply<'_>>();
    let errors: Map<String, Value> = ERRORS
        .map(|(_, name, description)| (name.to_owned(), content(description, response::JSON, &error)))
        .into_iter()
        .collect();
    let mut schemas = replies.take_definitions(true);
    schemas.append(&mut requests.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "ReasonScape",
            "summary": "The results and runs of a study.",
            "description": "Every proportion has its confidence interval. An unknown number is null.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of the server, if it has one.",
                },
            },
            "parameters": parameters,
            "responses": errors,
            "schemas": schemas.into_iter().map(|(name, schema)| (name, simplified(schema))).collect::<Map<_, _>>(),
        },
    })
}

fn describe(operation: &Operation, replies: &mut SchemaGenerator, requests: &mut SchemaGenerator) -> Value {
    let reference = |kind: &str, name: &str| json!({ "$ref": format!("#/components/{kind}/{name}") });
    let (status, description) = operation.success;
    let success = match operation.reply {
        Some((media, schema)) => content(description, media, &schema(replies)),
        None => json!({ "description": description }),
    };
    let mut responses = Map::from_iter([(status.to_string(), success)]);
    for (status, name, _) in ERRORS {
        if status == 401 || operation.errors.contains(&status) {
            responses.insert(status.to_string(), reference("responses", name));
        }
    }
    let mut described = json!({ "summary": operation.summary, "responses": responses });
    if operation.is_deprecated {
        described["deprecated"] = true.into();
    }
    if !operation.parameters.is_empty() {
        let keys = operation.parameters.iter().map(|parameter| reference("parameters", parameter.key));
        described["parameters"] = keys.collect();
    }
    if let Some(((media, schema), is_required)) = operation.body {
        let schema = schema(requests);
        described["requestBody"] =
            json!({ "required": is_required, "content": { media: { "schema": schema } } });
    }
    described
}

fn content(description: &str, media: &str, schema: &Schema) -> Value {
    let schema = simplified(schema.clone().into());
    json!({ "description": description, "content": { media: { "schema": schema } } })
}

/// The schema without Rust integer widths and without `additionalProperties: true`, which mean nothing in JSON.
fn simplified(schema: Value) -> Value {
    let mut schema = Schema::try_from(schema).expect("a schema is an object or a boolean");
    let mut simplify = RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            schema.remove("additionalProperties");
        }
    });
    simplify.transform(&mut schema);
    schema.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_resolves() {
        let mut found = Vec::new();
        references(&DOCUMENT, &mut found);
        assert!(found.len() > 100);
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(DOCUMENT.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn path_parameters_are_those_of_the_path() {
        for operation in operations::all() {
            let parts =
                operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            let described = operation.parameters.iter().map(parameters::Parameter::to_json);
            let described: Vec<Value> = described.filter(|parameter| parameter["in"] == "path").collect();
            let names: Vec<&str> =
                described.iter().filter_map(|parameter| parameter["name"].as_str()).collect();
            assert_eq!(names, parts.collect::<Vec<_>>(), "{}", operation.path);
        }
    }

    #[test]
    fn every_member_is_described() {
        for (name, schema) in DOCUMENT["components"]["schemas"].as_object().unwrap() {
            for (member, described) in schema["properties"].as_object().into_iter().flatten() {
                assert!(described["description"].is_string(), "{name}.{member}");
            }
        }
    }
}
