//! Solvers in Python that read the prompt alone, written from docs/tasks.md, find every target.

use std::collections::BTreeMap;
use std::fmt::Write;

use reasonscape_core::{Json, Params, PyRandom, Range, Suite, Task, TestStream, canonical_json, tasks};
use reasonscape_test_support::python;

/// Problems of each task, at the least, besides one of each point of `r12`.
const PROBLEMS: usize = 300;

/// The default, each parameter at its ends, and random parameters.
fn settings(task: &dyn Task) -> Vec<Params> {
    let mut given = vec![BTreeMap::new()];
    for parameter in task.parameters() {
        let values: Vec<Json> = match parameter.range {
            Range::Int { low, high, .. } => vec![Json::Int(low), Json::Int(high)],
            Range::Real { low, high, .. } => vec![Json::Float(low), Json::Float(high)],
            Range::Word { words, .. } => words.iter().map(|word| Json::from(*word)).collect(),
        };
        given.extend(values.into_iter().map(|value| BTreeMap::from([(parameter.name.to_owned(), value)])));
    }
    let mut rng = PyRandom::new(70);
    for _ in 0..400 {
        let values = task.parameters().iter().map(|parameter| {
            let value = match parameter.range {
                Range::Int { low, high, .. } => Json::Int(rng.randint(low, high)),
                Range::Real { low, high, .. } => {
                    Json::Float(low + (high - low) * rng.randint(0, 4) as f64 / 4.0)
                }
                Range::Word { words, .. } => Json::from(*rng.choice(words)),
            };
            (parameter.name.to_owned(), value)
        });
        given.push(values.collect());
    }
    // Combinations that the task refuses are left out.
    given.into_iter().filter_map(|given| Params::new(task, &Json::Object(given)).ok()).collect()
}

/// The problems of a task: those of its settings, then of `r12`.
fn problems(task: &dyn Task, suite: &Suite) -> Vec<(String, reasonscape_core::Test)> {
    let settings = settings(task);
    let per_setting = PROBLEMS.div_ceil(settings.len()).max(2);
    let mut found = Vec::new();
    let mut add = |params: &Params, count: usize| {
        let name = canonical_json(&params.to_json());
        found.extend(TestStream::new(task, params, 70).take(count).map(|test| (name.clone(), test)));
    };
    for params in &settings {
        add(params, per_setting);
    }
    for point in suite.points() {
        if point.task.name() == task.name() {
            add(point.params, 2);
        }
    }
    found
}

#[test]
fn python_solvers_find_every_target() {
    let suite = Suite::parse(Suite::built_in("r12@2").unwrap()).unwrap();
    let solvers = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/solvers");
    let script = format!(
        "import sys; sys.path.insert(0, {solvers:?}); sys.dont_write_bytecode = True\nimport main\nmain.main()"
    );
    let mut disagreements = String::new();
    for task in tasks::all_versions().filter(|task| task.version() == 2) {
        let problems = problems(task, &suite);
        assert!(problems.len() >= PROBLEMS, "{}: {} problems", task.name(), problems.len());
        let mut input = format!("{}\n", task.family());
        for (_, test) in &problems {
            writeln!(input, "{}", canonical_json(&Json::from(test.prompt.as_str()))).unwrap();
        }
        let Some(output) = python(&script, &input) else { return };
        let answers: Vec<String> =
            output.lines().map(|line| serde_json::from_str(line).expect("a JSON string")).collect();
        assert_eq!(answers.len(), problems.len(), "{}", task.name());
        let wrong: Vec<_> =
            problems.iter().zip(&answers).filter(|((_, test), answer)| test.target != **answer).collect();
        if let Some(((params, test), answer)) = wrong.first() {
            writeln!(
                disagreements,
                "{}: {} of {} problems differ, first at {params}\n{}\nsolver: {answer}\ntarget: {}\n",
                task.name(),
                wrong.len(),
                problems.len(),
                test.prompt,
                test.target
            )
            .unwrap();
        }
    }
    assert!(disagreements.is_empty(), "{disagreements}");
}
