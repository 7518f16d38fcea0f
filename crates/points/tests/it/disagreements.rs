//! Tests that ended differently for two evaluations, and a few trials out of many.

use std::collections::BTreeSet;

use reasonscape_core::Outcome;
use reasonscape_points::{Filter, PointSet, TestName, TrialFilter, TrialNumber};
use tempfile::TempDir;

use super::test_env::{Draws, eval, open, point, rows, trial, wait, write};

const PARAMS: [&str; 2] = [r#"{"length": 16}"#, r#"{"length": 4}"#];
const STATUSES: [Outcome; 3] = [Outcome::Incorrect, Outcome::Correct, Outcome::Truncated];

/// Two evaluations on two tasks of two points, with repeats, each lacking some trials.
fn study() -> (TempDir, [String; 2]) {
    let folder = TempDir::new().unwrap();
    let evals = ["one", "other"].map(|model| eval(model, "zero-shot", "greedy", &[]));
    let mut draws = Draws(5);
    for eval in &evals {
        for task in ["add", "sort"] {
            let points = PARAMS.map(|params| {
                let mut trials = Vec::new();
                for index in 0..150 {
                    for repeat in 0..2 {
                        if draws.below(20) > 0 {
                            let status = STATUSES[draws.below(3) as usize];
                            trials.push(reasonscape_points::Trial { repeat, ..trial(index, status, 0.0) });
                        }
                    }
                }
                point(params, &["m"], trials)
            });
            write(folder.path(), eval, task, points.into());
        }
    }
    (folder, evals.map(|eval| eval.eval_id))
}

#[test]
fn finds_exactly_the_tests_with_different_outcomes() {
    let (folder, [a, b]) = study();
    let db = open(folder.path());
    for (conditions, clause) in [
        (vec![], "true"),
        (vec!["base_task=sort", "params.length=4"], "a.base_task = 'sort' AND a.params LIKE '% 4}'"),
    ] {
        let found = wait(db.disagreements(&a, &b, &Filter::parse(conditions).unwrap())).unwrap();
        let mut found_tests = BTreeSet::new();
        for point in &found {
            assert!(!point.tests.is_empty() && point.tests.is_sorted_by_key(|test| test.number));
            for test in &point.tests {
                found_tests.insert(format!(
                    "{} {} {} {} {} {}",
                    point.base_task,
                    point.params,
                    test.number.index,
                    test.number.repeat,
                    test.a.code(),
                    test.b.code()
                ));
            }
        }
        // The same by plain SQL.
        let question = format!(
            "SELECT a.base_task, a.params, a.\"index\", a.repeat, a.status, b.status FROM trials a, trials b \
             WHERE a.eval_id = '{a}' AND b.eval_id = '{b}' AND a.base_task = b.base_task AND a.params = b.params \
             AND a.\"index\" = b.\"index\" AND a.repeat = b.repeat AND a.status <> b.status AND {clause}"
        );
        let plain =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let expected: BTreeSet<String> = rows(&db, &question)
            .unwrap()
            .iter()
            .map(|row| row.iter().map(plain).collect::<Vec<_>>().join(" "))
            .collect();
        assert!(expected.len() > 100, "{}", expected.len());
        assert_eq!(found_tests, expected);
    }
}

#[test]
fn finds_trials_by_test_and_number() {
    let (folder, [a, _]) = study();
    let db = open(folder.path());
    let points = PointSet { eval_id: &a, base_task: "add", params: &PARAMS[..1] };
    for statuses in [vec![], vec![Outcome::Truncated]] {
        let which = TrialFilter { statuses, text: None };
        let numbers = wait(db.trial_numbers(points, &which)).unwrap();
        let trials = wait(db.trials_at(points, &which, 0, 1000)).unwrap();
        let expected: Vec<_> =
            trials.iter().map(|trial| TrialNumber { index: trial.index, repeat: trial.repeat }).collect();
        assert!(expected.len() > 60);
        assert_eq!(numbers, expected);
    }
    let test = |base_task, params, index, repeat| TestName {
        base_task,
        params,
        number: TrialNumber { index, repeat },
    };
    let tests: Vec<TestName<'_>> = (0..40)
        .map(|n| test(["sort", "add"][n as usize % 2], PARAMS[n as usize / 2 % 2], n * 7 % 150, n as u32 % 2))
        .chain([test("add", PARAMS[0], 150, 0), test("add", "{}", 0, 0), test("add", PARAMS[0], u64::MAX, 0)])
        .collect();
    let found = wait(db.trials_on(&a, &tests)).unwrap();
    assert_eq!(found.len(), tests.len());
    for (test, found) in tests.iter().zip(&found) {
        let TrialNumber { index, repeat } = test.number;
        let alone = wait(db.trial(&a, test.base_task, test.params, index, repeat)).unwrap();
        assert_eq!(*found, alone, "{test:?}");
    }
    assert!(found.iter().flatten().count() > 30);
    assert_eq!(found[40..], [None, None, None]);
    assert_eq!(wait(db.trials_on(&a, &[])).unwrap(), []);
}
