//! The API and its OpenAPI document.

use serde_json::Value;

use super::server::Server;

/// Asserts that a value matches a schema and has no undocumented fields.
pub(super) fn check(document: &Value, schema: &Value, value: &Value, at: &str) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return check(document, &document["components"]["schemas"][name], value, at);
    }
    // Nullable types and unions: one option must match.
    if let Some(options) = schema["anyOf"].as_array() {
        let is_possible = |option: &&Value| match option["type"].as_str() {
            Some("null") => value.is_null(),
            Some("string") => value.is_string(),
            Some("number") => value.is_number(),
            None if option["$ref"].is_string() => value.is_object(),
            _ => panic!("{at}: unknown option {option}"),
        };
        let option =
            options.iter().find(is_possible).unwrap_or_else(|| panic!("{at}: {value} is none of {schema}"));
        return check(document, option, value, at);
    }
    // Enum variants with descriptions.
    if let Some(options) = schema["oneOf"].as_array() {
        let mut known = options.iter().flat_map(|option| match &option["enum"] {
            Value::Array(names) => names.clone(),
            _ => vec![option["const"].clone()],
        });
        return assert!(
            value.is_string() && known.any(|name| name == *value),
            "{at}: {value} is none of {schema}"
        );
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    let is_of = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        kind => panic!("{at}: unknown type {kind}"),
    };
    assert!(kinds.iter().any(is_of), "{at}: {value} is not {kinds:?}");
    if let Some(known) = schema["enum"].as_array() {
        assert!(known.contains(value), "{at}: {value} is not one of {known:?}");
    }
    for (place, item) in value.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{at}[{place}]"));
    }
    let Some(members) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(members.contains_key(name.as_str().unwrap()), "{at}: no {name} in {value}");
    }
    for (name, member) in members {
        let at = format!("{at}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Null) => assert!(schema["properties"].is_null(), "{at} is not described"),
            (Value::Null, more) => check(document, more, member, &at),
            (described, _) => check(document, described, member, &at),
        }
    }
}

#[test]
fn responses_match_the_openapi_document() {
    let server = Server::shared();
    let document = server.get("/api/v1/openapi.json").json();
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["servers"][0]["url"], "/api/v1");
    let point = server.get("/api/v1/trials?eval=a00001&task=add").json()["rows"][0]["point"].clone();
    let paths = document["paths"].as_object().unwrap();
    // Routes of runs are checked in `runs/openapi.rs`.
    let of_runs = |path: &str| path.starts_with("/runs/") || path.starts_with("/datasets/");
    for (path, operations) in paths.iter().filter(|(path, _)| !of_runs(path)) {
        let filled = path
            .replace("{eval}", "a00001")
            .replace("{task}", "add")
            .replace("{point}", point.as_str().unwrap())
            .replace("{index}", "3")
            .replace("{kind}", "hazard");
        // Only one of the two parameters of this study varies, so both are named.
        let query = if path == "/surface" { "?x=length&y=depth" } else { "" };
        let reply = server.get(&format!("/api/v1{filled}{query}"));
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{path}");
        let schema = &operations["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        check(&document, schema, &reply.json(), path);
    }
    assert_eq!(paths.keys().filter(|path| !of_runs(path)).count(), 23);
}

#[test]
fn explains_invalid_parameters() {
    let server = Server::shared();
    for (path, says) in [
        ("/api/v1/leaderboard?mode=X", "X"),
        ("/api/v1/evals?filter=modle%3Dx", "did you mean `model`?"),
        ("/api/v1/points?filter=model", "invalid filter"),
        ("/api/v1/tasks?filter=model%3Dno-such", "nothing in the study matches"),
        ("/api/v1/trials?limit=100000", "from 1 to 500"),
        ("/api/v1/trials?offset=-1", "is not a valid number"),
        ("/api/v1/trials?params=length%3D9..1", "the range from 9 to 1 is empty"),
        ("/api/v1/surface", "has no two parameters that vary"),
        ("/api/v1/surface?x=length&y=length", "both parameters are `length`"),
        ("/api/v1/projection?x=lenght", "no point has the parameter `lenght`"),
        ("/api/v1/projection?confidence=2", "`confidence=2` is out of range"),
        ("/api/v1/projection?confidence=NaN", "is out of range"),
        ("/api/v1/frontier?task=no-such", "nothing in the study matches"),
        ("/api/v1/hazard?by=model", "expected `eval` or `task`"),
        ("/api/v1/hazard?width=0", "expected at least 1 token per bin"),
        ("/api/v1/hazard?width=99999999999999999999", "is not a valid number"),
        ("/api/v1/tokens?keep=0", "is out of range"),
        ("/api/v1/tokens?keep=nan", "is out of range"),
        ("/api/v1/tokens?budget=-1", "is not a number of tokens"),
        ("/api/v1/compression?loop_bits=-1", "is out of range"),
        ("/api/v1/compression?examples=x", "is not a valid number"),
        ("/api/v1/figures/surface", "has no two parameters that vary"),
        ("/api/v1/figures/hazard?columns=x", "is not a valid number"),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 400, "{path}: {reply:?}");
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(says), "{path}: {said}");
        assert!(!said.contains(server.study.path()), "{said}");
    }
}

#[test]
fn serves_two_hundred_concurrent_requests() {
    let server = Server::start(&[]);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..200)
            .map(|reader| {
                let paths = ["/", "/trials", "/api/v1/leaderboard", "/trials?text=answer-17"];
                let (server, path) = (&server, paths[reader % paths.len()]);
                scope.spawn(move || server.get(path).status)
            })
            .collect();
        for reader in readers {
            assert_eq!(reader.join().unwrap(), 200);
        }
    });
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("reasonscape_http_requests_total{class=\"2xx\"} 200\n"), "{metrics}");
    assert!(metrics.contains("reasonscape_http_requests_total{class=\"5xx\"} 0\n"), "{metrics}");
    assert!(
        metrics.contains("\nreasonscape_evaluations 2\n") && metrics.contains("\nreasonscape_trials 480\n")
    );
}
