//! Brackets: how many, how deep, how many kinds, and what stands between them.

use std::collections::HashSet;

use reasonscape_core::Test;

use super::grows;
use crate::solve::between;

fn shown(test: &Test) -> &str {
    between(&test.prompt, "\n\n", "\n\n")
}

fn brackets(test: &Test) -> impl Iterator<Item = char> + '_ {
    shown(test).chars().filter(|c| "()[]{}<>".contains(*c))
}

fn deepest(test: &Test) -> f64 {
    let (mut depth, mut deepest) = (0_i32, 0);
    for bracket in brackets(test) {
        depth += if "([{<".contains(bracket) { 1 } else { -1 };
        deepest = deepest.max(depth);
    }
    f64::from(deepest)
}

#[test]
fn brackets_dimensions() {
    let grows = |points: &[&str], measure: &dyn Fn(&Test) -> f64| grows("brackets", points, measure);
    grows(&[r#"{"length": 2}"#, r#"{"length": 16}"#, r#"{"length": 50}"#, r#"{"length": 128}"#], &|test| {
        brackets(test).count() as f64
    });
    let depths = [r#"{"max_depth": 1}"#, r#"{"max_depth": 2}"#, r#"{"max_depth": 5}"#, r#"{"max_depth": 8}"#];
    grows(&depths, &deepest);
    grows(&depths, &|test| test.target.len() as f64);
    grows(&[r#"{"kinds": 1}"#, r#"{"kinds": 2}"#, r#"{"kinds": 3}"#, r#"{"kinds": 4}"#], &|test| {
        brackets(test).filter(|c| "([{<".contains(*c)).collect::<HashSet<_>>().len() as f64
    });
    grows(&[r#"{"prob_noise": 0}"#, r#"{"prob_noise": 0.3}"#, r#"{"prob_noise": 1}"#], &|test| {
        shown(test).chars().filter(char::is_ascii_alphanumeric).count() as f64
    });
    grows(&[r#"{"prob_spaced": 0}"#, r#"{"prob_spaced": 0.5}"#, r#"{"prob_spaced": 1}"#], &|test| {
        shown(test).matches(' ').count() as f64
    });
}
