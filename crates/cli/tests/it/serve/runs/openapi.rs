//! Responses about runs against the OpenAPI document, and former field names.

use serde_json::json;

use super::{RunsEnv, events};
use crate::serve::api::check;

/// The fields of a schema that are marked as deprecated.
fn deprecated(document: &serde_json::Value, schema: &str) -> Vec<String> {
    let properties = document["components"]["schemas"][schema]["properties"].as_object().unwrap();
    let mut names: Vec<String> = properties
        .iter()
        .filter(|(_, described)| described["deprecated"] == true)
        .map(|(name, _)| name.clone())
        .collect();
    names.sort();
    names
}

#[test]
fn former_field_names_keep_working() {
    let env = RunsEnv::new();
    let document = env.server.get("/api/v1/openapi.json").json();
    assert_eq!(deprecated(&document, "NewRun"), ["ask"]);
    assert_eq!(deprecated(&document, "Run"), ["asks"]);
    assert_eq!(deprecated(&document, "RunProgress"), ["troubles"]);

    // Requests: both spellings give the same run.
    let without_identity = |request: &serde_json::Value| {
        let mut run = env.post("/runs", request).json();
        for field in ["name", "created_ms"] {
            run[field].take();
        }
        run
    };
    let new = without_identity(&json!({ "source": "study", "count": 1 }));
    assert_eq!(new["state"], "planned");
    assert_eq!(without_identity(&json!({ "ask": "study", "count": 1 })), new);
    assert_eq!(without_identity(&json!({ "ask": "study", "source": "study", "count": 1 })), new);
    let refused = env.post("/runs", &json!({ "ask": "study", "source": "suite" }));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("`source` contradicts `ask`, its former name"), "{refused:?}");
    for field in ["source", "ask"] {
        let made = env.server.request("POST", "/runs", &[], &format!("{field}=study&count=1"));
        assert_eq!(made.status, 303, "{field}: {made:?}");
        let page = env.server.get(&format!("/runs/new?{field}=study")).body;
        assert!(page.contains("id=\"source-study\" value=\"study\" checked"), "{field}: {page}");
    }
    let refused = env.server.request("POST", "/runs", &[], "source=study&ask=suite");
    assert!(refused.status == 400 && refused.body.contains("contradicts `ask`"), "{refused:?}");

    // Replies and files: both names have the same value, and a record of version 0.1 has the former names only.
    let name = env.create_study_run(&json!({ "count": 1 }));
    let run = env.run_to_end(&name);
    let check = |run: &serde_json::Value| {
        assert_eq!(run["source"], "this study: suite small");
        assert_eq!(run["source"], run["asks"]);
        for progress in run["progress"].as_array().unwrap() {
            assert!(progress["failures"].is_array(), "{run}");
            assert_eq!(progress["failures"], progress["troubles"]);
        }
    };
    check(&run);
    let file = env.folder().join("runs").join(&name).join("run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    check(&record);
    record.as_object_mut().unwrap().remove("source");
    for progress in record["progress"].as_array_mut().unwrap() {
        progress.as_object_mut().unwrap().remove("failures");
        progress["troubles"] = json!([{ "problem": "status 500", "trials": 2, "trial": "sort 1" }]);
    }
    std::fs::write(&file, record.to_string()).unwrap();
    let run = env.get_run(&name);
    check(&run);
    assert_eq!(run["progress"][0]["failures"][0]["problem"], "status 500", "{run}");
}

#[test]
fn run_responses_match_the_openapi_document() {
    let env = RunsEnv::with("rate=0.3,kinds=500,retry-after=0.01", None, &[]);
    let document = env.server.get("/api/v1/openapi.json").json();
    let answers = |path: &str, method: &str, status: &str| {
        document["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"].clone()
    };
    let request = env.own_run_request(&json!({ "price_prompt": 1, "price_completion": 1 }));
    let made = env.post("/runs", &request);
    check(&document, &answers("/runs", "post", "201"), &made.json(), "made");
    for field in request.as_object().unwrap().keys() {
        assert!(document["components"]["schemas"]["NewRun"]["properties"][field].is_object(), "{field}");
    }
    let name = made.json()["name"].as_str().unwrap().to_owned();
    let plan = env.server.get(&format!("/api/v1/runs/{name}/plan")).json();
    check(&document, &answers("/runs/{name}/plan", "get", "200"), &plan, "plan");
    let started = env.start(&name, &json!({})).json();
    check(&document, &answers("/runs/{name}/start", "post", "202"), &started, "started");
    for (_, run) in events(&env.server, &name) {
        check(&document, &json!({ "$ref": "#/components/schemas/Run" }), &run, "event");
    }
    let run = env.get_run(&name);
    check(&document, &answers("/runs/{name}", "get", "200"), &run, "run");
    check(&document, &answers("/runs", "get", "200"), &env.server.get("/api/v1/runs").json(), "runs");
    let taken = env.server.request("POST", "/api/v1/datasets?name=x.csv", &[], "input,target\n1,2\n").json();
    check(&document, &answers("/datasets", "post", "201"), &taken, "taken");
    check(
        &document,
        &answers("/datasets", "get", "200"),
        &env.server.get("/api/v1/datasets").json(),
        "datasets",
    );
}
