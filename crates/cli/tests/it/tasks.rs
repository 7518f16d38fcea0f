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
