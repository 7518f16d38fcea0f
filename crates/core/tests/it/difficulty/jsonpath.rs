//! Queries of documents: nesting, members, what steps select, look-alikes and layout.

use reasonscape_core::Test;

use super::{grows, mean};
use crate::solve::between;

fn document(test: &Test) -> &str {
    between(&test.prompt, "\n\n", "\n\nWhat does")
}

fn query(test: &Test) -> &str {
    between(&test.prompt, "query $", " select from it")
}

/// Documents have no commas, colons or brackets inside their words.
fn marks(test: &Test, marks: &[char]) -> f64 {
    document(test).matches(marks).count() as f64
}

fn nesting(test: &Test) -> f64 {
    let (mut depth, mut deepest) = (0_i32, 0);
    for character in document(test).chars() {
        depth += i32::from("{[".contains(character)) - i32::from("}]".contains(character));
        deepest = deepest.max(depth);
    }
    f64::from(deepest)
}

fn answers(test: &Test) -> f64 {
    test.target.matches(',').count() as f64 + 1.0
}

/// How often the last name of the query stands in the document.
fn candidates(test: &Test) -> f64 {
    let name = query(test).rsplit('.').next().expect("a query of names");
    document(test).matches(&format!("\"{name}\":")).count() as f64
}

#[test]
fn jsonpath_dimensions() {
    let grows = |points: &[&str], measure: &dyn Fn(&Test) -> f64| grows("jsonpath", points, measure);
    let depths = [r#"{"depth": 1}"#, r#"{"depth": 2}"#, r#"{"depth": 4}"#, r#"{"depth": 8}"#];
    grows(&depths, &nesting);
    grows(&depths, &|test| query(test).matches('.').count() as f64);
    grows(&[r#"{"width": 1}"#, r#"{"width": 2}"#, r#"{"width": 4}"#, r#"{"width": 8}"#], &|test| {
        marks(test, &[','])
    });
    grows(&[r#"{"noise": 0}"#, r#"{"noise": 1}"#, r#"{"noise": 5}"#, r#"{"noise": 16}"#], &candidates);
    grows(&[r#"{"layout": "indented"}"#, r#"{"layout": "compact"}"#], &|test| {
        document(test).len() as f64 / document(test).lines().count() as f64
    });
}

/// Each kind of step asks for something that the kind before it does not.
#[test]
fn jsonpath_operators() {
    check_operators("jsonpath@1");
    check_operators("jsonpath@2");
}

fn check_operators(task: &str) {
    let measured = |operators: &str, measure: &dyn Fn(&Test) -> f64| {
        mean(task, &format!(r#"{{"operators": "{operators}"}}"#), measure)
    };
    let lists = |test: &Test| marks(test, &['[']);
    let bracketed = |test: &Test| query(test).matches('[').count() as f64;
    assert_eq!(measured("child", &lists), 0.0);
    assert!(measured("index", &lists) >= 1.0 && measured("index", &bracketed) >= 1.0);
    let more_answers = ["index", "slice", "wildcard"].map(|operators| measured(operators, &answers));
    assert!(more_answers.is_sorted_by(|a, b| a < b), "{more_answers:?}");
    assert!(measured("recursive", &answers) > 1.5);
    // A filter leaves some out, and every element must be looked at to know which.
    assert!(measured("filter", &answers) > 1.5 && measured("filter", &answers) < 4.0);
    assert_eq!(measured("recursive", &|test| query(test).matches("..").count() as f64), 1.0);
    assert_eq!(measured("filter", &|test| query(test).matches("[?@").count() as f64), 1.0);
}
