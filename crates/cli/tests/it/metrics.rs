//! `reasonscape metrics` against the same formulas in plain Python, and on lines that are not as they should be.

mod study;

use std::fmt::Write;

use serde_json::Value;

use crate::test_env::{Run, assert_rejected, reasonscape, reasonscape_at, reasonscape_with};

const ORACLE: &str = include_str!("metrics/oracle.py");
const GENERATE: &str = include_str!("metrics/generate.py");

fn metrics(lines: impl Into<Vec<u8>>, more: &[&str]) -> Run {
    reasonscape_with(&[&["metrics", "-"], more].concat(), lines)
}

fn json(lines: impl Into<Vec<u8>>, more: &[&str]) -> Value {
    let run = metrics(lines, &[&["--format", "json"], more].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// Asserts that two numbers, or two absences, are the same up to `tolerance` of their size.
fn same(found: &Value, expected: &Value, tolerance: f64, what: &str) {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => {
            let off = (found - expected).abs() / expected.abs().max(1.0);
            assert!(off <= tolerance, "{what}: {found}, expected {expected}");
        }
        _ => assert_eq!(found, expected, "{what}"),
    }
}

#[test]
fn formulas_match_python_on_random_results() {
    for seed in ["1", "2"] {
        let Some(lines) = reasonscape_test_support::python(GENERATE, seed) else { return };
        let expected = reasonscape_test_support::python(ORACLE, &lines).expect("it was there a moment ago");
        let expected: Vec<(String, Value)> = serde_json::from_str(&expected).unwrap();
        assert_matches(&json(lines.as_str(), &[]), &expected);
    }
}

/// Asserts that a summary of several models has the numbers of the oracle.
fn assert_matches(found: &Value, expected: &[(String, Value)]) {
    let models = found["models"].as_array().unwrap();
    assert_eq!(models.len(), expected.len());
    for (found, (model, expected)) in models.iter().zip(expected) {
        assert_eq!(found["model"], model.as_str());
        assert_model_matches(found, expected, model);
    }
}

fn assert_model_matches(found: &Value, expected: &Value, model: &str) {
    for (name, value) in expected["plain"].as_object().unwrap() {
        same(&found[name], value, 1e-12, &format!("{model} {name}"));
    }
    for (name, values) in expected["found"].as_object().unwrap() {
        same(&found[name], &values[0], 1e-12, &format!("{model} {name}"));
        let detail = &found["details"][name];
        // Python integrates Student's distribution by hand, which is good for ten digits.
        same(&detail["low"], &values[1], 1e-9, &format!("{model} {name} low"));
        same(&detail["high"], &values[2], 1e-9, &format!("{model} {name} high"));
        assert_eq!(detail["n"], values[3], "{model} {name} n");
    }
}

/// Lines with nothing but `input`, `target`, `answer` and `cot`, which is empty, blank, null or text.
const BARE_LINES: &str = r#"
import json, random
rng = random.Random(7)
for number in range(200):
    target = str(rng.randint(0, 9))
    cot = rng.choice(["", "", None, " \n", "1. one\n2. two\n- three", "Sorry, no. Actually " + "word " * rng.randint(0, 30)])
    row = {"input": f"What is {number}?", "target": target, "answer": rng.choice([target, "no", "7", None]), "cot": cot}
    print(json.dumps(row), end=rng.choice(["\n", "\r\n", "\n\n"]))
"#;

#[test]
fn bare_lines_match_python() {
    let Some(lines) = reasonscape_test_support::python(BARE_LINES, "") else { return };
    let fields: std::collections::BTreeSet<String> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .flat_map(|line| serde_json::from_str::<serde_json::Map<String, Value>>(line).unwrap())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(fields.into_iter().collect::<Vec<_>>(), ["answer", "cot", "input", "target"]);
    let expected = reasonscape_test_support::python(ORACLE, &lines).expect("it was there a moment ago");
    let expected: Vec<(Option<String>, Value)> = serde_json::from_str(&expected).unwrap();
    let found = json(lines.as_str(), &[]);
    assert_model_matches(&found, &expected[0].1, "no model");
    assert_eq!((&found["n"], &found["tasks"]), (&200.into(), &200.into()));
    let reasoned = found["details"]["cot_tokens_mean"]["n"].as_u64().unwrap();
    assert!((100..200).contains(&reasoned), "some traces are missing, and empty ones are not: {reasoned}");
}

#[test]
fn empty_reasoning_is_a_trace_and_null_is_none() {
    let lines = r#"{"input": "?", "target": "x", "answer": "x", "cot": ""}
{"input": "?", "target": "x", "answer": "x", "cot": "four words in all"}
{"input": "?", "target": "x", "answer": "x", "cot": null}
{"input": "?", "target": "x", "answer": "x"}
"#;
    let found = json(lines, &[]);
    for (name, mean) in
        [("cot_tokens_mean", 2.0), ("cot_chars_mean", 8.5), ("step_count_mean", 0.0), ("ra_ratio_mean", 2.0)]
    {
        assert_eq!((&found[name], &found["details"][name]["n"]), (&mean.into(), &2.into()), "{name}");
    }
}

#[test]
fn line_numbers_are_ids_across_chunks_and_files() {
    let folder = tempfile::tempdir().unwrap();
    // Longer than a chunk, with blank lines in between: numbers count every line of the file.
    let cot = "word ".repeat(2_000);
    let lines: String = (0..200).fold(String::new(), |mut text, number| {
        let blank = if number % 3 == 0 { "\n" } else { "" };
        let _ = writeln!(
            text,
            r#"{blank}{{"target": "{number}", "answer": "{}", "cot": "{cot}"}}"#,
            number % 150
        );
        text
    });
    let path = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, &lines).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let log = folder.path().join("log.jsonl");
    let files = [path("a.jsonl"), path("b.jsonl")];
    let log_path = log.to_str().unwrap();
    let run = reasonscape(&["metrics", &files[0], &files[1], "--format", "json", "--per-task", log_path]);
    assert_eq!(run.code, 0, "{run:?}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    // The same line of both files is the same question.
    assert_eq!(found["differences"][0]["tasks"], 200);
    let log = std::fs::read_to_string(log).unwrap();
    let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
    let ids: Vec<String> = log.lines().map(id).collect();
    let numbers: Vec<String> = (1..)
        .zip(lines.lines())
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, _): (usize, _)| number.to_string())
        .collect();
    assert_eq!(ids, [numbers.clone(), numbers].concat());
}

#[test]
fn latencies_keep_their_fractions() {
    let lines = r#"{"target": 1, "answer": 1, "latency_ms": 12.5}
{"target": 1, "answer": 1, "latency_ms": 13, "latency_us": 13750}
"#;
    let found = json(lines, &[]);
    assert_eq!((&found["latency_mean_ms"], &found["latency_p95_ms"]), (&13.125.into(), &13.75.into()));
    assert!(metrics(lines, &[]).stdout.contains("13.1"));
}

#[test]
fn verdicts_of_lines_count_only_if_asked_for() {
    let lines = r#"{"target": "x", "answer": "y", "correct": true}
{"target": "x", "answer": "x", "correct": false}
{"target": "x", "answer": "z", "correct": true}
"#;
    let accuracy = |lines: &str, more: &[&str]| {
        let found = json(lines, more);
        (found["scorer"].as_str().unwrap().to_owned(), found["accuracy"].as_f64().unwrap())
    };
    assert_eq!(accuracy(lines, &[]), ("exact".to_owned(), 1.0 / 3.0));
    assert_eq!(accuracy(lines, &["--scorer", "stored"]), ("stored".to_owned(), 2.0 / 3.0));
    // Lines that say so themselves, as those of an export do.
    let own = lines.replacen("true", "true, \"scorer\": \"stored\"", 1);
    assert_eq!(accuracy(&own, &[]), ("mixed".to_owned(), 2.0 / 3.0));
    assert_eq!(accuracy(&own, &["--scorer", "exact"]), ("exact".to_owned(), 1.0 / 3.0));
    let run = metrics("{\"target\": 1, \"answer\": 1}", &["--scorer", "stored"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("line 1: `correct` is missing; scorer `stored` needs true or false"),
        "{run:?}"
    );
    assert_rejected(&metrics(lines, &["--by", "colour"]), &["unknown group `colour`", "`base_task`"]);
    let run = metrics(lines, &["--by", "model,base_task"]);
    assert!(
        run.stderr.contains("`base_task` is missing or not a string; `--by base_task` needs it"),
        "{run:?}"
    );
}

#[test]
fn log_reproduces_its_metrics() {
    let Some(lines) = reasonscape_test_support::python(GENERATE, "3") else { return };
    let expected = reasonscape_test_support::python(ORACLE, &lines).expect("it was there a moment ago");
    let expected: Vec<(String, Value)> = serde_json::from_str(&expected).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let found = json(lines.as_str(), &["--per-task", log.to_str().unwrap()]);
    let log = std::fs::read_to_string(log).unwrap();
    let mut correct: Vec<(String, Vec<Value>)> =
        expected.iter().map(|(model, _)| (model.clone(), Vec::new())).collect();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (_, rows) = correct.iter_mut().find(|(model, _)| line["model"] == model.as_str()).unwrap();
        rows.push(serde_json::json!([line["id"], line["repeat"], line["correct"]]));
    }
    for ((model, rows), (_, expected)) in correct.iter().zip(&expected) {
        assert_eq!(&Value::Array(rows.clone()), &expected["correct"], "{model}");
    }
    assert_eq!(json(log, &[]), found);
}

const FEW: &str = r#"{"id": "a", "model": "small", "category": "sums", "target": "5", "answer": "5.0", "cot": "1. Two and three.\n2. 2 + 3 = 5", "latency_ms": 100}
{"id": "b", "model": "small", "category": "sums", "target": "7", "answer": "8", "cot": "1. Three and four.\n2. 3 + 4 = 8\n3. Actually, it is fine", "latency_ms": 120.5, "prob_correct": 0.9}
{"id": "c", "model": "small", "category": "capitals", "target": ["Rome", "Roma"], "answer": "ROMA", "truncated": true}
{"id": "a", "model": "large", "category": "sums", "target": "5", "answer": "5", "prompt_tokens": 12, "completion_tokens": 30}
{"id": "b", "model": "large", "category": "sums", "target": "7", "answer": "7", "prob_correct": 1}
{"id": "d", "model": "large", "category": "capitals", "target": "Oslo", "answer": null}
"#;

#[test]
fn log_can_be_queried_by_sql() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers [1].parquet");
    let path = path.to_str().unwrap();
    let run = metrics(FEW, &["--per-task", path]);
    assert_eq!(run.code, 0, "{run:?}");
    let ask = |question: &str| {
        let run = reasonscape(&["sql", path, question, "--format", "csv"]);
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    assert_eq!(
        ask(
            "SELECT model, count(*) AS n, sum(CAST(correct AS INT)) AS k FROM results GROUP BY model ORDER BY model"
        ),
        "model,n,k\nlarge,3,2\nsmall,3,1\n"
    );
    assert_eq!(
        ask(
            "SELECT id, answer_normalized, cot_tokens, step_count, self_correcting, ra_ratio FROM results WHERE model = 'small' ORDER BY id"
        ),
        "id,answer_normalized,cot_tokens,step_count,self_correcting,ra_ratio\na,5,10,2,false,10.0\nb,8,15,3,true,15.0\nc,roma,,,,\n"
    );
    assert_eq!(ask("SELECT target[2] AS second FROM results WHERE id = 'c'"), "second\nRoma\n");
    assert_rejected(
        &reasonscape(&["sql", path, "SELECT 1 FROM trials"]),
        &["unknown table `trials`", "`results`"],
    );
    let missing = folder.path().join("none.parquet");
    assert_rejected(
        &reasonscape(&["sql", missing.to_str().unwrap(), "SELECT 1"]),
        &["none.parquet", "not a valid Parquet file"],
    );
}

#[test]
fn tables_match_snapshot() {
    let run = metrics(FEW, &[]);
    assert_eq!(run.code, 0, "{run:?}");
    insta::assert_snapshot!(run.stdout);
    assert!(run.stderr.contains("note: usr equals err in version 0 of its definition: "), "{run:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("few.jsonl");
    std::fs::write(&path, FEW).unwrap();
    let narrow = reasonscape_at(60, &["metrics", path.to_str().unwrap()]);
    assert!(
        narrow
            .stdout
            .lines()
            .filter(|line| line.starts_with(['│', '┌']))
            .all(|line| line.chars().count() <= 60)
    );
    assert!(!narrow.stdout.contains("more columns"), "{}", narrow.stdout);
    insta::assert_snapshot!("narrow", narrow.stdout);
    let csv = metrics(FEW, &["--format", "csv"]).stdout;
    let mut lines = csv.lines().map(|line| line.split(',').count());
    assert_eq!((csv.lines().count(), lines.next()), (3, lines.next()));
    assert!(metrics(FEW, &["--format", "markdown"]).stdout.starts_with("| metric |"));
}

#[test]
fn p95_follows_the_nearest_rank_definition() {
    for (n, expected) in [(1_u32, 1), (19, 19), (20, 19), (21, 20), (100, 95), (101, 96)] {
        let lines: String = (1..=n).rev().fold(String::new(), |mut text, latency| {
            let _ =
                writeln!(text, r#"{{"id": {latency}, "target": 1, "answer": 1, "latency_ms": {latency}}}"#);
            text
        });
        let found = json(lines, &[]);
        assert_eq!(found["latency_p95_ms"], f64::from(expected), "{n}");
        assert_eq!(found["details"]["latency_p95_ms"]["n"], n);
    }
}

#[test]
fn single_answer_has_only_an_accuracy() {
    let found = json(r#"{"id": 1, "target": "x", "answer": null}"#, &[]);
    assert_eq!((&found["n"], &found["accuracy"], &found["err"]), (&1.into(), &0.0.into(), &1.0.into()));
    for name in [
        "brier",
        "ece",
        "ece_adaptive",
        "sce",
        "sce_normalized",
        "usr_math",
        "usr_retrieval",
        "cot_tokens_mean",
        "cot_chars_mean",
        "step_count_mean",
        "ra_ratio_mean",
        "self_correction_rate",
        "prompt_tokens_mean",
        "completion_tokens_mean",
        "total_tokens_mean",
        "latency_mean_ms",
        "latency_p95_ms",
        "mode_accuracy",
        "stability",
        "determinism_index",
    ] {
        assert!(found.as_object().unwrap().contains_key(name), "{name}");
        assert_eq!(found[name], Value::Null, "{name}");
    }
    assert_eq!(found["tokens"], "whitespace");
    // One distinct answer has no variety, and none to normalise.
    let same = json(
        "{\"id\": 1, \"target\": 1, \"answer\": \"A\"}\n{\"id\": 2, \"target\": 1, \"answer\": \"a\"}",
        &[],
    );
    assert_eq!((&same["sce"], &same["sce_normalized"]), (&0.0.into(), &Value::Null));
}

#[test]
fn can_compare_numbers_as_text() {
    let line = r#"{"id": 1, "target": "1,000", "answer": "1e3"}"#;
    assert_eq!(json(line, &[])["accuracy"], 1.0);
    assert_eq!(json(line, &["--no-numbers"])["accuracy"], 0.0);
}

#[test]
fn reads_ten_megabytes_of_reasoning() {
    let cot = "word ".repeat(2 << 20);
    let lines = format!(
        "{{\"id\": 1, \"target\": 1, \"answer\": 1}}\n{{\"id\": 2, \"target\": 1, \"answer\": 1, \"cot\": \"{cot}\"}}\n\
         {{\"id\": 3, \"target\": 1, \"answer\": 2}}"
    );
    let found = json(lines, &[]);
    assert_eq!((&found["n"], &found["cot_tokens_mean"]), (&3.into(), &f64::from(2 << 20).into()));
    assert_eq!(found["cot_chars_mean"], f64::from(10 << 20));
}

#[test]
fn reports_every_invalid_line_and_computes_nothing() {
    let lines = "{\"id\": 1, \"target\": 1, \"answer\": 1}\r\n\r\nnot JSON\r\n{\"id\": 2, \"target\": 1, \"answer\": 1, \
                 \"prob_correct\": 1.01}\r\n{\"id\": 3, \"target\": 1, \"answer\": 1}\r\n";
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let run = metrics(lines, &["--per-task", log.to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(!log.exists() && folder.path().read_dir().unwrap().count() == 0);
    let said: Vec<&str> = run.stderr.lines().collect();
    assert!(said[0].starts_with("error: 2 lines cannot be parsed; nothing was computed"), "{run:?}");
    assert!(said[0].contains("`--skip-bad`"), "{run:?}");
    assert!(said[1].starts_with("  `standard input` line 3: is not JSON: "), "{run:?}");
    assert_eq!(
        said[2],
        "  `standard input` line 4: `prob_correct` is 1.01, but must be a number from 0 to 1"
    );
    let kept = json(lines, &["--skip-bad"]);
    assert_eq!((&kept["n"], &kept["bad_lines"]), (&2.into(), &2.into()));
    assert!(metrics(lines, &["--skip-bad"]).stdout.contains("invalid lines"));

    let many = "x\n".repeat(30);
    let run = metrics(many, &[]);
    assert_eq!(run.stderr.lines().count(), 22, "{run:?}");
    assert!(run.stderr.ends_with("  and 10 more\n"), "{run:?}");
    let latin = b"{\"id\": 1, \"target\": 1, \"answer\": \"caf\xe9\"}\n".to_vec();
    let place = 1 + latin.iter().position(|byte| *byte == 0xe9).unwrap();
    assert!(metrics(latin, &[]).stderr.contains(&format!("line 1: is not UTF-8 text from byte {place} on")));
}

#[test]
fn rejects_invalid_input_with_a_hint() {
    let twice = "{\"id\": 1, \"target\": 1, \"answer\": 1}\n{\"id\": \"1\", \"target\": 1, \"answer\": 1}\n";
    let run = metrics(twice, &[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("number the samples of one question with `repeat`"), "{run:?}");
    assert!(run.stderr.contains("`standard input` line 2 has the id of `standard input` line 1"), "{run:?}");
    assert_rejected(&metrics("", &[]), &["has no answers", "\"target\""]);
    assert_rejected(&metrics(FEW, &["--map", "gold=x"]), &["unknown field `gold`"]);
    assert_rejected(&metrics(FEW, &["--per-task", "log.txt"]), &[".jsonl or .parquet"]);
    assert_rejected(&metrics(FEW, &["--reliability", "r.txt"]), &["r.txt"]);
    assert_rejected(&metrics(FEW, &["--temperature", "nan"]), &["invalid temperature"]);
    assert_rejected(
        &reasonscape(&["metrics", "no-such-file.jsonl"]),
        &["failed to read `no-such-file.jsonl`"],
    );
    assert_rejected(&reasonscape(&["metrics"]), &["RESULTS.jsonl"]);
}

#[test]
fn counts_and_shows_false_steps_and_ungrounded_sentences() {
    let lines = concat!(
        r#"{"id": "sum", "target": 9, "answer": 9, "cot": "1. 2 + 3 = 5\n2. 5 + 3 = 9\nso 9"}"#,
        "\n",
        r#"{"id": "trip", "target": "Lyon", "answer": "Lyon", "input": "Where did Anna go?", "#,
        r#""context": ["Anna took the train to Lyon in 1999."], "#,
        r#""cot": "In 1999 Anna went to Lyon. There she met Karl Marten in 2003."}"#,
    );
    let found = json(lines, &[]);
    assert_eq!((&found["usr_math"], &found["details"]["usr_math"]["n"]), (&0.5.into(), &1.into()));
    assert_eq!((&found["equations_checked"], &found["equations_false"]), (&2.into(), &1.into()));
    assert_eq!((&found["usr_retrieval"], &found["sentences_checked"]), (&0.5.into(), &2.into()));
    assert_eq!(found["sentences_unsupported"], 1);
    let shown = metrics(lines, &[]).stdout;
    assert!(shown.ends_with("Incorrect reasoning steps (examples):\n  sum, line 2: 5 + 3 = 9\n"), "{shown}");
    assert!(!metrics(lines, &["--examples", "0"]).stdout.contains("Incorrect reasoning steps"));
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    json(lines, &["--per-task", log.to_str().unwrap()]);
    let log = std::fs::read_to_string(log).unwrap();
    let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(log[0]["false_steps"], serde_json::json!([{"line": 2, "text": "5 + 3 = 9"}]));
    assert_eq!((&log[0]["sentences_checked"], &log[1]["equations_checked"]), (&Value::Null, &0.into()));
    let unsupported = &log[1]["unsupported"][0];
    assert_eq!(unsupported["sentence"], "There she met Karl Marten in 2003.");
    assert_eq!(unsupported["missing"], serde_json::json!(["Karl Marten", "2003"]));
}

#[test]
fn reads_what_run_reads() {
    let lines = r#"{"gold": {"value": "1/2", "aliases": ["0.5"]}, "out": [{"text": "Half of one.\nThe answer is $\\frac{1}{2}$."}], "confidence": 0.9}
{"gold": {"value": "3", "aliases": []}, "out": [{"text": "<think>1 + 1 = 3</think>The answer is 4."}], "confidence": 0.2}
"#;
    let map = ["--map", "target=gold.value,answer=out.0.text,alternative_targets=gold.aliases"];
    let found = |more: &[&str]| json(lines, &[&map[..], more].concat());
    let plain = found(&[]);
    assert_eq!(
        (&plain["accuracy"], &plain["scorer"], &plain["n"]),
        (&0.0.into(), &"exact".into(), &2.into())
    );
    let extracted = found(&["--extract"]);
    assert_eq!((&extracted["accuracy"], &extracted["equations_false"]), (&0.0.into(), &1.into()));
    let scored = found(&["--extract", "--scorer", "math"]);
    assert_eq!((&scored["accuracy"], &scored["scorer"]), (&0.5.into(), &"math".into()));
    let tolerant = found(&["--extract", "--scorer", "numeric:1"]);
    assert_eq!((&tolerant["accuracy"], &tolerant["scorer"]), (&1.0.into(), &"numeric:1".into()));

    let run = metrics(lines, &map);
    for note in [
        "the files have `confidence` and no `prob_correct`; if they are the same, add `--map prob_correct=confidence`",
        "in the first lines, all targets are numbers: `--scorer numeric` accepts more forms of them than `exact`",
    ] {
        assert!(run.stderr.contains(note), "`{note}` is not in: {}", run.stderr);
    }
    let missing = metrics("{\"target\": 1, \"prediction\": 1}\n", &[]);
    assert!(
        missing.code == 2
            && missing.stderr.contains("is it `prediction`? Then use `--map answer=prediction`"),
        "{missing:?}"
    );
    assert_eq!(metrics(lines, &["--scorer", "maths"]).code, 2);
}

/// Of four answers to formulas without a normal form, two are equal as text or by their parts.
#[test]
fn undecided_comparisons_are_counted() {
    let lines = [
        ("\\\\sin x", "\\\\sin x"),
        ("\\\\sin x", "$\\\\sin(x)$"),
        ("\\\\sin x", "\\\\cos x"),
        ("\\\\Gamma(x)", "\\\\gamma(x)"),
        ("x^2", "x^3"),
    ];
    let lines: String = lines
        .iter()
        .map(|(target, answer)| format!("{{\"target\": \"{target}\", \"answer\": \"{answer}\"}}\n"))
        .collect();
    let run = metrics(lines.as_str(), &["--scorer", "math"]);
    assert!(
        run.stderr.contains("2 of the incorrect answers could not be compared as formulas, only as text"),
        "{}",
        run.stderr
    );
    let decided = metrics("{\"target\": \"x^2\", \"answer\": \"x^3\"}", &["--scorer", "math"]);
    assert!(!decided.stderr.contains("as formulas"), "{}", decided.stderr);
}

#[test]
fn scorer_of_datasets_writes_a_log_with_the_same_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let lines =
        "{\"target\": \"1,000\", \"answer\": \"$1000\"}\n{\"target\": \"7\", \"answer\": \"about 7\"}\n";
    let first = json(lines, &["--scorer", "numeric", "--per-task", log.to_str().unwrap()]);
    let again = json(std::fs::read(&log).unwrap(), &[]);
    assert_eq!((&first["accuracy"], &again["accuracy"]), (&0.5.into(), &0.5.into()));
    assert_eq!(again["scorer"], "stored");
}

#[test]
fn maps_field_and_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let small = write("small.jsonl", "{\"q\": 1, \"answer\": \"x\", \"output\": \"y\"}\n");
    let large = write("large.jsonl", "{\"q\": 1, \"answer\": \"x\", \"output\": \"X\"}\n");
    let run = reasonscape(&[
        "metrics",
        &small,
        &large,
        "--map",
        "id=q,target=answer,answer=output",
        "--format",
        "json",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&found["models"][0]["model"], &found["models"][0]["accuracy"]),
        (&"small".into(), &0.0.into())
    );
    assert_eq!(
        (&found["models"][1]["model"], &found["models"][1]["accuracy"]),
        (&"large".into(), &1.0.into())
    );
    let difference = &found["differences"][0];
    assert_eq!((&difference["difference"], &difference["verdict"]), (&(-1.0).into(), &"cannot tell".into()));
}

#[test]
fn reports_a_significant_difference() {
    let mut lines = String::new();
    for task in 0..60 {
        for (model, right) in [("good", task % 10 != 0), ("bad", task % 3 == 0), ("twin", task % 10 != 1)] {
            let answer = u8::from(right);
            let _ =
                writeln!(lines, r#"{{"id": {task}, "model": "{model}", "target": 1, "answer": {answer}}}"#);
        }
    }
    let run = metrics(lines, &[]);
    assert!(run.stdout.contains("\ngood is better than bad by 56.7 percentage points ("), "{}", run.stdout);
    assert!(run.stdout.contains("\nbad is worse than twin by "), "{}", run.stdout);
    assert!(
        run.stdout.contains("\nno significant difference between good and twin: +0.0 percentage points"),
        "{}",
        run.stdout
    );
}

#[test]
fn repeats_at_temperature_zero_have_a_determinism_index() {
    let lines = "{\"id\": 1, \"target\": 1, \"answer\": 1}\n{\"id\": 1, \"repeat\": 1, \"target\": 1, \"answer\": \"1.0\"}\n\
                 {\"id\": 2, \"target\": 1, \"answer\": 1}\n{\"id\": 2, \"repeat\": 1, \"target\": 1, \"answer\": 2}\n";
    assert_eq!(json(lines, &[])["determinism_index"], Value::Null);
    assert!(metrics(lines, &[]).stderr.contains("`--temperature 0`"));
    let found = json(lines, &["--temperature", "0"]);
    assert_eq!((&found["determinism_index"], &found["stability"]), (&0.5.into(), &0.75.into()));
    assert_eq!(json(lines, &["--temperature", "0.7"])["determinism_index"], Value::Null);
}

#[test]
fn draws_reliability_of_stated_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reliability.svg");
    let run = metrics(FEW, &["--reliability", path.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    let drawn = std::fs::read_to_string(path).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("stated probability"), "{drawn}");
}
