//! Logical expressions: operations, nesting, negations and characters, and what a lazy reader earns.

use reasonscape_core::{Json, Params, Test, Tests, tasks};

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

/// The answer is a fair coin at every point, and neither one truth value nor their majority gives it away.
#[test]
fn boolean_shortcuts() {
    for point in [
        r#"{}"#,
        r#"{"prob_negate": 0}"#,
        r#"{"prob_negate": 1}"#,
        r#"{"operators": "and_or_xor_implies"}"#,
        r#"{"length": 64, "max_depth": 0}"#,
        r#"{"length": 32, "max_depth": 8, "prob_negate": 0}"#,
    ] {
        let task = tasks::by_name("boolean").unwrap();
        let params = Params::new(task, &Json::parse(point).unwrap()).unwrap();
        let tests: Vec<Test> = Tests::new(task, &params, 0).take(2000).collect();
        let share = |right: &dyn Fn(&Test) -> bool| {
            tests.iter().filter(|test| right(test)).count() as f64 / tests.len() as f64
        };
        let trues = share(&|test| test.target == "TRUE");
        assert!((trues - 0.5).abs() < 0.045, "{point}: {trues} are true");
        let literals = |test: &Test| -> Vec<String> {
            let spaced = expression(test).replace(['(', ')'], " ");
            spaced
                .split_whitespace()
                .filter(|word| test.options.iter().any(|o| o == word))
                .map(str::to_owned)
                .collect()
        };
        let last = share(&|test| literals(test).last() == Some(&test.target));
        let first = share(&|test| literals(test).first() == Some(&test.target));
        let majority = share(&|test| {
            let literals = literals(test);
            let agree = literals.iter().filter(|literal| **literal == test.target).count();
            2 * agree > literals.len()
        });
        let root = share(&|test| (test.target == "TRUE") == (count(test, &["or"]) > count(test, &["and"])));
        println!("{point} {trues} {last} {first} {majority} {root}");
        for (name, earned) in [("last", last), ("first", first), ("majority", majority), ("operators", root)]
        {
            assert!(earned < 0.7, "{point}: the {name} gives the answer away: {earned}");
            assert!(earned > 0.3, "{point}: the {name} gives the answer away: {earned}");
        }
    }
}
