//! `docs/source-documents.md`: every section of the source documents is in it, and every file and test that it names exists;
//! and the statements of the documents that no other test covers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_score};
use reasonscape_stats::{Confidence, Counters, Mode};
use serde_json::{Value, json};

use crate::source_statements::ScoredStudy;
use crate::test_env::reasonscape_with;

/// The headings of the documents, without the marks of the pages that they were on.
const HEADINGS: [&str; 52] = [
    "ReasonScape Technical Details",
    "Data Model: Two-Plane Structure",
    "Parametric Test Generation",
    "Coordinate-Based Seeding",
    "Manifold Parameter Types",
    "Progressive Evaluation Architecture",
    "Response Caching Implementation",
    "Hierarchical Sampling",
    "Statistical Methodology",
    "The Six Estimators",
    "PointsDB Mode Names",
    "Compression Pre-Computation",
    "Pairwise Win Rate Statistical Methodology",
    "See Also",
    "ReasonScore v2: Statistical Foundations for r12",
    "Introduction",
    "Two Orthogonal Concerns",
    "The Estimation: Per-Task P[Correct] Computation",
    "The Aggregation: Bootstrap Geometric Mean Across Tasks",
    "Why Geometric Mean?",
    "Per-Task P[Correct] Bounds as Input",
    "Bootstrap Sampling for Confidence Intervals",
    "Why Bootstrap, Not Min/Max?",
    "Bootstrap Stability and Sample Size",
    "Interpretation Guide",
    "ReasonScore Values",
    "Confidence Intervals",
    "Statistical Significance",
    "03_METRICS_SPEC — Zeta Reason v0.2",
    "1. Notation",
    "2. Answer-Level Metrics",
    "2.1 Accuracy (ACC)",
    "2.2 Unsupported Step Rate v0 (USR_v0)",
    "2.3 Error Rate (optional, derived)",
    "3. Calibration Metrics (placeholders, optional)",
    "3.1 Brier Score",
    "3.2 Expected Calibration Error (ECE)",
    "4. Diversity / Self-Consistency Metric",
    "4.1 Self-Consistency Entropy v0 (SCE_v0)",
    "5. CoT Shape / Process Metrics",
    "5.1 CoT Token Length (COT_TOKENS_MEAN)",
    "5.2 CoT Character Length (COT_CHARS_MEAN)",
    "5.3 Step Count (STEP_COUNT_MEAN)",
    "5.4 Reasoning-to-Answer Ratio (RA_RATIO_MEAN)",
    "5.5 Self-Correction Rate (SELF_CORRECTION_RATE)",
    "6. Efficiency Metrics",
    "6.1 Mean Tokens per Task (TOKENS_MEAN)",
    "6.2 Latency Metrics (LATENCY_MEAN, LATENCY_P95)",
    "7. Schema & Implementation Notes",
    "7.1 MetricsSummary Extensions",
    "7.2 Per-Task Logging",
    "8. Future Extensions (Not in v0.2)",
];

/// The parts of the page that are ours.
const OWN_SECTIONS: [&str; 2] = ["Errors in the documents", "Decisions"];

/// A row of the page's tables.
struct Row {
    heading: String,
    cells: Vec<String>,
}

fn root(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// The cells of a table's line; a pipe after a backslash is text.
fn cells(line: &str) -> Vec<String> {
    let marked = line.replace("\\|", "\u{0}");
    let inner = marked.strip_prefix('|').and_then(|rest| rest.strip_suffix('|')).unwrap_or(&marked);
    inner.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The texts in backticks.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn page() -> (BTreeSet<String>, Vec<Row>) {
    let text = fs::read_to_string(root("docs/source-documents.md")).unwrap();
    let (mut headings, mut rows, mut heading) = (BTreeSet::new(), Vec::new(), String::new());
    for line in text.lines() {
        if line.starts_with('#') {
            line.trim_start_matches('#').trim().clone_into(&mut heading);
            assert!(headings.insert(heading.clone()), "`{heading}` stands twice");
        } else if line.starts_with('|') && !line.starts_with("|---") && !line.starts_with("| statement |") {
            rows.push(Row { heading: heading.clone(), cells: cells(line) });
        }
    }
    (headings, rows)
}

#[test]
fn page_has_every_section_of_the_documents() {
    let (headings, rows) = page();
    for heading in HEADINGS.iter().chain(&OWN_SECTIONS) {
        assert!(headings.contains(*heading), "the page lacks the section `{heading}`");
        assert!(rows.iter().any(|row| row.heading == *heading), "`{heading}` has no statement");
    }
    // Nor does it have others, which would be sections that a document lost.
    assert_eq!(headings.len(), HEADINGS.len() + OWN_SECTIONS.len() + 1, "{headings:?}");
    let statements: Vec<&str> = rows.iter().map(|row| row.cells[0].as_str()).collect();
    for beginning in ["See Also:", "See also:", "Applications:", "Prerequisites:"] {
        assert!(statements.iter().any(|statement| statement.starts_with(beginning)), "no `{beginning}`");
    }
}

#[test]
fn page_names_files_and_tests_that_exist() {
    let (_, rows) = page();
    assert!(rows.len() > 150, "{}", rows.len());
    let (mut sources, mut wrong) = (BTreeMap::<String, Option<String>>::new(), Vec::new());
    let mut source = |path: &str| {
        sources.entry(path.to_owned()).or_insert_with(|| fs::read_to_string(root(path)).ok()).clone()
    };
    for Row { heading, cells } in &rows {
        let [statement, place, test, note] = &cells[..] else {
            wrong.push(format!("{heading}: {} cells instead of 4: {cells:?}", cells.len()));
            continue;
        };
        let mut fail = |message: String| wrong.push(format!("{heading}: {statement}: {message}"));
        let places = code(place);
        if places.is_empty() {
            fail("no file and no command".to_owned());
        }
        for place in places {
            // Commands are checked by `scripts/docs.py commands`.
            if !place.starts_with("reasonscape ") && source(place).is_none() {
                fail(format!("there is no file `{place}`"));
            }
        }
        let tests = code(test);
        if tests.is_empty() && (test != "-" || note.is_empty()) {
            fail("neither a test nor a note on why there is none".to_owned());
        }
        for test in tests {
            let Some((path, name)) = test.rsplit_once("::") else {
                fail(format!("`{test}` is no `file::function`"));
                continue;
            };
            let is_test = source(path).is_some_and(|text| {
                // The attribute stands above the function, and other attributes may stand between.
                text.split(&format!("fn {name}("))
                    .next()
                    .filter(|before| before.len() < text.len())
                    .is_some_and(|before| before.lines().rev().take(4).any(|line| line.trim() == "#[test]"))
            });
            if !is_test {
                fail(format!("there is no test `{test}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn json_of(arguments: &[&str], input: &str) -> Value {
    let run = reasonscape_with(&[arguments, &["--format", "json"]].concat(), input);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The scores of models with these bounds in points, by min-max, which keeps bounds as they are.
fn board(models: &[(&str, f64, f64)]) -> Vec<Value> {
    let mut csv = "model,task,low,high\n".to_owned();
    for (model, low, high) in models {
        writeln!(csv, "{model},all,{},{}", low / 1000.0, high / 1000.0).unwrap();
    }
    let rows = json_of(&["score", "-", "--method", "min-max"], &csv);
    let rows = rows.as_array().unwrap();
    models
        .iter()
        .map(|(model, ..)| rows.iter().find(|row| row["model"] == *model).expect("it was given").clone())
        .collect()
}

#[test]
fn scores_of_the_document_have_its_bands_and_ties() {
    let found = board(&[("a", 942.0, 950.0), ("b", 931.0, 939.0), ("c", 875.0, 909.0), ("d", 870.0, 904.0)]);
    let places: Vec<_> =
        found.iter().map(|row| [&row["rank"], &row["rank_best"], &row["rank_worst"]]).collect();
    assert_eq!(json!(places), json!([[1, 1, 1], [2, 2, 2], [3, 3, 4], [4, 3, 4]]));
    for (row, (center, margin)) in
        found.iter().zip([(946.0, 4.0), (935.0, 4.0), (892.0, 17.0), (887.0, 17.0)])
    {
        assert!(
            (number(&row["center"]) - center).abs() < 1e-9 && (number(&row["margin"]) - margin).abs() < 1e-9
        );
    }
    // The second is the document's example of a moderate interval, and tight by its limits.
    let examples = board(&[("Qwen3.5-122B", 942.0, 950.0), ("Qwen3-8B", 744.0, 760.0)]);
    assert_eq!(examples[0]["interval_class"], "tight");
    assert_eq!((&examples[1]["interval_class"], &examples[1]["band"]), (&json!("tight"), &json!("strong")));

    for (score, band, meaning) in [
        (1000.0, "near-perfect", "near-perfect performance across all tasks"),
        (900.0, "near-perfect", "near-perfect performance across all tasks"),
        (899.0, "strong", "strong overall with minor weaknesses"),
        (700.0, "strong", "strong overall with minor weaknesses"),
        (699.0, "good", "good capability but notable gaps"),
        (500.0, "good", "good capability but notable gaps"),
        (499.0, "limited", "limited capability or severe task imbalance"),
        (300.0, "limited", "limited capability or severe task imbalance"),
        (299.0, "deficient", "significant deficits across multiple domains"),
        (100.0, "deficient", "significant deficits across multiple domains"),
        (99.0, "catastrophic", "catastrophic failures on some tasks"),
        (10.0, "catastrophic", "catastrophic failures on some tasks"),
    ] {
        // Half a point apart from the boundary, since logarithms round.
        let inside = if score < 1000.0 { score + 0.5 } else { score };
        let row = &board(&[("m", inside, inside)])[0];
        assert_eq!((&row["band"], &row["meaning"]), (&json!(band), &json!(meaning)), "{score}");
    }
}

#[test]
fn reason_scores_range_from_10_to_1000() {
    for (input, score) in [
        (r#"{"a": [0, 0], "b": [0, 0]}"#, 10.0),
        (r#"{"a": [1, 1], "b": [1, 1]}"#, 1000.0),
        (r#"{"a": [0, 0], "b": [1, 1]}"#, 100.0),
    ] {
        assert!((number(&json_of(&["score", "-"], input)["center"]) - score).abs() < 1e-9, "{input}");
    }
}

#[test]
fn geometric_means_of_the_document_are_743_and_650() {
    let statistics = fs::read_to_string(root("docs/statistics.md")).unwrap();
    for (worst, arithmetic, geometric) in [(0.05, 0.875, 743.0), (0.01, 0.872, 650.0)] {
        let tasks: BTreeMap<String, [f64; 2]> = (0..12)
            .map(|task| (format!("task {task}"), if task == 0 { [worst; 2] } else { [0.95; 2] }))
            .collect();
        let score = number(&json_of(&["score", "-"], &json!(tasks).to_string())["center"]);
        assert!((score - geometric).abs() < 0.5, "{worst}: {score}");
        assert!(((11.0 * 0.95 + worst) / 12.0 - arithmetic).abs() < 5e-4);
        let row = format!("| 0.95 on eleven, {worst} on one | {arithmetic:.3} | {:.3} |", geometric / 1000.0);
        assert!(statistics.contains(&row), "docs/statistics.md lacks {row}");
    }
}

/// Why the interval of ReasonScore v2 isn't called a 95 % confidence interval.
#[test]
fn bootstrap_interval_of_strong_models_misses_the_truth() {
    const BOARDS: usize = 100;
    let mut rng = PyRandom::new(1);
    let mut covered = 0;
    for _ in 0..BOARDS {
        let tasks: Vec<TaskBounds> = (0..12)
            .map(|_| {
                let correct = (0..24).filter(|_| rng.random() < 0.95).count();
                let counters = Counters::new(24.0, correct as f64, 0.0, 0.0).unwrap();
                TaskBounds::from(Mode::C_P.estimate(&counters, Confidence::P95))
            })
            .collect();
        let score = reason_score(&tasks, Bootstrap::default()).unwrap();
        covered += usize::from(score.ci_low <= 950.0 && 950.0 <= score.ci_high);
    }
    assert!(covered <= BOARDS / 20, "{covered} of {BOARDS}");
}

/// Half of the problems are easy (90 % correct) and half are hard (40 %). Truncating 60 % of the hard ones at random leaves
/// the model as it was.
#[test]
fn accuracy_of_completed_trials_rises_when_hard_problems_are_truncated() {
    let estimates = |correct: &str, truncated: &str| {
        let counts = ["--n", "200", "--correct", correct, "--truncated", truncated, "--mode", "all"];
        json_of(&[&["estimate"], &counts[..]].concat(), "")
    };
    let point = |estimates: &Value, mode: &str| number(&estimates[mode]["point"]);
    let (complete, truncated) = (estimates("130", "0"), estimates("106", "60"));
    assert_eq!(point(&complete, "E_I"), 0.65);
    assert!(point(&truncated, "E_I") > 0.75, "{truncated}");
    assert!(point(&truncated, "E_P") < 0.65 && 0.65 < point(&truncated, "E_O"), "{truncated}");
}

#[test]
fn utilization_percentile_is_the_nearest_rank() {
    let study = ScoredStudy::new("");
    let evals = json_of(&["analyze", "evals", study.path()], "");
    for eval in evals.as_array().unwrap() {
        let (id, found) = (eval["eval_id"].as_str().unwrap(), &eval["reliability"]);
        let query = format!(
            "SELECT completion_tokens AS t FROM trials WHERE eval_id = '{id}' ORDER BY completion_tokens"
        );
        let tokens = json_of(&["sql", study.path(), &query], "");
        let tokens: Vec<f64> = tokens.as_array().unwrap().iter().map(|row| number(&row["t"])).collect();
        // Rank ceil(0.95 n), in whole numbers.
        let rank = (95 * tokens.len()).div_ceil(100);
        let expected = tokens[rank - 1] / number(&found["token_limit"]);
        assert!((number(&found["utilization_p95"]) - expected).abs() < 1e-12, "{id}: {found}");
    }
}

#[test]
fn changing_any_request_parameter_changes_the_cache_key() {
    let request = json!({
        "model": "phi-4-fp16",
        "messages": [{ "role": "user", "content": "What is 6 * 7?" }],
        "temperature": 0.0,
        "max_tokens": 4096,
        "top_p": 1.0,
    });
    let key = |request: &Value| {
        let key = reasonscape_with(&["key", "-"], request.to_string()).stdout.trim().to_owned();
        assert!(key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
        key
    };
    let mut requests = vec![request.clone()];
    for (name, value) in [
        ("model", json!("phi-4-q4")),
        ("messages", json!([{ "role": "user", "content": "What is 6 * 8?" }])),
        ("temperature", json!(0.7)),
        ("max_tokens", json!(2048)),
        ("top_p", json!(0.95)),
        ("seed", json!(1)),
    ] {
        let mut changed = request.clone();
        changed[name] = value;
        requests.push(changed);
    }
    let keys: BTreeSet<String> = requests.iter().map(key).collect();
    assert_eq!(keys.len(), requests.len());
    // The order of the keys doesn't matter.
    let reordered = r#"{"top_p": 1.0, "temperature": 0.0, "max_tokens": 4096, "model": "phi-4-fp16",
        "messages": [{"content": "What is 6 * 7?", "role": "user"}]}"#;
    assert_eq!(reasonscape_with(&["key", "-"], reordered).stdout.trim(), key(&request));
}

/// A line with everything that the Zeta Reason document reads.
const ANSWER: &str = r#"{"input": "2 + 3?", "target": "5", "answer": "5", "cot": "1. Add.\n2. Actually, 2 + 3 = 5", "prob_correct": 0.9, "prompt_tokens": 12, "completion_tokens": 30, "latency_ms": 80.5}"#;

#[test]
fn metrics_have_the_fields_of_the_document() {
    let found = json_of(&["metrics", "-"], ANSWER);
    for (name, value) in [
        ("accuracy", 1.0),
        ("brier", 0.01),
        ("ece", 0.1),
        ("sce", 0.0),
        ("usr", 0.0),
        ("err", 0.0),
        ("cot_tokens_mean", 9.0),
        ("cot_chars_mean", 30.0),
        ("step_count_mean", 2.0),
        ("ra_ratio_mean", 9.0),
        ("self_correction_rate", 1.0),
        ("prompt_tokens_mean", 12.0),
        ("completion_tokens_mean", 30.0),
        ("total_tokens_mean", 42.0),
        ("latency_mean_ms", 80.5),
        ("latency_p95_ms", 80.5),
    ] {
        assert!((number(&found[name]) - value).abs() < 1e-12, "{name}: {}", found[name]);
    }
}

#[test]
fn per_task_log_has_the_fields_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    json_of(&["metrics", "-", "--per-task", log.to_str().unwrap()], ANSWER);
    let row: Value = serde_json::from_str(fs::read_to_string(log).unwrap().trim()).unwrap();
    let expected = json!({
        "correct": true,
        "cot": "1. Add.\n2. Actually, 2 + 3 = 5",
        "cot_tokens": 9,
        "step_count": 2,
        "self_correcting": true,
        "prompt_tokens": 12,
        "completion_tokens": 30,
        "total_tokens": 42,
        "latency_ms": 80.5,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&row[name], value, "{name}");
    }
}
