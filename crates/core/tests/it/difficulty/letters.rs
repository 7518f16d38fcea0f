use reasonscape_core::Test;

use super::grows;
use crate::solve::between;

fn list(test: &Test) -> &str {
    between(&test.prompt, "\n\n", "\n\n")
}

fn upper_case_proportion(test: &Test) -> f64 {
    let letters = || list(test).chars().filter(char::is_ascii_alphabetic);
    letters().filter(char::is_ascii_uppercase).count() as f64 / letters().count() as f64
}

#[test]
fn every_dimension_of_letters() {
    grows("letters", &[r#"{"words": 1}"#, r#"{"words": 8}"#, r#"{"words": 64}"#], |test| {
        list(test).split(", ").filter(|word| !word.starts_with('[')).count() as f64
    });
    grows(
        "letters",
        &[r#"{"letters": 1}"#, r#"{"letters": 2}"#, r#"{"letters": 3}"#, r#"{"letters": 4}"#],
        |test| test.prompt.matches('"').count() as f64 / 2.0,
    );
    grows("letters", &[r#"{"confounders": 0}"#, r#"{"confounders": 8}"#, r#"{"confounders": 32}"#], |test| {
        list(test).matches('[').count() as f64
    });
    grows(
        "letters",
        &[r#"{"case_mutation": 0}"#, r#"{"case_mutation": 0.5}"#, r#"{"case_mutation": 1}"#],
        upper_case_proportion,
    );
    // The longest stretch in which nothing but a sign tells where a word ends.
    for separator in ["space", "newline", "comma", "semicolon"] {
        grows(
            "letters",
            &[&format!(r#"{{"separator": "{separator}"}}"#), r#"{"separator": "dash"}"#],
            |test| list(test).split_whitespace().map(str::len).max().unwrap() as f64,
        );
    }
}

/// A confounder that had none of the letters would not tempt anybody.
#[test]
fn confounders_contain_target_letters() {
    let check = |test: &Test| {
        let letter = between(&test.prompt, "\"", "\"");
        for word in list(test).split(", ").filter(|word| word.starts_with('[')) {
            assert!(word.contains(letter), "{word} has no {letter}");
        }
        0.0
    };
    for task in ["letters@1", "letters@2"] {
        super::mean(task, r#"{"confounders": 16, "letters": 1}"#, check);
    }
}

/// Even for one letter in one word, which mostly occurs once, other answers are common.
#[test]
fn letter_counts_are_spread() {
    let once = |test: &Test| f64::from(test.target == "1");
    for (task, limit) in [("letters@1", 0.7), ("letters@2", 0.4)] {
        let proportion = super::mean(task, r#"{"words": 1, "letters": 1}"#, once);
        assert!(proportion < limit, "{task}: {proportion}");
    }
    let zero = |test: &Test| f64::from(test.target == "0");
    assert_eq!(super::mean("letters@1", r#"{"words": 1}"#, zero), 0.0);
}
