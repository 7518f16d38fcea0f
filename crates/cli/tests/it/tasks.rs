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

const INTRODUCTION: &str = "# Tasks

The generated tasks and their parameters, as `reasonscape tasks NAME` prints them; a test compares this page with the program. A
task generates problems from its parameters. Each parameter belongs to one of five kinds of difficulty: length, depth,
interference, format or multi-step ([definitions](manifold.md#manifolds)). Omitted parameters have their default.

```text
reasonscape tasks arithmetic
reasonscape tasks arithmetic --schema        # JSON Schema of the parameters
reasonscape generate arithmetic --params '{\"length\": 6, \"max_depth\": 2}' --count 3
```

`arithmetic@1` is version 1 of the task's texts: the same version, parameters and seed give the same bytes on every machine. A
free-form answer can't be guessed; scores of `boolean` and `choice` are corrected for guessing by `1/options`.
[CONTRIBUTING.md](../CONTRIBUTING.md#add-a-task) explains how to add a task, and [Datasets](datasets.md) how to use your own
questions.
";

#[test]
fn task_page_matches_the_program() {
    let run = reasonscape(&["tasks", "--format", "json"]);
    let tasks: Vec<serde_json::Value> = serde_json::from_str(&run.stdout).unwrap();
    let mut page = INTRODUCTION.to_owned();
    for task in &tasks {
        let [name, description, answer] =
            ["name", "description", "answer"].map(|key| task[key].as_str().unwrap());
        let answer = if answer == "write-in" { "free-form" } else { answer };
        write!(page, "\n## {name}\n\n`{name}@{}`, answer: {answer}. {description}\n\n", task["version"])
            .unwrap();
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
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/tasks.md");
    if std::env::var_os("REASONSCAPE_UPDATE_DOCS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == page,
        "docs/tasks.md is out of date; REASONSCAPE_UPDATE_DOCS=1 with this test writes it again"
    );
}
