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

/// Asserts that every estimate in a JSON value is inside of its interval, and adds the estimates of proportions to `found`.
fn collect_estimates(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_estimates(item, found)),
        Value::Object(fields) => {
            if let [Some(low), Some(point), Some(high)] =
                ["low", "point", "high"].map(|key| fields.get(key).and_then(Value::as_f64))
            {
                assert!(low <= point && point <= high, "{value}");
                found.push(point);
            }
            fields.values().for_each(|field| collect_estimates(field, found));
        }
        _ => {}
    }
}

/// Asserts that a JSON text has the accuracy of every case as an estimate.
fn assert_json_estimates(text: &str, what: &str) {
    let value = serde_json::from_str(text).unwrap_or_else(|_| panic!("{what}: {text}"));
    let mut found = Vec::new();
    collect_estimates(&value, &mut found);
    for (name, n, correct, ..) in CASES {
        let expected = correct as f64 / n as f64;
        assert!(found.iter().any(|point| (point - expected).abs() < 1e-12), "{what}: {name}: {found:?}");
    }
}

/// Asserts that the rows of each case in a CSV text have its accuracy inside of its interval.
fn assert_csv_estimates(text: &str, what: &str) {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name);
    let columns = [["low", "point", "high"], ["accuracy_low", "accuracy", "accuracy_high"]]
        .into_iter()
        .chain([["maze_low", "maze_point", "maze_high"], ["before_low", "before", "before_high"]]);
    let columns: Vec<[usize; 3]> = columns
        .filter_map(|names| {
            let [low, point, high] = names.map(place);
            Some([low?, point?, high?])
        })
        .collect();
    assert!(!columns.is_empty(), "{what}: {header:?}");
    let rows: Vec<Vec<&str>> = lines.collect();
    for (name, n, correct, ..) in CASES {
        let rows: Vec<_> = rows.iter().filter(|row| row.iter().any(|cell| cell.ends_with(name))).collect();
        assert!(!rows.is_empty(), "{what}: no row for {name}");
        for row in rows {
            for places in &columns {
                let [low, point, high] = places.map(|place| row[place].parse::<f64>().unwrap());
                assert!((point - correct as f64 / n as f64).abs() < 1e-4, "{what}: {name}: {point}");
                // The bounds of a score have a floor of 0.01.
                assert!(low.min(point) >= 0.0 && low <= point.max(0.01) && point <= high, "{what}: {row:?}");
            }
        }
    }
}

#[test]
fn every_format_has_the_estimate_in_its_interval() {
    let (single, grid) = (single_points(), study());
    for (study, question, more) in [
        (&single, "points", &[][..]),
        (&single, "evals", &[]),
        (&single, "scores", &[]),
        (&single, "modes", &["--by", "task", "--mode", "C_P"]),
        (&single, "aggregate", &["--by", "model"]),
        (&single, "tokens", &[]),
        (&single, "variance", &[]),
        (&grid, "projection", &[]),
        (&grid, "surface", &[]),
    ] {
        assert_json_estimates(&study.ask(question, &[more, &["--format", "json"]].concat()).stdout, question);
        assert_csv_estimates(&study.ask(question, &[more, &["--format", "csv"]].concat()).stdout, question);
    }
    assert_json_estimates(&single.ask("hazard", &["--format", "json"]).stdout, "hazard");
    // Tasks pool evaluations, so each case is a study of its own.
    for (name, n, correct, shown, _) in CASES {
        let alone = Plot::new();
        alone.sow(name, "maze", &[point(json!({"length": 8}), n, correct)]);
        let row = &alone.json("tasks", &[])[0]["correct"];
        assert_eq!(row["point"], correct as f64 / n as f64);
        let lines = alone.ask("tasks", &["--format", "markdown"]).stdout;
        assert!(lines.contains(shown), "{name}: {lines}");
        // On a narrow terminal the leaderboard shows tasks below each other.
        let narrow = reasonscape_at(60, &["analyze", "scores", alone.path()]).stdout;
        let row = narrow.lines().find(|line| line.starts_with("│ maze")).unwrap();
        let estimate = format!("{:.2} (", correct as f64 / n as f64);
        assert!(row.contains(&estimate), "{name}: {narrow}");
    }
}

#[test]
fn api_has_the_estimate_in_its_interval() {
    let (single, grid) = (single_points(), study());
    let routes = ["points", "evals", "tokens", "variance", "hazard", "leaderboard", "aggregate?by=model"];
    let replies = get_pages(
        single.path(),
        routes.map(|route| format!("/api/v1/{route}")).each_ref().map(String::as_str),
    );
    for (route, reply) in routes.iter().zip(replies) {
        assert_json_estimates(&reply, route);
    }
    let routes = ["/api/v1/projection", "/api/v1/surface"];
    for (route, reply) in routes.iter().zip(get_pages(grid.path(), routes)) {
        assert_json_estimates(&reply, route);
    }
}

#[test]
fn comparisons_show_estimates_in_their_intervals() {
    let study = single_points();
    let [a, b] = ["all-of-20", "none-of-20"];
    let found = study.json("compare", &[a, b]);
    let task = &found["tasks"][0];
    let [low, difference, high] = ["low", "difference", "high"].map(|key| number(&task[key]));
    assert!(low <= difference && difference == 1.0 && high <= 1.0, "{task}");
    let gap = &found["reason_score"];
    let is_near = |found: &Value, expected: f64| (number(found) - expected).abs() < 1e-9;
    assert!(is_near(&gap["a"]["estimate"], 1000.0) && is_near(&gap["b"]["estimate"], 10.0), "{gap}");
    let [low, difference, high] = ["ci_low", "difference", "ci_high"].map(|key| number(&gap[key]));
    assert!(low <= difference && (difference - 990.0).abs() < 1e-9 && difference <= high, "{gap}");
    let table = study.ask("compare", &[a, b, "--format", "markdown"]).stdout;
    assert!(table.contains("| +1.000 |") && table.contains("| +990 |"), "{table}");
    let csv = study.ask("compare", &[a, b, "--format", "csv"]).stdout;
    assert!(csv.contains(",1,") && csv.contains(",990,"), "{csv}");
    let [page] = get_pages(study.path(), [format!("/compare?a={a}&b={b}").as_str()]);
    assert!(page.contains("<b>+990</b>") && page.contains("+100.0"), "{page}");
}

#[test]
fn tables_of_estimates_and_counters_show_estimates() {
    for (name, n, correct, ..) in CASES {
        let expected = correct as f64 / n as f64;
        let [n, correct] = [n, correct].map(|count| count.to_string());
        let table = reasonscape(&["estimate", "--n", &n, "--correct", &correct, "--format", "markdown"]);
        assert!(table.stdout.contains(&format!("| {expected:.4} |")), "{name}: {table:?}");
        let counters = format!("task,n,n_e,n_t,g\nmaze,{n},{correct},0,0\n");
        let table = reasonscape_with(&["score", "-", "--format", "markdown"], counters.clone()).stdout;
        let row: Vec<&str> =
            table.lines().find(|line| line.contains("| maze")).unwrap().split('|').map(str::trim).collect();
        assert_eq!(row[2], format!("{expected:.3}"), "{name}: {table}");
        let [low, high] = [3, 4].map(|cell| row[cell].parse::<f64>().unwrap());
        assert!(low <= expected + 5e-4 && expected <= high + 5e-4, "{name}: {table}");
        let found = reasonscape_with(&["score", "-", "--format", "json"], counters).stdout;
        let found: Value = serde_json::from_str(&found).unwrap();
        assert_eq!(found["tasks"]["maze"]["point"], expected, "{found}");
    }
    // An interval has no estimate.
    let given = reasonscape_with(&["score", "-", "--format", "json"], r#"{"maze": [0.5, 0.7]}"#).stdout;
    let given: Value = serde_json::from_str(&given).unwrap();
    assert_eq!(given["tasks"]["maze"], json!({"low": 0.5, "high": 0.7, "point": null}));
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
    let page = file.path().with_extension("html");
    let run = reasonscape(&["report", study.path(), "-o", page.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::remove_file(&page).unwrap();
    for (name, _, _, shown, _) in CASES {
        assert!(text.contains(shown), "no `{shown}` for {name} in the page");
    }

    for (name, n, correct, shown, _) in CASES {
        let mut lines = String::new();
        for index in 0..n {
            let answer = if index < correct { "a" } else { "b" };
            writeln!(lines, "{}", json!({"id": index, "target": "a", "answer": answer})).unwrap();
        }
        let json = reasonscape_with(&["metrics", "-", "--format", "json"], lines.clone()).stdout;
        let found: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(found["accuracy"], correct as f64 / n as f64, "{name}: {json}");
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
