use crate::test_env::{assert_rejected, reasonscape};

fn lines(arguments: &[&str]) -> Vec<String> {
    let run = reasonscape(&[&["generate"], arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn prints_jsonl_and_smaller_counts_are_prefixes() {
    let point = ["shuffle", "--params", r#"{"entities": 5, "depth": 4}"#];
    let few = lines(&[&point[..], &["--count", "3"]].concat());
    let many = lines(&[&point[..], &["--count", "30"]].concat());
    assert_eq!(few, many[..3]);
    for (index, line) in many.iter().enumerate() {
        let test: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(test["index"], index);
        assert_eq!(test["options"].as_array().unwrap().len(), 5);
        assert_eq!(test["guess"], 0.2);
        assert!(test["options"].as_array().unwrap().contains(&test["target"]));
        assert!(test["prompt"].as_str().unwrap().contains("swap"));
    }
    assert_ne!(few, lines(&[&point[..], &["--count", "3", "--seed", "1"]].concat()));
    assert_eq!(
        few,
        lines(&["shuffle", "--params", r#"{"depth": 4, "entities": 5, "style": "people"}"#, "--count", "3"])
    );
}

#[test]
fn rejects_invalid_parameters_with_range_and_suggestion() {
    let generate = |task: &str, params: &str| reasonscape(&["generate", task, "--params", params]);
    assert_rejected(
        &generate("sort", r#"{"length": 99}"#),
        &["`length` of `sort` is 99", "from 2 to 64", "the nearest is 64"],
    );
    assert_rejected(
        &generate("sort", r#"{"length": "ten"}"#),
        &["`length` of `sort` is \"ten\"", "an integer"],
    );
    assert_rejected(&generate("sort", r#"{"length": 4.5}"#), &["is 4.5", "an integer"]);
    assert_rejected(&generate("sort", r#"{"lenght": 4}"#), &["did you mean `length`?"]);
    assert_rejected(&generate("sort", r#"{"key": "alphabet"}"#), &["one of alphabetic, reverse"]);
    assert_rejected(&generate("sort", "[4]"), &["found a list, expected an object"]);
    assert_rejected(&generate("sort", "{length: 4}"), &["invalid JSON in `--params`: line 1, column 2"]);
    assert_rejected(&generate("sorting", "{}"), &["unknown task `sorting`"]);
    assert_rejected(&reasonscape(&["generate", "sort", "--count", "-1"]), &["--count"]);
}
