//! Worked examples for few-shot templates.

use std::collections::BTreeMap;

use minijinja::Value;
use reasonscape_core::{Json, Params, Range, Task, TestStream};

/// Offset from a study's seed to that of its examples: "examples" in ASCII, far from any seed a person would type.
const SEED_OFFSET: i64 = 0x6578_616d_706c_6573;

/// Worked examples for a point: same task and string parameters, smaller numbers, another seed.
///
/// They come from a separate stream, so that no test of the point is shown with its answer; an example that equals the
/// current test is replaced by the next one. Numeric parameters are set halfway between minimum and default, or kept if
/// smaller; string parameters are kept, because they often determine the form of the answer. If the resulting parameters
/// are invalid, the point's own are used.
///
/// ```
/// use reasonscape_core::{Json, Params, tasks};
/// use reasonscape_study::Examples;
///
/// let task = tasks::by_name("sort").expect("a built-in task");
/// let params = Params::new(task, &Json::parse(r#"{"length": 40}"#)?)?;
/// let examples = Examples::new(task, &params, 0, 3);
/// assert_eq!(examples.prompts_beside("another prompt").len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Examples {
    shots: usize,
    /// One more than is shown, in case one equals the current test.
    candidates: Vec<(String, Value)>,
    /// The default selection, used for nearly every test.
    first_shots: Value,
}

impl Examples {
    /// No examples, for templates without `shots`.
    pub fn none() -> Self {
        Self { first_shots: Value::from(Vec::<Value>::new()), ..Self::default() }
    }

    /// Examples for the tests of a point of a study with this seed.
    pub fn new(task: &dyn Task, params: &Params, seed: i64, shots: usize) -> Self {
        if shots == 0 {
            return Self::none();
        }
        let easier = Params::new(task, &easier(task, params));
        let params = easier.as_ref().unwrap_or(params);
        let mut candidates: Vec<(String, Value)> = Vec::with_capacity(shots + 1);
        for test in TestStream::new(task, params, seed.wrapping_add(SEED_OFFSET)).take(shots + 1) {
            // A small problem space repeats itself; each example is shown once.
            if candidates.iter().all(|(prompt, _)| *prompt != test.prompt) {
                let value =
                    Value::from_pairs([("prompt", test.prompt.as_str()), ("target", test.target.as_str())]);
                candidates.push((test.prompt, value));
            }
        }
        let first_shots = candidates.iter().take(shots).map(|(_, value)| value.clone()).collect();
        Self { shots, candidates, first_shots }
    }

    /// The prompts of the examples shown with this prompt.
    pub fn prompts_beside(&self, prompt: &str) -> Vec<&str> {
        self.without_current(prompt).map(|(prompt, _)| prompt.as_str()).collect()
    }

    /// The examples shown with this prompt.
    pub(crate) fn beside(&self, prompt: &str) -> Value {
        if self.candidates.iter().all(|(candidate, _)| candidate != prompt) {
            return self.first_shots.clone();
        }
        self.without_current(prompt).map(|(_, value)| value.clone()).collect()
    }

    fn without_current(&self, prompt: &str) -> impl Iterator<Item = &(String, Value)> {
        self.candidates.iter().filter(move |(candidate, _)| candidate != prompt).take(self.shots)
    }
}

/// The point's parameters with smaller numbers.
fn easier(task: &dyn Task, params: &Params) -> Json {
    let Json::Object(mut coordinates) = params.to_json() else { return Json::Object(BTreeMap::new()) };
    for parameter in task.parameters() {
        let Some(value) = coordinates.get_mut(parameter.name) else { continue };
        *value = match (parameter.range, &*value) {
            (Range::Int { low, default, .. }, Json::Int(value_of_point)) => {
                Json::Int((low + (default - low) / 2).min(*value_of_point))
            }
            (Range::Real { low, default, .. }, Json::Float(value_of_point)) => {
                Json::Float((low + (default - low) / 2.0).min(*value_of_point))
            }
            (_, other) => other.clone(),
        };
    }
    Json::Object(coordinates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_core::tasks;

    #[test]
    fn examples_are_never_tests_of_the_point() {
        for task in tasks::all() {
            // If the point is as easy as its examples, only the seed differs.
            let first_shots = Params::new(task, &Json::Object(BTreeMap::new())).unwrap();
            let params = Params::new(task, &easier(task, &first_shots)).unwrap_or(first_shots);
            let examples = Examples::new(task, &params, 0, 3);
            let shown = examples.prompts_beside("");
            assert_eq!(shown.len(), 3, "{}", task.name());
            for test in TestStream::new(task, &params, 0).take(256) {
                // In a small space an example may equal a test by chance, and is replaced beside it.
                let shown = match task.distinct_problems(&params) {
                    Some(_) => examples.prompts_beside(&test.prompt),
                    None => shown.clone(),
                };
                assert!(!shown.contains(&test.prompt.as_str()), "{}", task.name());
            }
        }
    }

    #[test]
    fn current_test_is_not_an_example() {
        let task = tasks::by_name("arithmetic").unwrap();
        let params = Params::new(task, &Json::Object(BTreeMap::new())).unwrap();
        let examples = Examples::new(task, &params, 0, 2);
        let first = examples.prompts_beside("")[0].to_owned();
        let beside = examples.prompts_beside(&first);
        assert_eq!(beside.len(), 2);
        assert!(!beside.contains(&first.as_str()));
    }

    #[test]
    fn examples_are_easier_and_keep_categorical_values() {
        let task = tasks::by_name("arithmetic").unwrap();
        let hard = Json::parse(r#"{"length": 64, "operators": "+-*%", "max_depth": 1}"#).unwrap();
        let easy = easier(task, &Params::new(task, &hard).unwrap());
        assert_eq!(easy.get("length"), Some(&Json::Int(5)));
        assert_eq!(easy.get("max_depth"), Some(&Json::Int(1)));
        assert_eq!(easy.get("operators"), Some(&Json::from("+-*%")));
    }
}
