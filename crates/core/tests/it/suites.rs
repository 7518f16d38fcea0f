//! The built-in suites hold what they promise, and a wrong one is refused by line.

use std::collections::{BTreeMap, HashMap};

use reasonscape_core::{Json, Params, Range, Suite, Test, TestStream, tasks};

fn built_in(name: &str) -> Suite {
    Suite::parse(Suite::built_in(name).expect("a built-in suite"))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn r12_has_twelve_tasks_and_about_ninety_points_each() {
    assert_eq!(built_in("r12@1").points().len(), 1067);
    for version in [1, 2] {
        check_r12(version);
    }
}

fn check_r12(version: u32) {
    let suite = built_in(&format!("r12@{version}"));
    let points = suite.points();
    assert!((1030..=1090).contains(&points.len()), "{} points", points.len());
    let mut by_task: HashMap<&str, usize> = HashMap::new();
    for point in &points {
        *by_task.entry(point.task.name()).or_default() += 1;
    }
    assert_eq!(by_task.len(), 12);
    let wanted =
        tasks::all_versions().filter(|task| task.version() == version && task.family() != "jsonpath");
    for task in wanted {
        let count = by_task[task.name()];
        // Version 2 has no two points with the same effective setting.
        let least = if version == 1 { 80 } else { 70 };
        assert!((least..=95).contains(&count), "{} has {count} points", task.name());
        // Every dimension of the task is walked along somewhere.
        for parameter in task.parameters() {
            let mut values: Vec<String> = points
                .iter()
                .filter(|point| point.task.name() == task.name())
                .map(|point| format!("{:?}", point.params.to_json().get(parameter.name)))
                .collect();
            values.sort();
            values.dedup();
            assert!(values.len() > 1, "{} never varies `{}`", task.name(), parameter.name);
        }
    }
}

#[test]
fn quick_has_twelve_tasks_and_few_points() {
    for (name, version) in [("quick@1", 1), ("quick@2", 2), ("quick", Suite::DEFAULT_VERSION)] {
        let suite = built_in(name);
        let points = suite.points();
        assert_eq!(points.len(), 36);
        assert!(points.iter().all(|point| point.task.version() == version), "{name}");
        assert!(points.iter().map(|point| point.count).sum::<usize>() <= 300);
    }
    assert_eq!((Suite::built_in("quick@0"), Suite::built_in("quick@3")), (None, None));
}

#[test]
fn a_task_without_version_takes_that_of_the_caller() {
    let text = with("id = \"a\"\ntask = \"sort\"");
    let name = |suite: &Suite| suite.manifolds[0].task.name().to_owned();
    assert_eq!(name(&Suite::parse(&text).unwrap()), "sort@2");
    assert_eq!(name(&Suite::parse_for(&text, 1).unwrap()), "sort");
    let text = text.replace("\"sort\"", "\"sort@1\"");
    assert_eq!(name(&Suite::parse(&text).unwrap()), "sort");
    let message = refusal(&text.replace("sort@1", "sort@9"));
    assert!(message.contains("line 5: unknown task `sort@9`"), "{message}");
}

#[test]
fn values_without_effect_and_counts_beyond_the_problems_are_rejected() {
    let message =
        refusal(&with("id = \"a\"\ntask = \"boolean@2\"\nparams = { length = 12, max_depth = [2, 4, 8] }"));
    assert!(
        message.contains(
            "line 6: `max_depth` of `boolean` is 8, which with `length` = 12 has the same effect as 4; use 4"
        ),
        "{message}"
    );
    // An omitted value takes the effective one.
    let suite = Suite::parse(&with("id = \"a\"\ntask = \"brackets@2\"\nparams = { length = 10 }")).unwrap();
    assert_eq!(suite.manifolds[0].points[0].int("max_depth"), 5);
    let message = refusal(&with(
        "id = \"a\"\ntask = \"tables@2\"\nparams = { columns = 2, filters = 0, operation = \"sum\", noise = 0.5 }",
    ));
    assert!(
        message.contains(
            "`noise` of `tables` is 0.5, which with `operation` = \"sum\", `columns` = 2 and `filters` = 0 has \
             the same effect as 0"
        ),
        "{message}"
    );

    let few = "id = \"a\"\ntask = \"arithmetic@2\"\ncount = 500\nparams = { length = 2, operators = \"+-\" }";
    let message = refusal(&with(few));
    assert!(message.contains("line 6: manifold `a` has 500 problems"), "{message}");
    assert!(message.contains("has about 81 different ones"), "{message}");
    assert!(Suite::parse(&with(&few.replace("500", "81"))).is_ok());
    assert!(Suite::parse(&with(&few.replace("arithmetic@2", "arithmetic@1"))).is_ok());

    // A task without a bound is counted, once a sample repeats.
    let words = "id = \"a\"\ntask = \"letters@2\"\ncount = 20000\nparams = { words = 1, letters = 1, confounders = 0 }";
    let message = refusal(&with(words));
    assert!(message.contains("has 20000 problems") && message.contains("has about 499"), "{message}");
    assert!(Suite::parse(&with(&words.replace("20000", "4000"))).is_ok());
    assert!(Suite::parse(&with(&words.replace("words = 1,", "words = 8,"))).is_ok());
}

/// A task without a bound on its problems has as many as a suite may ask for without a check.
#[test]
fn tasks_without_a_bound_have_a_thousand_problems_at_their_smallest_points() {
    for task in tasks::all_versions().filter(|task| task.version() == 2) {
        let lowest = |range: &Range| match range {
            Range::Int { low, .. } => Json::Int(*low),
            Range::Real { low, .. } => Json::Float(*low),
            Range::Word { words, .. } => Json::from(words[0]),
        };
        let lowest: BTreeMap<String, Json> = task
            .parameters()
            .iter()
            .map(|parameter| (parameter.name.to_owned(), lowest(&parameter.range)))
            .collect();
        let mut settings = vec![lowest.clone()];
        for parameter in task.parameters() {
            let others = match parameter.range {
                Range::Int { high, .. } => vec![Json::Int(high)],
                Range::Real { high, .. } => vec![Json::Float(high)],
                Range::Word { words, .. } => words[1..].iter().map(|word| Json::from(*word)).collect(),
            };
            for value in others {
                settings
                    .push(lowest.clone().into_iter().chain([(parameter.name.to_owned(), value)]).collect());
            }
        }
        for given in settings {
            let Ok(params) = Params::new(task, &Json::Object(given)) else { continue };
            if task.distinct_problems(&params).is_none() {
                let found = TestStream::new(task, &params, 0).take(1000).count();
                assert_eq!(found, 1000, "{} {:?}", task.name(), params.to_json());
            }
        }
    }
}

/// A point yields as many different problems as it says, and a stream ends rather than repeat one.
#[test]
fn small_points_have_the_problems_that_they_claim() {
    for (task, params) in [
        ("arithmetic", r#"{"length": 2, "operators": "+-"}"#),
        ("arithmetic", r#"{"length": 2, "operators": "+-*%"}"#),
        ("boolean", r#"{"length": 6, "max_depth": 0, "prob_negate": 0.0, "operators": "and_or"}"#),
        ("brackets", r#"{"length": 10, "max_depth": 5, "kinds": 2}"#),
        ("brackets", r#"{"length": 12, "max_depth": 5, "kinds": 3}"#),
    ] {
        let task = tasks::by_name(&format!("{task}@2")).unwrap();
        let params = Params::new(task, &Json::parse(params).unwrap()).unwrap();
        let claimed = task.distinct_problems(&params).expect("a small point") as usize;
        let prompts: Vec<String> =
            TestStream::new(task, &params, 0).take(4 * claimed).map(|test| test.prompt).collect();
        assert!(
            // Drawn at random, so the last of a thousand may not be found.
            prompts.len() + claimed / 1000 >= claimed,
            "{} {:?}: {} of {claimed}",
            task.name(),
            params.to_json(),
            prompts.len()
        );
        let distinct: std::collections::HashSet<&String> = prompts.iter().collect();
        assert_eq!(distinct.len(), prompts.len());
    }
}

/// Points of r12 are different tests, not the same ones under another name, and a point hardly repeats itself.
#[test]
fn r12_points_share_almost_no_prompts() {
    for name in ["r12@1", "r12@2"] {
        check_prompts(&built_in(name));
    }
}

fn check_prompts(suite: &Suite) {
    let (mut tests, mut repeated, mut shared) = (0, 0, 0);
    let mut first_seen: HashMap<String, usize> = HashMap::new();
    let mut worst: HashMap<(usize, usize), usize> = HashMap::new();
    for (index, point) in suite.points().iter().enumerate() {
        for test in TestStream::new(point.task, point.params, suite.seed).take(point.count) {
            tests += 1;
            match first_seen.get(&test.prompt) {
                None => {
                    first_seen.insert(test.prompt, index);
                }
                Some(&other) if other == index => repeated += 1,
                Some(&other) => {
                    shared += 1;
                    *worst.entry((other, index)).or_default() += 1;
                }
            }
        }
    }
    assert!(shared * 1000 < tests, "{shared} of {tests} prompts are shared between points");
    let points = suite.points();
    let name = |index: usize| format!("{} {:?}", points[index].task.name(), points[index].params.to_json());
    if let Some(((a, b), count)) = worst.iter().find(|(_, count)| **count > 2) {
        panic!("{count} prompts of 64 are shared by {} and {}", name(*a), name(*b));
    }
    assert_eq!(repeated, 0, "prompts are repeated inside a point");
}

fn refusal(text: &str) -> String {
    Suite::parse(text).unwrap_err().to_string()
}

/// A suite of one manifold; the manifold starts on line 3.
fn with(manifold: &str) -> String {
    format!("name = \"mine\"\ncount = 8\n[[manifold]]\n{manifold}")
}

#[test]
fn rejects_invalid_suites_with_line() {
    let cases = [
        (
            "id = \"a\"\ntask = \"arithmetics\"",
            "line 5: unknown task `arithmetics` (did you mean `arithmetic`?)",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { lenght = [1] }",
            "line 6: unknown parameter `lenght` of `sort` (did you mean `length`?)",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\n[manifold.params]\nlength = [4, 99]",
            "line 7: `length` of `sort` is 99, but must be an integer from 2 to 64; the nearest is 64",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { key = \"alphabetical\" }",
            "line 6: `key` of `sort` is \"alphabetical\", but must be one of",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { length = { from = 8, to = 4 } }",
            "line 6: `length` runs from 8 to 4 by 1",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { length = { from = 4, upto = 8 } }",
            "line 6: `length` has the unknown key `upto`",
        ),
        ("id = \"a\"\ntask = \"sort\"\nparams = { length = [] }", "line 6: `length` is an empty list"),
        ("id = \"a\"\ntask = \"sort\"\nparams = { length = [true] }", "line 6: `length` has boolean"),
        ("id = \"a\"\ntask = \"sort\"\ncount = 0", "line 6: `count` is 0, but must be from 1"),
        (
            "id = \"a\"\ntask = \"sort\"\nview = [{ x = \"length\" }]",
            "line 6: a view along `length`, which has a single value",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { length = [4, 8] }\nview = [{ x = \"size\" }]",
            "line 7: a view along `size`, which is not a parameter",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { length = [4, 8] }\nview = [{ x = \"length\", y = \"length\" }]",
            "line 7: a surface over `length` twice",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\npoints = [{ length = 4 }]\nparams = { length = [4, 8] }",
            "line 6: `length` is both an axis and in a base point",
        ),
        ("id = \"a\"\ntask = \"sort\"\ncolour = \"red\"", "line 6: unknown field `colour`"),
        ("id = \"a\"", "line 3: missing field `task`"),
        (
            "id = \"a\"\ntask = \"sort\"\n[[manifold]]\nid = \"a\"\ntask = \"sort\"",
            "line 7: manifold id `a` is empty or used twice",
        ),
        (
            "id = \"a\"\ntask = \"sort\"\nparams = { case_mutation = { from = 0, to = 1, step = 0.0000001 } }",
            "line 6: `case_mutation` has more than 1000000 values",
        ),
        ("id = \"a\"\ntask = ", "line 5:"),
    ];
    for (manifold, expected) in cases {
        let found = refusal(&with(manifold));
        assert!(found.contains(expected), "{manifold}\n  says: {found}\n  not:  {expected}");
    }
    assert!(refusal("name = \"mine\"\ncount = 8").contains("no [[manifold]]"));
    assert!(refusal("count = 8").contains("missing field `name`"));
}

#[test]
fn ranges_lists_and_base_points_expand_correctly() {
    let suite = Suite::parse(&with(
        "id = \"a\"\ntask = \"sort\"\npoints = [{ key = \"natural\" }, { key = \"numeric\" }]\n\
         params = { length = { from = 4, to = 12, step = 4 }, case_mutation = { from = 0.1, to = 0.3, step = 0.1 } }",
    ))
    .unwrap();
    assert_eq!(suite.points().len(), 2 * 3 * 3);
    let proportions: Vec<f64> =
        suite.manifolds[0].points[..3].iter().map(|point| point.real("case_mutation")).collect();
    let lengths: Vec<i64> = suite.manifolds[0].points[..9].iter().map(|point| point.int("length")).collect();
    assert!(
        proportions.iter().chain([&0.3]).all(|proportion| [0.1, 0.2, 0.3].contains(proportion)),
        "{proportions:?}"
    );
    assert!(lengths.iter().all(|length| [4, 8, 12].contains(length)));
}

#[test]
fn duplicate_points_are_merged_with_larger_count() {
    let suite = Suite::parse(&with(
        "id = \"a\"\ntask = \"sort\"\nparams = { length = [4, 8] }\n[[manifold]]\nid = \"b\"\ntask = \"sort\"\ncount = 32\n\
         params = { length = [8, 16] }",
    ))
    .unwrap();
    let points = suite.points();
    assert_eq!(points.len(), 3);
    assert_eq!((points[1].count, points[1].manifolds.as_slice()), (32, &["a", "b"][..]));
}

/// A guesser who knows the point and always gives its commonest answer earns little: on choices no more than the
/// stated probability, on write-ins nowhere a third, and an eighth on average.
#[test]
fn most_common_answer_of_r12_points_is_rare() {
    for name in ["r12@1", "r12@2"] {
        check_most_common_answers(&built_in(name));
    }
}

fn check_most_common_answers(suite: &Suite) {
    let mut gains: HashMap<&str, Vec<f64>> = HashMap::new();
    for point in suite.points() {
        let tests: Vec<Test> = TestStream::new(point.task, point.params, 3).take(200).collect();
        let mut answers: HashMap<&str, usize> = HashMap::new();
        for test in &tests {
            *answers.entry(&test.target).or_default() += 1;
        }
        let commonest = answers.values().copied().max().unwrap_or(0) as f64 / tests.len() as f64;
        let guess = tests.iter().map(Test::guess).fold(0.0, f64::max);
        // The commonest of 200 stands out by chance alone; three standard deviations of a fair share are 0.11.
        let allowed = if guess > 0.0 { 0.11 } else { 0.33 };
        assert!(
            commonest - guess <= allowed,
            "{} {:?}: {commonest}",
            point.task.name(),
            point.params.to_json()
        );
        gains.entry(point.task.name()).or_default().push(commonest - guess);
    }
    for (task, gains) in gains {
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        assert!(mean <= 0.125, "{task}: {mean}");
    }
}
