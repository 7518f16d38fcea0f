//! Runs at the shutdown of a server.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{RunsEnv, sum};
use crate::serve::server::Server;

#[test]
fn history_survives_a_killed_server() {
    let env = RunsEnv::with("rate=0.9,kinds=slow,slow-ms=100", None, &[]);
    let complete = env.create_study_run(&json!({ "count": 1 }));
    env.run_to_end(&complete);
    let name = env.create(&env.own_run_request(&json!({ "concurrency": 1 })));
    assert_eq!(env.start(&name, &json!({})).status, 202);
    crate::test_env::wait_until("answers came", || sum(&env.get_run(&name), "answered") >= 2);
    let study = Arc::clone(&env.server.study);
    let RunsEnv { models, server } = env;
    // Like a power failure.
    drop(server);
    let env = RunsEnv { server: Server::on(study, &[], &[]), models };
    let runs = env.server.get("/api/v1/runs").json();
    let states: Vec<&Value> = runs["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["interrupted", "complete"], "{runs}");
    let page = env.server.get(&format!("/runs/{name}")).body;
    assert!(
        page.contains("the server stopped before the run ended") && page.contains(">Resume</button>"),
        "{page}"
    );
    let run = env.run_to_end(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(sum(&run, "cached") >= 1, "{run}");
    assert_eq!(sum(&run, "cached") + sum(&run, "answered"), 16, "{run}");
}

#[cfg(unix)]
#[test]
fn shutdown_drains_active_runs() {
    let signal = |server: &Server| {
        let pid = server.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    };
    let mut env = RunsEnv::with("kinds=slow,slow-ms=100", None, &[]);
    let name = env.create_study_run(&json!({}));
    env.start(&name, &json!({}));
    crate::test_env::wait_until("answers came", || env.models.stats().answered >= 2);
    signal(&env.server);
    assert_eq!(env.server.child.wait().unwrap().code(), Some(0));
    let kept: Value =
        serde_json::from_slice(&fs::read(env.folder().join("runs/small-1/run.json")).unwrap()).unwrap();
    assert_eq!(kept["state"], "interrupted", "{kept}");
    assert_eq!(sum(&kept, "answered"), env.models.stats().answered, "nothing that was sent is lost");

    let mut env = RunsEnv::with("kinds=stall", None, &[]);
    let name = env.create_study_run(&json!({}));
    env.start(&name, &json!({}));
    crate::test_env::wait_until("requests were sent", || env.models.stats().requests > 0);
    signal(&env.server);
    std::thread::sleep(Duration::from_millis(300));
    signal(&env.server);
    assert_eq!(env.server.child.wait().unwrap().code(), Some(0));
}
