//! `reasonscape run DATASET`: layouts of the field, from a file to metrics, against simulated models.

use std::fs;
use std::path::{Path, PathBuf};

use reasonscape_core::{ColumnMap, Dataset, Item, check_items};
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_test_support::python;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, reasonscape, start_server};

/// How each of the examples is to be read.
const WORD_PROBLEMS: &[&str] = &["--map", "input=question,target=answer", "--target-regex", "#### (.*)"];
const SCIENCE: &[&str] = &["--map", "input=question,options=choices,target=answerKey,category=subject"];

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/datasets").join(name)
}

/// Simulated models that know the answers of a dataset, and a folder to work in.
struct DatasetEnv {
    server: SimulatedServer,
    folder: TempDir,
}

impl DatasetEnv {
    /// `target` takes the answer out of a target.
    fn new(file: &str, columns: &str, target: fn(&str) -> String) -> Self {
        let text = fs::read_to_string(example(file)).unwrap();
        let columns: ColumnMap = columns.parse().unwrap();
        let target = |text: &str| Ok(target(text));
        let items = (1..).zip(text.lines()).map(|(line, text)| {
            let Ok(Value::Object(row)) = serde_json::from_str(text) else { panic!("line {line}") };
            (line, Item::read(&row, &columns, Some(&target)))
        });
        let dataset = Dataset::new("known", check_items(items).unwrap());
        let suites = vec![dataset.suite()];
        let server =
            SimulatedServer::start(SimulateOptions { suites, threads: 1, ..SimulateOptions::default() })
                .unwrap();
        Self { server, folder: TempDir::new().unwrap() }
    }

    fn word_problems() -> Self {
        let answer = |text: &str| text.rsplit("#### ").next().unwrap_or(text).to_owned();
        Self::new("word-problems.jsonl", "input=question,target=answer", answer)
    }

    fn study(&self) -> PathBuf {
        self.folder.path().join("study")
    }

    fn run(&self, file: &Path, models: &[&str], arguments: &[&str]) -> Run {
        let url = self.server.base_url();
        let study = self.study();
        let mut all =
            vec!["run", file.to_str().unwrap(), "--base-url", &url, "--into", study.to_str().unwrap()];
        for model in models {
            all.extend(["--model", model]);
        }
        all.extend(arguments);
        let run = reasonscape(&all);
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        run
    }

    fn done(&self, file: &Path, models: &[&str], arguments: &[&str]) -> Value {
        let run = self.run(file, models, &[arguments, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn answers(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.study().join("results/answers.jsonl")).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The summary of a model.
fn of<'v>(summaries: &'v Value, model: &str) -> &'v Value {
    // A single model is its own summary.
    let Some(models) = summaries["models"].as_array() else {
        assert_eq!(summaries["model"], model);
        return summaries;
    };
    models.iter().find(|summary| summary["model"] == model).unwrap_or_else(|| panic!("{model}: {summaries}"))
}

#[test]
fn runs_word_problems_from_file_to_metrics() {
    let env = DatasetEnv::word_problems();
    let models = ["sim-p1", "sim-p0", "sim-p0.6", "sim-p0.8-t0.3"];
    let said = env.done(&example("word-problems.jsonl"), &models, WORD_PROBLEMS);
    let accuracy = |model| of(&said, model)["accuracy"].as_f64().unwrap();
    assert_eq!((accuracy("sim-p1"), accuracy("sim-p0")), (1.0, 0.0));
    // What the model is made to know lies within the interval, and truncated answers are counted apart.
    let detail = &of(&said, "sim-p0.6")["details"]["accuracy"];
    assert!(detail["low"].as_f64().unwrap() < 0.6 && 0.6 < detail["high"].as_f64().unwrap(), "{detail}");
    let cut = of(&said, "sim-p0.8-t0.3")["truncated"].as_u64().unwrap();
    assert!((3..=20).contains(&cut), "{cut}");

    // An independent count of the answers that were written down.
    let answers = fs::read_to_string(env.study().join("results/answers.jsonl")).unwrap();
    let script = r"
import json, sys, collections
from fractions import Fraction
def plain(text):
    text = text.strip().lower()
    try:
        return str(Fraction(text.replace(',', '')))
    except ValueError:
        return text
right, n = collections.Counter(), collections.Counter()
for line in sys.stdin:
    row = json.loads(line)
    n[row['model']] += 1
    answer = row.get('answer')
    right[row['model']] += answer is not None and not row['truncated'] and plain(answer) == plain(row['target'])
print(json.dumps({model: right[model] / n[model] for model in n}))
";
    if let Some(counted) = python(script, &answers) {
        let counted: Value = serde_json::from_str(&counted).unwrap();
        for model in models {
            assert_eq!(counted[model], json!(accuracy(model)), "{model}");
        }
    }

    // It is a study like any other, and says the same.
    let study = env.study();
    let study = study.to_str().unwrap();
    let tasks = reasonscape(&["analyze", "points", study, "--format", "json"]);
    assert_eq!(tasks.code, 0, "{tasks:?}");
    let points: Vec<Value> = serde_json::from_str(&tasks.stdout).unwrap();
    assert_eq!(points.len(), 4);
    for point in &points {
        assert_eq!(point["task"], "word-problems");
        let share = point["n_e"].as_f64().unwrap() / point["n"].as_f64().unwrap();
        assert!((share - accuracy(point["model"].as_str().unwrap())).abs() < 1e-12, "{point}");
    }
    let compared = reasonscape(&["analyze", "compare", study, "sim-p1", "sim-p0"]);
    assert!(compared.stdout.contains("sim-p1 is better than sim-p0"), "{compared:?}");
    let report = env.folder.path().join("report.md");
    let written = reasonscape(&["report", study, "-o", report.to_str().unwrap()]);
    assert_eq!(written.code, 0, "{written:?}");
    assert!(fs::read_to_string(report).unwrap().contains("word-problems"));
    // The per-task log can be asked in SQL.
    let log = env.study().join("results/tasks.parquet");
    let question = "SELECT model, count(*) AS n FROM results WHERE correct GROUP BY model ORDER BY model";
    let asked = reasonscape(&["sql", log.to_str().unwrap(), question, "--format", "json"]);
    assert_eq!(asked.code, 0, "{asked:?}");
    let rows: Vec<Value> = serde_json::from_str(&asked.stdout).unwrap();
    assert!(rows.contains(&json!({ "model": "sim-p1", "n": 36 })), "{rows:?}");
}

#[test]
fn multiple_choice_keeps_guess_rate_and_categories() {
    let env = DatasetEnv::new(
        "science.jsonl",
        "input=question,options=choices,target=answerKey,category=subject",
        str::to_owned,
    );
    let said = env.done(&example("science.jsonl"), &["sim-p1", "sim-p0"], SCIENCE);
    assert_eq!(of(&said, "sim-p1")["accuracy"], 1.0);
    let study = env.study();
    let points = reasonscape(&["analyze", "points", study.to_str().unwrap(), "--format", "json"]);
    let points: Vec<Value> = serde_json::from_str(&points.stdout).unwrap();
    let mut tasks: Vec<&str> = points.iter().map(|point| point["task"].as_str().unwrap()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    assert_eq!(tasks, ["energy", "forces", "life", "matter", "space"]);
    for point in &points {
        assert_eq!(point["g"].as_f64().unwrap(), point["n"].as_f64().unwrap() / 4.0, "{point}");
    }
    // One that only guesses is near one in four.
    let guessed = of(&said, "sim-p0")["details"]["accuracy"].clone();
    assert!(guessed["low"].as_f64().unwrap() < 0.25 && 0.25 < guessed["high"].as_f64().unwrap(), "{guessed}");
}

#[test]
fn finds_options_within_the_question() {
    let env = DatasetEnv::new("shelves.jsonl", "", str::to_owned);
    let said = env.done(&example("shelves.jsonl"), &["sim-p1"], &[]);
    assert_eq!(of(&said, "sim-p1")["accuracy"], 1.0);
    assert_eq!(env.answers()[0]["options"].as_array().unwrap().len(), 3);
}

#[test]
fn csv_gives_the_same_results_as_jsonl() {
    let env = DatasetEnv::word_problems();
    let mut table = csv_of(&example("word-problems.jsonl"));
    let file = env.file("word-problems.csv", &table);
    let said = env.done(&file, &["sim-p0.6"], WORD_PROBLEMS);
    let again = DatasetEnv::word_problems();
    let lines = again.done(&example("word-problems.jsonl"), &["sim-p0.6"], WORD_PROBLEMS);
    assert_eq!(of(&said, "sim-p0.6")["accuracy"], of(&lines, "sim-p0.6")["accuracy"]);
    table.push_str("only one cell\n");
    let file = env.file("broken.csv", &table);
    let run = env.run(&file, &["sim-p0.6"], WORD_PROBLEMS);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("1 cells, but the first row has 2"), "{run:?}");
}

fn csv_of(path: &Path) -> String {
    let quoted = |value: &Value| format!("\"{}\"", value.as_str().unwrap().replace('"', "\"\""));
    let text = fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        format!("{},{}\n", quoted(&row["question"]), quoted(&row["answer"]))
    };
    std::iter::once("question,answer\n".to_owned()).chain(text.lines().map(row)).collect()
}

#[test]
fn corrected_address_replaces_one_that_receives_no_key() {
    let env = DatasetEnv::word_problems();
    let study = env.study();
    let run_at = |base_url: &str, more: &[&str]| {
        let file = example("word-problems.jsonl");
        let fixed = ["run", file.to_str().unwrap(), "--model", "sim-p1", "--base-url", base_url];
        let into = ["--into", study.to_str().unwrap()];
        reasonscape(&[&fixed[..], &into[..], WORD_PROBLEMS, more].concat())
    };
    assert_eq!(run_at("http://127.0.0.1:1/v1", &[]).code, 1);
    let corrected = run_at(&env.server.base_url(), &[]);
    assert_eq!(corrected.code, 0, "{corrected:?}");
    let note = format!("from http://127.0.0.1:1/v1 to {}", env.server.base_url());
    assert!(corrected.stderr.contains(&note), "{corrected:?}");
    let file = study.join("study.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("base_url", "api_key_env = \"PATH\"\nbase_url", 1)).unwrap();
    let refused = run_at("http://127.0.0.1:1/v1", &[]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("not at http://127.0.0.1:1/v1; change it in"), "{refused:?}");
}

#[test]
fn names_missing_files_and_unknown_extensions() {
    let env = DatasetEnv::word_problems();
    for (file, says) in [
        (env.file("questions.txt", "?"), "has none of the extensions of datasets: jsonl, ndjson"),
        (env.study().join("missing.txt"), "no such file: `"),
    ] {
        let run = reasonscape(&[
            "run",
            file.to_str().unwrap(),
            "--model",
            "m",
            "--base-url",
            "http://127.0.0.1:1/v1",
        ]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(says), "{run:?}");
    }
}

#[test]
fn reports_every_invalid_line_and_writes_nothing() {
    let env = DatasetEnv::word_problems();
    let file = env.file(
        "wrong.jsonl",
        "{\"id\": \"a\", \"input\": \"?\", \"target\": \"1\"}\n\
         not JSON\n\
         {\"id\": \"a\", \"input\": \"?\", \"target\": \"1\"}\n\
         {\"id\": \"b\", \"input\": \"?\"}\n\
         {\"input\": \"?\", \"target\": \"1\"}\n\
         {\"id\": \"c\", \"input\": \" \", \"target\": \"1\"}\n",
    );
    let run = env.run(&file, &["sim-p1"], &[]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    for says in [
        "4 lines are invalid; no requests were sent",
        "line 2: not JSON",
        "line 3: `id` `a` is also used in line 1",
        "line 4: missing field `target` (found `id`, `input`)",
        "line 6: `input` is empty",
    ] {
        assert!(run.stderr.contains(says), "`{says}` is not in: {}", run.stderr);
    }
    assert!(!env.study().exists());
    let refused = reasonscape(&[
        "run",
        example("shelves.jsonl").to_str().unwrap(),
        "--model",
        "m",
        "--base-url",
        "localhost",
        "--into",
        env.study().to_str().unwrap(),
    ]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("`base_url` is not a valid URL"), "{refused:?}");
    assert!(!env.study().exists());
    let empty = env.run(&env.file("empty.jsonl", "\n"), &["sim-p1"], &[]);
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("the file is empty"), "{empty:?}");
    let missing = env.run(Path::new("none.jsonl"), &["sim-p1"], &[]);
    assert!(missing.code != 0 && missing.stderr.contains("none.jsonl"), "{missing:?}");
    assert!(!env.study().exists());
}

/// Runs a simulated model that knows every answer, and one that knows none, on a dataset that both read themselves.
fn oracle(path: &Path, arguments: &[&str], notes: &[&str]) -> Value {
    oracle_in(&TempDir::new().unwrap().path().join("study"), path, arguments, notes)
}

/// Same as [`oracle`], in a study that stays.
fn oracle_in(study: &Path, path: &Path, arguments: &[&str], notes: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    let (mut child, url) = start_server(
        &[&["simulate", "--port", "0", "--suite", "quick", "--dataset", path], arguments].concat(),
        &[],
    );
    let run = reasonscape(
        &[
            &["run", path, "--base-url", &url, "--into", study.to_str().unwrap(), "--format", "json"],
            &["--model", "sim-p1.0", "--model", "sim-p0.0"][..],
            arguments,
        ]
        .concat(),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(run.code, 0, "{run:?}");
    for note in notes {
        assert!(run.stderr.contains(note), "`{note}` is not in: {}", run.stderr);
    }
    let said: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(of(&said, "sim-p1.0")["accuracy"], 1.0, "{said}");
    said
}

/// Formulas with functions have no normal form, so wrong answers to them are compared as text only.
#[test]
fn reports_undecided_comparisons_when_scoring() {
    let folder = TempDir::new().unwrap();
    let (file, study) = (folder.path().join("trig.jsonl"), folder.path().join("study"));
    let rows = [("Differentiate $-\\cos x$.", r"$\sin x$"), ("Differentiate $\\sin x$.", r"$\cos x$")];
    let lines = rows.map(|(input, target)| serde_json::json!({"input": input, "target": target}).to_string());
    fs::write(&file, lines.join("\n")).unwrap();
    let undecided = "note: 2 of the incorrect answers could not be compared as formulas, only as text; they have `undecided` in";
    oracle_in(
        &study,
        &file,
        &[],
        &["answers are scored by `math`", "2 of 2 targets have no algebraic normal form", undecided],
    );
    let again = reasonscape(&["evaluate", study.to_str().unwrap()]);
    assert!(again.code == 0 && again.stderr.contains(undecided), "{again:?}");
    let answers = fs::read_to_string(study.join("results/answers.jsonl")).unwrap();
    assert_eq!(answers.matches(r#""undecided":true"#).count(), 2, "{answers}");
}

/// Where only some questions have options, those are scored by `choice`, and the command prints their number.
#[test]
fn names_the_scorers_of_a_dataset_with_both_kinds_of_questions() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mixed.jsonl");
    let with = r#"{"input": "Which is even?", "target": "8", "options": ["7", "8"]}"#;
    fs::write(&file, with).unwrap();
    let run = |note: &str| oracle(&file, &[], &[note]);
    run("answers are scored by `choice`, because all questions have options");
    fs::write(&file, format!("{with}\n{}", r#"{"input": "What is 6 * 7?", "target": "42"}"#)).unwrap();
    run("1 of 2 questions have options and are scored by `choice`, the others by `numeric`");
}

#[test]
fn runs_public_layouts_as_they_are() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    };
    let solutions = file(
        "solutions.jsonl",
        "{\"question\": \"Halve it.\", \"answer\": \"So $\\\\boxed{\\\\frac{1}{2}}$.\"}\n{\"question\": \"?\", \"answer\": \"none\"}\n",
    );
    let arguments = ["--map", "input=question,target=answer", "--target", "boxed", "--skip-bad"];
    let said = oracle(
        &solutions,
        &arguments,
        &["a line is invalid and left out", r"line 2: the target `none` has no `\boxed{…}`"],
    );
    assert_eq!((&of(&said, "sim-p1.0")["n"], &of(&said, "sim-p0.0")["accuracy"]), (&json!(1), &json!(0.0)));

    let table = file("table.csv", "Which is a fruit?,spade,pear,B\nWhich is a tool?,hammer,plum,A\n");
    let columns = ["--columns", "question,one,two,key", "--map", "input=question,options=one+two,target=key"];
    assert_eq!(of(&oracle(&table, &columns, &[]), "sim-p1.0")["n"], 2);

    for (part, lines) in [("main/train", 5), ("main/test", 3), ("other/test", 2)] {
        let rows: String = (0..lines)
            .map(|n| format!("{{\"question\": \"{part} {n}?\", \"answer\": \"So #### {n}\"}}\n"))
            .collect();
        file(&format!("mine/{part}.jsonl"), &rows);
    }
    let mine = folder.path().join("mine");
    let notes = ["reading split `test` of subset `main`", "looks like GSM8K"];
    assert_eq!(of(&oracle(&mine, &["--subset", "main"], &notes), "sim-p1.0")["n"], 3);
    let train = ["--subset", "main", "--split", "train"];
    assert_eq!(of(&oracle(&mine, &train, &["reading split `train`"]), "sim-p1.0")["n"], 5);
    let refused =
        reasonscape(&["run", mine.to_str().unwrap(), "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]);
    assert_rejected(&refused, &["several subsets: `main`, `other`", "--subset main"]);
}

#[test]
fn extends_a_study_that_was_made_before_layouts_were_recognized() {
    let env = DatasetEnv::word_problems();
    let rows = "{\"question\": \"Which?\", \"options\": [\"A)pear\", \"B)plum\"], \"correct\": \"A\"}\n";
    let file = env.file("old.jsonl", rows);
    fs::create_dir(env.study()).unwrap();
    // As it was read then: options with their labels.
    let copy =
        "{\"id\":\"1\",\"input\":\"Which?\",\"options\":[\"A)pear\",\"B)plum\"],\"target\":\"A)pear\"}\n";
    fs::write(env.study().join("old.jsonl"), copy).unwrap();
    let study = format!(
        "dataset = \"old.jsonl\"\n[[eval]]\nmodel = \"sim-p1\"\nbase_url = \"{}\"\n",
        env.server.base_url()
    );
    fs::write(env.study().join("study.toml"), study).unwrap();
    let map = ["--map", "input=question,target=correct"];
    let run = env.run(&file, &["sim-p0"], &map);
    assert!(run.stderr.contains("the questions are read as when this study was made"), "{run:?}");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(env.answers()[0]["options"], json!(["A)pear", "B)plum"]));
}

#[test]
fn requires_settings_that_a_dataset_lacks() {
    let file = example("shelves.jsonl");
    let run = reasonscape(&["run", file.to_str().unwrap()]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("--model NAME --base-url URL"), "{run:?}");
    let folder = TempDir::new().unwrap();
    let run = reasonscape(&["run", folder.path().to_str().unwrap(), "--model", "m"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`--model` only applies to datasets"), "{run:?}");
}

#[test]
fn extends_a_study_by_models_and_repeats_only() {
    let env = DatasetEnv::word_problems();
    let file = example("word-problems.jsonl");
    env.done(&file, &["sim-p0.6"], WORD_PROBLEMS);
    let said = env.done(&file, &["sim-p1"], &[WORD_PROBLEMS, &["--repeats", "3"]].concat());
    assert_eq!(of(&said, "sim-p1")["n"], 108);
    assert_eq!(of(&said, "sim-p0.6")["n"], 36);
    assert_eq!(env.server.stats().requests, 36 + 108);
    // At temperature 0 the same is said every time.
    assert_eq!(of(&said, "sim-p1")["determinism_index"], 1.0);
    let run = env.run(&file, &["sim-p1"], &[WORD_PROBLEMS, &["--limit", "5"]].concat());
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("which differ from these 5"), "{run:?}");
    assert_eq!(env.server.stats().requests, 36 + 108);
}

#[test]
fn samples_items_by_seed() {
    let drawn = |seed: &str| {
        let env = DatasetEnv::word_problems();
        let arguments = [WORD_PROBLEMS, &["--sample", "9", "--seed", seed]].concat();
        env.done(&example("word-problems.jsonl"), &["sim-p1"], &arguments);
        env.answers().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let first = drawn("1");
    assert_eq!(first.len(), 9);
    assert!(first.is_sorted_by_key(|id| id.parse::<u32>().unwrap()));
    assert_eq!(first, drawn("1"));
    assert_ne!(first, drawn("2"));
}

#[test]
fn reads_confidence_from_logprobs_or_reply() {
    for arguments in [["--sampler", "greedy-2k-logprobs"], ["--template", "cot-confidence"]] {
        let env = DatasetEnv::word_problems();
        let said =
            env.done(&example("word-problems.jsonl"), &["sim-p0.7"], &[WORD_PROBLEMS, &arguments].concat());
        let summary = of(&said, "sim-p0.7");
        assert_eq!(summary["details"]["brier"]["n"], 36, "{arguments:?}: {summary}");
        // The simulated model knows how sure it may be, so it is nearly as well calibrated as can be.
        let brier = summary["brier"].as_f64().unwrap();
        assert!((0.1..0.3).contains(&brier), "{arguments:?}: {brier}");
    }
}

#[test]
fn concurrent_runs_both_add_their_model() {
    let env = DatasetEnv::word_problems();
    let file = example("word-problems.jsonl");
    std::thread::scope(|scope| {
        for model in ["sim-p0.2", "sim-p0.4", "sim-p0.6", "sim-p0.8"] {
            scope.spawn({
                let (env, file) = (&env, &file);
                move || env.done(file, &[model], WORD_PROBLEMS)
            });
        }
    });
    let said = env.done(&file, &["sim-p0.2"], WORD_PROBLEMS);
    assert_eq!(said["models"].as_array().unwrap().len(), 4);
    assert_eq!(env.server.stats().requests, 4 * 36);
}

#[test]
fn never_replaces_a_file_of_the_folder() {
    let env = DatasetEnv::word_problems();
    fs::create_dir(env.study()).unwrap();
    let own = env.study().join("word-problems.jsonl");
    fs::copy(example("word-problems.jsonl"), &own).unwrap();
    let run = env.run(&own, &["sim-p1"], WORD_PROBLEMS);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("already exists"), "{run:?}");
    assert_eq!(fs::read(&own).unwrap(), fs::read(example("word-problems.jsonl")).unwrap());
}

#[test]
fn scores_with_the_chosen_or_detected_scorer() {
    let env = DatasetEnv::word_problems();
    let file = example("word-problems.jsonl");
    let study_toml = || fs::read_to_string(env.study().join("study.toml")).unwrap();
    let scored_by = || {
        let mut names: Vec<Value> = env.answers().iter().map(|answer| answer["scored_by"].clone()).collect();
        names.dedup();
        names
    };

    let run = env.run(&file, &["sim-p1", "sim-p0"], WORD_PROBLEMS);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("answers are scored by `numeric`, because all targets are numbers"),
        "{run:?}"
    );
    assert!(study_toml().contains("scorer = \"numeric\""), "{}", study_toml());
    assert_eq!(scored_by(), [json!("numeric")]);

    let chosen = [WORD_PROBLEMS, &["--scorer", "exact"]].concat();
    let said = env.done(&file, &["sim-p1", "sim-p0"], &chosen);
    assert_eq!(
        (&of(&said, "sim-p1")["accuracy"], &of(&said, "sim-p0")["accuracy"]),
        (&json!(1.0), &json!(0.0))
    );
    assert!(study_toml().contains("scorer = \"exact\""), "{}", study_toml());
    assert_eq!(scored_by(), [json!("exact")]);

    // A study without the key is compared as before scorers existed.
    fs::write(env.study().join("study.toml"), study_toml().replace("scorer = \"exact\"\n", "")).unwrap();
    env.done(&file, &["sim-p1", "sim-p0"], WORD_PROBLEMS);
    assert_eq!(scored_by(), [Value::Null]);

    let wrong = env.run(&file, &["sim-p1"], &[WORD_PROBLEMS, &["--scorer", "nummeric"]].concat());
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.stderr.contains("did you mean `numeric`?"), "{wrong:?}");
}

#[test]
fn names_the_line_of_a_target_that_extraction_cuts_apart() {
    let env = DatasetEnv::word_problems();
    let lines = "{\"input\": \"Which?\", \"target\": \"Oslo\"}\n{\"input\": \"What?\", \"target\": \"The answer is: 7\"}\n";
    let file = env.file("cut.jsonl", lines);
    let run = env.run(&file, &["sim-p1"], &["--scorer", "exact"]);
    assert!(
        run.stderr.contains("line 2: target `The answer is: 7` is not found by the extraction"),
        "{run:?}"
    );
    assert!(!run.stderr.contains("line 1:"), "{run:?}");
}
