//! Statements of the source documents that other tests don't cover; docs/source-documents.md names them.

use std::fmt::Write as _;
use std::fs;

use reasonscape_core::{PyRandom, Reply, Suite, extract};
use reasonscape_points::GzipSizer;
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use reasonscape_test_support::{python, study_toml};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_env::{assert_rejected, reasonscape, reasonscape_with};

const SUITE: &str = r#"
name = "small"
count = 32
[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [
    { length = 4, max_depth = 0 }, { length = 4, max_depth = 2 },
    { length = 16, max_depth = 0 }, { length = 16, max_depth = 2 },
]
[[manifold]]
id = "boolean"
task = "boolean@1"
points = [{ length = 4, max_depth = 1 }]
[[manifold]]
id = "sort"
task = "sort@1"
points = [{ length = 4 }]
"#;

/// A study of three simulated models that was run and scored.
pub(crate) struct ScoredStudy {
    folder: TempDir,
    server: SimulatedServer,
}

impl ScoredStudy {
    pub(crate) fn new(faults: &str) -> Self {
        let server = SimulatedServer::start(SimulateOptions {
            suites: vec![Suite::parse(SUITE).unwrap()],
            count: Some(128),
            faults: if faults.is_empty() { Faults::default() } else { faults.parse().unwrap() },
            ..SimulateOptions::default()
        })
        .unwrap();
        let folder = Self::write_folder(&server);
        let study = Self { folder, server };
        study.run(&[]);
        study
    }

    fn write_folder(server: &SimulatedServer) -> TempDir {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("small.toml"), SUITE).unwrap();
        let models = ["sim-strong", "sim-truncating", "sim-cheap"];
        let text = study_toml("small.toml", &server.base_url(), &models, "");
        fs::write(folder.path().join("study.toml"), text).unwrap();
        folder
    }

    /// The same study in another folder, with another number of problems.
    fn with_count(&self, count: &str) -> TempDir {
        let folder = Self::write_folder(&self.server);
        let run = reasonscape(&["run", folder.path().to_str().unwrap(), "--count", count]);
        assert_eq!(run.code, 0, "{run:?}");
        folder
    }

    fn run(&self, arguments: &[&str]) {
        let run = reasonscape(&[&["run", self.path()], arguments].concat());
        assert_eq!(run.code, 0, "{run:?}");
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn analyze(&self, question: &str, arguments: &[&str]) -> Value {
        analyze(self.path(), question, arguments)
    }

    fn sql(&self, query: &str) -> Value {
        json_of(&["sql", self.path(), query])
    }
}

fn json_of(arguments: &[&str]) -> Value {
    let run = reasonscape(&[arguments, &["--format", "json"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn analyze(study: &str, question: &str, arguments: &[&str]) -> Value {
    json_of(&[&["analyze", question, study], arguments].concat())
}

fn score(input: &str, arguments: &[&str]) -> Value {
    let run = reasonscape_with(&[&["score", "-", "--format", "json"], arguments].concat(), input);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-9, "{what}: {found}, expected {expected}");
}

/// C and K by the expressions of the document's table, with products everywhere, and with the two reductions.
const PRODUCTS: &str = r"
import json, math, sys
z = 1.959963984540054
def wilson(k, n):
    if n <= 0: return 0.0, 1.0
    k = min(max(k, 0.0), n)
    root = z * math.sqrt(k * (n - k) / n + z * z / 4)
    low = 0.0 if k == 0 else (k + z * z / 2 - root) / (n + z * z)
    high = 1.0 if k == n else (k + z * z / 2 + root) / (n + z * z)
    return low, high
def times(a, b): return a[0] * b[0], a[1] * b[1]
def less(a): return 1 - a[1], 1 - a[0]
for line in sys.stdin:
    n, n_e, n_t, g = json.loads(line)
    n_u = n - n_t
    done = wilson(n_u, n)
    known, unknown = wilson(n_e - g, n_u - g), wilson(n_u - n_e, n_u - g)
    literal = known, times(known, done), less(times(unknown, done))
    if g == 0:
        reduced = wilson(n_e, n_u), wilson(n_e, n), wilson(n_e + n_t, n)
    elif n_t == 0:
        reduced = known, known, known
    else:
        reduced = literal
    print(json.dumps([literal, reduced]))
";

#[test]
fn literal_products_match_python() {
    let study = ScoredStudy::new("");
    let mut rng = PyRandom::new(11);
    let mut cases =
        vec![(40.0, 36.0, 0.0, 0.0), (40.0, 36.0, 1.0, 0.0), (40.0, 0.0, 40.0, 0.0), (8.0, 8.0, 0.0, 4.0)];
    while cases.len() < 200 {
        let n = rng.randint(1, 400);
        let n_t = if cases.len() % 3 == 0 { 0 } else { rng.randint(0, n) };
        let n_e = rng.randint(0, n - n_t);
        let options = *rng.choice(&[0, 2, 4]);
        let g = if options == 0 { 0.0 } else { (n - n_t) as f64 / f64::from(options) };
        cases.push((n as f64, n_e as f64, n_t as f64, g));
    }
    let mut rows = String::new();
    let mut input = String::new();
    for (index, (n, n_e, n_t, g)) in cases.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(rows, "{comma}({index}, {n:?}, {n_e:?}, {n_t:?}, {g:?})").unwrap();
        writeln!(input, "[{n:?}, {n_e:?}, {n_t:?}, {g:?}]").unwrap();
    }
    let Some(expected) = python(PRODUCTS, &input) else { return };
    let columns: Vec<String> = ["C_I", "C_P", "C_O"]
        .iter()
        .flat_map(|mode| [format!("{mode} literal"), (*mode).to_owned()])
        .flat_map(|mode| ["low", "high"].map(|end| format!("estimate_{end}('{mode}', n, n_e, n_t, g)")))
        .enumerate()
        .map(|(index, call)| format!("{call} AS c{index:02}"))
        .collect();
    let found = study.sql(&format!(
        "SELECT {} FROM (VALUES {rows}) AS t(i, n, n_e, n_t, g) ORDER BY i",
        columns.join(", ")
    ));
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), cases.len());
    for (row, line) in found.iter().zip(expected.lines()) {
        let [literal, reduced]: [[[f64; 2]; 3]; 2] = serde_json::from_str(line).unwrap();
        let ends = literal.iter().zip(&reduced).flat_map(|(literal, reduced)| literal.iter().chain(reduced));
        for (index, expected) in ends.enumerate() {
            let column = format!("c{index:02}");
            assert_close(number(&row[&column]), *expected, &column);
        }
    }
    // The same through the other front doors.
    let flags = ["estimate", "--n", "40", "--n_e", "36", "--n_t", "0", "--g", "0"];
    let literal = json_of(&[&flags[..], &["--literal"]].concat());
    let first: Vec<[[f64; 2]; 3]> = serde_json::from_str(expected.lines().next().unwrap()).unwrap();
    assert_close(number(&literal["C_P"]["low"]), first[0][1][0], "estimate");
    assert!(number(&literal["C_P"]["margin"]) > number(&json_of(&flags)["C_P"]["margin"]));
    let tasks = r#"{"sort": {"n": 40, "n_e": 36}}"#;
    assert_close(number(&score(tasks, &["--literal"])["tasks"]["sort"]["low"]), first[0][1][0], "score");
    for question in ["scores", "points", "tasks", "evals", "aggregate"] {
        let mode: &[&str] = if question == "points" { &["--mode", "C_P"] } else { &[] };
        assert_ne!(
            study.analyze(question, &[mode, &["--literal"]].concat()),
            study.analyze(question, mode),
            "{question}"
        );
    }
}

#[test]
fn stability_matches_python() {
    let bounds = r#"{"dates": [0.5, 0.9], "shapes": [0.2, 0.6], "sort": [0.8, 0.9]}"#;
    let script = r"
import json, math, random
tasks = [(0.5, 0.9), (0.2, 0.6), (0.8, 0.9)]
def margin(draws, seed):
    rng = random.Random(seed)
    means = sorted(math.exp(sum(math.log(low + (high - low) * rng.random()) for low, high in tasks) / 3) for _ in range(draws))
    return 500 * (means[int(0.975 * draws)] - means[int(0.025 * draws)])
rows = []
for draws in (100, 500, 1000, 5000, 10000):
    margins = [margin(draws, seed) for seed in range(10)]
    rows.append([draws, sum(margins) / 10, max(margins) - min(margins)])
print(json.dumps(rows))
";
    let Some(expected) = python(script, "") else { return };
    let expected: Vec<[f64; 3]> = serde_json::from_str(&expected).unwrap();
    let found = score(bounds, &["--stability"]);
    let rows = found[0]["draws"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (row, [draws, mean, range]) in rows.iter().zip(expected) {
        assert_close(number(&row["draws"]), draws, "draws");
        assert_close(number(&row["margin_mean"]), mean, "mean");
        assert_close(number(&row["margin_range"]), range, "range");
        assert_eq!(row["stable"], json!(range < 0.5));
    }
    // Draws and seed decide the score itself, too.
    let with = |arguments: &[&str]| number(&score(bounds, arguments)["margin"]);
    assert_close(with(&["--draws", "5000", "--seed", "42"]), with(&[]), "defaults");
    assert!((with(&["--seed", "7"]) - with(&[])).abs() > 1e-6);
    assert!((with(&["--draws", "100"]) - with(&[])).abs() > 1e-6);
}

#[test]
fn gzip_sizes_of_untrimmed_traces_match_python() {
    let mut rng = PyRandom::new(5);
    let parts = ["  ", "\n\n", "\t", "abc", "Wait, ", "\u{2003}", "\u{1f600}", "0", "<b>", "é", "\u{0}", "}"];
    let mut traces = vec!["  abc \n\n".to_owned(), "\n".repeat(999) + "x", "x".repeat(100_000)];
    while traces.len() < 200 {
        let length = rng.randint(1, 400);
        let trace: String = (0..length).map(|_| *rng.choice(&parts)).collect();
        if !trace.trim().is_empty() {
            traces.push(trace);
        }
    }
    let script = r"
import gzip, json, sys
print(json.dumps([len(gzip.compress(trace.encode(), 9)) for trace in json.load(sys.stdin)]))
";
    let Some(expected) = python(script, &serde_json::to_string(&traces).unwrap()) else { return };
    let expected: Vec<u64> = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected[0], 28);
    let mut sizer = GzipSizer::default();
    for (trace, expected) in traces.iter().zip(expected) {
        let apart = Reply { content: "7", reasoning: Some(trace) };
        assert_eq!(sizer.gzip_size(extract(&apart).trace.unwrap().as_bytes()), expected, "{trace:?}");
        let inside = format!("<think>{trace}</think>7");
        assert_eq!(
            sizer.gzip_size(extract(&Reply::from(inside.as_str())).trace.unwrap().as_bytes()),
            expected
        );
    }
}

#[test]
fn first_problems_equal_a_smaller_study() {
    let study = ScoredStudy::new("");
    let large = study.with_count("128");
    let small = study.with_count("32");
    let [large, small] = [&large, &small].map(|folder| folder.path().to_str().unwrap());
    for question in [
        "scores",
        "evals",
        "tasks",
        "points",
        "aggregate",
        "pairwise",
        "modes",
        "projection",
        "threshold",
        "hazard",
        "tokens",
        "compression",
        "similarity",
    ] {
        let first = analyze(large, question, &["--first", "32"]);
        assert_eq!(first, analyze(small, question, &[]), "{question}");
        assert_ne!(first, analyze(large, question, &[]), "{question}");
    }
    let pair = |study: &str, more: &[&str]| {
        analyze(study, "compare", &[&["sim-strong", "sim-cheap"], more].concat())
    };
    assert_eq!(pair(large, &["--first", "32"]), pair(small, &[]));
    let count = |study: &str, more: &[&str]| {
        let run = reasonscape(&[&["export", study], more].concat());
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout.lines().count()
    };
    assert_eq!((count(large, &["--first", "32"]), count(small, &[])), (3 * 6 * 32, 3 * 6 * 32));
}

#[test]
fn first_problems_are_the_same_when_counters_are_missing() {
    let study = ScoredStudy::new("");
    let counters = |study: &str| -> Vec<Vec<Value>> {
        let rows = analyze(study, "aggregate", &["--by", "model,base_task,params", "--first", "8"]);
        let names = ["model", "base_task", "params", "n", "n_u", "n_e", "n_t", "g", "estimates"];
        rows.as_array().unwrap().iter().map(|row| names.map(|name| row[name].clone()).to_vec()).collect()
    };
    let counted = counters(study.path());
    assert!(counted.iter().all(|row| row[3] == json!(8)), "{counted:?}");
    // Without the files of counters, the trials are counted by a query.
    fs::remove_dir_all(study.folder.path().join("points")).unwrap();
    assert_eq!(counters(study.path()), counted);
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/v1/imported");
    let run = reasonscape(&["analyze", "scores", fixtures.to_str().unwrap(), "--first", "8"]);
    assert_rejected(&run, &["the first problems of", "were imported from", "which does not number them"]);
}

#[test]
fn score_accepts_guess_accum_and_refuses_contradictions() {
    let csv = |header: &str, row: &str| format!("{header}\n{row}\n");
    let base = score(&csv("task,n,n_e,n_t,g", "shapes,128,70,8,30"), &[]);
    for (header, row) in [
        ("task,n,n_e,n_t,guess_accum", "shapes,128,70,8,30"),
        ("base_task,n,n_e,n_t,guess", "shapes,128,70,8,30"),
        ("task,n,n_e,n_u,g", "shapes,128,70,120,30"),
        ("task,n_u,n_e,n_t,g", "shapes,120,70,8,30"),
        ("task,n,n_u,n_e,n_t,g,guess_accum", "shapes,128,120,70,8,30,30"),
    ] {
        assert_eq!(score(&csv(header, row), &[]), base, "{header}");
    }
    let refused = |header: &str, row: &str, says: &[&str]| {
        assert_rejected(&reasonscape_with(&["score", "-"], csv(header, row)), says);
    };
    refused("task,n,n_e,n_t,n_u", "shapes,128,70,8,128", &["line 2", "`n_u` is 128, but `n` - `n_t` is 120"]);
    refused("task,n,n_e,g,guess", "shapes,128,70,30,31", &["line 2", "they mean the same"]);
    refused("task,n,n_e,n_u", "shapes,128,70,129", &["more than `n` = 128"]);
    refused("task,n,ne", "shapes,128,70", &["unknown column `ne`", "did you mean `n_e`?"]);
    refused("task,n,n_e,guess_acum", "shapes,128,70,30", &["did you mean `guess_accum`?"]);
    refused("task,n,n_e,nt", "shapes,128,70,8", &["did you mean `n_t`?"]);
    refused("task,N,n_e", "shapes,128,70", &["did you mean `n`?"]);
    for other in ["comment", "foo", "name", "date", "size"] {
        let run =
            reasonscape_with(&["score", "-"], csv(&format!("task,n,n_e,{other}"), "shapes,128,70,fine"));
        let is_named = other == "name" || run.stderr.contains(&format!("ignored unknown fields: `{other}`"));
        assert_eq!((run.code, is_named), (0, true), "{run:?}");
    }
}

#[test]
fn no_data_is_never_scored() {
    let board = score(
        r#"[{"model": "a", "task": "sort", "n": 40, "n_e": 30}, {"model": "a", "task": "dates", "n": 0, "n_e": 0},
            {"model": "b", "task": "sort", "n": 0, "n_e": 0}]"#,
        &[],
    );
    assert_eq!((&board[0]["complete"], &board[0]["missing"]), (&json!(false), &json!(["dates"])));
    assert_eq!(board[0]["center"], score(r#"{"sort": {"n": 40, "n_e": 30}}"#, &[])["center"]);
    assert_eq!(
        (&board[1]["center"], &board[1]["rank"], &board[1]["band"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let run = reasonscape_with(&["score", "-"], r#"{"sort": {"n": 0, "n_e": 0}}"#);
    assert!(run.code == 0 && run.stdout.contains("no data") && !run.stdout.contains("good"), "{run:?}");
    assert!(reasonscape(&["estimate", "--n", "0", "--correct", "0"]).stderr.contains("no data"));
}

#[test]
fn interval_classes_name_their_causes() {
    let class = |task: &str| {
        let found = score(task, &[]);
        (found["interval_class"].as_str().unwrap().to_owned(), found["interval_causes"].to_string())
    };
    let (tight, causes) = class(r#"{"a": {"n": 9000, "n_e": 8800}, "b": {"n": 9000, "n_e": 8900}}"#);
    assert_eq!(tight, "tight");
    assert!(
        causes.contains("accuracy 98 %") && causes.contains("truncation 0 %") && causes.contains("even"),
        "{causes}"
    );
    let (moderate, causes) = class(r#"{"a": {"n": 2000, "n_e": 1600}, "b": {"n": 2000, "n_e": 1500}}"#);
    assert_eq!(moderate, "moderate", "{causes}");
    assert!(causes.contains("accuracy 7"), "{causes}");
    let (wide, causes) = class(r#"{"a": {"n": 100, "n_e": 60, "n_t": 30}, "b": {"n": 100, "n_e": 20}}"#);
    assert_eq!(wide, "wide");
    assert!(causes.contains("truncation 15 %") || causes.contains("differs between tasks"), "{causes}");
    let (wide, causes) = class(r#"{"a": {"n": 20, "n_e": 19}, "b": {"n": 20, "n_e": 19}}"#);
    assert_eq!((wide.as_str(), causes.contains("few trials (20")), ("wide", true), "{causes}");
}

#[test]
fn aggregate_groups_by_any_column() {
    let study = ScoredStudy::new("");
    let rows = study.analyze("aggregate", &["--by", "model,base_task,params.length", "--mode", "all"]);
    let expected = study.sql(
        "SELECT model, base_task, param_number(params, 'length') AS length, sum(n) AS n, sum(n_u) AS n_u, sum(n_e) AS n_e, \
         sum(n_t) AS n_t, sum(g) AS g, estimate_low('C_P', sum(n), sum(n_e), sum(n_t), sum(g)) AS low FROM points \
         GROUP BY model, base_task, length ORDER BY model, base_task, length",
    );
    let (rows, expected) = (rows.as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!((rows.len(), expected.len()), (12, 12));
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!((&row["model"], &row["base_task"]), (&expected["model"], &expected["base_task"]));
        assert_close(number(&row["params.length"]), number(&expected["length"]), "length");
        for counter in ["n", "n_u", "n_e", "n_t", "g"] {
            assert_close(number(&row[counter]), number(&expected[counter]), counter);
        }
        assert_eq!(row["estimates"].as_object().unwrap().len(), 9);
        assert_close(number(&row["estimates"]["C_P"]["low"]), number(&expected["low"]), "low");
    }
    let by_default = study.analyze("aggregate", &[]);
    assert_eq!(by_default.as_array().unwrap().len(), 9);
    assert_eq!(by_default[0]["estimates"].as_object().unwrap().keys().collect::<Vec<_>>(), ["C_P"]);
    let path = study.path();
    assert_rejected(
        &reasonscape(&["analyze", "aggregate", path, "--by", "modle"]),
        &["did you mean `model`?"],
    );
    assert_rejected(
        &reasonscape(&["analyze", "aggregate", path, "--by", "model,model"]),
        &["duplicate column `model`"],
    );
}

#[test]
fn win_rates_per_task_average_to_the_matrix() {
    let study = ScoredStudy::new("");
    let found = study.analyze("pairwise", &[]);
    let tasks = found["task_win_rates"].as_object().unwrap();
    assert_eq!(tasks.keys().collect::<Vec<_>>(), ["arithmetic", "boolean", "sort"]);
    for a in 0..3 {
        for b in (0..3).filter(|b| *b != a) {
            let mean = tasks.values().map(|matrix| number(&matrix[a][b])).sum::<f64>() / 3.0;
            assert_close(number(&found["win_rates"][a][b]), mean, "mean over tasks");
        }
    }
    let drawn = study.analyze("pairwise", &["--method", "monte-carlo"]);
    assert_eq!((&drawn["draws"], &drawn["seed"]), (&json!(10_000), &json!(42)));
    for (task, matrix) in drawn["task_win_rates"].as_object().unwrap() {
        let (a, b) = (number(&matrix[0][1]), number(&tasks[task][0][1]));
        assert!((a - b).abs() < 0.02, "{task}: {a} {b}");
    }
    assert_ne!(
        drawn["win_rates"],
        study.analyze("pairwise", &["--method", "monte-carlo", "--seed", "7"])["win_rates"]
    );
    let sorted = study.analyze("pairwise", &["--sort", "expected-wins"]);
    let wins: Vec<f64> =
        sorted["evals"].as_array().unwrap().iter().map(|eval| number(&eval["expected_wins"])).collect();
    assert!(wins.is_sorted_by(|a, b| a >= b), "{wins:?}");
    let table = reasonscape(&["analyze", "pairwise", study.path(), "--per-task"]).stdout;
    assert!(
        table.contains("sim-cheap") && table.contains("boolean") && table.lines().count() >= 6,
        "{table}"
    );
}

#[test]
fn reliability_counts_refusals_and_unparsed_responses() {
    let study = ScoredStudy::new("rate=0.2,kinds=filter");
    let expected = study.sql(
        "SELECT eval_id, avg(CASE WHEN finish = 'content_filter' THEN 1.0 ELSE 0.0 END) AS refused, \
         avg(CASE WHEN finish <> 'content_filter' AND status <> 2 AND answer IS NULL THEN 1.0 ELSE 0.0 END) AS unparsed, \
         avg(completion_tokens) / 2048.0 AS used, avg(CASE WHEN completion_tokens > 0.9 * 2048 THEN 1.0 ELSE 0.0 END) \
         FILTER (WHERE completion_tokens IS NOT NULL) AS near FROM trials GROUP BY eval_id ORDER BY eval_id",
    );
    let expected = expected.as_array().unwrap();
    for question in ["evals", "scores"] {
        let mut rows = study.analyze(question, &[]).as_array().unwrap().clone();
        rows.sort_by_key(|row| row["eval_id"].as_str().unwrap().to_owned());
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(expected) {
            let found = &row["reliability"];
            assert_close(number(&found["refusal_rate"]), number(&expected["refused"]), "refused");
            assert_close(number(&found["unparsed_rate"]), number(&expected["unparsed"]), "unparsed");
            assert_close(number(&found["utilization_mean"]), number(&expected["used"]), "used");
            assert_close(number(&found["near_limit_rate"]), number(&expected["near"]), "near the limit");
            assert_eq!(found["token_limit"], 2048);
            assert!(number(&found["refusal_rate"]) > 0.1, "{found}");
        }
    }
    let tasks = study.analyze("tasks", &[]);
    assert!(tasks.as_array().unwrap().iter().all(|row| number(&row["reliability"]["refusal_rate"]) > 0.0));
    // A refusal is a response: completed, incorrect, and never requested again.
    let status = study.sql("SELECT DISTINCT status FROM trials WHERE finish = 'content_filter'");
    assert_eq!(status, json!([{ "status": 0 }]));
    let requests = study.server.stats().requests;
    study.run(&[]);
    assert_eq!(study.server.stats().requests, requests);
}

#[test]
fn entropy_along_a_parameter() {
    let study = ScoredStudy::new("");
    let found = study.analyze("compression", &["--filter", "base_task=arithmetic", "--x", "length"]);
    let trials = study.sql(
        "SELECT eval_id, param_number(params, 'length') AS length, 8.0 * compressed_size / reasoning_tokens AS bits \
         FROM trials WHERE base_task = 'arithmetic' AND reasoning_chars > 0 AND reasoning_tokens > 0",
    );
    let script = r"
import json, statistics, sys
groups = {}
for row in json.load(sys.stdin):
    groups.setdefault(row['eval_id'] + ' %g' % row['length'], []).append(row['bits'])
print(json.dumps({name: statistics.median(bits) for name, bits in groups.items()}))
";
    let Some(expected) = python(script, &trials.to_string()) else { return };
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let mut compared = 0;
    for row in found["rows"].as_array().unwrap() {
        let key = format!("{} {}", row["eval_id"].as_str().unwrap(), number(&row["value"]));
        if let Some(median) = expected[&key].as_f64() {
            assert_close(number(&row["bits_per_token"]["median"]), median, &key);
            compared += 1;
        }
    }
    assert!(compared >= 2, "{found}");
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 2 * 3);
    assert_eq!(found["retention"].as_array().unwrap().len(), 3);
    let path = study.path();
    assert_rejected(
        &reasonscape(&["analyze", "compression", path, "--x", "operators"]),
        &["no selected point has a numeric parameter `operators`"],
    );
    assert_eq!(reasonscape(&["analyze", "compression", path, "--x", "length", "--by", "eval"]).code, 2);
    let narrow = crate::test_env::reasonscape_at(80, &["analyze", "compression", path]).stdout;
    assert!(narrow.lines().next().unwrap().chars().count() <= 80 && narrow.contains("correct"), "{narrow}");
}

#[test]
fn key_of_a_task_completes_parameters() {
    let key = |arguments: &[&str]| {
        let run =
            reasonscape_with(&[&["key", "-", "--format", "json"], arguments].concat(), r#"{"length": 16}"#);
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let (plain, completed) = (key(&[]), key(&["--task", "arithmetic"]));
    assert_eq!(plain["hashed"], r#"{"length": 16}"#);
    let hashed = completed["hashed"].as_str().unwrap();
    assert!(hashed.contains(r#""length": 16"#) && hashed.contains(r#""max_depth": "#), "{hashed}");
    assert_ne!(plain["base_seed"], completed["base_seed"]);
    let script =
        "import hashlib, sys; print(int(hashlib.sha256(sys.stdin.read().encode()).hexdigest()[-8:], 16))";
    let Some(expected) = python(script, hashed) else { return };
    assert_eq!(completed["base_seed"].to_string(), expected.trim());
    let run = reasonscape_with(&["key", "-"], r#"{"length": 16}"#);
    assert!(run.stderr.contains(r#"SHA-256 of `{"length": 16}`"#), "{run:?}");
}

#[test]
fn seed_belongs_to_the_study() {
    let folder = TempDir::new().unwrap();
    let study = folder.path().join("study");
    let path = study.to_str().unwrap();
    assert_eq!(reasonscape(&["init", path, "--seed", "7", "--no-probe"]).code, 0);
    let text = fs::read_to_string(study.join("study.toml")).unwrap();
    assert!(text.lines().any(|line| line == "seed = 7"), "{text}");
    for command in ["run", "plan"] {
        let run = reasonscape(&[command, path, "--seed", "9"]);
        assert_rejected(
            &run,
            &["cannot change the seed of a study", "reasonscape init NEW_STUDY --seed 9", "`seed = 9`"],
        );
    }
}

#[test]
fn unused_options_are_refused() {
    let study = ScoredStudy::new("");
    let path = study.path();
    for question in ["compression", "hazard"] {
        assert_rejected(&reasonscape(&["analyze", question, path, "--mode", "E_P"]), &["--mode"]);
    }
    assert_rejected(&reasonscape(&["analyze", "pairwise", path, "--seed", "7"]), &["`--seed` has no effect"]);
    let bounds = r#"{"sort": [0.5, 0.6]}"#;
    for option in [&["--draws", "9"][..], &["--seed", "9"], &["--stability"]] {
        let run = reasonscape_with(&[&["score", "-", "--method", "min-max"], option].concat(), bounds);
        assert_rejected(&run, &["`--method min-max` uses no random draws"]);
    }
    for arguments in [
        &["generate", "sort"][..],
        &["export", path],
        &["cache", "export", path],
        &["report", path],
        &["serve", path],
        &["init", "somewhere"],
        &["simulate"],
        &["completions", "bash"],
    ] {
        let run = reasonscape(&[arguments, &["--format", "json"]].concat());
        assert_rejected(&run, &["`--format` has no effect on"]);
    }
}
