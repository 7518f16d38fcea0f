//! Every option of every command has an effect, and a test that shows it.
//!
//! `option_effects.txt` has a row for each: command, option, test. Rows that name `options_change_the_output` here are
//! tried by it: the command is run without and with the option, and must print or write something else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::source_statements::ScoredStudy;
use crate::test_env::{Run, reasonscape, reasonscape_with, start_server};

/// Options that belong to every command and need no effect on its data.
const GLOBAL: [&str; 7] =
    ["--format", "--quiet", "--color", "--log", "--memory-limit", "--help", "--version"];

/// Command, arguments without the option, and the option. `STUDY` is a study, `DIR` a new folder.
type Effect = (&'static str, &'static [&'static str], &'static [&'static str]);

const JSON: &[&str] = &["--format", "json"];
const ARITHMETIC: &[&str] = &["--format", "json", "--filter", "base_task=arithmetic"];
const PAIR: &[&str] = &["sim-strong", "sim-cheap", "--format", "json"];
const COUNTS: &[&str] = &["--n", "40", "--correct", "30", "--truncated", "4", "--guess", "8"];

/// What has to change the output.
const EFFECTS: &[Effect] = &[
    ("analyze evals", JSON, &["--filter", "model=sim-cheap"]),
    ("analyze evals", JSON, &["--first", "8"]),
    ("analyze evals", JSON, &["--mode", "E_O"]),
    ("analyze evals", JSON, &["--guessing", "raw"]),
    ("analyze evals", JSON, &["--truncation", "pass"]),
    ("analyze evals", JSON, &["--literal"]),
    ("analyze tasks", JSON, &["--filter", "base_task=sort"]),
    ("analyze tasks", JSON, &["--first", "8"]),
    ("analyze tasks", JSON, &["--mode", "E_O"]),
    ("analyze tasks", JSON, &["--guessing", "raw"]),
    ("analyze tasks", JSON, &["--truncation", "pass"]),
    ("analyze tasks", JSON, &["--literal"]),
    ("analyze tasks", JSON, &["--confidence", "0.8"]),
    ("analyze points", JSON, &["--filter", "base_task=sort"]),
    ("analyze points", JSON, &["--first", "8"]),
    ("analyze points", JSON, &["--mode", "E_O"]),
    ("analyze points", JSON, &["--guessing", "raw"]),
    ("analyze points", JSON, &["--truncation", "pass"]),
    ("analyze points", &["--format", "json", "--mode", "C_P"], &["--literal"]),
    ("analyze points", JSON, &["--confidence", "0.8"]),
    ("analyze aggregate", JSON, &["--filter", "base_task=sort"]),
    ("analyze aggregate", JSON, &["--first", "8"]),
    ("analyze aggregate", JSON, &["--by", "model"]),
    ("analyze aggregate", JSON, &["--mode", "all"]),
    ("analyze aggregate", JSON, &["--guessing", "raw"]),
    ("analyze aggregate", JSON, &["--truncation", "pass"]),
    ("analyze aggregate", JSON, &["--literal"]),
    ("analyze aggregate", JSON, &["--confidence", "0.8"]),
    ("analyze scores", JSON, &["--filter", "base_task=sort"]),
    ("analyze scores", JSON, &["--first", "8"]),
    ("analyze scores", JSON, &["--mode", "E_O"]),
    ("analyze scores", JSON, &["--guessing", "raw"]),
    ("analyze scores", JSON, &["--truncation", "pass"]),
    ("analyze scores", JSON, &["--literal"]),
    ("analyze scores", JSON, &["--stability"]),
    ("analyze scores", JSON, &["--method", "bootstrap"]),
    ("analyze scores", JSON, &["--ties", "v2"]),
    ("analyze cluster", JSON, &["--filter", "base_task=sort"]),
    ("analyze cluster", JSON, &["--first", "8"]),
    ("analyze cluster", JSON, &["--by", "base_task"]),
    ("analyze pairwise", JSON, &["--filter", "base_task=sort"]),
    ("analyze pairwise", JSON, &["--first", "8"]),
    ("analyze pairwise", JSON, &["--mode", "E_O"]),
    ("analyze pairwise", JSON, &["--guessing", "raw"]),
    ("analyze pairwise", JSON, &["--truncation", "pass"]),
    ("analyze pairwise", JSON, &["--method", "monte-carlo"]),
    ("analyze pairwise", &["--format", "json", "--method", "monte-carlo"], &["--seed", "7"]),
    ("analyze pairwise", &[], &["--per-task"]),
    ("analyze compare", PAIR, &["--filter", "base_task=sort"]),
    ("analyze compare", PAIR, &["--first", "8"]),
    ("analyze compare", PAIR, &["--mode", "E_O"]),
    ("analyze compare", PAIR, &["--guessing", "raw"]),
    ("analyze compare", PAIR, &["--truncation", "pass"]),
    ("analyze modes", JSON, &["--filter", "base_task=sort"]),
    ("analyze modes", JSON, &["--first", "8"]),
    ("analyze modes", JSON, &["--mode", "E_O"]),
    ("analyze modes", JSON, &["--guessing", "raw"]),
    ("analyze modes", JSON, &["--truncation", "pass"]),
    ("analyze modes", &[], &["--by", "task"]),
    ("analyze projection", JSON, &["--filter", "model=sim-cheap"]),
    ("analyze projection", ARITHMETIC, &["--first", "8"]),
    ("analyze projection", ARITHMETIC, &["--confidence", "0.8"]),
    ("analyze projection", ARITHMETIC, &["--mode", "E_O"]),
    ("analyze projection", ARITHMETIC, &["--guessing", "raw"]),
    ("analyze projection", ARITHMETIC, &["--truncation", "pass"]),
    ("analyze projection", ARITHMETIC, &["--x", "max_depth"]),
    ("analyze surface", JSON, &["--filter", "model=sim-cheap"]),
    ("analyze surface", ARITHMETIC, &["--first", "8"]),
    ("analyze surface", ARITHMETIC, &["--confidence", "0.8"]),
    ("analyze surface", ARITHMETIC, &["--mode", "E_O"]),
    ("analyze surface", ARITHMETIC, &["--guessing", "raw"]),
    ("analyze surface", ARITHMETIC, &["--truncation", "pass"]),
    ("analyze surface", ARITHMETIC, &["--x", "max_depth"]),
    ("analyze surface", ARITHMETIC, &["--y", "length"]),
    ("analyze threshold", JSON, &["--filter", "model=sim-cheap"]),
    ("analyze threshold", ARITHMETIC, &["--first", "8"]),
    ("analyze threshold", ARITHMETIC, &["--mode", "E_O"]),
    ("analyze threshold", ARITHMETIC, &["--guessing", "raw"]),
    ("analyze threshold", ARITHMETIC, &["--truncation", "pass"]),
    ("analyze threshold", ARITHMETIC, &["--x", "max_depth"]),
    ("analyze similarity", JSON, &["--filter", "base_task=sort,boolean"]),
    ("analyze similarity", JSON, &["--first", "8"]),
    ("analyze similarity", JSON, &["--mode", "E_O"]),
    ("analyze similarity", JSON, &["--guessing", "raw"]),
    ("analyze similarity", JSON, &["--truncation", "pass"]),
    ("analyze similarity", JSON, &["--confidence", "0.8"]),
    ("analyze similarity", JSON, &["--shape"]),
    ("analyze similarity", JSON, &["--linkage", "ward"]),
    ("analyze spectrum", ARITHMETIC, &["--against", "base_task=sort"]),
    ("analyze spectrum", ARITHMETIC, &["--seed", "3"]),
    ("analyze spectrum", ARITHMETIC, &["--against-seed", "9"]),
    ("analyze spectrum", ARITHMETIC, &["--series", "classes"]),
    ("analyze spectrum", ARITHMETIC, &["--count", "12"]),
    ("analyze spectrum", ARITHMETIC, &["--bins", "8"]),
    ("analyze spectrum", ARITHMETIC, &["--permutations", "49"]),
    ("analyze spectrum", JSON, &["--filter", "params.length=4"]),
    ("analyze compression", JSON, &["--filter", "base_task=sort"]),
    ("analyze compression", JSON, &["--first", "8"]),
    ("analyze compression", JSON, &["--confidence", "0.8"]),
    ("analyze compression", JSON, &["--by", "eval"]),
    ("analyze compression", &[], &["--measure", "size"]),
    ("analyze compression", JSON, &["--loop-bits", "50"]),
    ("analyze compression", &["--format", "json", "--loop-bits", "50"], &["--examples", "0"]),
    ("analyze compression", JSON, &["--x", "length"]),
    ("analyze hazard", JSON, &["--filter", "base_task=sort"]),
    ("analyze hazard", JSON, &["--first", "8"]),
    ("analyze hazard", JSON, &["--confidence", "0.8"]),
    ("analyze hazard", JSON, &["--by", "eval"]),
    ("analyze hazard", &[], &["--bins"]),
    ("analyze hazard", JSON, &["--width", "64"]),
    ("analyze variance", JSON, &["--filter", "base_task=sort"]),
    ("analyze variance", JSON, &["--first", "8"]),
    ("analyze variance", JSON, &["--confidence", "0.8"]),
    ("analyze variance", JSON, &["--by", "eval"]),
    ("analyze variance", &[], &["--pass"]),
    ("analyze tokens", JSON, &["--filter", "base_task=sort"]),
    ("analyze tokens", JSON, &["--first", "8"]),
    ("analyze tokens", JSON, &["--confidence", "0.8"]),
    ("analyze tokens", JSON, &["--mode", "E_O"]),
    ("analyze tokens", JSON, &["--guessing", "raw"]),
    ("analyze tokens", JSON, &["--truncation", "pass"]),
    ("analyze tokens", JSON, &["--by", "eval"]),
    ("analyze tokens", &[], &["--curve"]),
    ("analyze tokens", JSON, &["--budget", "64"]),
    ("analyze tokens", JSON, &["--keep", "0.5"]),
    ("cache export", &[], &["--entries-only"]),
    ("evaluate", &["--force"], &["--eval", "sim-cheap"]),
    ("evaluate", &["--force"], &["--task", "sort"]),
    ("export", &[], &["--filter", "base_task=sort"]),
    ("export", &[], &["--first", "8"]),
    ("metrics", JSON, &["--by", "base_task"]),
    ("plan", JSON, &["--eval", "sim-cheap"]),
    ("plan", JSON, &["--task", "sort"]),
    ("plan", JSON, &["--count", "64"]),
    ("plan", JSON, &["--precision", "0.02"]),
    ("plan", &["--format", "json", "--count", "64"], &["--shard", "1/2"]),
];

/// The same for commands that need no study.
const FREE: &[Effect] = &[
    ("estimate", &["--correct", "3"], &["--n", "40"]),
    ("estimate", &["--n", "40"], &["--correct", "3"]),
    ("estimate", &["--n", "40", "--correct", "3", "--mode", "C_I"], &["--truncated", "4"]),
    ("estimate", &["--n", "40", "--correct", "30"], &["--guess", "8"]),
    ("estimate", COUNTS, &["--mode", "K_P"]),
    ("estimate", COUNTS, &["--guessing", "raw"]),
    ("estimate", COUNTS, &["--truncation", "pass"]),
    ("estimate", &["--n", "40", "--correct", "30"], &["--literal"]),
    ("estimate", COUNTS, &["--confidence", "0.8"]),
    ("generate", &["sort"], &["--params", "{\"length\": 9}"]),
    ("generate", &["sort"], &["--count", "2"]),
    ("generate", &["sort"], &["--seed", "5"]),
    ("tasks", &["sort"], &["--schema"]),
];

fn run(command: &str, first: &[&str], more: &[&str]) -> Run {
    let words: Vec<&str> = command.split(' ').collect();
    reasonscape(&[&words, first, more].concat())
}

#[test]
fn options_change_the_output() {
    let study = ScoredStudy::new("");
    let mut unchanged = Vec::new();
    for (is_free, (command, arguments, option)) in
        EFFECTS.iter().map(|effect| (false, effect)).chain(FREE.iter().map(|effect| (true, effect)))
    {
        let place = if is_free { vec![] } else { vec![study.path()] };
        let without = run(command, &[&place, *arguments].concat(), &[]);
        let with = run(command, &[&place, *arguments].concat(), option);
        assert_eq!(with.code, 0, "{command} {option:?}: {with:?}");
        if without.stdout == with.stdout {
            unchanged.push(format!("{command} {}", option.join(" ")));
        }
    }
    assert_eq!(unchanged, [""; 0], "these options change nothing");
}

#[test]
fn half_a_mode_keeps_the_default_of_the_command() {
    let study = ScoredStudy::new("");
    let output = |command: &str, option: &[&str]| {
        let done = run(command, &[study.path(), "--format", "json"], option);
        assert_eq!(done.code, 0, "{command} {option:?}: {done:?}");
        done.stdout
    };
    for (command, half, mode) in [
        ("analyze points", ["--guessing", "raw"], "E_I"),
        ("analyze points", ["--truncation", "fail"], "C_P"),
        ("analyze scores", ["--guessing", "calibrated"], "K_P"),
        ("analyze aggregate", ["--truncation", "ignore"], "C_I"),
    ] {
        assert_eq!(output(command, &half), output(command, &["--mode", mode]), "{command} {half:?}");
    }
    // `analyze modes` shows all nine, and three of them with one half given.
    let modes = output("analyze modes", &["--guessing", "raw"]);
    assert!(["\"E_I\"", "\"E_P\"", "\"E_O\""].iter().all(|mode| modes.contains(mode)), "{modes}");
    assert!(!modes.contains("\"C_P\"") && !modes.contains("\"K_P\""), "{modes}");
}

#[test]
fn plan_says_when_a_budget_is_too_small() {
    let study = ScoredStudy::new("");
    let more = ["--count", "64"];
    assert!(!run("plan", &[study.path()], &more).stderr.contains("budget"));
    let small = run("plan", &[study.path(), "--budget-tokens", "10"], &more);
    assert!(small.stderr.contains("the budget of 10 tokens ends the run early"), "{small:?}");
}

#[test]
fn files_are_written_where_an_option_says() {
    let study = ScoredStudy::new("");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for question in
        ["projection", "surface", "threshold", "similarity", "spectrum", "compression", "hazard", "tokens"]
    {
        let picture = file(&format!("{question}.svg"));
        let done = run(
            &format!("analyze {question}"),
            &[study.path(), "--filter", "base_task=arithmetic"],
            &["--plot", &picture],
        );
        assert_eq!(done.code, 0, "{question}: {done:?}");
        assert!(fs::read_to_string(&picture).unwrap().contains("<svg"), "{question}");
    }
    for (command, more, name) in [
        ("export", &[][..], "trials.jsonl"),
        ("cache export", &[], "cache.jsonl"),
        ("report", &[], "report.html"),
        ("sql", &["SELECT 1"], "rows.csv"),
    ] {
        let path = file(name);
        let done = run(command, &[&[study.path()], more].concat(), &["--output", &path]);
        assert_eq!(done.code, 0, "{command}: {done:?}");
        assert!(fs::metadata(&path).unwrap().len() > 0, "{command}");
    }
    let report = |more: &[&str]| {
        let path = file("other.html");
        assert_eq!(run("report", &[study.path(), "--output", &path], more).code, 0);
        fs::read_to_string(&path).unwrap()
    };
    let plain = report(&[]);
    for option in [
        &["--filter", "base_task=sort"][..],
        &["--mode", "E_O"],
        &["--guessing", "raw"],
        &["--truncation", "pass"],
        &["--title", "Another title"],
        &["--method", "bootstrap"],
        &["--ties", "v2"],
    ] {
        assert_ne!(report(option), plain, "{option:?}");
    }
    let bounds = r#"{"a": {"n": 40, "n_e": 30, "n_t": 2, "g": 4}, "b": [0.5, 0.6]}"#;
    let score = |more: &[&str]| {
        reasonscape_with(&[&["score", "-", "--format", "json"], more].concat(), bounds).stdout
    };
    for option in [
        &["--mode", "E_O"][..],
        &["--guessing", "raw"],
        &["--truncation", "pass"],
        &["--method", "min-max"],
        &["--literal"],
        &["--draws", "99"],
        &["--seed", "1"],
        &["--stability"],
    ] {
        assert_ne!(score(option), score(&[]), "{option:?}");
    }
}

/// The options of every command, as docs/cli.md has them.
fn documented_options() -> BTreeMap<String, Vec<String>> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md")).unwrap();
    let mut options: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut command = String::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## `reasonscape") {
            heading.trim_end_matches('`').trim().clone_into(&mut command);
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let text = if text.starts_with('-') && text.as_bytes().get(2) == Some(&b',') {
            text[3..].trim_start()
        } else {
            text
        };
        if (2..=6).contains(&indent) && text.starts_with("--") {
            let name: String =
                text.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).collect();
            if !GLOBAL.contains(&name.as_str()) && !command.is_empty() {
                options.entry(command.clone()).or_default().push(name);
            }
        }
    }
    options
}

#[test]
fn every_option_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = include_str!("option_effects.txt");
    let rows: Vec<[&str; 3]> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            cells.try_into().unwrap_or_else(|_| panic!("not `command | option | test`: {line}"))
        })
        .collect();
    let options = documented_options();
    assert!(options.values().map(Vec::len).sum::<usize>() > 150, "{options:?}");
    for (command, names) in &options {
        for name in names {
            assert!(
                rows.iter().any(|[a, b, _]| a == command && b == name),
                "`reasonscape {command} {name}` has no row in option_effects.txt: name the test that shows its effect"
            );
        }
    }
    for [command, option, test] in &rows {
        assert!(
            options.get(*command).is_some_and(|names| names.iter().any(|name| name == option)),
            "option_effects.txt: `reasonscape {command}` has no option {option}"
        );
        let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("not `file.rs::test`: {test}"));
        let source = fs::read_to_string(root.join("tests/it").join(file))
            .unwrap_or_else(|_| panic!("option_effects.txt: there is no {file}"));
        assert!(source.contains(&format!("fn {name}(")), "option_effects.txt: {file} has no test {name}");
        if name == "options_change_the_output" {
            let is_tried = EFFECTS.iter().chain(FREE).any(|(a, _, b)| a == command && b[0] == *option);
            assert!(is_tried, "options_change_the_output doesn't try {command} {option}");
        }
    }
}

/// What `simulate` says when it starts.
fn simulator_note(arguments: &[&str]) -> (String, String) {
    use std::io::Read;
    let (mut child, url) = start_server(&[&["simulate", "--port", "0"], arguments].concat(), &[]);
    let threads = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let threads = threads.lines().find(|line| line.starts_with("Threads:")).unwrap_or_default().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let address = url.strip_prefix("http://").unwrap().split(':').next().unwrap().to_owned();
    (format!("{} {threads}", said.replace(&url, "").replace(&address, "HOST")), url)
}

#[test]
fn simulator_options_change_what_it_serves() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let ours = file(
        "ours.jsonl",
        "{\"input\": \"a?\", \"target\": \"1\"}\n{\"input\": \"b?\", \"target\": \"2\"}\n",
    );
    let theirs = file("theirs.jsonl", "{\"question\": \"a?\", \"target\": \"so #### 1\"}\n");
    let note = |arguments: &[&str]| simulator_note(arguments).0;
    let quick = note(&["--suite", "quick"]);
    assert_ne!(note(&["--suite", "quick", "--count", "3"]), quick);
    assert_ne!(note(&["--suite", "quick", "--dataset", &ours]), quick);
    assert_ne!(note(&["--suite", "r12", "--count", "1"]), note(&["--suite", "quick", "--count", "1"]));
    let mapped = ["--suite", "quick", "--dataset", &theirs, "--map", "input=question"];
    assert_ne!(note(&mapped), quick);
    let target = simulated_target(&[&mapped[..], &["--target-regex", "#### (.*)"]].concat());
    assert_ne!(target, simulated_target(&mapped));
    if cfg!(target_os = "linux") {
        assert_ne!(
            note(&["--suite", "quick", "--threads", "5"]),
            note(&["--suite", "quick", "--threads", "1"])
        );
        let (_, url) = simulator_note(&["--suite", "quick", "--host", "127.0.0.2"]);
        assert!(url.starts_with("http://127.0.0.2:"), "{url}");
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let (mut child, url) = start_server(&["simulate", "--suite", "quick", "--port", &port], &[]);
    assert_eq!(url, format!("http://127.0.0.1:{port}/v1"));
    child.kill().unwrap();
    child.wait().unwrap();
    let answers = |seed: &str| -> Vec<String> {
        (0..12).map(|index| simulated_reply(&["--suite", "quick", "--seed", seed], index)).collect()
    };
    assert_ne!(answers("1"), answers("2"));
    assert!(simulated_reply(&["--suite", "quick", "--faults", "rate=1,kinds=500"], 0).contains("500"));
}

/// The answer of a model that knows everything to the question of the dataset.
fn simulated_target(arguments: &[&str]) -> String {
    post(arguments, "sim-p1.0", "a?")
}

/// The reply to a problem of suite `quick`.
fn simulated_reply(arguments: &[&str], index: usize) -> String {
    let line = reasonscape(&["generate", "arithmetic", "--count", "12"]).stdout;
    let problem: serde_json::Value = serde_json::from_str(line.lines().nth(index).unwrap()).unwrap();
    post(arguments, "sim-guessing", problem["prompt"].as_str().unwrap())
}

fn post(arguments: &[&str], model: &str, prompt: &str) -> String {
    use std::io::{Read, Write};
    let (mut child, url) = start_server(&[&["simulate", "--port", "0"], arguments].concat(), &[]);
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
    let body = serde_json::json!({ "model": model, "messages": [{ "role": "user", "content": prompt }] })
        .to_string();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let status = reply.lines().next().unwrap_or_default().to_owned();
    let body = reply.split("\r\n\r\n").nth(1).unwrap_or_default();
    let content = serde_json::from_str::<serde_json::Value>(body)
        .map(|body| body["choices"][0]["message"]["content"].to_string())
        .unwrap_or_default();
    format!("{status} {content}")
}

#[test]
fn import_options_change_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/logs");
    let import = |name: &str, tool: &str, log: &str, more: &[&str]| {
        let study = folder.path().join(name).to_str().unwrap().to_owned();
        let log = logs.join(log).to_str().unwrap().to_owned();
        let done = reasonscape(&[&["import", tool, &log, "--into", &study], more].concat());
        assert_eq!(done.code, 0, "{more:?}: {done:?}");
        let query = "SELECT model, base_task, status FROM trials ORDER BY model, base_task, status";
        let stored = reasonscape(&["sql", &study, query, "--format", "json"]);
        assert_eq!(stored.code, 0, "{stored:?}");
        stored.stdout
    };
    let chat = ["--metric", "exact_match", "--metric", "share", "--filter", "strict-match"];
    for (tool, log, base) in [
        ("lm-eval", "lm-eval/chat/small", &chat[..]),
        ("inspect", "inspect/grade.eval", &["--scorer", "graded"]),
    ] {
        let plain = import(&format!("{tool}-plain"), tool, log, base);
        for (index, option) in [["--model", "renamed"], ["--threshold", "0.3"]].iter().enumerate() {
            let changed = import(&format!("{tool}-{index}"), tool, log, &[base, &option[..]].concat());
            assert_ne!(changed, plain, "{tool} {option:?}");
        }
    }
    let task = import("task", "inspect", "inspect/grade.eval", &["--scorer", "graded", "--task", "other"]);
    assert!(task.contains("\"other\""), "{task}");
    let renamed = import(
        "tasks",
        "lm-eval",
        "lm-eval/chat/small",
        &[&chat[..], &["--task", "small_gaps=other"]].concat(),
    );
    assert!(renamed.contains("\"other\""), "{renamed}");
    let near = import("near", "inspect", "inspect/grade.eval", &["--scorer", "several.near"]);
    assert_ne!(near, import("exact", "inspect", "inspect/grade.eval", &["--scorer", "several.exact"]));
}

#[test]
fn server_options_change_where_it_listens() {
    let study = ScoredStudy::new("");
    let port =
        || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo").to_str().unwrap().to_owned();
    for (arguments, port) in
        [(vec!["serve", study.path()], port()), (vec!["demo", "--quiet", "--dir", &demo, "--serve"], port())]
    {
        let (mut child, url) = start_server(&[&arguments[..], &["--port", &port]].concat(), &[]);
        let is_there = url.contains(&port) || {
            // The demo prints its tables first.
            let address = format!("127.0.0.1:{port}");
            (0..600).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(100));
                std::net::TcpStream::connect(&address).is_ok()
            })
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_there, "{arguments:?}");
    }
}

#[test]
fn provider_of_a_dataset_run_decides_the_api() {
    use reasonscape_core::Dataset;
    use reasonscape_simulator::{SimulateOptions, SimulatedServer};
    let questions = "{\"input\": \"What is 6 * 7?\", \"target\": \"42\"}\n";
    let server = SimulatedServer::start(SimulateOptions {
        suites: vec![Dataset::parse("questions", questions).unwrap().suite()],
        api_key: Some("open-sesame".to_owned()),
        ..SimulateOptions::default()
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.jsonl");
    fs::write(&file, questions).unwrap();
    let study = folder.path().join("study");
    let command = || {
        let mut command = assert_cmd::Command::cargo_bin("reasonscape").unwrap();
        command
            .args(["run", file.to_str().unwrap(), "--model", "sim-p1.0", "--base-url", &server.base_url()])
            .args(["--into", study.to_str().unwrap(), "--provider", "anthropic"])
            .env("KEY_OF_THE_TEST", "open-sesame");
        command
    };
    // Without its key the server refuses.
    assert_ne!(command().output().unwrap().status.code(), Some(0));
    fs::remove_dir_all(&study).unwrap();
    let done = command().args(["--api-key-env", "KEY_OF_THE_TEST"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let paths = server.stats().by_path;
    assert!(paths.iter().any(|(path, requests)| path.ends_with("/messages") && *requests > 0), "{paths:?}");
}
