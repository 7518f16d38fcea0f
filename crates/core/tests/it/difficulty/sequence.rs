//! What grows along the dimensions of `sequence`.

use super::grows;

fn matches(text: &str, part: &str) -> f64 {
    text.matches(part).count() as f64
}

/// How far back the farthest term lies that some rule adds; 1 is the term just before.
fn reach(prompt: &str) -> f64 {
    prompt
        .split("add the term ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().parse().unwrap())
        .fold(1.0, f64::max)
}

#[test]
fn every_dimension_of_sequence_makes_it_harder() {
    let shown = [r#"{"shown": 3}"#, r#"{"shown": 6}"#, r#"{"shown": 16}"#];
    grows("sequence", &shown, |test| reach(&test.prompt));
    grows("sequence", &shown, |test| matches(&test.prompt, ", "));

    grows(
        "sequence",
        &[r#"{"rules": 1}"#, r#"{"rules": 2}"#, r#"{"rules": 3}"#, r#"{"rules": 5}"#],
        |test| matches(&test.prompt, "If "),
    );
    grows("sequence", &[r#"{"depth": 1}"#, r#"{"depth": 2}"#, r#"{"depth": 3}"#], |test| {
        matches(&test.prompt, ", then ")
    });
    grows(
        "sequence",
        &[r#"{"answer_length": 1}"#, r#"{"answer_length": 3}"#, r#"{"answer_length": 8}"#],
        |test| matches(&test.target, ", "),
    );
    grows(
        "sequence",
        &[r#"{"max_number": 50}"#, r#"{"max_number": 999}"#, r#"{"max_number": 9999}"#],
        |test| test.target.split(", ").next().unwrap().len() as f64,
    );
    grows(
        "sequence",
        &[r#"{"format": "comma"}"#, r#"{"format": "mixed"}"#, r#"{"format": "words"}"#],
        |test| test.prompt.split_whitespace().count() as f64,
    );
    // Without commas there is less to tell terms apart by.
    grows("sequence", &[r#"{"format": "spaces"}"#, r#"{"format": "comma"}"#], |test| {
        matches(&test.prompt, ",")
    });
}
