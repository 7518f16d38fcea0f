//! Responses about runs against their description.

use serde_json::json;

use super::{RunsEnv, events};
use crate::serve::api::check;

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
