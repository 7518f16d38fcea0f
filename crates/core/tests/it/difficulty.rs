//! Each dimension makes tests measurably harder.

use reasonscape_core::{Json, Params, Test, TestStream, tasks};

mod arithmetic;
mod boolean;
mod brackets;
mod cars;
mod dates;
mod jsonpath;
mod letters;
mod objects;
mod sequence;
mod shapes;
mod shuffle;
mod sort;
mod tables;

/// The mean of `measure` over 100 tests of a task, the other parameters at their defaults.
pub(crate) fn mean(task: &str, params: &str, measure: impl Fn(&Test) -> f64) -> f64 {
    let task = tasks::by_name(task).expect("a built-in task");
    let params = Params::new(task, &Json::parse(params).unwrap()).unwrap();
    TestStream::new(task, &params, 0).take(100).map(|test| measure(&test)).sum::<f64>() / 100.0
}

/// Asserts that `measure` grows along a list of coordinates.
pub(crate) fn grows(task: &str, points: &[&str], measure: impl Fn(&Test) -> f64) {
    let means: Vec<f64> = points.iter().map(|params| mean(task, params, &measure)).collect();
    assert!(means.is_sorted_by(|a, b| a < b), "{task} {points:?}: {means:?}");
}
