//! Scores at the ends of the scale and near them, wherever the program shows a score.

use std::sync::Arc;

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, UnitWriter};
use serde_json::Value;

use super::server::{Server, Study};
use crate::test_env::{eval_info, provenance, reasonscape, reasonscape_at, trial};

/// Name, correct answers, trials, and the exact score.
const MODELS: [(&str, u64, u64, f64); 4] = [
    ("none-of-8", 0, 8, 10.0),
    ("none-of-20", 0, 20, 10.0),
    ("all-of-20", 20, 20, 1000.0),
    ("31-of-32", 31, 32, 968.75),
];

fn study() -> Study {
    let study = Study::with_files(&[]);
    for (id, (name, correct, n, _)) in (0..).zip(MODELS) {
        let eval = eval_info(&format!("a0000{id}"), name, &[]);
        let mut writer = UnitWriter::new(study.path().as_ref(), eval, "add").unwrap();
        let outcome = |index| if index < correct { Outcome::Correct } else { Outcome::Incorrect };
        writer
            .write_point(PointTrials {
                params: r#"{"length": 4}"#.to_owned(),
                planned: n,
                weight: Some(n),
                trials: (0..n).map(|index| trial(index, outcome(index), 0.0)).collect(),
                ..PointTrials::default()
            })
            .unwrap();
        writer.finish(&provenance()).unwrap();
    }
    study
}

fn assert_json_rows(rows: &Value, name: &str) {
    for (model, _, _, score) in MODELS {
        let row = rows.as_array().unwrap().iter().find(|row| row[name] == model).unwrap();
        let found = &row["reason_score"];
        let value = |key: &str| found[key].as_f64().unwrap();
        assert!((value("estimate") - score).abs() < 1e-9, "{row}");
        assert!(value("ci_low") <= value("estimate") && value("estimate") <= value("ci_high"), "{row}");
        assert_eq!((&found["level"], &found["method"]), (&0.95.into(), &"likelihood".into()), "{row}");
        let is_at = |key: &str, end: f64| (value(key) - end).abs() < 1e-9;
        assert_eq!(
            (is_at("ci_low", 10.0), is_at("ci_high", 1000.0)),
            (score == 10.0, score == 1000.0),
            "{row}"
        );
    }
}

/// Asserts that a table of text has each model with its rounded score in the same line.
fn assert_lines(text: &str, separator: char) {
    for (model, _, _, score) in MODELS {
        let line =
            text.lines().find(|line| line.contains(model)).unwrap_or_else(|| panic!("{model}: {text}"));
        let cells: Vec<&str> = line.split(separator).map(str::trim).collect();
        assert!(cells.contains(&format!("{score:.0}").as_str()), "{model}: {line}");
    }
}

#[test]
fn commands_show_estimates_not_midpoints() {
    let study = study();
    let analyze = |arguments: &[&str]| {
        let run = reasonscape_at(160, &[&["analyze", arguments[0], study.path()], &arguments[1..]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    assert_lines(&analyze(&["scores"]), '┆');
    assert_lines(&analyze(&["scores", "--format", "markdown"]), '|');
    assert_json_rows(&serde_json::from_str(&analyze(&["scores", "--format", "json"])).unwrap(), "name");
    let csv = analyze(&["scores", "--format", "csv"]);
    let column = csv.lines().next().unwrap().split(',').position(|name| name == "reason_score").unwrap();
    for (model, _, _, score) in MODELS {
        let line = csv.lines().find(|line| line.contains(model)).unwrap();
        assert!(
            (line.split(',').nth(column).unwrap().parse::<f64>().unwrap() - score).abs() < 1e-9,
            "{line}"
        );
    }
    assert_lines(&analyze(&["cluster"]), '┆');
    let report = tempfile::TempDir::new().unwrap();
    for ending in ["md", "html"] {
        let path = report.path().join(format!("report.{ending}"));
        let run = reasonscape(&["report", study.path(), "-o", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{run:?}");
        let text = std::fs::read_to_string(path).unwrap();
        if ending == "md" {
            let board = text.split("## Leaderboard").nth(1).unwrap();
            assert_lines(&board[board.find("| rank").unwrap()..], '|');
        } else {
            for (model, _, _, score) in MODELS {
                let row = text.split("<tr>").find(|row| row.contains(&format!("{model}</td>"))).unwrap();
                assert!(row.contains(&format!(">{score:.0}</td>")), "{row}");
            }
        }
    }
}

#[test]
fn score_command_shows_estimates_not_midpoints() {
    let mut csv = "model,task,n,n_e,n_t,g\n".to_owned();
    for (model, correct, n, _) in MODELS {
        csv += &[model, "add", &n.to_string(), &correct.to_string(), "0", "0\n"].join(",");
    }
    let score = |format: &str| {
        let run = crate::test_env::reasonscape_with(&["score", "-", "--format", format], csv.clone());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        run.stdout
    };
    assert_lines(&score("table"), '┆');
    assert_lines(&score("markdown"), '|');
    assert_json_rows(&serde_json::from_str(&score("json")).unwrap(), "model");
}

#[test]
fn pages_and_api_show_estimates_not_midpoints() {
    let server = Server::on(Arc::new(study()), &[], &[]);
    assert_json_rows(&server.get("/api/v1/leaderboard").json()["rows"], "name");
    assert_json_rows(&server.get("/leaderboard.json").json(), "name");
    assert_lines(&server.get("/leaderboard.md").body, '|');
    let page = server.get("/").body;
    for (model, _, _, score) in MODELS {
        let row = page.split("<tr>").find(|row| row.contains(&format!(">{model}</a>"))).unwrap();
        assert!(row.contains(&format!("<b>{score:.0}</b>")), "{row}");
        assert!(row.contains("95 % CI"), "{row}");
    }
    let sets = server.get("/api/v1/cluster").json();
    let members: Vec<&Value> = sets["groups"][0]["sets"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|set| set.as_array().unwrap())
        .collect();
    assert_json_rows(&Value::Array(members.into_iter().cloned().collect()), "name");
    let page = server.get("/compare").body;
    let sets = page.split("id=\"sets\"").nth(1).unwrap();
    for (model, _, _, score) in MODELS {
        let row = sets.split("<tr>").find(|row| row.contains(model)).unwrap();
        assert!(row.contains(&format!(">{score:.0}</td>")), "{row}");
    }
}
