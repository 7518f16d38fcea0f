//! Responses in the cache that can't be read, or that claim what no model can have: every command that lacks them says so.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, Trial, UnitWriter};
use reasonscape_test_support::study_toml;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{RunEnv, SUITE, sum};
use crate::test_env::{Run, eval_info, provenance, reasonscape, start_server, trial};

/// More tokens than all computers have produced.
const ABSURD: u64 = 9_000_000_000_000_000_000;

fn get(url: &str, path: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    reply
}

/// What the leaderboard page of a server on the study shows.
fn leaderboard_page(study: &str) -> String {
    let (mut child, url) = start_server(&["serve", study, "--port", "0", "--read-only"], &[]);
    let page = get(&url, "/");
    child.kill().unwrap();
    child.wait().unwrap();
    page
}

/// Commands that show results of a study, on standard error of which notes appear.
fn boards(study: &str, report: &str) -> Vec<Run> {
    let models =
        reasonscape(&["sql", study, "SELECT eval_id FROM evals ORDER BY eval_id", "--format", "csv"]).stdout;
    let ids: Vec<&str> = models.lines().skip(1).collect();
    let commands = [
        &["analyze", "scores", study][..],
        &["analyze", "evals", study],
        &["analyze", "tasks", study],
        &["analyze", "points", study],
        &["analyze", "compare", study, ids[0], ids[ids.len() - 1]],
        &["analyze", "pairwise", study],
        &["analyze", "tokens", study],
        &["analyze", "hazard", study],
        &["sql", study, "SELECT count(*), sum(completion_tokens) FROM trials"],
        &["export", study],
        &["report", study, "-o", report],
    ];
    commands
        .into_iter()
        .map(|arguments| {
            let run = reasonscape(arguments);
            assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
            run
        })
        .collect()
}

#[test]
fn damaged_entries_are_noted_by_run_evaluate_and_every_board() {
    const NOTE: &str = "2 damaged responses";
    let env = RunEnv::new();
    env.run_to_end(&[]);
    let sent = env.server.stats().requests;
    let study = env.path().to_str().unwrap();
    let (report, other) = (env.path().join("report.md"), env.path().join("other.md"));
    for board in boards(study, report.to_str().unwrap()) {
        assert!(!board.stderr.contains("damaged"), "{board:?}");
    }
    rusqlite::Connection::open(env.cache())
        .unwrap()
        .execute_batch("UPDATE entries SET exchange = x'00' WHERE id IN (3, 30)")
        .unwrap();

    // What was scored before the damage lacks nothing; scored again, two trials are missing.
    let forced = env.command("evaluate", &["--force", "--format", "json"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(forced.stderr.contains(NOTE) && forced.stderr.contains("cache prune --damaged"), "{forced:?}");
    assert_eq!(sum(&serde_json::from_str(&forced.stdout).unwrap(), "damaged"), 2);
    let recorded = reasonscape(&["sql", study, "SELECT count(*) AS n FROM trials", "--format", "csv"]);
    assert_eq!(recorded.stdout, "n\n46\n");

    // Again, although nothing has changed since: a run counts them as cached.
    for command in ["run", "evaluate"] {
        let run = env.command(command, &[]);
        assert!(run.stderr.contains(NOTE), "{command}: {run:?}");
    }
    assert_eq!(env.server.stats().requests, sent);
    for board in boards(study, other.to_str().unwrap()) {
        assert!(board.stderr.contains(NOTE), "{board:?}");
    }
    assert!(fs::read_to_string(&other).unwrap().contains(NOTE));
    assert!(leaderboard_page(study).contains(NOTE));

    let pruned = reasonscape(&["cache", "prune", study, "--damaged"]);
    assert_eq!(pruned.code, 0, "{pruned:?}");
    let run = env.run_to_end(&[]);
    assert_eq!((sum(&run, "cached"), sum(&run, "sent")), (46, 2));
    for board in boards(study, other.to_str().unwrap()) {
        assert!(!board.stderr.contains("damaged"), "{board:?}");
    }
    assert!(!leaderboard_page(study).contains("damaged responses"));
}

/// Answers every request, and claims an absurd number of tokens for every third.
fn absurd_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, stream) in (0_u64..).zip(listener.incoming()) {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut vec![0; 1 << 16]);
            let tokens = if number.is_multiple_of(3) { ABSURD } else { 10 };
            let body = json!({
                "choices": [{ "finish_reason": "stop", "message": { "content": "\\boxed{1}" } }],
                "usage": { "prompt_tokens": 7, "completion_tokens": tokens },
            })
            .to_string();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn absurd_token_counts_in_stored_replies_are_missing() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("small.toml"), SUITE).unwrap();
    let toml = study_toml("small.toml", &absurd_server(), &["m", "n"], "concurrency = 1");
    fs::write(folder.path().join("study.toml"), toml).unwrap();
    let study = folder.path().to_str().unwrap();
    let run = reasonscape(&["run", study, "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("16 trials have no token count"), "{run:?}");
    let summary: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((sum(&summary, "answered"), sum(&summary, "completion_tokens")), (48, 320));

    // The cache has the replies as they came; scored again, they are as absent as before.
    let again = reasonscape(&["evaluate", study, "--force"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("16 trials have no token count"), "{again:?}");
    let counts =
        "SELECT count(*) AS n, count(completion_tokens) AS known, sum(completion_tokens) AS sum FROM trials";
    assert_eq!(reasonscape(&["sql", study, counts, "--format", "csv"]).stdout, "n,known,sum\n48,32,320\n");
    for board in boards(study, folder.path().join("report.md").to_str().unwrap()) {
        assert!(board.stderr.contains("16 trials have no token count"), "{board:?}");
    }
    assert!(leaderboard_page(study).contains("16 trials have no token count"));
}

#[test]
fn absurd_token_counts_in_stored_trials_are_missing() {
    let folder = TempDir::new().unwrap();
    // As earlier versions stored what an endpoint claimed.
    for (id, name) in [("a00001", "first"), ("b00002", "second")] {
        let mut writer = UnitWriter::new(folder.path(), eval_info(id, name, &[]), "add").unwrap();
        for length in [4, 8] {
            let one = |index: u64| Trial {
                completion_tokens: Some(if index == 5 && length == 4 { ABSURD } else { 100 + index }),
                ..trial(
                    index,
                    if index.is_multiple_of(3) { Outcome::Correct } else { Outcome::Truncated },
                    0.0,
                )
            };
            writer
                .write_point(PointTrials {
                    params: format!("{{\"length\": {length}}}"),
                    manifolds: vec!["all".to_owned()],
                    planned: 20,
                    trials: (0..20).map(one).collect(),
                    ..PointTrials::default()
                })
                .unwrap();
        }
        writer.finish(&provenance()).unwrap();
    }
    let study = folder.path().to_str().unwrap();
    for board in boards(study, folder.path().join("report.html").to_str().unwrap()) {
        assert!(board.stderr.contains("token counts that no model can have"), "{board:?}");
        // Rows of trials show what is stored; nothing is computed from it.
        let is_of_rows = board.stdout.starts_with('{') || board.stdout.contains("sum(");
        assert!(is_of_rows || !board.stdout.contains("9000000000000000000"), "{board:?}");
    }
    assert!(leaderboard_page(study).contains("token counts that no model can have"));
}
