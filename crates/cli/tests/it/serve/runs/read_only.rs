//! Read-only servers, and requests from other origins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

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

/// Every file and directory, with its size and the time of its last change.
fn listing(folder: &Path) -> BTreeMap<PathBuf, (u64, SystemTime)> {
    // Files that come and go leave a trace in the directory.
    let metadata = std::fs::metadata(folder).unwrap();
    let mut found = BTreeMap::from([(folder.to_owned(), (metadata.len(), metadata.modified().unwrap()))]);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::metadata(&path).unwrap();
        if metadata.is_dir() {
            found.extend(listing(&path));
        }
        found.insert(path, (metadata.len(), metadata.modified().unwrap()));
    }
    found
}

#[test]
fn read_only_server_writes_nothing() {
    let env = RunsEnv::new();
    let name = env.create_study_run(&json!({ "count": 1 }));
    env.run_to_end(&name);
    let own = env.create(&env.own_run_request(&json!({ "count": 1 })));
    env.run_to_end(&own);
    let env = env.restart(&["--read-only"], &[]);
    let folder = env.folder();
    // A server that was killed leaves runs that seem to be active, and no lock after a copy.
    for run in [&name, &own] {
        let record = folder.join("runs").join(run).join("run.json");
        let text = std::fs::read_to_string(&record).unwrap();
        assert!(text.contains("\"complete\""), "{text}");
        std::fs::write(&record, text.replace("\"complete\"", "\"running\"")).unwrap();
    }
    let _ = std::fs::remove_file(folder.join("runs/.lock"));
    let _ = std::fs::remove_file(folder.join("runs").join(&own).join(".lock"));
    let before = listing(&folder);
    assert!(before.keys().any(|path| path.ends_with("cache.sqlite")), "{before:?}");
    let row = env.server.get("/api/v1/trials?limit=1").json()["rows"][0].clone();
    let trial = format!(
        "/trials/{}/{}/{}/{}",
        row["eval_id"].as_str().unwrap(),
        row["base_task"].as_str().unwrap(),
        row["point"].as_str().unwrap(),
        row["index"]
    );
    let page = env.server.get(&trial);
    assert!(
        page.body.contains("The answer is one integer") && !page.body.contains("not in the cache"),
        "{page:?}"
    );
    for path in [
        "/",
        "/explorer",
        "/compare",
        "/trials",
        "/forensics",
        "/runs",
        "/runs/new",
        "/metrics",
        "/api/v1/runs",
        &format!("/runs/{name}"),
        &format!("/runs/{own}"),
        &format!("/api/v1/runs/{name}/plan"),
        &format!("/api/v1/runs/{own}/plan"),
        &format!("/runs/{own}/view/"),
        &format!("/api/v1/runs/{name}/events"),
    ] {
        let reply = env.server.get(path);
        assert!(reply.status < 400, "{path}: {reply:?}");
    }
    assert!(env.server.get(&format!("/runs/{name}")).body.contains("nterrupted"));
    assert_eq!(listing(&folder), before);
}
