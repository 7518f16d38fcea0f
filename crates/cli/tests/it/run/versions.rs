//! A study of both versions of a task keeps them apart, in every table and score, and keeps the version that it began with.

use std::fs;

use reasonscape_core::Suite;
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_test_support::study_toml;
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::reasonscape;

/// `sort` names no version: it is the version that the study began with.
const SUITE: &str = r#"
name = "both"
count = 16
[[manifold]]
id = "any"
task = "sort"
points = [{ length = 6 }]
[[manifold]]
id = "first"
task = "sort@1"
points = [{ length = 4 }]
[[manifold]]
id = "second"
task = "sort@2"
points = [{ length = 4 }]
"#;

fn study(began_with: Option<u32>) -> (SimulatedServer, TempDir) {
    let suites = [1, 2].map(|version| Suite::parse_for(SUITE, version).unwrap());
    let server = SimulatedServer::start(SimulateOptions {
        suites: suites.into(),
        count: Some(64),
        threads: 1,
        ..SimulateOptions::default()
    })
    .unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("both.toml"), SUITE).unwrap();
    let text = study_toml("both.toml", &server.base_url(), &["sim-p0.9", "sim-p0.4"], "");
    fs::write(folder.path().join("study.toml"), text).unwrap();
    if let Some(version) = began_with {
        fs::write(folder.path().join("tasks.lock"), format!("version = {version}\n")).unwrap();
    }
    (server, folder)
}

fn json(arguments: &[&str]) -> Value {
    let run = reasonscape(&[arguments, &["--format", "json"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn versions_of_a_task_never_mix() {
    for (began_with, first, second) in [(Some(1), 32, 16), (Some(2), 16, 32), (None, 16, 32)] {
        let (_server, folder) = study(began_with);
        let path = folder.path().to_str().unwrap();
        json(&["run", path]);
        // Both versions have results now, and the name without one still means what it meant.
        let lock = fs::read_to_string(folder.path().join("tasks.lock")).unwrap();
        assert!(lock.ends_with(&format!("version = {}\n", began_with.unwrap_or(2))), "{lock}");
        let again = reasonscape(&["run", path]);
        assert_eq!(again.code, 0, "{again:?}");
        assert!(reasonscape(&["plan", path]).stdout.contains(" 0 "), "nothing is left to request");

        let sql = "SELECT base_task, count(*) AS n FROM trials GROUP BY base_task ORDER BY base_task";
        let rows = json(&["sql", path, sql]);
        let counts: Vec<(&str, i64)> = rows
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["base_task"].as_str().unwrap(), row["n"].as_i64().unwrap()))
            .collect();
        assert_eq!(counts, [("sort", 2 * first), ("sort@2", 2 * second)]);

        let board = json(&["analyze", "scores", path]);
        for row in board.as_array().unwrap() {
            let tasks: Vec<&String> = row["tasks"].as_object().unwrap().keys().collect();
            assert_eq!(tasks, ["sort", "sort@2"], "{row}");
        }
        let compared = reasonscape(&["analyze", "compare", path, "sim-p0.9", "sim-p0.4", "--format", "json"]);
        assert!(
            compared.stdout.contains("\"sort\"") && compared.stdout.contains("\"sort@2\""),
            "{compared:?}"
        );

        // A score of both is not that of one, and a filter selects either or both.
        let score = |filter: &[&str]| {
            json(&[&["analyze", "scores", path], filter].concat())[0]["reason_score"]["estimate"]
                .as_f64()
                .unwrap()
        };
        let both = score(&["--filter", "base_task=sort"]);
        assert_eq!(both.to_bits(), score(&[]).to_bits());
        let [one, two] = ["sort@1", "sort@2"].map(|task| score(&["--filter", &format!("base_task={task}")]));
        assert!((both - (one * two).sqrt()).abs() < 1e-9 * both, "{both} of {one} and {two}");
    }
}
