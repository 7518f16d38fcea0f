//! `reasonscape analyze variance` against enumeration in plain Python.

use reasonscape_core::Outcome;
use reasonscape_points::Trial;
use reasonscape_stats::{Confidence, wilson};
use serde_json::{Value, json};

use super::number;
use super::outcomes::{Draws, Planted};
use crate::test_env::{assert_rejected, trial};

/// pass@k and pass^k from all subsets of k samples, the majority vote, and the variance from its definition.
const SCRIPT: &str = r#"
import collections, itertools, json, math, sys
points = json.load(sys.stdin)
problems = [problem for point in points for problem in point]
rights = [[right for right, _ in problem] for problem in problems]
n = max(map(len, rights))
mean = lambda values: math.fsum(values) / len(values)
share = lambda right, k, enough: mean([float(enough(subset)) for subset in itertools.combinations(right, k)])
ks = [k for k in (1, 2, 4, 8) if k < n] + [n]
inside = sum((r - mean(right)) ** 2 for right in rights for r in right)
sampling = inside / sum(len(right) - 1 for right in rights)
deviations, factor, freedom = 0.0, 0.0, 0
for point in points:
    shares = [mean([right for right, _ in problem]) for problem in point]
    deviations += sum((one - mean(shares)) ** 2 for one in shares)
    factor += sum((1 - 1 / len(point)) / len(problem) for problem in point)
    freedom += len(point) - 1
vote = []
for problem in problems:
    counts = collections.Counter(answer for _, answer in problem)
    modes = [answer for answer, count in counts.items() if count == max(counts.values())]
    right = {answer for right, answer in problem if right}
    vote.append(mean([float(mode in right) for mode in modes]))
print(json.dumps({
    "pass": [[k, mean([share(right, k, any) for right in rights if len(right) >= k]), mean([share(right, k, all) for right in rights if len(right) >= k])] for k in ks],
    "split": [max(0.0, (deviations - sampling * factor) / freedom), sampling],
    "majority": mean(vote),
    "accuracy": mean([r for right in rights for r in right]),
}))
"#;

/// Two points with `problems` problems of `samples` samples each; a problem is answered correctly with a chance of its own.
fn points(problems: u64, samples: u32, spread: f64, draws: &mut Draws) -> Vec<Vec<Trial>> {
    let point = |level: f64, draws: &mut Draws| -> Vec<Trial> {
        let mut trials = Vec::new();
        for index in 0..problems {
            let chance = (level + spread * (draws.share() - 0.5)).clamp(0.0, 1.0);
            for repeat in 0..samples {
                let status = if draws.share() < chance { Outcome::Correct } else { Outcome::Incorrect };
                let answer = match status {
                    Outcome::Correct => "7".to_owned(),
                    _ => draws.below(3).to_string(),
                };
                trials.push(Trial { repeat, answer: Some(answer), ..trial(index, status, 0.0) });
            }
        }
        trials
    };
    vec![point(0.7, draws), point(0.4, draws)]
}

fn study(points: &[Vec<Trial>]) -> Planted {
    let params = [r#"{"length": 8}"#, r#"{"length": 16}"#];
    Planted::new().with_samples("m", "sort", params.into_iter().zip(points.iter().cloned()).collect())
}

/// The problems of each point as pairs of correctness and answer.
fn problems(points: &[Vec<Trial>]) -> Value {
    let of_point = |trials: &Vec<Trial>| -> Value {
        let samples = |sample: &Trial| json!([u8::from(sample.status == Outcome::Correct), sample.answer]);
        trials
            .chunk_by(|a, b| a.index == b.index)
            .map(|held| held.iter().map(samples).collect::<Value>())
            .collect()
    };
    points.iter().map(of_point).collect()
}

#[test]
fn split_pass_and_majority_match_enumeration() {
    for (seed, samples, spread) in [(1, 4, 1.4), (2, 5, 0.0), (3, 2, 0.6)] {
        let points = points(25, samples, spread, &mut Draws(seed));
        let row = &study(&points).json("variance", &[])[0];
        let Some(printed) = reasonscape_test_support::python(SCRIPT, &problems(&points).to_string()) else {
            return;
        };
        let expected: Value = serde_json::from_str(&printed).unwrap();
        let close = |found: &Value, expected: &Value, what: &str| {
            assert!((number(found) - number(expected)).abs() < 1e-12, "{what}: {found}, expected {expected}");
        };
        close(&row["accuracy"]["point"], &expected["accuracy"], "accuracy");
        close(&row["split"]["problems"], &expected["split"][0], "problems");
        close(&row["split"]["sampling"], &expected["split"][1], "sampling");
        close(&row["majority"]["point"], &expected["majority"], "majority");
        let pass = row["pass"].as_array().unwrap();
        assert_eq!(pass.len(), expected["pass"].as_array().unwrap().len());
        for (found, expected) in pass.iter().zip(expected["pass"].as_array().unwrap()) {
            assert_eq!(found["k"], expected[0]);
            close(&found["pass_at_k"]["point"], &expected[1], "pass@k");
            close(&found["pass_hat_k"]["point"], &expected[2], "pass^k");
            for name in ["pass_at_k", "pass_hat_k"] {
                let [low, point, high] = ["low", "point", "high"].map(|key| number(&found[name][key]));
                assert!(low <= point && point <= high && low < high, "{found}");
            }
        }
    }
}

#[test]
fn says_whether_to_buy_problems_or_samples() {
    let finding = |spread: f64, draws: u64| {
        let row =
            study(&points(60, 8, spread, &mut Draws(draws))).json("variance", &["--by", "eval"])[0].clone();
        let [low, found, high] = ["problem_proportion_low", "problem_proportion", "problem_proportion_high"]
            .map(|key| number(&row["split"][key]));
        assert!(0.0 <= low && low <= found && found <= high && high <= 1.0, "{row}");
        row["finding"].as_str().unwrap().to_owned()
    };
    assert!(finding(0.0, 4).contains("most of the variance is between samples"), "{}", finding(0.0, 4));
    // Every problem is answered always or never.
    assert!(finding(60.0, 5).contains("buy more problems"), "{}", finding(60.0, 5));
}

#[test]
fn intervals_count_samples_of_a_problem_as_a_cluster() {
    // Samples of a problem are alike, so eight of them say as much as one.
    let mut draws = Draws(6);
    let one = points(40, 1, 60.0, &mut draws);
    let eight: Vec<Vec<Trial>> = one
        .iter()
        .map(|trials| {
            let copies =
                |sample: &Trial| (0..8).map(|repeat| Trial { repeat, ..sample.clone() }).collect::<Vec<_>>();
            trials.iter().flat_map(copies).collect()
        })
        .collect();
    let width = |points: &[Vec<Trial>]| {
        let row = study(points).json("variance", &[])[0].clone();
        assert_eq!(row["problems"], 80);
        number(&row["accuracy"]["high"]) - number(&row["accuracy"]["low"])
    };
    assert!((width(&one) - width(&eight)).abs() < 1e-12);
}

/// A model with eight equal samples of each of forty problems, correct on these.
fn copies(correct: impl Fn(u64) -> bool) -> Vec<Trial> {
    let status = |index| if correct(index) { Outcome::Correct } else { Outcome::Incorrect };
    (0..320)
        .map(|place| Trial { repeat: (place % 8) as u32, ..trial(place / 8, status(place / 8), 0.0) })
        .collect()
}

#[test]
fn every_analysis_clusters_samples_by_problem() {
    let at = |trials| vec![(r#"{"length": 8}"#, trials)];
    let study = Planted::new().with_samples("a", "sort", at(copies(|index| index < 28))).with_samples(
        "b",
        "sort",
        at(copies(|index| (12..33).contains(&index))),
    );
    // Wilson's interval of 28 of 40 problems, not of 224 of 320 trials.
    let expected = wilson(28.0, 40.0, Confidence::P95).unwrap();
    let assert_bounds = |found: &Value, what: &str| {
        let [low, high] = ["low", "high"].map(|key| number(&found[key]));
        let off = (low - expected.low).abs() + (high - expected.high).abs();
        assert!(off < 1e-9, "{what}: {found}, expected {expected:?}");
    };
    assert_bounds(&study.json("points", &["--filter", "model=a"])[0]["estimate"], "points");
    assert_bounds(&study.json("evals", &["--filter", "model=a"])[0]["correct"], "evals");
    assert_bounds(&study.json("tasks", &["--filter", "model=a"])[0]["correct"], "tasks");
    assert_bounds(&study.json("aggregate", &["--filter", "model=a"])[0]["estimates"]["C_P"], "aggregate");
    assert_bounds(&study.json("scores", &["--filter", "model=a"])[0]["tasks"]["sort"]["accuracy"], "scores");
    assert_bounds(&study.json("modes", &["--filter", "model=a"])[0]["tasks"]["sort"]["C_P"], "modes");
    assert_bounds(&study.json("tokens", &["--filter", "model=a"])[0]["now"]["accuracy"], "tokens");
    assert_bounds(&study.json("variance", &["--filter", "model=a"])[0]["accuracy"], "variance");
}

/// A is correct on 12 problems alone and B on 5; A alone answers ten more.
fn repeated_pair(samples: u32) -> Planted {
    let model = |problems: u64, is_correct: &dyn Fn(u64) -> bool| {
        let status = |index| if is_correct(index) { Outcome::Correct } else { Outcome::Incorrect };
        let of_problem =
            |index| (0..samples).map(move |repeat| Trial { repeat, ..trial(index, status(index), 0.0) });
        vec![(r#"{"length": 8}"#, (0..problems).flat_map(of_problem).collect::<Vec<_>>())]
    };
    Planted::new().with_samples("a", "sort", model(50, &|index| index < 28)).with_samples(
        "b",
        "sort",
        model(40, &|index| (12..33).contains(&index)),
    )
}

#[test]
fn comparison_of_repeated_samples_counts_problems() {
    let compared = |samples: u32, more: &[&str]| -> Value {
        let arguments = [&["a", "b", "--format", "json"], more].concat();
        let run = repeated_pair(samples).ask("compare", &arguments);
        serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
    };
    let (one, eight) = (compared(1, &[]), compared(8, &[]));
    assert_eq!((&one["samples"], &eight["samples"]), (&Value::Null, &json!(320)));
    // Eight equal samples say no more than one, about problems, their number, and what they can detect.
    for key in ["pairs", "unpaired_a", "unpaired_b", "discordant_share", "detectable_difference", "verdict"] {
        assert_eq!(one[key], eight[key], "{key}");
    }
    assert_eq!((&eight["pairs"], &eight["unpaired_a"]), (&json!(40), &json!(10)));
    let [one_task, eight_task] = [&one, &eight].map(|found| found["tasks"][0].clone());
    for key in ["pairs", "b", "c", "unpaired_a", "pairs_needed", "verdict"] {
        assert_eq!(one_task[key], eight_task[key], "{key}");
    }
    assert!((number(&one_task["difference"]) - number(&eight_task["difference"])).abs() < 1e-12);
    assert_eq!(
        (&eight_task["b"], &eight_task["c"], &eight_task["pairs"]),
        (&json!(12), &json!(5), &json!(40))
    );
    // 96 trials against 40 would be significant.
    assert!((0.05..0.2).contains(&number(&eight_task["p"])), "{eight_task}");
    assert!(number(&eight_task["low"]) < 0.0 && number(&eight_task["high"]) > 0.0, "{eight_task}");
    for found in [&one["reason_score"], &eight["reason_score"]] {
        assert!(number(&found["ci_low"]) < 0.0 && number(&found["ci_high"]) > 0.0, "{found}");
    }
    let more = |found: &Value| number(&found["reason_score"]["more_trials_a_task"]);
    assert!((more(&eight) / more(&one) / 8.0 - 1.0).abs() < 0.1, "{one} {eight}");
    // The bootstrap, whose verdict counts for other estimators, draws problems with all of their samples.
    let (one, eight) = (compared(1, &["--mode", "K_P"]), compared(8, &["--mode", "K_P"]));
    assert_eq!((&one["verdict"], &eight["verdict"]), (&json!("cannot tell"), &json!("cannot tell")));
    let margin = |found: &Value| number(&found["score"]["margin"]);
    assert!((0.9..1.2).contains(&(margin(&eight) / margin(&one))), "{one} {eight}");
    let text = repeated_pair(8).ask("compare", &["a", "b"]);
    assert!(text.stderr.contains("both on the 40 problems that both answered"), "{text:?}");
    assert!(text.stderr.contains("Student's t test"), "{text:?}");
}

#[test]
fn page_shows_repeats() {
    let study = study(&points(30, 4, 1.2, &mut Draws(9)));
    let [page, json] = crate::serve::get_pages(study.path(), ["/forensics", "/api/v1/variance?by=eval"]);
    let rows: Value = serde_json::from_str(&json).unwrap();
    assert!(page.contains("Repeated samples") && page.contains("pass@k") && page.contains("maj@k"));
    let finding = rows[0]["finding"].as_str().unwrap();
    assert!(page.contains(finding), "{finding}");
}

#[test]
fn tables_match_snapshots() {
    let study = study(&points(30, 4, 1.2, &mut Draws(9)));
    for (name, more) in [("variance", &[][..]), ("variance_pass", &["--pass"])] {
        let run = study.ask("variance", more);
        assert_eq!(run.code, 0, "{run:?}");
        insta::assert_snapshot!(name, format!("{}{}", run.stdout, run.stderr));
    }
    assert_eq!(study.ask("variance", &["--format", "csv"]).code, 0);
}

#[test]
fn one_sample_per_problem_has_no_split() {
    let study = study(&points(10, 1, 0.0, &mut Draws(7)));
    let row = &study.json("variance", &[])[0];
    assert_eq!((&row["split"], &row["pass"], &row["majority"]), (&Value::Null, &json!([]), &Value::Null));
    assert!(row["finding"].as_str().unwrap().starts_with("cannot tell: one sample per problem"), "{row}");
    assert!(study.ask("variance", &[]).stderr.contains("set `repeats` in study.toml"));
    assert_rejected(&study.ask("variance", &["--confidence", "2"]), &["`--confidence 2`"]);
}
