//! What grows along the dimensions of `sort`.

use super::grows;

fn items(target: &str) -> Vec<String> {
    target.split(", ").map(str::to_lowercase).collect()
}

/// How many characters are alike at the beginning of neighbours in the right order: the least that must be looked at
/// to tell them apart.
fn shared_prefix_length(target: &str) -> f64 {
    let items = items(target);
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    items.windows(2).map(|pair| shared(&pair[0], &pair[1])).sum::<usize>() as f64 / items.len() as f64
}

/// How many neighbours in the right order are not in the order that the letters alone would give.
fn against_the_alphabet(target: &str) -> f64 {
    items(target).windows(2).filter(|pair| pair[0] > pair[1]).count() as f64
}

#[test]
fn every_dimension_of_sort_makes_it_harder() {
    grows(
        "sort",
        &[r#"{"length": 2}"#, r#"{"length": 8}"#, r#"{"length": 24}"#, r#"{"length": 64}"#],
        |test| test.target.split(", ").count() as f64,
    );
    // Orders differ in how far they depart from comparing characters.
    grows(
        "sort",
        &[
            r#"{"key": "alphabetic"}"#,
            r#"{"key": "natural"}"#,
            r#"{"key": "length"}"#,
            r#"{"key": "reverse"}"#,
        ],
        |test| against_the_alphabet(&test.target),
    );
    grows("sort", &[r#"{"key": "alphabetic"}"#, r#"{"key": "numeric"}"#], |test| {
        against_the_alphabet(&test.target)
    });
    grows(
        "sort",
        &[r#"{"case_mutation": 0}"#, r#"{"case_mutation": 0.25}"#, r#"{"case_mutation": 1}"#],
        |test| test.target.chars().filter(char::is_ascii_uppercase).count() as f64,
    );
    let prefixes = [r#"{"shared_prefix": 0}"#, r#"{"shared_prefix": 2}"#, r#"{"shared_prefix": 6}"#];
    grows("sort", &prefixes, |test| shared_prefix_length(&test.target));
    let digits = prefixes.map(|params| params.replace('}', r#", "key": "numeric"}"#));
    grows("sort", &digits.each_ref().map(String::as_str), |test| {
        test.target.chars().filter(char::is_ascii_digit).count() as f64
    });
    // The fewer marks, the less there is to tell items apart by.
    grows("sort", &[r#"{"separator": "space"}"#, r#"{"separator": "comma"}"#], |test| {
        test.prompt.matches(',').count() as f64
    });
}
