//! The likelihood score: against its reference in Python, at the ends of its range, and on invalid input.

use std::fmt::Write;

use reasonscape_stats::likelihood::{
    EffectiveTask, LikelihoodScore, PointSums, StopRule, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::Band;
use reasonscape_stats::{Confidence, Counters, Outcome};
use reasonscape_test_support::python;

use crate::docs::page;

pub(crate) const REFERENCE: &str = include_str!("../reference/reason_score.py");

/// A point with one trial per problem.
fn point(n: f64, completed: f64, correct: f64, guess: f64) -> WeightedPoint {
    let counters = Counters::new(n, correct, n - completed, guess * completed).expect("counts that fit");
    WeightedPoint { sums: PointSums::from_counters(&counters), weight: 1.0, stop_rule: None }
}

fn task(points: &[WeightedPoint]) -> EffectiveTask {
    effective_task(points).expect("valid sums").expect("trials")
}

fn score(tasks: &[EffectiveTask]) -> LikelihoodScore {
    likelihood_score(tasks, Confidence::P95).expect("valid tasks")
}

/// A task whose problems are listed one by one, as the reference reads them.
struct Design {
    tasks: Vec<Vec<WeightedPoint>>,
    text: String,
}

/// A design with strata, guessing, truncation, repeats, missing points and stop rules, each of them now and then.
fn random_design(rng: &mut PyRandom) -> Design {
    let rules = [(4, 0.2, 30), (8, 0.1, 64), (16, 0.08, 100), (5, 0.15, 23), (2, 0.25, 16)];
    let mut design = Design { tasks: Vec::new(), text: String::from("[") };
    let task_count = if rng.index(20) == 0 { 12 } else { 1 + rng.index(3) };
    for t in 0..task_count {
        design.text += if t > 0 { ",[" } else { "[" };
        let mut points = Vec::new();
        let skill = *rng.choice(&[0.0, 0.02, 0.2, 0.5, 0.8, 0.95, 1.0]);
        let truncation = *rng.choice(&[0.0, 0.0, 0.1, 0.4, 1.0]);
        let all_options: [&[f64]; 5] = [&[0.0], &[0.5], &[0.25], &[0.5, 0.25, 0.2], &[0.0, 0.5]];
        let options = *rng.choice(&all_options);
        for p in 0..=rng.index(4) {
            let weight = *rng.choice(&[1.0, 1.0, 2.0, 0.5, 24.0]);
            let skill = (skill + rng.uniform(-0.2, 0.2)).clamp(0.0, 1.0);
            let rule = (rng.index(5) == 0).then(|| *rng.choice(&rules));
            let stop_rule = rule.map(|(round, margin, max_count)| {
                StopRule::new(round, margin, max_count).expect("a valid rule")
            });
            let is_missing = p > 0 && rng.index(8) == 0;
            let samples = if stop_rule.is_none() && rng.index(4) == 0 { 1 + rng.index(4) } else { 1 };
            let fixed = [1, 2, 5, 8, 12, 24][rng.index(6)];
            let rule_text =
                rule.map_or("null".to_owned(), |(round, margin, max)| format!("[{round},{margin},{max}]"));
            write!(design.text, "{}[{weight},{rule_text},[", if p > 0 { "," } else { "" })
                .expect("a string grows");
            let mut sums = PointSums::default();
            let (mut count, mut correct) = (0, 0);
            loop {
                let next = match stop_rule {
                    _ if is_missing => None,
                    Some(rule) => rule.next_count(count, correct),
                    None => (count < fixed).then_some(fixed),
                };
                let Some(next) = next else { break };
                while count < next {
                    let trials: Vec<(Outcome, f64)> = (0..samples)
                        .map(|_| {
                            let guess = *rng.choice(options);
                            if rng.random() < truncation {
                                (Outcome::Truncated, guess)
                            } else if rng.random() < skill || rng.random() < guess {
                                (Outcome::Correct, guess)
                            } else {
                                (Outcome::Incorrect, guess)
                            }
                        })
                        .collect();
                    let listed: Vec<String> = trials
                        .iter()
                        .map(|(outcome, guess)| format!("[{},{guess}]", outcome.code()))
                        .collect();
                    write!(design.text, "{}[{}]", if count > 0 { "," } else { "" }, listed.join(","))
                        .expect("a string grows");
                    correct += u64::from(trials[0].0 == Outcome::Correct);
                    sums.add_problem(&trials);
                    count += 1;
                }
            }
            design.text += "]]";
            points.push(WeightedPoint { sums, weight, stop_rule });
        }
        design.text += "]";
        design.tasks.push(points);
    }
    design.text += "]\n";
    design
}

const REFERENCE_SCORES: &str = r"
import json, sys
tables = {}
def sums_of(rule, problems):
    sums = point_sums(problems)
    if rule is None or not problems:
        return sums
    key = tuple(rule)
    if key not in tables:
        tables[key] = gms_table(*rule)
    return unbiased_sums(sums, tables[key])
for line in sys.stdin:
    tasks = [effective_task([(w, sums_of(rule, problems)) for w, rule, problems in points]) for points in json.loads(line)]
    print(*(repr(x) for task in tasks for x in task.values()), *(repr(x) for level in (0.9, 0.95, 0.99) for x in reason_score(tasks, level)))
";

#[test]
fn scores_equal_reference_on_random_designs() {
    const DESIGNS: usize = 2000;
    let mut rng = PyRandom::new(22);
    let designs: Vec<Design> = (0..DESIGNS).map(|_| random_design(&mut rng)).collect();
    let input: String = designs.iter().map(|design| design.text.as_str()).collect();
    let Some(output) = python(&format!("{REFERENCE}\n{REFERENCE_SCORES}"), &input) else { return };
    assert_eq!(output.lines().count(), DESIGNS);
    for (design, line) in designs.iter().zip(output.lines()) {
        let tasks: Vec<EffectiveTask> = design.tasks.iter().map(|points| task(points)).collect();
        let mut found: Vec<f64> =
            tasks.iter().flat_map(|task| [task.q, task.c, task.g, task.n, task.a]).collect();
        for level in [0.9, 0.95, 0.99] {
            let score = likelihood_score(&tasks, Confidence::new(level).unwrap()).unwrap();
            assert!(score.ci_low <= score.estimate && score.estimate <= score.ci_high, "{score:?}");
            found.extend([score.estimate, score.ci_low, score.ci_high]);
        }
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "{found}, expected {expected} in\n{}",
                design.text
            );
        }
    }
}

#[test]
fn few_trials_at_the_ends_of_the_range() {
    let counted = |n: f64, correct: f64| score(&[task(&[point(n, n, correct, 0.0)])]);
    let [eight, twenty, all, most] =
        [counted(8.0, 0.0), counted(20.0, 0.0), counted(20.0, 20.0), counted(32.0, 31.0)];
    let shown = |score: LikelihoodScore| format!("{:.1}", score.estimate);
    assert_eq!([eight, twenty, all, most].map(shown), ["10.0", "10.0", "1000.0", "968.8"]);
    assert!((eight.ci_low - 10.0).abs() < 1e-9 && (twenty.ci_low - 10.0).abs() < 1e-9);
    // Zero of eight leaves more room than zero of twenty.
    assert!(250.0 < eight.ci_high && eight.ci_high < 450.0, "{eight:?}");
    assert!(100.0 < twenty.ci_high && twenty.ci_high < 200.0, "{twenty:?}");
    assert!(830.0 < all.ci_low && all.ci_low < 930.0 && (all.ci_high - 1000.0).abs() < 1e-9, "{all:?}");
    assert_eq!((all.band(), eight.band()), (Band::NearPerfect, Band::Catastrophic));
}

#[test]
fn truncated_and_guessed_tasks_have_wide_but_finite_intervals() {
    let all_truncated = score(&[task(&[point(40.0, 0.0, 0.0, 0.0)])]);
    assert!(
        (all_truncated.estimate - 10.0).abs() < 1e-9 && all_truncated.ci_high < 120.0,
        "{all_truncated:?}"
    );
    let at_chance = score(&[task(&[point(40.0, 40.0, 20.0, 0.5)])]);
    assert!((at_chance.estimate - 10.0).abs() < 1e-9, "{at_chance:?}");
    assert!((at_chance.ci_low - 10.0).abs() < 1e-9 && at_chance.ci_high > 250.0, "{at_chance:?}");
    let below_chance = score(&[task(&[point(40.0, 40.0, 10.0, 0.5)])]);
    assert!((below_chance.estimate - 10.0).abs() < 1e-9 && below_chance.ci_high < at_chance.ci_high);
    // The same trials, of which a third is truncated instead of incorrect.
    let truncated = score(&[task(&[point(30.0, 20.0, 15.0, 0.0)])]);
    let incorrect = score(&[task(&[point(30.0, 30.0, 15.0, 0.0)])]);
    assert!((truncated.estimate - incorrect.estimate).abs() < 1e-9);
}

#[test]
fn repeated_samples_count_as_one_problem() {
    let mut once = PointSums::default();
    let mut fivefold = PointSums::default();
    for outcome in [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated, Outcome::Correct] {
        once.add_problem(&[(outcome, 0.25)]);
        fivefold.add_problem(&[(outcome, 0.25); 5]);
    }
    let effective = |sums| task(&[WeightedPoint { sums, weight: 1.0, stop_rule: None }]);
    let (once, fivefold) = (effective(once), effective(fivefold));
    assert!((once.n - fivefold.n).abs() < 1e-9 && (once.q - fivefold.q).abs() < 1e-12);
    let mut ignored = PointSums::default();
    ignored.add_problem(&[]);
    assert_eq!(ignored, PointSums::default());
}

#[test]
fn weights_are_those_of_the_suite_however_many_trials_were_sampled() {
    let easy = point(100.0, 100.0, 100.0, 0.0);
    let hard = point(10.0, 10.0, 0.0, 0.0);
    assert!((task(&[easy, hard]).estimate() - 0.5).abs() < 1e-12);
    let heavy = WeightedPoint { weight: 3.0, ..hard };
    assert!((task(&[easy, heavy]).estimate() - 0.25).abs() < 1e-12);
}

#[test]
fn planned_points_without_data_widen_the_interval() {
    let points = [point(12.0, 12.0, 12.0, 0.0), point(12.0, 12.0, 6.0, 0.0), point(12.0, 12.0, 9.0, 0.0)];
    let missing = WeightedPoint { sums: PointSums::default(), ..points[0] };
    let complete = task(&points);
    let incomplete = task(&[points[0], points[1], points[2], missing]);
    assert!(complete.is_complete && !incomplete.is_complete);
    assert!((complete.estimate() - incomplete.estimate()).abs() < 1e-12);
    assert!(incomplete.n < 0.5 * complete.n, "{incomplete:?}");
    assert_eq!(effective_task(&[missing]), Ok(None));
    assert_eq!(effective_task(&[]), Ok(None));
    assert_eq!(effective_task(&[WeightedPoint { weight: 0.0, ..points[0] }]), Ok(None));
}

#[test]
fn rejects_tasks_in_which_a_guess_is_always_correct() {
    let message = |point: WeightedPoint| effective_task(&[point]).unwrap_err().to_string();
    let expected = "`g` is 1, but must be below 1: a correct answer would prove nothing";
    assert_eq!(message(point(8.0, 8.0, 8.0, 1.0)), expected);
    assert_eq!(message(point(8.0, 8.0, 3.0, 1.0)), expected);
    let mut sums = PointSums::default();
    sums.add_problem(&[(Outcome::Correct, 1.0), (Outcome::Correct, 0.5)]);
    assert_eq!(message(WeightedPoint { sums, weight: 1.0, stop_rule: None }), expected);
    // A truncated trial made no guess.
    let mut sums = PointSums::default();
    sums.add_problem(&[(Outcome::Truncated, 1.0), (Outcome::Correct, 0.5)]);
    assert!(effective_task(&[WeightedPoint { sums, weight: 1.0, stop_rule: None }]).is_ok());
}

#[test]
fn rejects_invalid_sums_weights_and_tasks_by_name() {
    let valid = point(8.0, 8.0, 4.0, 0.0);
    let message = |point: WeightedPoint| effective_task(&[point]).unwrap_err().to_string();
    assert_eq!(message(WeightedPoint { weight: -1.0, ..valid }), "`weight` is -1, but must be 0 or more");
    let sums = PointSums { yy: f64::NAN, ..valid.sums };
    assert_eq!(message(WeightedPoint { sums, ..valid }), "`yy` is NaN, but must be a finite number");
    let sums = PointSums { q: 9.0, c: 9.0, ..valid.sums };
    assert!(message(WeightedPoint { sums, ..valid }).contains("more than `n` = 8 trials"));
    assert_eq!(
        likelihood_score(&[], Confidence::P95).unwrap_err().to_string(),
        "`tasks` is empty, but needs at least one entry"
    );
    let broken = EffectiveTask { n: 0.0, ..task(&[valid]) };
    assert_eq!(
        likelihood_score(&[broken], Confidence::P95).unwrap_err().to_string(),
        "`n` is 0, but must be above 0"
    );
}

/// Every sequence of outcomes that a rule can produce, with its number of correct answers.
fn sequences(rule: StopRule) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for bits in 0..1_u64 << rule.max_count {
        let outcomes = (0..rule.max_count).map(|i| bits >> i & 1 == 1);
        let count = rule.counted_prefix(outcomes);
        found.push((count, (bits & ((1 << count) - 1)).count_ones().into()));
    }
    found
}

#[test]
fn stop_rule_estimate_is_unbiased_over_all_sequences() {
    for rule in ["rounds=4 margin=0.22 max=12", "rounds=3 margin=0.24 max=11", "rounds=2 margin=0.23 max=13"]
    {
        let rule: StopRule = rule.parse().unwrap();
        let ends = sequences(rule);
        let stops_early = ends.iter().filter(|(count, _)| *count < u64::from(rule.max_count)).count();
        assert!(stops_early > 0 && stops_early < ends.len());
        for p in [0.1_f64, 0.5, 0.83] {
            let (mut mean, mut naive) = (0.0, 0.0);
            for &(count, correct) in &ends {
                // The outcomes after the end of a sequence add up to 1.
                let rest = 2.0_f64.powi(i32::try_from(u64::from(rule.max_count) - count).unwrap());
                let probability = p.powi(correct as i32) * (1.0 - p).powi((count - correct) as i32) / rest;
                let points = [WeightedPoint {
                    stop_rule: Some(rule),
                    ..point(count as f64, count as f64, correct as f64, 0.0)
                }];
                mean += probability * task(&points).q;
                naive += probability * correct as f64 / count as f64;
            }
            assert!((mean - p).abs() < 1e-12, "{rule}: {mean}, expected {p}");
            assert!((naive - p).abs() > 1e-4 || (p - 0.5).abs() < 1e-9, "{rule} doesn't bias");
        }
    }
}

#[test]
fn stop_rule_counts_complete_rounds_only() {
    let rule = StopRule::new(16, 0.05, 100).unwrap();
    // The last round ends at the maximum.
    assert_eq!(rule.next_count(96, 48), Some(100));
    assert_eq!(rule.next_count(100, 50), None);
    assert_eq!(rule.next_count(20, 20), Some(32));
    assert_eq!(rule.counted_prefix(std::iter::empty()), 0);
    assert_eq!(rule.counted_prefix([false; 15]), 0);
    assert_eq!(rule.counted_prefix((0..99).map(|i| i % 2 == 0)), 96);
    assert_eq!(rule.counted_prefix((0..120).map(|i| i % 2 == 0)), 100);
    let message = |n: f64, correct: f64| {
        let points = [WeightedPoint { stop_rule: Some(rule), ..point(n, n, correct, 0.0) }];
        effective_task(&points).unwrap_err().to_string()
    };
    assert_eq!(
        message(20.0, 10.0),
        "`problems` is 20, but must be a count at which the stop rule completes a round"
    );
    assert_eq!(
        message(64.0, 64.0),
        "`q` is 64, but must be a number of correct answers that the stop rule can reach, with one sample per problem"
    );
}

#[test]
fn stop_rule_text_round_trips_and_rejects_others() {
    for text in ["rounds=16 margin=0.05 max=512", "rounds=2 margin=0.123456789 max=4294967295"] {
        assert_eq!(text.parse::<StopRule>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "rounds=16",
        "rounds=16 margin=0.05 max=512 more",
        "rounds=-1 margin=0.05 max=512",
        "rounds=16  margin=0.05 max=512",
    ] {
        let message = text.parse::<StopRule>().unwrap_err().to_string();
        assert_eq!(
            message,
            format!("`{text}` is not a stop rule, expected text such as `rounds=16 margin=0.05 max=512`")
        );
    }
    let message = |text: &str| text.parse::<StopRule>().unwrap_err().to_string();
    assert_eq!(message("rounds=1 margin=0.05 max=512"), "`round` is 1, but must be 2 or more");
    assert_eq!(message("rounds=16 margin=0 max=512"), "`margin` is 0, but must be above 0 and at most 0.5");
    assert_eq!(message("rounds=16 margin=NaN max=512"), "`margin` is NaN, but must be a finite number");
    // A table that would need gigabytes is refused, not built.
    let rule: StopRule = "rounds=2 margin=0.0001 max=4000000000".parse().unwrap();
    let points = [WeightedPoint { stop_rule: Some(rule), ..point(8.0, 8.0, 4.0, 0.0) }];
    assert!(effective_task(&points).unwrap_err().to_string().contains("`max_count` is 4000000000"));
}

#[test]
fn ablation_removes_every_documented_rule() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/ablation.py");
    let run = format!("import runpy, sys\nsys.argv = ['ablation.py', '1']\nrunpy.run_path({script:?})");
    let Some(output) = python(&run, "") else { return };
    let rules = |text: &str| -> Vec<String> {
        let rows = text.lines().skip_while(|line| !line.starts_with("| rule |"));
        let rows = rows.take_while(|line| line.starts_with('|'));
        rows.map(|row| row.split('|').nth(1).expect("a cell").trim().to_owned()).collect()
    };
    let documented = rules(&page("statistics.md"));
    assert!(documented.len() > 10, "{documented:?}");
    assert_eq!(rules(&output), documented);
}
