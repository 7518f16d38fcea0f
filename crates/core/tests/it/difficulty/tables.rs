//! What grows along the dimensions of `tables`.

use std::collections::BTreeSet;

use super::grows;

fn matches(text: &str, part: &str) -> f64 {
    text.matches(part).count() as f64
}

/// How many pairs of different texts in the table begin with the same three letters.
fn look_alikes(prompt: &str) -> f64 {
    let table = prompt.split("\n\n").nth(1).unwrap();
    let texts: BTreeSet<&str> = table
        .split(['|', '\n'])
        .map(str::trim)
        .filter(|cell| cell.starts_with(char::is_alphabetic))
        .collect();
    let texts: Vec<&str> = texts.into_iter().collect();
    texts.windows(2).filter(|pair| pair[0].get(..3) == pair[1].get(..3)).count() as f64
}

#[test]
fn every_dimension_of_tables_makes_it_harder() {
    grows("tables", &[r#"{"rows": 2}"#, r#"{"rows": 16}"#, r#"{"rows": 64}"#, r#"{"rows": 256}"#], |test| {
        matches(&test.prompt, "\n|")
    });
    grows("tables", &[r#"{"columns": 2}"#, r#"{"columns": 5}"#, r#"{"columns": 16}"#], |test| {
        matches(&test.prompt, " |")
    });
    // The same cells in more characters.
    grows(
        "tables",
        &[
            r#"{"format": "csv"}"#,
            r#"{"format": "markdown"}"#,
            r#"{"format": "html"}"#,
            r#"{"format": "json"}"#,
        ],
        |test| test.prompt.len() as f64,
    );
    // One row is found, then several are counted or worked on, then another table has to be looked into for each.
    grows(
        "tables",
        &[r#"{"operation": "lookup"}"#, r#"{"operation": "group"}"#, r#"{"operation": "join"}"#],
        |test| test.prompt.rsplit("\n\n").next().unwrap().split_whitespace().count() as f64,
    );
    grows("tables", &[r#"{"operation": "count"}"#, r#"{"operation": "sum"}"#], |test| {
        test.target.len() as f64
    });
    grows(
        "tables",
        &[r#"{"filters": 0}"#, r#"{"filters": 1}"#, r#"{"filters": 2}"#, r#"{"filters": 3}"#],
        |test| matches(&test.prompt, " is at ") + matches(&test.prompt, " is \""),
    );
    grows(
        "tables",
        &[r#"{"noise": 0}"#, r#"{"noise": 0.25}"#, r#"{"noise": 0.5}"#, r#"{"noise": 1}"#],
        |test| look_alikes(&test.prompt),
    );
}
