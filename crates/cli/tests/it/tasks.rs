use std::fmt::Write;

use crate::test_env::{assert_rejected, reasonscape};

#[test]
fn lists_all_thirteen_as_table_and_json() {
    let run = reasonscape(&["tasks", "--format", "json"]);
    let tasks: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(tasks.len(), 13);
    for task in &tasks {
        let dimensions = task["dimensions"].as_object().unwrap();
        assert!(dimensions.len() >= 3, "{task}");
        assert_eq!(dimensions.len(), task["parameters"].as_object().unwrap().len());
    }
    insta::assert_snapshot!(reasonscape(&["tasks"]).stdout);
}

#[test]
fn describes_a_task_with_its_parameters() {
    insta::assert_snapshot!(reasonscape(&["tasks", "arithmetic"]).stdout);
}

#[test]
fn prints_a_json_schema() {
    let run = reasonscape(&["tasks", "sort", "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["properties"]["length"]["default"], 12);
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn rejects_unknown_task_with_a_suggestion() {
    assert_rejected(
        &reasonscape(&["tasks", "lettres"]),
        &["unknown task `lettres` (did you mean `letters`?)"],
    );
    assert_rejected(&reasonscape(&["tasks", "--schema"]), &["not provided: <NAME>"]);
}

/// The JSON of a check without the times, which differ from run to run.
fn check(arguments: &[&str]) -> serde_json::Value {
    let run = reasonscape(&[&["tasks", "check"], arguments, &["--format", "json"]].concat());
    let mut report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for task in report["tasks"].as_array_mut().unwrap() {
        assert!(task["problems_per_second"].take().as_f64().unwrap() > 0.0);
    }
    for point in report["points"].as_array_mut().unwrap() {
        assert!(point["seconds_per_problem"].take().as_f64().unwrap() > 0.0);
    }
    report
}

#[test]
fn check_finds_the_shortcuts_of_version_1_and_fails() {
    let run = reasonscape(&["tasks", "check", "shapes@1", "--problems", "400"]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("corners"), "{}", run.stdout);
    assert!(run.stderr.contains("blind guesser `number of corners` answers"), "{}", run.stderr);
    assert!(run.stderr.contains("checks failed"), "{}", run.stderr);
    let report = check(&["shapes@1", "--problems", "400"]);
    let task = &report["tasks"][0];
    assert_eq!((&task["task"], &task["version"]), (&"shapes".into(), &1.into()));
    assert_eq!(task["worst"]["guesser"], "number of corners");
    assert_eq!(task["leaking_points"], task["points"]);
    assert!(task["worst_params"].is_object() && report["points"][0]["params"].is_object());
}

#[test]
fn check_options_change_what_is_checked() {
    let plain = check(&["sort", "--problems", "40"]);
    assert_eq!(plain, check(&["sort", "--problems", "40"]));
    assert_eq!(plain["points"][0]["problems"], 40);
    assert_eq!(check(&["sort", "--problems", "64"])["points"][0]["problems"], 64);
    assert_ne!(plain, check(&["sort", "--problems", "40", "--seed", "1"]));
    let table = |arguments: &[&str]| {
        reasonscape(&[&["tasks", "check", "sort", "--problems", "40", "--format", "csv"], arguments].concat())
            .stdout
    };
    assert_eq!(table(&[]).lines().count(), 2);
    assert_eq!(table(&["--points"]).lines().count(), 1 + plain["points"].as_array().unwrap().len());
    assert!(table(&["--points"]).contains("shared_prefix"));
}

#[test]
fn check_takes_a_suite_and_rejects_an_unknown_name() {
    let report = check(&["quick", "--problems", "32"]);
    assert_eq!(report["points"].as_array().unwrap().len(), 36);
    assert!(report["tasks"].as_array().unwrap().iter().all(|task| task["version"] == 2));
    assert_rejected(
        &reasonscape(&["tasks", "check", "lettres"]),
        &["unknown task `lettres` (did you mean `letters`?)"],
    );
    assert_rejected(&reasonscape(&["tasks", "check", "sort", "--problems", "8"]), &["--problems"]);
}

/// The paragraphs that people wrote between the description of a task and its parameters.
fn rules(page: &str, name: &str) -> String {
    let section = page.split_once(&format!("\n## {name}\n")).map_or("", |(_, section)| section);
    let paragraphs = section.split("\n\n").skip(1).take_while(|paragraph| !paragraph.starts_with('|'));
    paragraphs.map(|paragraph| format!("{}\n\n", paragraph.trim())).collect()
}

#[test]
fn task_page_matches_the_program() {
    let run = reasonscape(&["tasks", "--format", "json"]);
    let tasks: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tasks.md");
    let written = std::fs::read_to_string(file).unwrap();
    let (introduction, _) = written.split_once("\n## arithmetic\n").unwrap();
    let mut page = introduction.to_owned();
    for task in &tasks {
        let [name, description, answer] =
            ["name", "description", "answer"].map(|key| task[key].as_str().unwrap());
        let answer = if answer == "write-in" { "free-form" } else { answer };
        write!(page, "\n## {name}\n\n`{name}@{}`, answer: {answer}. {description}\n\n", task["version"])
            .unwrap();
        page.push_str(&rules(&written, name));
        let table = reasonscape(&["tasks", name, "--format", "markdown"]).stdout;
        for (number, line) in table.lines().enumerate() {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [parameter, dimension, values, default, meaning] = cells[..] else { panic!("{line}") };
            let row = match number {
                0 => "| parameter | kind | values | default | meaning |".to_owned(),
                1 => "|---|---|---|---|---|".to_owned(),
                _ => format!("| `{parameter}` | {dimension} | `{values}` | `{default}` | {meaning} |"),
            };
            writeln!(page, "{row}").unwrap();
        }
    }
    // `examples/task_checks.rs` of the core writes the last section.
    if let Some(start) = written.find("\n## Checks\n") {
        page.push_str(&written[start..]);
    }
    if std::env::var_os("REASONSCAPE_UPDATE_DOCS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == page,
        "docs/tasks.md is out of date; REASONSCAPE_UPDATE_DOCS=1 with this test writes it again"
    );
}
