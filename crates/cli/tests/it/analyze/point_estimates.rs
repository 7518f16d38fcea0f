//! Every table, page, report and JSON shows the point estimate of an accuracy with its interval, not the interval's midpoint.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

use super::number;
use super::planted::{Plot, point};
use crate::serve::get_pages;
use crate::test_env::{reasonscape, reasonscape_at, reasonscape_with};

/// Name, trials, correct ones, and the accuracy with its interval (Wilson, from a pocket calculator) in tables and cells.
const CASES: [(&str, u64, u64, &str, [&str; 2]); 4] = [
    ("none-of-8", 8, 0, "0.000 (0.000 to 0.324)", ["0", "0 to 32"]),
    ("none-of-20", 20, 0, "0.000 (0.000 to 0.161)", ["0", "0 to 16"]),
    ("all-of-20", 20, 20, "1.000 (0.839 to 1.000)", ["100", "84 to 100"]),
    ("31-of-32", 32, 31, "0.969 (0.843 to 0.994)", ["96.9", "84 to 99"]),
];

/// One evaluation per case, with one point of two parameters.
fn study() -> Plot {
    let study = Plot::new();
    for (name, n, correct, ..) in CASES {
        // A second value of each parameter, so that curves and surfaces have axes.
        let points = [
            point(json!({"depth": 1, "length": 8}), n, correct),
            point(json!({"depth": 1, "length": 16}), n, correct),
            point(json!({"depth": 2, "length": 8}), n, correct),
            point(json!({"depth": 2, "length": 16}), n, correct),
        ];
        study.sow(name, "maze", &points);
    }
    study
}

/// The same with one point, so that evaluations and tasks have these counters too.
fn single_points() -> Plot {
    let study = Plot::new();
    for (name, n, correct, ..) in CASES {
        study.sow(name, "maze", &[point(json!({"length": 8}), n, correct)]);
    }
    study
}

/// Asserts that the line of each case has its estimate.
fn assert_lines(text: &str, what: &str) {
    for (name, _, _, shown, _) in CASES {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(name)).collect();
        assert!(lines.iter().any(|line| line.contains(shown)), "{what}: no `{shown}` for {name} in\n{text}");
    }
}

#[test]
fn tables_show_point_estimates() {
    let (single, grid) = (single_points(), study());
    for (study, arguments) in [
        (&single, &["points"][..]),
        (&single, &["evals"]),
        (&single, &["scores"]),
        (&single, &["modes", "--by", "task"]),
        (&single, &["aggregate", "--by", "model"]),
        (&single, &["tokens"]),
        (&single, &["tokens", "--curve"]),
        (&single, &["variance"]),
        (&grid, &["surface"]),
    ] {
        let run = reasonscape_at(
            400,
            &[&["analyze", arguments[0], study.path()], &arguments[1..], &["--format", "markdown"]].concat(),
        );
        assert_eq!(run.code, 0, "{run:?}");
        assert_lines(&run.stdout, &arguments.join(" "));
    }
    // Tasks pool evaluations.
    let alone = Plot::new();
    alone.sow("31-of-32", "maze", &[point(json!({"length": 8}), 32, 31)]);
    assert!(alone.ask("tasks", &["--format", "markdown"]).stdout.contains("0.969 (0.843 to 0.994)"));
}

#[test]
fn headings_name_the_estimate() {
    let study = study();
    for question in ["points", "surface", "projection", "evals", "tasks", "tokens"] {
        let heading = |mode: &str| {
            let run = study.ask(question, &["--mode", mode, "--format", "markdown"]);
            run.stdout.lines().next().unwrap().to_owned()
        };
        assert!(heading("C_P").contains("| guess-corrected accuracy |"), "{question}: {}", heading("C_P"));
        assert!(heading("E_P").contains("| accuracy |"), "{question}: {}", heading("E_P"));
    }
    study.draws_svg("projection", &["--mode", "E_P"], &["accuracy"]);
    study.draws_svg("projection", &[], &["guess-corrected accuracy"]);
    study.draws_svg("surface", &[], &["guess-corrected accuracy"]);
}

#[test]
fn json_has_point_estimates_beside_midpoints() {
    let study = single_points();
    let expected: BTreeMap<&str, f64> =
        CASES.iter().map(|(name, n, correct, ..)| (*name, *correct as f64 / *n as f64)).collect();
    let assert_point = |row: &Value, estimate: &Value, what: &str| {
        let name = row["name"].as_str().or(row["model"].as_str()).unwrap();
        let expected = expected[name.trim_start_matches("org/")];
        assert_eq!(estimate["point"], expected, "{what}: {row}");
        let [low, center, high] = ["low", "center", "high"].map(|key| number(&estimate[key]));
        assert!((center - f64::midpoint(low, high)).abs() < 1e-15 && low <= expected && expected <= high);
    };
    for row in study.json("points", &[]).as_array().unwrap() {
        assert_point(row, &row["estimate"], "points");
    }
    for row in study.json("evals", &[]).as_array().unwrap() {
        assert_point(row, &row["correct"], "evals");
    }
    for row in study.json("scores", &[]).as_array().unwrap() {
        assert_point(row, &row["tasks"]["maze"]["accuracy"], "scores");
        let task = &row["tasks"]["maze"];
        assert!(number(&task["low"]) >= 0.01, "the bounds of the score keep their floor: {task}");
    }
    for row in study.json("modes", &[]).as_array().unwrap() {
        assert_point(row, &row["tasks"]["maze"]["C_P"], "modes");
    }
    for row in study.json("tokens", &[]).as_array().unwrap() {
        assert_point(row, &row["now"]["accuracy"], "tokens");
    }
    for row in study.json("variance", &[]).as_array().unwrap() {
        assert_point(row, &row["accuracy"], "variance");
    }
    for (_, n, correct, ..) in CASES {
        let [n, correct] = [n, correct].map(|count| count.to_string());
        let run = reasonscape(&["estimate", "--n", &n, "--correct", &correct, "--format", "json"]);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let expected = correct.parse::<f64>().unwrap() / n.parse::<f64>().unwrap();
        assert_eq!(found["C_P"]["point"], expected, "{run:?}");
    }
}

#[test]
fn reports_and_metrics_show_point_estimates() {
    let study = single_points();
    let file = tempfile::NamedTempFile::with_suffix(".md").unwrap();
    let target = file.path().to_str().unwrap();
    let run = reasonscape(&["report", study.path(), "-o", target]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = std::fs::read_to_string(file.path()).unwrap();
    for (name, _, _, shown, _) in CASES {
        assert!(text.contains(shown), "no `{shown}` for {name} in the report");
    }
    assert!(!text.contains("0.92 ±"), "the midpoint of 31 of 32");

    for (name, n, correct, shown, _) in CASES {
        let mut lines = String::new();
        for index in 0..n {
            let answer = if index < correct { "a" } else { "b" };
            writeln!(lines, "{}", json!({"id": index, "target": "a", "answer": answer})).unwrap();
        }
        let run = reasonscape_with(&["metrics", "-", "--format", "markdown"], lines);
        let line = run.stdout.lines().find(|line| line.starts_with("| accuracy |")).unwrap();
        assert!(line.contains(shown), "{name}: {line}");
    }
}

#[test]
fn pages_show_point_estimates() {
    let (single, grid) = (single_points(), study());
    let [board] = get_pages(single.path(), ["/"]);
    let chosen: String = CASES.iter().map(|(name, ..)| format!("&eval={name}")).collect();
    let [explorer] = get_pages(grid.path(), [format!("/explorer?task=maze{chosen}").as_str()]);
    for (name, n, correct, _, [estimate, interval]) in CASES {
        let cell = format!("{estimate}<small> {interval}</small>");
        assert!(board.contains(&cell), "no `{cell}` for {name} on the leaderboard");
        assert!(explorer.contains(&cell), "no `{cell}` for {name} in the explorer");
        // C modes cover less near chance, so their intervals aren't called confidence intervals.
        let tooltip = format!("{:.1} %, nominal 95 % interval from", 100.0 * correct as f64 / n as f64);
        assert!(board.contains(&tooltip), "no `{tooltip}`");
    }
    for page in [board, explorer] {
        assert!(page.contains("guess-corrected accuracy"));
    }
}
