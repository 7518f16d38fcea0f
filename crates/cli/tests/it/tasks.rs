use crate::world::{reasonscape, refuses};

#[test]
fn all_thirteen_are_listed_for_people_and_programs() {
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
fn one_is_described_with_its_parameters() {
    insta::assert_snapshot!(reasonscape(&["tasks", "arithmetic"]).stdout);
}

#[test]
fn a_schema_is_a_schema() {
    let run = reasonscape(&["tasks", "sort", "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(schema["properties"]["length"]["default"], 12);
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn a_stranger_is_refused_with_the_nearest_name() {
    refuses(&reasonscape(&["tasks", "lettres"]), &["unknown task `lettres` (did you mean `letters`?)"]);
    refuses(&reasonscape(&["tasks", "--schema"]), &["not provided: <NAME>"]);
}
