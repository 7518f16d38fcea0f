use crate::test_env::{Run, assert_rejected, reasonscape_with};

fn score(input: &str, more: &[&str]) -> Run {
    reasonscape_with(&[&["score", "-"], more].concat(), input)
}

fn json(input: &str, more: &[&str]) -> serde_json::Value {
    let run = score(input, &[&["--format", "json"], more].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

const BOUNDS: &str =
    r#"{"sort": {"low": 0.8, "high": 0.9}, "dates": [0.5, 0.6], "shapes": {"low": 0, "high": 0.1}}"#;

#[test]
fn score_of_bounds_matches_python() {
    let script = r"
import json, math, random, sys
tasks = {'dates': (0.5, 0.6), 'shapes': (0.01, 0.1), 'sort': (0.8, 0.9)}
rng = random.Random(42)
means = sorted(math.exp(sum(math.log(low + (high - low) * rng.random()) for _, (low, high) in sorted(tasks.items()))
                        / len(tasks)) for _ in range(5000))
print(json.dumps([1000 * means[125], 1000 * means[4875]]))
";
    let Some(expected) = reasonscape_test_support::python(script, "") else { return };
    let expected: [f64; 2] = serde_json::from_str(&expected).unwrap();
    let found = json(BOUNDS, &[]);
    assert!((found["ci_low"].as_f64().unwrap() - expected[0]).abs() < 1e-9);
    assert!((found["ci_high"].as_f64().unwrap() - expected[1]).abs() < 1e-9);
    assert!((found["center"].as_f64().unwrap() - f64::midpoint(expected[0], expected[1])).abs() < 1e-9);
}

#[test]
fn shows_one_model_with_its_tasks() {
    insta::assert_snapshot!(score(BOUNDS, &[]).stdout);
}

const BOARD: &str = "model,task,n,n_e,n_t,g
small,sort,128,60,5,0
small,shapes,128,70,0,16
large,sort,128,120,0,0
large,shapes,128,110,0,16
partial,sort,128,121,0,0
large,sort,128,119,0,0
";

#[test]
fn ranks_models_from_counters() {
    let run = score(BOARD, &[]);
    assert_eq!(run.stderr, "note: * partial is scored without shapes\n");
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn pools_rows_of_one_task() {
    let board = json(BOARD, &[]);
    let large = board.as_array().unwrap().iter().find(|row| row["model"] == "large").unwrap();
    let pooled = json(r#"{"sort": {"n": 256, "n_e": 239}}"#, &[]);
    assert_eq!(large["tasks"]["sort"], pooled["tasks"]["sort"]);
}

#[test]
fn json_and_csv_agree_and_leaderboard_can_be_read_back() {
    let rows = r#"[{"model": "small", "task": "sort", "n": 128, "n_e": 60, "n_t": 5},
                   {"model": "small", "task": "shapes", "n": 128, "n_e": 70, "g": 16},
                   {"model": "large", "tasks": {"sort": {"n": 256, "n_e": 239}, "shapes": {"n": 128, "n_e": 110, "g": 16}}},
                   {"model": "partial", "task": "sort", "n": 128, "n_e": 121}]"#;
    assert_eq!(json(rows, &[]), json(BOARD, &[]));
    // The output has bounds, not counters: it has no likelihood or estimate, and not all of what explains the width of an interval.
    let without_causes = |mut board: serde_json::Value| {
        for row in board.as_array_mut().unwrap() {
            row["interval_causes"] = serde_json::Value::Null;
            row["reason_score"] = serde_json::Value::Null;
            for task in row["tasks"].as_object_mut().unwrap().values_mut() {
                task["point"] = serde_json::Value::Null;
            }
        }
        board
    };
    let once = json(BOARD, &[]);
    assert_eq!(without_causes(json(&once.to_string(), &[])), without_causes(once));
    let run = score(&json(BOARD, &[]).to_string(), &[]);
    assert!(!run.stderr.contains("ignored unknown fields"), "{run:?}");
}

#[test]
fn likelihood_needs_counters_and_the_estimator_of_the_score() {
    let method = |run: &Run| {
        let board: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let first = board.as_array().map_or(&board, |rows| &rows[0]);
        first["reason_score"]["method"].as_str().unwrap().to_owned()
    };
    let note = "uses `--method bootstrap`";
    let run = score(BOARD, &["--format", "json"]);
    assert_eq!((method(&run).as_str(), run.stderr.contains(note)), ("likelihood", false), "{run:?}");
    for (input, option) in [(BOUNDS, &[][..]), (BOARD, &["--mode", "K_P"]), (BOARD, &["--literal"])] {
        let run = score(input, &[option, &["--format", "json"]].concat());
        assert_eq!((method(&run).as_str(), run.stderr.contains(note)), ("bootstrap", true), "{run:?}");
        let run = score(input, &[option, &["--method", "likelihood"]].concat());
        assert_rejected(&run, &["`--method likelihood`", "use `--method bootstrap`"]);
    }
}

#[test]
fn marks_other_modes_and_methods() {
    let run = score(BOARD, &["--mode", "K_P"]);
    assert!(run.stderr.contains("estimated by K_P"), "{}", run.stderr);
    let (narrow, wide) = (json(BOUNDS, &[]), json(BOUNDS, &["--method", "min-max"]));
    assert_eq!(wide["method"], "min-max");
    assert!(wide["margin"].as_f64() > narrow["margin"].as_f64());
}

#[test]
fn rejects_invalid_documents_with_position_and_hint() {
    assert_rejected(&score("{", &[]), &["standard input: line 1, column 2", "a key in double quotes"]);
    assert_rejected(&score("hello", &[]), &["`task` column", "task,low,high"]);
    assert_rejected(&score("", &[]), &["`task` column"]);
    assert_rejected(&score("{}", &[]), &["no task in"]);
    assert_rejected(
        &score(r#"{"sort": {"low": 0.9, "high": 0.8}}"#, &[]),
        &["task `sort`", "`low` is 0.9, above `high` = 0.8"],
    );
    assert_rejected(&score(r#"{"sort": {"low": NaN, "high": 0.8}}"#, &[]), &["`low` is NaN"]);
    assert_rejected(&score(r#"{"sort": {"low": 0.9}}"#, &[]), &["`high` is missing"]);
    assert_rejected(
        &score(r#"{"sort": {"n": 3, "n_e": 5}}"#, &[]),
        &["task `sort`", "more than `n` = 3 trials"],
    );
    assert_rejected(
        &score(r#"{"sort": {"n": 3, "n_e": 1, "n_t": 1, "n_u": 3}}"#, &[]),
        &["`n_u` is 3, but `n` - `n_t` is 2"],
    );
    assert_rejected(&score(r#"{"sort": "good"}"#, &[]), &["found a string"]);
    assert_rejected(&score(r#"[{"low": 0.1, "high": 0.2}]"#, &[]), &["entry 1", "`task` is missing"]);
    assert_rejected(&score("task,low,high\nsort,0.1,zwei\n", &[]), &["line 2", "`high` is `zwei`"]);
    assert_rejected(
        &score("task,low,high\nsort,0.1,0.2\nsort,0.1,0.2\n", &[]),
        &["line 3", "duplicate task"],
    );
    assert_rejected(&score("task,low,high\nsort,0.1\n", &[]), &["line 2"]);
    assert_rejected(&score(BOARD, &["--mode", "Q"]), &["unknown mode `Q`"]);
}
