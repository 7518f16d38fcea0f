//! The golden values that `tests/fixtures/make_forensics.py` and `make_answer_metrics.py` made, and what their tests have in common.

use serde_json::Value;

/// The cases of one section.
pub(crate) fn cases(section: &str) -> Vec<Value> {
    let all: Value =
        serde_json::from_str(include_str!("../fixtures/forensics.json")).expect("golden values are JSON");
    all[section].as_array().unwrap_or_else(|| panic!("no section `{section}`")).clone()
}

/// The cases of one section of what `tests/fixtures/make_answer_metrics.py` made.
pub(crate) fn answer_metrics_cases(section: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../fixtures/answer_metrics.json"))
        .expect("golden values are JSON");
    list(&all, section)
}

/// A list of a case.
pub(crate) fn list(case: &Value, name: &str) -> Vec<Value> {
    case[name].as_array().unwrap_or_else(|| panic!("no list `{name}`")).clone()
}

/// A list of numbers of a case.
pub(crate) fn numbers(case: &Value, name: &str) -> Vec<f64> {
    list(case, name).iter().map(|value| value.as_f64().expect("a list of numbers")).collect()
}

/// A number of a case.
pub(crate) fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap_or_else(|| panic!("no number `{name}` in {case}"))
}

/// Fails unless the numbers agree to nine digits, or to 1e-9 near zero.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
        "{what}: {found}, expected {expected}"
    );
}

/// Fails unless a count of successes is one that a binomial of `n` and `proportion` gives, four standard errors allowed.
#[track_caller]
pub(crate) fn assert_proportion(count: usize, n: usize, proportion: f64, what: &str) {
    let error = (proportion * (1.0 - proportion) / n as f64).sqrt();
    let found = count as f64 / n as f64;
    assert!(
        (found - proportion).abs() <= 4.0 * error,
        "{what}: {count} of {n} are {found}, expected {proportion}"
    );
}
