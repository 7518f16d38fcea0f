//! What holds for every task: one right answer, the same for everybody, and nothing to be had by guessing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use reasonscape_core::{AnswerType, Json, Params, PyRandom, Range, Task, Test, TestStream, tasks};

use crate::solve::solve;

/// Legal coordinates drawn at random; combinations that the task refuses are drawn again.
fn random_params(task: &dyn Task, rng: &mut PyRandom) -> Params {
    for _ in 0..1000 {
        let mut given = BTreeMap::new();
        for parameter in task.parameters() {
            let value = match parameter.range {
                Range::Int { low, high, .. } => Json::Int(rng.randint(low, high)),
                // Shares are mostly round in practice, and their ends are special.
                Range::Real { low, high, .. } => {
                    Json::Float(low + (high - low) * rng.randint(0, 4) as f64 / 4.0)
                }
                Range::Word { words, .. } => Json::from(*rng.choice(words)),
            };
            given.insert(parameter.name.to_owned(), value);
        }
        if let Ok(params) = Params::new(task, &Json::Object(given)) {
            return params;
        }
    }
    panic!("no legal parameters of `{}` in 1000 draws", task.name());
}

fn tests(task: &dyn Task, params: &Params, seed: i64, count: usize) -> Vec<Test> {
    TestStream::new(task, params, seed).take(count).collect()
}

fn for_random_points(points: usize, mut body: impl FnMut(&dyn Task, &Params)) {
    for task in tasks::all_versions() {
        let mut rng = PyRandom::new(20_260_101);
        for _ in 0..points {
            body(task, &random_params(task, &mut rng));
        }
    }
}

#[test]
fn independent_solver_finds_the_target() {
    for_random_points(300, |task, params| {
        for test in tests(task, params, 7, 8) {
            let found = solve(task.family(), &test.prompt);
            assert_eq!(
                found,
                test.target,
                "{} {}\n{}",
                task.name(),
                reasonscape_core::canonical_json(&params.to_json()),
                test.prompt
            );
            assert!(task.check(&found, &test), "{}: `{found}` is not accepted", task.name());
        }
    });
}

#[test]
fn fewer_tests_are_a_prefix_of_more() {
    for_random_points(40, |task, params| {
        assert_eq!(tests(task, params, 3, 8), tests(task, params, 3, 24)[..8], "{}", task.name());
    });
}

#[test]
fn other_global_seed_gives_other_tests() {
    for_random_points(40, |task, params| {
        assert_ne!(tests(task, params, 0, 6), tests(task, params, 1, 6), "{}", task.name());
    });
}

#[test]
fn options_are_distinct_and_contain_target_once() {
    for_random_points(100, |task, params| {
        for test in tests(task, params, 5, 4) {
            if test.options.is_empty() {
                assert!(task.version() > 1 || test.guess() == 0.0, "{}", task.name());
                assert!((0.0..=0.5).contains(&test.guess()), "{}: {}", task.name(), test.guess());
                assert!(!matches!(task.answer_type(), AnswerType::Choice | AnswerType::Boolean));
            } else {
                let distinct: HashSet<_> = test.options.iter().collect();
                assert_eq!(distinct.len(), test.options.len(), "{}: {:?}", task.name(), test.options);
                assert!(test.options.contains(&test.target), "{}", task.name());
                assert!((test.guess() - 1.0 / test.options.len() as f64).abs() < 1e-15);
            }
        }
    });
}

/// A blind guesser who always takes the same place, and one who always gives the commonest answer, earn what the
/// stated guess probability allows and no more.
#[test]
fn blind_guessing_attains_stated_probability() {
    for task in tasks::all_versions() {
        let mut rng = PyRandom::new(99);
        let mut target_positions: HashMap<(usize, usize), usize> = HashMap::new();
        let mut totals: HashMap<usize, usize> = HashMap::new();
        for _ in 0..150 {
            let params = random_params(task, &mut rng);
            for test in tests(task, &params, 11, 12) {
                if let Some(position) = test.options.iter().position(|option| *option == test.target) {
                    *target_positions.entry((test.options.len(), position)).or_default() += 1;
                    *totals.entry(test.options.len()).or_default() += 1;
                }
            }
        }
        for ((options, position), count) in target_positions {
            let (n, p) = (totals[&options] as f64, 1.0 / options as f64);
            let limit = n * p + 5.0 * (n * p * (1.0 - p)).sqrt() + 1.0;
            assert!(
                count as f64 <= limit,
                "{}: place {position} of {options} is right {count} of {n} times",
                task.name()
            );
        }
    }
}

/// At the default coordinates no single answer is common: a majority guesser gets nowhere.
#[test]
fn no_constant_answer_beats_guess_probability() {
    for task in tasks::all_versions() {
        let params = Params::new(task, &Json::from([("count", Json::Int(1))])).unwrap();
        let tests = tests(task, &params, 17, 600);
        let mut answers: HashMap<&str, usize> = HashMap::new();
        for test in &tests {
            *answers.entry(&test.target).or_default() += 1;
        }
        let (answer, count) = answers.iter().max_by_key(|(_, count)| **count).unwrap();
        let guess = tests.iter().map(Test::guess).fold(0.0, f64::max);
        let proportion = *count as f64 / tests.len() as f64;
        assert!(
            proportion <= guess + 0.2,
            "{}: `{answer}` is right {:.0} % of the time",
            task.name(),
            100.0 * proportion
        );
    }
}

#[test]
fn prompts_of_a_point_are_distinct() {
    for task in tasks::all_versions() {
        let params = Params::new(task, &Json::from([("count", Json::Int(1))])).unwrap();
        let tests = tests(task, &params, 0, 256);
        let prompts: HashSet<_> = tests.iter().map(|test| &test.prompt).collect();
        assert!(prompts.len() >= 250, "{}: {} different prompts of 256", task.name(), prompts.len());
    }
}

#[test]
fn every_parameter_is_described_and_its_default_is_legal() {
    for task in tasks::all_versions() {
        assert!(task.parameters().len() >= 3, "{} has too few dimensions", task.name());
        let params = Params::new(task, &Json::Object(BTreeMap::new())).unwrap();
        let Json::Object(values) = params.to_json() else { unreachable!("parameters are an object") };
        assert_eq!(values.len(), task.parameters().len());
        assert!(task.parameters().iter().all(|p| !p.description.is_empty() && !p.description.ends_with('.')));
    }
}

/// Ten tests of each task, for ever. A difference here is a new version of the task, never an edit.
#[test]
fn generated_text_is_frozen() {
    for task in tasks::all_versions() {
        let mut rng = PyRandom::new(1);
        let mut text = String::new();
        for i in 0..5 {
            let params = if i == 0 {
                Params::new(task, &Json::Object(BTreeMap::new())).unwrap()
            } else {
                random_params(task, &mut rng)
            };
            for test in tests(task, &params, 0, 2) {
                writeln!(
                    text,
                    "# {}\n{}\n-> {}\noptions: {:?}\n",
                    reasonscape_core::canonical_json(&params.to_json()),
                    test.prompt,
                    test.target,
                    test.options
                )
                .unwrap();
            }
        }
        insta::assert_snapshot!(format!("{}@{}", task.family(), task.version()), text);
    }
}
