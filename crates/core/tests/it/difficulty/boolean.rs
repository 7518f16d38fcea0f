//! Logical expressions: operations, nesting, negations and characters, and what a lazy reader earns.

use reasonscape_core::{Json, Params, Test, TestStream, tasks};

use super::grows;
use crate::solve::between;

fn expression(test: &Test) -> &str {
    between(&test.prompt, "\n\n", "\n\n")
}

fn count(test: &Test, words: &[&str]) -> f64 {
    let spaced = expression(test).replace(['(', ')'], " ");
    spaced.split_whitespace().filter(|word| words.contains(word)).count() as f64
}

fn nesting(test: &Test) -> f64 {
    let (mut depth, mut deepest) = (0_i32, 0);
    for character in expression(test).chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        deepest = deepest.max(depth);
    }
    f64::from(deepest)
}

#[test]
fn boolean_dimensions() {
    let grows = |points: &[&str], measure: &dyn Fn(&Test) -> f64| grows("boolean", points, measure);
    grows(&[r#"{"length": 2}"#, r#"{"length": 8}"#, r#"{"length": 24}"#, r#"{"length": 64}"#], &|test| {
        count(test, &["TRUE", "FALSE"])
    });
    grows(
        &[r#"{"max_depth": 0}"#, r#"{"max_depth": 1}"#, r#"{"max_depth": 3}"#, r#"{"max_depth": 6}"#],
        &nesting,
    );
    grows(&[r#"{"prob_negate": 0}"#, r#"{"prob_negate": 0.3}"#, r#"{"prob_negate": 1}"#], &|test| {
        count(test, &["not"])
    });
    grows(
        &[
            r#"{"operators": "and_or"}"#,
            r#"{"operators": "and_or_xor"}"#,
            r#"{"operators": "and_or_xor_implies"}"#,
        ],
        &|test| {
            let words = ["and", "or", "xor", "implies"];
            words.iter().filter(|word| count(test, &[word]) > 0.0).count() as f64
        },
    );
    // Notations have no order of their own; what grows is how much there is to read.
    for notations in [["t_f", "on_off", "true_false"], ["binary", "yes_no", "true_false"]] {
        let points = notations.map(|notation| format!(r#"{{"notation": "{notation}"}}"#));
        grows(&points.each_ref().map(String::as_str), &|test| expression(test).len() as f64);
    }
    grows(
        &[r#"{"prob_dewhitespace": 0}"#, r#"{"prob_dewhitespace": 0.5}"#, r#"{"prob_dewhitespace": 1}"#],
        &|test| -(expression(test).matches(' ').count() as f64),
    );
}

/// The answer is a fair coin at every point, and one truth value, the commoner one, or the commoner operator does
/// not give it away. Expressions of and and or alone rise with each truth value, so that the majority must earn
/// something.
#[test]
fn boolean_shortcuts() {
    for point in [
        r"{}",
        r#"{"prob_negate": 0}"#,
        r#"{"prob_negate": 1}"#,
        r#"{"operators": "and_or_xor_implies"}"#,
        r#"{"length": 64, "max_depth": 0}"#,
        r#"{"length": 32, "max_depth": 8, "prob_negate": 0}"#,
    ] {
        check_shortcuts("boolean@1", point);
        check_shortcuts("boolean@2", point);
    }
}

fn check_shortcuts(task: &str, point: &str) {
    let task = tasks::by_name(task).unwrap();
    let params = Params::new(task, &Json::parse(point).unwrap()).unwrap();
    let tests: Vec<Test> = TestStream::new(task, &params, 0).take(2000).collect();
    // What a guess earns that is `true` for a positive score, `false` for a negative one, and a coin for 0.
    let earned = |score: &dyn Fn(&Test) -> f64| {
        let sum: f64 = tests
            .iter()
            .map(|test| score(test) * if test.target == "TRUE" { 1.0 } else { -1.0 })
            .map(|agrees| if agrees == 0.0 { 0.5 } else { f64::from(agrees > 0.0) })
            .sum();
        sum / tests.len() as f64
    };
    let side = |literal: Option<&str>| if literal == Some("TRUE") { 1.0 } else { -1.0 };
    let majority = |test: &Test| count(test, &["TRUE"]) - count(test, &["FALSE"]);
    for (name, earned, limit) in [
        ("constant", earned(&|_| 1.0), 0.045),
        ("first", earned(&|test| side(literals(test).first().map(String::as_str))), 0.2),
        ("last", earned(&|test| side(literals(test).last().map(String::as_str))), 0.2),
        ("majority", earned(&majority), 0.3),
        ("operators", earned(&|test| count(test, &["or"]) - count(test, &["and"])), 0.045),
    ] {
        assert!((earned - 0.5).abs() < limit, "{point}: the {name} guesser earns {earned}");
    }
}

fn literals(test: &Test) -> Vec<String> {
    let spaced = expression(test).replace(['(', ')'], " ");
    spaced.split_whitespace().filter(|word| ["TRUE", "FALSE"].contains(word)).map(str::to_owned).collect()
}
