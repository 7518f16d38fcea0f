//! Each dimension makes tests measurably harder.

use reasonscape_core::{Json, Params, Test, Tests, tasks};

mod dates;
mod letters;
mod objects;

/// The mean of `measure` over 100 tests of a task, the other parameters at their defaults.
pub(crate) fn mean(task: &str, params: &str, measure: impl Fn(&Test) -> f64) -> f64 {
    let task = tasks::by_name(task).expect("a built-in task");
    let params = Params::new(task, &Json::parse(params).unwrap()).unwrap();
    Tests::new(task, &params, 0).take(100).map(|test| measure(&test)).sum::<f64>() / 100.0
}

/// Asserts that `measure` grows along a list of coordinates.
pub(crate) fn grows(task: &str, points: &[&str], measure: impl Fn(&Test) -> f64) {
    let means: Vec<f64> = points.iter().map(|params| mean(task, params, &measure)).collect();
    assert!(means.is_sorted_by(|a, b| a < b), "{task} {points:?}: {means:?}");
}
