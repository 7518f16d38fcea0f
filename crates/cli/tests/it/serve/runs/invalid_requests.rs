//! Invalid run requests and run names.

use std::fs;

use serde_json::json;

use super::RunsEnv;

#[test]
fn rejects_invalid_runs_and_names() {
    let env = RunsEnv::new();
    for (request, says) in [
        (json!({}), "missing field `source`"),
        (json!({ "source": "all" }), "unknown variant"),
        (json!({ "source": "study", "evals": ["no-such"] }), "no evaluation is called no-such"),
        (json!({ "source": "study", "tasks": ["<script>"] }), "the suite has no task"),
        (json!({ "source": "study", "count": 4_000_000_000_u32 }), "from 1 to 100000"),
        (json!({ "source": "study", "count": 99_999_999_999_u64 }), "invalid run request"),
        (env.own_run_request(&json!({ "suite": "../../small.toml" })), "unknown suite"),
        (env.own_run_request(&json!({ "models": [] })), "at least one model"),
        (env.own_run_request(&json!({ "models": ["a", "a"] })), "duplicate of eval 1"),
        (env.own_run_request(&json!({ "base_url": "file:///etc/passwd" })), "begins with `file:`"),
        (env.own_run_request(&json!({ "template": "../x" })), "not a valid name"),
        (env.own_run_request(&json!({ "sampler": "none" })), "unknown sampler"),
        (env.own_run_request(&json!({ "provider": "none" })), "unknown provider"),
        (env.own_run_request(&json!({ "api_key_env": "PATH" })), "start the server with `--allow-key PATH="),
        (env.own_run_request(&json!({ "api_key_env": "REASONSCAPE_TOKEN" })), "`api_key_env` is not allowed"),
        (env.own_run_request(&json!({ "price_prompt": 1 })), "go together"),
        (env.own_run_request(&json!({ "source": "dataset", "dataset": "../study.toml" })), "no such dataset"),
        (env.own_run_request(&json!({ "source": "dataset", "dataset": "\0" })), "no such dataset"),
    ] {
        let reply = env.post("/runs", &request);
        assert!([400, 404].contains(&reply.status), "{request}: {reply:?}");
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(says), "{request}: {said}");
        assert!(!said.contains(env.server.study.path()), "{said}");
    }
    let entries = fs::read_dir(env.folder().join("runs")).map_or(0, Iterator::count);
    assert_eq!(entries, 0, "refused requests leave nothing behind");

    // The form is shown again with its values.
    let form = "source=suite&suite=r12&models=%3Cscript%3Ealert(1)%3C%2Fscript%3E&base_url=nowhere&sampler=greedy-8k";
    let back = env.server.request("POST", "/runs", &[], form);
    assert_eq!(back.status, 400);
    assert!(
        back.body.contains("not a valid URL") && back.body.contains("&lt;script&gt;alert(1)"),
        "{back:?}"
    );
    assert!(!back.body.contains("<script>"));
    assert!(
        back.body.contains("<option value=\"r12\" selected>")
            && back.body.contains("<option value=\"greedy-8k\" selected>")
    );

    for name in
        ["..", "%2e%2e", "..%2f..%2fstudy.toml", "a%00", "%C3%A9", "small-9", "SMALL-1", &"x".repeat(300)]
    {
        for path in ["", "/plan", "/events"] {
            let reply = env.server.get(&format!("/api/v1/runs/{name}{path}"));
            assert_eq!(reply.status, 404, "{name}{path}: {reply:?}");
        }
        for path in ["", "/delete", "/view", "/view/", "/view/trials"] {
            assert_eq!(env.server.get(&format!("/runs/{name}{path}")).status, 404, "{name}{path}");
        }
        for (method, path) in [("POST", "/start"), ("POST", "/cancel"), ("DELETE", "")] {
            assert_eq!(
                env.server.request(method, &format!("/api/v1/runs/{name}{path}"), &[], "").status,
                404,
                "{name}"
            );
        }
    }
    assert!(env.folder().join("study.toml").exists() && env.folder().join("small.toml").exists());
    // A directory without a record is not a run.
    fs::create_dir_all(env.folder().join("runs/mine-1")).unwrap();
    fs::write(env.folder().join("runs/mine-1/notes.txt"), "mine").unwrap();
    assert_eq!(env.server.request("DELETE", "/api/v1/runs/mine-1", &[], "").status, 404);
    assert_eq!(env.server.get("/api/v1/runs").json()["runs"], json!([]));
    assert!(env.folder().join("runs/mine-1/notes.txt").exists());
}
