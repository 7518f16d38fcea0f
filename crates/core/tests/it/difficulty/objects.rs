use reasonscape_core::Test;

use super::grows;
use crate::solve::objects::{Entry, asked_categories, entries};

fn proportion(test: &Test, which: impl Fn(&Entry) -> bool) -> f64 {
    let entries = entries(&test.prompt);
    entries.iter().filter(|entry| which(entry)).count() as f64 / entries.len() as f64
}

#[test]
fn every_dimension_of_objects() {
    grows("objects", &[r#"{"length": 2}"#, r#"{"length": 12}"#, r#"{"length": 64}"#], |test| {
        entries(&test.prompt).len() as f64
    });
    grows(
        "objects",
        &[r#"{"target_groups": 1}"#, r#"{"target_groups": 2}"#, r#"{"target_groups": 3}"#],
        |test| asked_categories(&test.prompt).len() as f64,
    );
    grows(
        "objects",
        &[
            r#"{"distractor_ratio": 0}"#,
            r#"{"distractor_ratio": 0.25}"#,
            r#"{"distractor_ratio": 0.5}"#,
            r#"{"distractor_ratio": 1}"#,
        ],
        |test| proportion(test, |entry| !entry.counts),
    );
    grows(
        "objects",
        &[r#"{"adjectives": 0}"#, r#"{"adjectives": 1}"#, r#"{"adjectives": 2}"#, r#"{"adjectives": 3}"#],
        |test| entries(&test.prompt).iter().map(|entry| entry.adjectives).sum::<usize>() as f64,
    );
    grows(
        "objects",
        &[r#"{"quantities": "digits"}"#, r#"{"quantities": "mixed"}"#, r#"{"quantities": "words"}"#],
        |test| proportion(test, |entry| entry.spelled),
    );
}

/// Even a list of distractors keeps an entry of every category asked for, so that 0 is never the answer.
#[test]
fn there_is_always_something_to_count() {
    let zero = |test: &Test| f64::from(test.target == "0");
    for length in [2, 3, 64] {
        let params = format!(r#"{{"length": {length}, "distractor_ratio": 1, "target_groups": 3}}"#);
        assert_eq!(super::mean("objects@1", &params, zero), 0.0);
    }
    let params = r#"{"length": 4, "distractor_ratio": 0.25, "target_groups": 3}"#;
    assert_eq!(super::mean("objects@2", params, zero), 0.0);
}
