//! `reasonscape analyze cluster`: sets of models that no paired test tells apart.

use std::fs;

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, Trial, UnitWriter};
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, eval_info, provenance, reasonscape_at, trial};

/// Problems of each point.
const PROBLEMS: u64 = 100;

/// Name, tokens of a completion, label, and how many of the first problems are answered correctly.
///
/// A model that solves `d` problems more than another solves all that the other does, so the p-value of the pair is `2^(1-d)`
/// exactly: 0.0156 for 7 problems, which is significant among three pairs but not among six, and 0.125 for 4.
const MODELS: [(&str, u64, &str, u64); 3] =
    [("top", 300, "size:large", 80), ("middle", 100, "size:small", 76), ("low", 200, "size:small", 73)];

struct Board {
    folder: TempDir,
}

impl Board {
    /// The models on `sort`, whose second point all answer alike, and on `dates`, which all answer alike.
    fn new() -> Self {
        let board = Self { folder: TempDir::new().unwrap() };
        for (name, tokens, label, correct) in MODELS {
            let eval = || eval_info(name, name, &[label]);
            let write = |task: &str, points: &[(&str, &str, u64)]| {
                let mut writer = UnitWriter::new(board.folder.path(), eval(), task).unwrap();
                for (params, manifold, correct) in points {
                    let status = |index| if index < *correct { Outcome::Correct } else { Outcome::Incorrect };
                    let trial =
                        |index| Trial { completion_tokens: Some(tokens), ..trial(index, status(index), 0.0) };
                    writer
                        .write_point(PointTrials {
                            params: (*params).to_owned(),
                            manifolds: vec![(*manifold).to_owned()],
                            planned: PROBLEMS,
                            trials: (0..PROBLEMS).map(trial).collect(),
                            ..PointTrials::default()
                        })
                        .unwrap();
                }
                writer.finish(&provenance()).unwrap();
            };
            write("sort", &[(r#"{"length": 8}"#, "short", correct), (r#"{"length": 16}"#, "long", 50)]);
            write("dates", &[(r#"{"depth": 1}"#, "dates", 60)]);
        }
        board
    }

    fn ask(&self, more: &[&str]) -> Run {
        let path = self.folder.path().to_str().unwrap();
        reasonscape_at(120, &[&["analyze", "cluster", path], more].concat())
    }

    /// The groups: value, pairs and the names of each set.
    fn groups(&self, more: &[&str]) -> Vec<(Value, u64, Vec<Vec<String>>)> {
        let run = self.ask(&[more, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let names = |set: &Value| {
            let members = set.as_array().unwrap();
            members.iter().map(|member| member["name"].as_str().unwrap().to_owned()).collect()
        };
        let group = |group: &Value| {
            let sets = group["sets"].as_array().unwrap().iter().map(names).collect();
            (group["group"].clone(), group["pairs"].as_u64().unwrap(), sets)
        };
        found["groups"].as_array().unwrap().iter().map(group).collect()
    }
}

fn sets(sets: &[&[&str]]) -> Vec<Vec<String>> {
    sets.iter().map(|set| set.iter().map(ToString::to_string).collect()).collect()
}

#[test]
fn sets_overlap_and_list_the_cheapest_model_first() {
    let board = Board::new();
    let short = ["--filter", "params.length=8"];
    // Only top and low differ, so middle is in both sets, and costs the least.
    let overlapping = sets(&[&["middle", "top"], &["middle", "low"]]);
    assert_eq!(board.groups(&short), [(Value::Null, 3, overlapping)]);
    let table = board.ask(&short);
    let rows: Vec<Vec<&str>> = table
        .stdout
        .lines()
        .filter(|line| line.contains("all"))
        .map(|line| line.trim_matches('│').split('┆').map(str::trim).collect())
        .collect();
    let shown: Vec<[&str; 4]> = rows.iter().map(|cells| [cells[1], cells[2], cells[3], cells[5]]).collect();
    assert_eq!(
        shown,
        [
            ["1", "middle", "760", "100"],
            ["1", "top", "800", "300"],
            ["2", "middle", "760", "100"],
            ["2", "low", "730", "200"],
        ],
        "{table:?}"
    );
    assert!(table.stderr.contains("Holm's correction over 3 pairs"), "{table:?}");
}

#[test]
fn groups_are_tested_and_corrected_one_by_one() {
    let board = Board::new();
    let all = || sets(&[&["middle", "low", "top"]]);
    let overlapping = || sets(&[&["middle", "top"], &["middle", "low"]]);
    let text = |value: &str| Value::String(value.to_owned());
    // Corrected over the pairs of all groups, top and low would not differ anywhere.
    assert_eq!(
        board.groups(&["--by", "manifold"]),
        [(text("dates"), 3, all()), (text("long"), 3, all()), (text("short"), 3, overlapping())]
    );
    assert_eq!(
        board.groups(&["--by", "params.length"]),
        [(Value::from(8.0), 3, overlapping()), (Value::from(16.0), 3, all())]
    );
    assert_eq!(
        board.groups(&["--by", "base_task", "--filter", "manifold=short", "--filter", "manifold=dates"]),
        [(text("dates"), 3, all()), (text("sort"), 3, overlapping())]
    );
    // Facets split the models: the small ones are one pair.
    assert_eq!(
        board.groups(&["--by", "facets.size", "--filter", "params.length=8"]),
        [(text("large"), 0, sets(&[&["top"]])), (text("small"), 1, sets(&[&["middle", "low"]]))]
    );
}

#[test]
fn csv_has_a_row_per_member() {
    let board = Board::new();
    let csv = board.ask(&["--filter", "params.length=8", "--format", "csv"]).stdout;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let columns = ["group", "set", "name", "reason_score", "tokens_mean"].map(place);
    let rows: Vec<[&str; 5]> = lines.map(|cells| columns.map(|column| cells[column])).collect();
    assert_eq!(
        rows,
        [
            ["all", "1", "middle", "760", "100"],
            ["all", "1", "top", "800", "300"],
            ["all", "2", "middle", "760", "100"],
            ["all", "2", "low", "730", "200"],
        ]
    );
}

#[test]
fn names_the_model_whose_trials_are_missing() {
    let board = Board::new();
    let trials = board.folder.path().join("trials").join("eval=low");
    fs::remove_dir_all(trials).unwrap();
    assert_rejected(&board.ask(&[]), &["counters of low, but not its trials"]);
    let board = Board::new();
    assert_rejected(&board.ask(&["--by", "model"]), &["models can't be grouped by `model`"]);
}
