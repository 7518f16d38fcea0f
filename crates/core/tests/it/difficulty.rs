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

/// The mean of `measure` over 100 tests of a task such as `sort@2`, the other parameters at their defaults; `None` if the task
/// refuses the coordinates.
fn mean_if_legal(task: &str, params: &str, measure: impl Fn(&Test) -> f64) -> Option<f64> {
    assert!(task.contains('@'), "`{task}` names no version");
    let task = tasks::by_name(task).expect("a built-in task");
    let params = Params::new(task, &Json::parse(params).unwrap()).ok()?;
    Some(TestStream::new(task, &params, 0).take(100).map(|test| measure(&test)).sum::<f64>() / 100.0)
}

/// As [`mean_if_legal`], for legal coordinates.
pub(crate) fn mean(task: &str, params: &str, measure: impl Fn(&Test) -> f64) -> f64 {
    mean_if_legal(task, params, measure).unwrap_or_else(|| panic!("{task} refuses {params}"))
}

/// Asserts that `measure` grows along a list of coordinates in both versions of a task. Coordinates that version 2 refuses are
/// left out there; at least two remain.
pub(crate) fn grows(task: &str, points: &[&str], measure: impl Fn(&Test) -> f64) {
    grows_in_version(1, task, points, &measure);
    grows_in_version(2, task, points, &measure);
}

pub(crate) fn grows_in_version(version: u32, task: &str, points: &[&str], measure: impl Fn(&Test) -> f64) {
    let task = format!("{task}@{version}");
    let means: Vec<Option<f64>> =
        points.iter().map(|params| mean_if_legal(&task, params, &measure)).collect();
    let legal: Vec<f64> = means.iter().copied().flatten().collect();
    assert!(
        legal.len() >= 2 && (version == 2 || legal.len() == points.len()),
        "{task} {points:?}: {means:?}"
    );
    assert!(legal.is_sorted_by(|a, b| a < b), "{task} {points:?}: {means:?}");
}
