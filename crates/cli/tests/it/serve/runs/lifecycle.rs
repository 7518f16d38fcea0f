//! A run from its creation to its results, of the study or of its own.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{RunsEnv, sum};

#[test]
fn runs_a_study_without_trials() {
    let env = RunsEnv::new();
    let home = env.server.get("/");
    assert_eq!((home.status, home.header("location")), (303, Some("/runs")), "{home:?}");
    assert_eq!(env.server.get("/api/v1/leaderboard").status, 404);
    assert_eq!(env.server.get("/metrics").status, 200);
    assert!(env.server.get("/runs").body.contains("No runs yet"));

    let name = env.create_study_run(&json!({}));
    assert_eq!(name, "small-1");
    let plan = env.server.get("/api/v1/runs/small-1/plan").json();
    let to_send: u64 =
        plan["evals"].as_array().unwrap().iter().map(|one| one["to_send"].as_u64().unwrap()).sum();
    assert_eq!(to_send, 32, "{plan}");
    assert_eq!(env.models.stats().requests, 0, "nothing is sent before the start");
    let page = env.server.get("/runs/small-1").body;
    assert!(page.contains("<b>32</b> requests") && page.contains(">Start</button>"), "{page}");

    let run = env.run_to_end(&name);
    assert_eq!((&run["state"], &run["reason"]), (&json!("complete"), &Value::Null), "{run}");
    assert_eq!((sum(&run, "answered"), sum(&run, "done"), env.models.stats().answered), (32, 32, 32));
    assert_eq!(run["has_results"], true);
    // Files are checked once a second.
    std::thread::sleep(Duration::from_millis(1_100));
    let board = env.server.get("/api/v1/leaderboard").json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 2, "{board}");
    assert!(env.server.get("/runs").body.contains("class=\"state complete\""));

    // More problems send only the additional requests.
    let more = env.create_study_run(&json!({ "count": 12, "evals": [board["rows"][0]["eval_id"]] }));
    let run = env.run_to_end(&more);
    assert_eq!((sum(&run, "cached"), sum(&run, "answered")), (16, 8), "{run}");
}

#[test]
fn sends_nothing_again_when_the_cache_lost_responses() {
    let env = RunsEnv::new();
    let first = env.create_study_run(&json!({}));
    assert_eq!(env.run_to_end(&first)["state"], "complete");
    let sent = env.models.stats().requests;
    fs::remove_file(env.folder().join("cache.sqlite")).unwrap();
    let second = env.create_study_run(&json!({}));
    let run = env.run_to_end(&second);
    assert_eq!(run["state"], "failed", "{run}");
    let reason = run["reason"].as_str().unwrap();
    for part in ["has lost 32 of the responses", "from a backup", "`reasonscape run --resend`"] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    assert_eq!(env.models.stats().requests, sent);
}

#[test]
fn own_run_gets_a_study_of_its_own() {
    let env = RunsEnv::new();
    let request = env.own_run_request(&json!({ "models": ["sim-p0.9", "sim-cheap"], "count": 4, "price_prompt": 1,
                                  "price_completion": 1000, "template": "zero-shot", "sampler": "greedy-4k" }));
    let name = env.create(&request);
    let plan = env.server.get(&format!("/api/v1/runs/{name}/plan")).json();
    assert!(plan["evals"][0]["cost"].as_f64().unwrap() > 0.0, "{plan}");
    let run = env.run_to_end(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(run["progress"][0]["cost"].as_f64().unwrap() > 0.0, "{run}");
    // The served study is unchanged.
    assert!(!env.folder().join("cache.sqlite").exists());
    assert_eq!(env.server.get("/").header("location"), Some("/runs"));

    let view = format!("/runs/{name}/view");
    assert_eq!(env.server.get(&view).header("location"), Some(format!("{view}/").as_str()));
    let page = env.server.get(&format!("{view}/")).body;
    assert!(page.contains("sim-cheap") && page.contains(&format!("› run {name}")), "{page}");
    for part in page.split("href=\"").skip(1) {
        let target = part.split('"').next().unwrap().replace("&#x2f;", "/");
        let is_ours = target.starts_with(&view) || ["/", "/runs", "#main"].contains(&target.as_str());
        assert!(is_ours, "{target}");
    }
    for path in [
        "/trials",
        "/explorer",
        "/compare",
        "/forensics",
        "/api/v1/evals",
        "/leaderboard.csv",
        "/assets/site.css",
    ] {
        assert_eq!(env.server.get(&format!("{view}{path}")).status, 200, "{path}");
    }
    let packed = env.server.request("GET", &format!("{view}/"), &[("Accept-Encoding", "gzip")], "");
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    for path in ["/runs", "/login", "/no-such"] {
        assert_eq!(env.server.get(&format!("{view}{path}")).status, 404, "{path}");
    }
    // The command line has no requests left to send.
    let folder = env.folder().join("runs").join(&name);
    let planned = crate::test_env::reasonscape(&["plan", folder.to_str().unwrap(), "--format", "json"]);
    let planned: Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!((&planned[0]["to_send"], &planned[0]["trials"]), (&json!(0), &json!(8)), "{planned}");

    let deleted = env.server.request("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert!(!folder.exists());
    assert_eq!(env.server.get(&format!("{view}/")).status, 404);
    assert!(env.folder().join("study.toml").exists());
}

#[test]
fn reports_unreachable_endpoint() {
    let env = RunsEnv::new();
    let file = env.folder().join("study.toml");
    // A closed port, and a short outage timeout.
    let text = "suite = \"small.toml\"\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                outage_timeout_seconds = 0.2\nmax_retries = 0\n";
    fs::write(&file, text).unwrap();
    let name = env.create_study_run(&json!({}));
    let run = env.run_to_end(&name);
    assert_eq!(run["state"], "failed", "{run}");
    let reason = run["reason"].as_str().unwrap();
    assert!(reason.contains("127.0.0.1:9"), "{reason}");
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("class=\"state failed\"") && page.contains("127.0.0.1:9"), "{page}");
}

/// A run with a suite of its own means by `quick` what the study means that it is created from.
#[test]
fn run_inherits_the_version_of_the_study() {
    for (lock, expected) in [("", 2), ("version = 1\n", 1), ("version = 2\n", 2)] {
        let env = RunsEnv::new();
        let file = env.folder().join("study.toml");
        // The suite of the environment names versions; this one names none.
        let text = fs::read_to_string(&file).unwrap().replace("suite = \"small.toml\"", "suite = \"quick\"");
        fs::write(&file, text).unwrap();
        if !lock.is_empty() {
            fs::write(env.folder().join("tasks.lock"), lock).unwrap();
        }
        for suite in ["quick", "study"] {
            let name = env.create(&env.own_run_request(&json!({ "suite": suite })));
            let folder = env.folder().join("runs").join(&name);
            let study = reasonscape_study::Study::load(&folder).unwrap();
            assert_eq!(study.version(), Some(expected), "{suite} of a study with `{lock}`");
        }
    }
}
