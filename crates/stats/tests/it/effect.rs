//! Effect sizes against SciPy, NumPy and every pair counted, and the coverage of their intervals.

use reasonscape_stats::Confidence;
use reasonscape_stats::effect_size::{Sample, Size};
use reasonscape_stats::random::PyRandom;

use crate::golden::{assert_close, assert_proportion, cases, number, numbers};

#[test]
fn delta_bounds_and_quantiles_agree_with_references() {
    for case in cases("effect") {
        let [a, b] = ["a", "b"].map(|name| Sample::new(numbers(&case, name)).unwrap());
        let found = a.compared_with(&b, Confidence::P95);
        assert_close(found.delta, number(&case, "delta"), "delta");
        assert_close(found.low, number(&case, "low"), "low");
        assert_close(found.high, number(&case, "high"), "high");
        for (proportion, expected) in numbers(&case, "shares").into_iter().zip(numbers(&case, "quantiles")) {
            assert_close(a.quantile(proportion).unwrap(), expected, "quantile");
        }
    }
}

/// A standard exponential.
fn exponential(rng: &mut PyRandom) -> f64 {
    -(1.0 - rng.random()).ln()
}

#[test]
fn interval_covers_known_effect_at_95_percent() {
    let runs = 2000;
    let mut rng = PyRandom::new(1993);
    // The probability that one exponential exceeds another is the quotient of its mean and the sum of both.
    for (n_a, n_b, ratio) in [(40, 40, 1.0), (60, 25, 2.0), (200, 300, 1.3), (30, 30, 9.0)] {
        let truth = 2.0 * ratio / (1.0 + ratio) - 1.0;
        let mut covered = 0;
        for _ in 0..runs {
            let a = Sample::new((0..n_a).map(|_| ratio * exponential(&mut rng)).collect()).unwrap();
            let b = Sample::new((0..n_b).map(|_| exponential(&mut rng)).collect()).unwrap();
            let found = a.compared_with(&b, Confidence::P95);
            covered += usize::from(found.low <= truth && truth <= found.high);
        }
        assert_proportion(covered, runs, 0.95, &format!("{n_a} against {n_b}, ratio {ratio}"));
    }
}

#[test]
fn distinguishes_different_and_equal_samples() {
    let mut rng = PyRandom::new(9);
    let mut sample =
        |n: usize, shift: f64| Sample::new((0..n).map(|_| shift + exponential(&mut rng)).collect()).unwrap();
    let (base, same, far) = (sample(500, 0.0), sample(500, 0.0), sample(500, 1.0));
    let comparison = base.compared_with(&same, Confidence::P95);
    assert!(!comparison.is_clear() && comparison.size() == Size::Negligible, "{comparison:?}");
    // Shifted by its mean an exponential exceeds another with probability 1 - exp(-1) / 2.
    let apart = far.compared_with(&base, Confidence::P95);
    assert!(apart.is_clear() && apart.size() == Size::Large, "{apart:?}");
    assert!((apart.auc() - (1.0 - (-1.0_f64).exp() / 2.0)).abs() < 0.03, "{apart:?}");
}
