//! The checks of generated problems find the known weaknesses of version 1, and nothing in problems that have none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use reasonscape_core::check::{GuesserCheck, PointCheck, Problem, Report, Source, Stream, TaskPoint};
use reasonscape_core::{Json, Params, PyRandom, Suite, tasks};

fn check(task: &str, params: &str, count: usize) -> PointCheck {
    let task = tasks::by_name(&format!("{task}@1")).unwrap();
    let params = Params::new(task, &Json::parse(params).unwrap()).unwrap();
    PointCheck::new(&TaskPoint { task, params: &params }, count, 0, None)
}

/// Accuracies of blind guessers that an analysis outside of this program found in version 1.
#[test]
fn finds_the_shortcuts_of_version_1() {
    let known = [
        (
            "boolean",
            r#"{"length": 48, "max_depth": 0, "operators": "and_or"}"#,
            "negated literals",
            0.80..0.95,
        ),
        ("shapes", "{}", "number of corners", 0.55..0.72),
        ("letters", r#"{"words": 4, "letters": 1, "confounders": 0}"#, "constant", 0.2..0.3),
        ("brackets", r#"{"length": 12, "max_depth": 2, "kinds": 2}"#, "last three brackets", 0.4..0.9),
        (
            "cars",
            r#"{"entities": 12, "lanes": 6, "moves": 1, "complexity": "move"}"#,
            "last mover",
            0.4..0.55,
        ),
        ("shuffle", r#"{"entities": 3, "depth": 4}"#, "nothing changed", 0.45..0.56),
        ("objects", r#"{"distractor_ratio": 0.0}"#, "sum of all numbers", 0.999..1.001),
        (
            "objects",
            r#"{"distractor_ratio": 0.0, "quantities": "words"}"#,
            "sum of all numbers",
            0.999..1.001,
        ),
        ("dates", r#"{"kinds": "weeks", "operations": 1}"#, "start date", 0.999..1.001),
        ("tables", r#"{"rows": 8, "operation": "count", "filters": 1}"#, "constant", 0.2..0.3),
    ];
    let checks: Vec<PointCheck> = known.iter().map(|(task, params, ..)| check(task, params, 1600)).collect();
    let report = Report::new(checks);
    for ((task, params, guesser, range), point) in known.iter().zip(&report.points) {
        let found: Vec<_> = point.guessers.iter().filter(|found| found.guesser == *guesser).collect();
        assert!(
            found.iter().any(|found| range.contains(&found.accuracy) && found.is_leak()),
            "{task} {params}: {guesser} {:?}",
            found
                .iter()
                .map(|found| (found.accuracy, found.stated, found.adjusted_p_value))
                .collect::<Vec<_>>()
        );
    }
    let failures = report.failures();
    assert!(
        failures.iter().any(|failure| failure.contains("blind guesser `number of corners` answers 6")),
        "{failures:#?}"
    );
}

#[test]
fn finds_settings_that_change_nothing_and_prompts_that_repeat() {
    let depths = [2, 4, 8].map(|depth| {
        check("arithmetic", &format!(r#"{{"length": 4, "max_depth": {depth}, "operators": "+-"}}"#), 200)
    });
    let report = Report::new(depths.into());
    let [group] = &report.tasks[0].same_problems[..] else { panic!("{:?}", report.tasks[0].same_problems) };
    assert_eq!(group.len(), 3);
    assert_eq!(report.tasks[0].no_difference.len(), 2);

    let few = check("boolean", r#"{"length": 2, "prob_negate": 0.0, "operators": "and_or"}"#, 200);
    assert!(few.distinct < 0.1 && few.overlap > 0.0);
    assert!(Report::new(vec![few]).failures()[0].contains("of the prompts repeat"));
}

/// Problems whose answer is drawn last and independently: nothing predicts it.
struct Coin {
    /// The probability of the first option.
    bias: f64,
    /// Whether problems differ from one generation to the next, as those of a careless program do.
    drifts: std::cell::Cell<Option<i64>>,
}

impl Source for Coin {
    fn task(&self) -> &'static str {
        "coin"
    }

    fn version(&self) -> u32 {
        1
    }

    fn params(&self) -> Json {
        Json::from([("bias", Json::Float(self.bias))])
    }

    fn problems(&self, stream: Stream, count: usize) -> Vec<Problem> {
        let Stream::Seed(seed) = stream else { return Vec::new() };
        let drift = self.drifts.get().unwrap_or(0);
        self.drifts.set(self.drifts.get().map(|drift| drift + 1));
        let mut rng = PyRandom::new(i128::from(seed + 1000 * drift));
        (0..count)
            .map(|_| {
                let prompt = format!("Coin number {} is tossed. Heads or tails?", rng.randint(0, 1 << 40));
                let target = if rng.random() < self.bias { "heads" } else { "tails" };
                Problem {
                    prompt,
                    target: target.into(),
                    options: vec!["heads".into(), "tails".into()],
                    guess: 0.5,
                }
            })
            .collect()
    }
}

#[test]
fn fair_source_passes_and_unfair_source_fails() {
    let fair = |bias| PointCheck::new(&Coin { bias, drifts: None.into() }, 2000, 0, None);
    let report = Report::new(vec![fair(0.5)]);
    assert_eq!(report.failures(), Vec::<String>::new());
    let worst = report.tasks[0].worst.as_ref().unwrap();
    assert!(worst.excess.abs() < 0.05 && worst.problems == 1000, "{worst:?}");

    let unfair = Report::new(vec![fair(0.65)]).failures();
    assert!(unfair.len() == 1 && unfair[0].contains("stated 50.0 %"), "{unfair:?}");
}

#[test]
fn source_without_a_fixed_stream_is_not_deterministic() {
    let careless = Coin { bias: 0.5, drifts: Some(0).into() };
    let failures = Report::new(vec![PointCheck::new(&careless, 200, 0, None)]).failures();
    assert!(
        failures.iter().any(|failure| failure.contains("other problems the second time")),
        "{failures:?}"
    );
    assert!(failures.iter().any(|failure| failure.contains("first 32 of 128")), "{failures:?}");
}

#[test]
fn a_stated_baseline_is_no_shortcut() {
    let at = |version, ratio| {
        let task = tasks::by_name(&format!("objects@{version}")).unwrap();
        let given = Json::from([("distractor_ratio", Json::Float(ratio))]);
        let params = Params::new(task, &given).unwrap();
        PointCheck::new(&TaskPoint { task, params: &params }, 400, 0, None)
    };
    let report = Report::new(vec![at(2, 0.0), at(2, 0.5)]);
    assert_eq!(report.failures(), Vec::<String>::new());
    let sum = |guessers: &[GuesserCheck]| {
        guessers.iter().find(|found| found.guesser == "sum of all numbers").cloned().unwrap()
    };
    let (baseline, other) = (sum(&report.points[0].guessers), sum(&report.points[1].guessers));
    assert!(!baseline.is_blind && baseline.accuracy > 0.999 && other.is_blind);
    // Over all points it is counted where it is blind.
    assert_eq!(sum(&report.tasks[0].pooled).problems, other.problems);

    let version_1 = Report::new(vec![at(1, 0.0)]).failures();
    assert!(version_1.iter().any(|failure| failure.contains("`sum of all numbers`")), "{version_1:?}");
}

/// At every point of the built-in suites: reproducible, distinct, different from every other, and no blind guesser beats the
/// stated guess probability by more than the margin. `examples/task_checks.rs` does the same with ten times the problems.
#[test]
fn built_in_suites_have_no_shortcuts() {
    for name in ["quick@2", "r12@2"] {
        let suite = Suite::parse(Suite::built_in(name).unwrap()).unwrap();
        let points = suite.points();
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<(usize, PointCheck)>> = Mutex::default();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(point) = points.get(index) else { break };
                        let source = TaskPoint { task: point.task, params: point.params };
                        let check = PointCheck::new(&source, 200, 0, None);
                        found.lock().unwrap().push((index, check));
                    }
                });
            }
        });
        let mut checks = found.into_inner().unwrap();
        checks.sort_by_key(|(index, _)| *index);
        assert_eq!(checks.len(), points.len());
        let report = Report::new(checks.into_iter().map(|(_, check)| check).collect());
        assert_eq!(report.failures(), Vec::<String>::new(), "{name}");
    }
}
