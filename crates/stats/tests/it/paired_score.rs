//! The paired score test: against its reference in Python, and its level on simulated boards.

use std::fmt::Write;

use reasonscape_stats::likelihood::LikelihoodScore;
use reasonscape_stats::paired_score::{PairedPoint, PairedScoreTest, PairedValues, paired_score_test};
use reasonscape_stats::random::PyRandom;
use reasonscape_test_support::python;

use crate::docs::{assert_has_line, page};
use crate::likelihood::REFERENCE;

#[path = "../../examples/support/paired_design.rs"]
#[expect(dead_code, reason = "the example also prints the levels")]
mod paired_design;

use paired_design::{
    Level, MIXED, PairedDesign, RANK_DESIGNS, eleven_models, level_designs, rank_row, ranks_are_within_limits,
};

const REFERENCE_TESTS: &str = r"
import json, sys
for line in sys.stdin:
    print(*map(repr, paired_test(json.loads(line))))
";

/// The points of a task, each with its weight and the values of both models.
type Task = Vec<(f64, Vec<(f64, f64)>)>;

/// A task with points of several sizes and weights, some of them without shared problems.
fn random_task(rng: &mut PyRandom) -> Task {
    let guess = *rng.choice(&[0.0, 0.25, 0.5]);
    let values = [1.0, 1.0, -guess / (1.0 - guess), 0.0, 0.5];
    let (skill_a, skill_b) = (rng.random(), rng.random());
    (0..=rng.index(3))
        .map(|point| {
            let problems = if point > 0 && rng.index(6) == 0 { 0 } else { 1 + rng.index(12) };
            let mut value = |skill: f64| if rng.random() < skill { 1.0 } else { *rng.choice(&values) };
            let pairs = (0..problems).map(|_| (value(skill_a), value(skill_b))).collect();
            (*rng.choice(&[1.0, 2.0, 0.5]), pairs)
        })
        .collect()
}

#[test]
fn tests_equal_reference_on_random_boards() {
    let mut rng = PyRandom::new(2008);
    let boards: Vec<Vec<Task>> =
        (0..500).map(|_| (0..=rng.index(6)).map(|_| random_task(&mut rng)).collect()).collect();
    let mut input = String::new();
    for board in &boards {
        writeln!(input, "{}", serde_json::to_string(board).unwrap()).unwrap();
    }
    let Some(output) = python(&format!("{REFERENCE}\n{REFERENCE_TESTS}"), &input) else { return };
    assert_eq!(output.lines().count(), boards.len());
    let mut significant = 0;
    for (board, line) in boards.iter().zip(output.lines()) {
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let tasks: Vec<Vec<PairedPoint>> = board
            .iter()
            .map(|points| {
                points
                    .iter()
                    .map(|(weight, pairs)| PairedPoint::from_pairs(*weight, pairs.iter().copied()))
                    .collect()
            })
            .collect();
        let found = paired_score_test(&tasks).unwrap().unwrap();
        assert!((found.difference - expected[0]).abs() < 1e-9, "{found:?}, expected {line}");
        assert!((found.p_value / expected[1] - 1.0).abs() < 1e-9, "{found:?}, expected {line}");
        significant += u32::from(found.p_value < 0.01);
    }
    assert!(significant > 20, "{significant}");
}

#[test]
fn swapping_models_negates_difference_and_keeps_p_value() {
    let mut rng = PyRandom::new(7);
    for _ in 0..50 {
        let board: Vec<_> = (0..3).map(|_| random_task(&mut rng)).collect();
        let tested = |is_swapped: bool| {
            let tasks: Vec<Vec<PairedPoint>> = board
                .iter()
                .map(|points| {
                    let swap = |&(a, b): &(f64, f64)| if is_swapped { (b, a) } else { (a, b) };
                    points
                        .iter()
                        .map(|(weight, pairs)| PairedPoint::from_pairs(*weight, pairs.iter().map(swap)))
                        .collect()
                })
                .collect();
            paired_score_test(&tasks).unwrap().unwrap()
        };
        let (forward, backward) = (tested(false), tested(true));
        assert!((forward.difference + backward.difference).abs() < 1e-12);
        assert!((forward.p_value - backward.p_value).abs() < 1e-12);
        assert!((forward.correlation - backward.correlation).abs() < 1e-12);
    }
}

#[test]
fn boards_without_shared_problems_or_differences_decide_nothing() {
    assert_eq!(paired_score_test::<Vec<PairedPoint>>(&[]), Ok(None));
    assert_eq!(paired_score_test(&[vec![PairedPoint { weight: 1.0, ..PairedPoint::default() }]]), Ok(None));
    let same =
        paired_score_test(&[vec![PairedPoint::from_pairs(1.0, [(1.0, 1.0), (0.0, 0.0)])]]).unwrap().unwrap();
    assert_eq!((same.difference, same.p_value), (0.0, 1.0));
    let floor = paired_score_test(&[vec![PairedPoint::from_pairs(1.0, [(0.0, 0.0); 9])]]).unwrap().unwrap();
    assert_eq!((floor.difference, floor.p_value), (0.0, 1.0));
    let values = vec![PairedValues { a: f64::NAN, b: 0.0, count: 1 }];
    let error = paired_score_test(&[vec![PairedPoint { weight: 1.0, values, ..PairedPoint::default() }]])
        .unwrap_err();
    assert_eq!(error.to_string(), "`a` is NaN, but must be a finite number");
    let error = paired_score_test(&[vec![PairedPoint::from_pairs(-1.0, [(1.0, 1.0)])]]).unwrap_err();
    assert_eq!(error.to_string(), "`weight` is -1, but must be 0 or more");
}

#[test]
fn one_sided_boards_have_the_exact_smallest_p_value() {
    for problems in [1, 5, 20] {
        let task = vec![PairedPoint::from_pairs(1.0, vec![(1.0, 0.0); problems])];
        let found = paired_score_test(&[task]).unwrap().unwrap();
        let expected = 2.0 * 0.5_f64.powi(problems as i32);
        assert!((found.p_value / expected - 1.0).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn many_distinct_pairs_are_all_counted() {
    let pairs: Vec<(f64, f64)> =
        (0..200).map(|i| (f64::from(i % 40) / 40.0, f64::from(i % 7) / 7.0)).collect();
    let point = PairedPoint::from_pairs(1.0, pairs.iter().copied());
    assert_eq!(point.values.iter().map(|values| values.count).sum::<u64>(), 200);
    let listed = pairs.iter().map(|&(a, b)| PairedValues { a, b, count: 1 }).collect();
    let [grouped, single] = [point, PairedPoint { weight: 1.0, values: listed, ..PairedPoint::default() }]
        .map(|point| paired_score_test(&[vec![point]]).unwrap().unwrap());
    assert!((grouped.p_value / single.p_value - 1.0).abs() < 1e-9);
}

#[test]
fn level_is_nominal_for_equal_models_and_for_equal_scores_with_unequal_profiles() {
    let equal = PairedDesign::two_models(&MIXED, |task| task, 0.25, 0.1, (3, 8)).level(20_000, 1);
    assert!((0.04..=0.06).contains(&equal.at_5_percent), "{equal:?}");
    assert!((0.0005..=0.002).contains(&equal.at_01_percent), "{equal:?}");
    let unequal = PairedDesign::two_models(&MIXED, |task| 11 - task, 0.25, 0.1, (3, 8)).level(10_000, 2);
    assert!(unequal.at_5_percent <= 0.06 && unequal.at_01_percent <= 0.002, "{unequal:?}");
    for coverage in [equal.difference, equal.ratio, unequal.difference, unequal.ratio] {
        assert!((0.92..=0.99).contains(&coverage), "{equal:?} {unequal:?}");
    }
    // Twelve tasks of 24 problems can't be more certain than that, nor less.
    assert!((200.0..600.0).contains(&equal.width), "{equal:?}");
}

#[test]
fn difference_and_ratio_are_those_of_the_estimates() {
    let score =
        |estimate: f64, ci_low: f64, ci_high: f64| LikelihoodScore { estimate, ci_low, ci_high, level: 0.95 };
    let (a, b) = (score(506.0, 486.0, 521.0), score(472.0, 457.0, 492.0));
    let test = |correlation: f64| PairedScoreTest { difference: 0.07, p_value: 0.01, correlation };
    let apart = test(0.0).score_difference(&a, &b);
    // Without correlation, ends are at the root of the sum of squares: 20 and 20 below, 15 and 15 above.
    assert!((apart.estimate - 34.0).abs() < 1e-9, "{apart:?}");
    assert!((apart.ci_low - (34.0 - 800.0_f64.sqrt())).abs() < 1e-9, "{apart:?}");
    assert!((apart.ci_high - (34.0 + 450.0_f64.sqrt())).abs() < 1e-9, "{apart:?}");
    // What is common to both scores cancels.
    let common = test(1.0).score_difference(&a, &b);
    assert!((common.ci_low - 34.0).abs() < 1e-6 && (common.ci_high - 34.0).abs() < 1e-6, "{common:?}");
    let ratio = test(0.0).score_ratio(&a, &b);
    assert!((ratio.estimate - 506.0 / 472.0).abs() < 1e-12, "{ratio:?}");
    let below = (506.0_f64 / 486.0).ln().hypot((492.0_f64 / 472.0).ln());
    assert!((ratio.ci_low - 506.0 / 472.0 * (-below).exp()).abs() < 1e-12, "{ratio:?}");
}

#[test]
fn problems_of_one_model_alone_lower_the_correlation() {
    let mut rng = PyRandom::new(5);
    let pairs: Vec<(f64, f64)> = (0..400)
        .map(|_| {
            let known = if rng.random() < 0.5 { 0.9 } else { 0.2 };
            let mut value = || f64::from(u8::from(rng.random() < known));
            (value(), value())
        })
        .collect();
    let correlation = |answered: [u64; 2]| {
        let point =
            PairedPoint::from_pairs(1.0, pairs.iter().copied()).with_answered(answered[0], answered[1]);
        paired_score_test(&[vec![point]]).unwrap().unwrap().correlation
    };
    let all_shared = correlation([400, 400]);
    assert!(all_shared > 0.3, "{all_shared}");
    // The covariance is that of the shared problems, relative to both numbers: 400 / sqrt(1600 x 400).
    assert!((correlation([1600, 400]) - all_shared / 2.0).abs() < 1e-12);
    assert!((correlation([1600, 1600]) - all_shared / 4.0).abs() < 1e-12);
}

/// The numbers of a table row of `docs/statistics.md`.
fn documented(name: &str) -> Vec<f64> {
    let text = page("statistics.md");
    let row = text.lines().find_map(|line| line.strip_prefix(&format!("| {name} |")));
    let row = row.unwrap_or_else(|| panic!("the page has no row for {name}"));
    row.trim_end_matches('|').split('|').map(|cell| cell.trim().parse().expect("a number")).collect()
}

#[test]
fn documented_levels_are_in_range_and_match_other_boards() {
    const BOARDS: u32 = 2000;
    for design in level_designs() {
        let documented = documented(design.name);
        let [at_5_percent, at_01_percent, ratio] = documented[..] else { panic!("{documented:?}") };
        let found = design.design.level(BOARDS, 900);
        let [at_5_percent, at_01_percent, ratio] =
            [at_5_percent, at_01_percent, ratio].map(|percent| percent / 100.0);
        let claimed = Level { at_5_percent, at_01_percent, ratio, ..found };
        assert!(design.is_within_limits(&claimed), "{}: {claimed:?}", design.name);
        for (found, claimed) in [(found.at_5_percent, at_5_percent), (found.ratio, ratio)] {
            let error = (claimed * (1.0 - claimed) / f64::from(BOARDS)).sqrt();
            assert!((found - claimed).abs() < 4.0 * error + 0.001, "{}: {found}, {claimed}", design.name);
        }
    }
}

#[test]
fn rank_ranges_contain_all_true_ranks_at_once() {
    let text = page("statistics.md");
    for (name, step) in RANK_DESIGNS {
        let found = eleven_models(step).ranks(2000, 100);
        assert!(ranks_are_within_limits(found), "{name}: {found:?}");
        assert_has_line(&text, &rank_row(name, found));
    }
}
