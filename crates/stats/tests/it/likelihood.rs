//! The likelihood score against its reference in Python.

use reasonscape_stats::likelihood::{
    EffectiveTask, PointSums, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::paired_score::{PairedPoint, paired_score_test};
use reasonscape_stats::{Confidence, Counters};

fn point(n: f64, completed: f64, correct: f64, guess: f64) -> WeightedPoint {
    let counters = Counters::new(n, correct, n - completed, guess * completed).unwrap();
    WeightedPoint { sums: PointSums::from_counters(&counters), weight: 1.0, stop_rule: None }
}

fn task(points: &[WeightedPoint]) -> EffectiveTask {
    effective_task(points).unwrap().unwrap()
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, expected {expected}");
}

#[test]
fn golden_values() {
    let first = task(&[point(8.0, 8.0, 8.0, 0.0), point(8.0, 8.0, 7.0, 0.0), point(8.0, 8.0, 3.0, 0.0)]);
    assert_close(first.n, 32.60377358490566);
    let second = task(&[point(8.0, 8.0, 8.0, 0.5), point(8.0, 7.0, 5.0, 0.25), point(8.0, 6.0, 2.0, 0.0)]);
    assert_close(second.g, 0.12016574585635359);
    assert_close(second.n, 30.977404640109032);
    assert_close(second.a, 0.43083697846602625);
    let both = likelihood_score(&[first, second], Confidence::P95).unwrap();
    assert_close(both.estimate, 665.6888760891403);
    assert_close(both.ci_low, 538.614487685472);
    assert_close(both.ci_high, 782.8632297964631);
    let twelve = likelihood_score(&[first; 12], Confidence::P95).unwrap();
    assert_close(twelve.ci_low, 709.8665848295032);
    assert_close(twelve.ci_high, 794.4232862343858);
    let rule = "rounds=16 margin=0.05 max=512".parse().unwrap();
    let adaptive = [(48.0, 48.0), (144.0, 130.0), (368.0, 147.0)]
        .map(|(n, correct)| WeightedPoint { stop_rule: Some(rule), ..point(n, n, correct, 0.0) });
    let adaptive = task(&adaptive);
    assert_close(adaptive.q, 0.7658259500578155);
    assert_close(adaptive.n, 1072.780838805643);
}

#[test]
fn paired_test_golden_value() {
    let pairs = |values: &[(usize, (f64, f64))]| {
        let list = values.iter().flat_map(|&(count, pair)| std::iter::repeat_n(pair, count));
        PairedPoint::from_pairs(1.0, list)
    };
    let first = pairs(&[(5, (1.0, 0.0)), (1, (0.0, 1.0)), (10, (1.0, 1.0))]);
    let second = pairs(&[(4, (1.0, 0.0)), (12, (0.0, 0.0))]);
    let found = paired_score_test(&vec![vec![first, second]; 4]).unwrap().unwrap();
    assert_close(found.difference, 0.54654370636807);
    assert!((found.p_value / 7.541868815714003e-08 - 1.0).abs() < 1e-9, "{}", found.p_value);
}
