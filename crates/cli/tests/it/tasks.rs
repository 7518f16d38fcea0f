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

/// The paragraphs that people wrote between the description of a task and its parameters.
fn rules(page: &str, name: &str) -> String {
    let section = page.split_once(&format!("\n## {name}\n")).map_or("", |(_, section)| section);
    let paragraphs = section.split("\n\n").skip(2).take_while(|paragraph| !paragraph.starts_with('|'));
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
    if std::env::var_os("REASONSCAPE_UPDATE_DOCS").is_some() {
        std::fs::write(file, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == page,
        "docs/tasks.md is out of date; REASONSCAPE_UPDATE_DOCS=1 with this test writes it again"
    );
}
