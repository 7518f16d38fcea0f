use reasonscape_core::Test;

use super::grows;
use crate::solve::between;

fn expression(test: &Test) -> &str {
    between(&test.prompt, "\n\n", "\n\n")
}

fn count(test: &Test, symbols: &str) -> f64 {
    expression(test).chars().filter(|c| symbols.contains(*c)).count() as f64
}

fn nesting(test: &Test) -> f64 {
    let mut depth = 0_i32;
    let deepest = expression(test).chars().map(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth
    });
    f64::from(deepest.max().unwrap_or(0))
}

#[test]
fn every_dimension_of_arithmetic_increases_its_proxy() {
    let points = |name: &str, values: [&str; 3]| values.map(|value| format!("{{\"{name}\": {value}}}"));
    let grow = |points: [String; 3], measure: &dyn Fn(&Test) -> f64| {
        grows("arithmetic", &points.each_ref().map(String::as_str), measure);
    };
    grow(points("length", ["4", "16", "64"]), &|test| count(test, "+-*%"));
    grow(points("max_depth", ["0", "2", "5"]), &nesting);
    grow(points("max_number", ["9", "99", "9999"]), &|test| count(test, "0123456789"));
    grow(points("prob_dewhitespace", ["0", "0.5", "1"]), &|test| -count(test, " "));
    grow(points("prob_words", ["0", "0.5", "1"]), &|test| {
        expression(test).chars().filter(char::is_ascii_alphabetic).count() as f64
    });
    let operators =
        ["+-", "+-*", "+-*%"].map(|operators| format!(r#"{{"operators": "{operators}", "length": 32}}"#));
    grows("arithmetic", &operators.each_ref().map(String::as_str), |test| {
        "+-*%".chars().filter(|c| expression(test).contains(*c)).count() as f64
    });
}
