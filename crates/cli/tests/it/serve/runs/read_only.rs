//! Read-only servers, and requests from other origins.

use std::sync::Arc;

use serde_json::json;

use super::RunsEnv;
use crate::serve::server::Server;

#[test]
fn read_only_server_and_foreign_pages_change_nothing() {
    let env = RunsEnv::new();
    let name = env.create_study_run(&json!({ "count": 1 }));
    env.run_to_end(&name);
    let study = Arc::clone(&env.server.study);
    let RunsEnv { models, server } = env;
    drop(server);
    let env = RunsEnv { server: Server::on(study, &["--read-only"], &[]), models };
    assert!(env.server.get("/runs").body.contains(&name));
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(!page.contains("<form method=\"post\"") && !page.contains("Delete"), "{page}");
    assert!(!env.server.get("/runs").body.contains("New run"));
    assert!(env.server.get("/runs/new").body.contains("read-only"));
    for (method, path) in [
        ("POST", "/runs"),
        ("POST", "/datasets"),
        ("POST", "/api/v1/runs"),
        ("POST", "/api/v1/datasets?name=x.jsonl"),
        ("PUT", "/api/v1/datasets?name=x.jsonl"),
        ("DELETE", "/api/v1/datasets/x.jsonl"),
        ("POST", &format!("/runs/{name}/start")),
        ("POST", &format!("/runs/{name}/cancel")),
        ("POST", &format!("/runs/{name}/delete")),
        ("POST", &format!("/api/v1/runs/{name}/start")),
        ("DELETE", &format!("/api/v1/runs/{name}")),
    ] {
        assert_eq!(env.server.request(method, path, &[], "source=study").status, 403, "{method} {path}");
    }
    // Requests from other origins are refused on a writable server too.
    let open = RunsEnv::new();
    let foreign = [("Origin", "http://evil.example")];
    assert_eq!(open.server.request("POST", "/api/v1/runs", &foreign, "{\"source\": \"study\"}").status, 403);
    assert_eq!(open.server.get("/api/v1/runs").json()["runs"], json!([]));
}
