//! Several samples per problem: pass@k and pass^k against enumeration, intervals and the split of the variance against
//! simulation and python3.

use std::fmt::Write;

use reasonscape_stats::Confidence;
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::repeats::{ProblemMean, VarianceSums, pass_at_k, pass_hat_k};
use reasonscape_test_support::python;

#[test]
fn pass_at_k_and_pass_hat_k_equal_enumeration_of_all_subsets() {
    for n in 1..=10_u32 {
        for c in 0..=n {
            for k in 1..=n {
                let (mut subsets, mut any, mut all) = (0, 0, 0);
                // The first `c` samples are correct.
                let correct = (1_u32 << c) - 1;
                for subset in (0_u32..1 << n).filter(|subset| subset.count_ones() == k) {
                    subsets += 1;
                    any += i32::from(subset & correct != 0);
                    all += i32::from(subset & correct == subset);
                }
                let [n, c, k] = [n, c, k].map(u64::from);
                let [expected_any, expected_all] =
                    [any, all].map(|count| f64::from(count) / f64::from(subsets));
                assert!((pass_at_k(n, c, k).unwrap() - expected_any).abs() < 1e-14, "{n} {c} {k}");
                assert!((pass_hat_k(n, c, k).unwrap() - expected_all).abs() < 1e-14, "{n} {c} {k}");
            }
        }
    }
}

#[test]
fn pass_at_k_handles_large_counts_and_rejects_impossible_ones() {
    let found = pass_at_k(1_000_000, 500_000, 10).unwrap();
    assert!((found - (1.0 - 0.5_f64.powi(10))).abs() < 1e-7, "{found}");
    assert_eq!(pass_hat_k(u64::MAX, u64::MAX, u64::MAX).unwrap(), 1.0);
    let message = |n, c, k| pass_at_k(n, c, k).unwrap_err().to_string();
    assert_eq!(message(4, 5, 1), "`c` is 5, but must be `n` at most");
    assert_eq!(message(4, 2, 5), "`k` is 5, but must be from 1 to `n`");
    assert_eq!(message(4, 2, 0), "`k` is 0, but must be from 1 to `n`");
    assert_eq!(message(0, 0, 1), "`k` is 1, but must be from 1 to `n`");
}

/// Coverage of the mean over problems of a statistic of eight samples, whose expectation given `p` is `expected`.
fn coverage(
    (alpha, beta): (f64, f64),
    statistic: impl Fn(u64) -> f64,
    expected: impl Fn(f64) -> f64,
    seed: u32,
) -> f64 {
    const RUNS: u32 = 2000;
    let mut rng = PyRandom::new(seed);
    let draws = 400_000;
    let truth = (0..draws).map(|_| expected(rng.betavariate(alpha, beta))).sum::<f64>() / f64::from(draws);
    let mut covered = 0;
    for _ in 0..RUNS {
        let mut mean = ProblemMean::default();
        for _ in 0..40 {
            let p = rng.betavariate(alpha, beta);
            mean.add(statistic((0..8).map(|_| u64::from(rng.random() < p)).sum())).expect("a proportion");
        }
        let interval = mean.interval(Confidence::P95);
        covered += u32::from(interval.low <= truth && truth <= interval.high);
    }
    f64::from(covered) / f64::from(RUNS)
}

#[test]
fn clustered_intervals_cover_with_eight_samples_per_problem() {
    // Problems that hardly differ, that differ, and that are nearly all or nothing.
    for (seed, shape) in [(8.0, 4.0), (1.2, 0.8), (0.15, 0.1)].into_iter().enumerate() {
        let seed = 10 * seed as u32;
        let found = [
            coverage(shape, |c| c as f64 / 8.0, |p| p, seed),
            coverage(shape, |c| pass_at_k(8, c, 4).unwrap(), |p| 1.0 - (1.0 - p).powi(4), seed + 1),
            coverage(shape, |c| pass_hat_k(8, c, 4).unwrap(), |p| p.powi(4), seed + 2),
        ];
        assert!(found.iter().all(|coverage| (0.92..=0.99).contains(coverage)), "{shape:?}: {found:?}");
    }
}

#[test]
fn equal_values_of_all_problems_are_not_certainty() {
    let mut mean = ProblemMean::default();
    assert_eq!(mean.interval(Confidence::P95).point, None);
    for _ in 0..20 {
        mean.add(1.0).unwrap();
    }
    let interval = mean.interval(Confidence::P95);
    assert_eq!((interval.point, interval.high), (Some(1.0), 1.0));
    assert!((interval.low - 0.839).abs() < 0.001, "{interval:?}");
    assert_eq!(mean.add(1.5).unwrap_err().to_string(), "`value` is 1.5, but must be from 0 to 1");
    assert_eq!(mean.problems(), 20);
}

/// Analysis of variance by the textbook, with `statistics.variance`; points of equal size and as many samples per problem.
const ANOVA: &str = r"
import statistics, sys
for line in sys.stdin:
    points = eval(line)
    k = points[0][0][0]
    within, between = [], []
    for problems in points:
        for n, c in problems:
            within.append(statistics.variance([1] * c + [0] * (n - c)))
        between.append(statistics.variance([c / n for n, c in problems]))
    sampling = statistics.mean(within)
    print(max(statistics.mean(between) - sampling / k, 0), sampling)
";

#[test]
fn variance_split_agrees_with_analysis_of_variance() {
    let mut rng = PyRandom::new(1925);
    let mut designs = Vec::new();
    let mut input = String::new();
    for _ in 0..100 {
        let (points, problems, samples) = (1 + rng.index(3), 2 + rng.index(6), 2 + rng.index(5));
        let design: Vec<Vec<(u64, u64)>> = (0..points)
            .map(|_| (0..problems).map(|_| (samples as u64, rng.index(samples + 1) as u64)).collect())
            .collect();
        writeln!(input, "{design:?}").unwrap();
        designs.push(design);
    }
    let Some(output) = python(ANOVA, &input) else { return };
    for (design, line) in designs.iter().zip(output.lines()) {
        let mut sums = VarianceSums::default();
        for point in design {
            sums.add_point(point).unwrap();
        }
        let split = sums.split().unwrap();
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        assert!((split.problems - expected[0]).abs() < 1e-12, "{split:?}, expected {line}");
        assert!((split.sampling - expected[1]).abs() < 1e-12, "{split:?}, expected {line}");
    }
}

#[test]
fn variance_split_predicts_the_error_of_other_designs() {
    // Beta(2, 2): the variance of p is 1/20, and the mean of p (1 - p) is 1/5.
    let mut rng = PyRandom::new(20);
    let mut sums = VarianceSums::default();
    for _ in 0..2000 {
        let mut problem = || {
            let p = rng.betavariate(2.0, 2.0);
            let samples = 2 + rng.index(6) as u64;
            (samples, (0..samples).map(|_| u64::from(rng.random() < p)).sum())
        };
        sums.add_point(&[problem(), problem(), problem()]).unwrap();
    }
    let split = sums.split().unwrap();
    assert!((split.problems - 0.05).abs() < 0.004 && (split.sampling - 0.2).abs() < 0.004, "{split:?}");
    assert!((split.problem_proportion() - 0.2).abs() < 0.02);
    assert!((split.standard_error(100, 4) - 0.001_f64.sqrt()).abs() < 0.001);
    assert!(split.standard_error(0, 0).is_finite());
}

#[test]
fn variance_split_needs_repeats_and_several_problems() {
    let split = |points: &[&[(u64, u64)]]| {
        let mut sums = VarianceSums::default();
        for point in points {
            sums.add_point(point).unwrap();
        }
        sums.split()
    };
    assert_eq!(split(&[]), None);
    assert_eq!(split(&[&[(1, 1), (1, 0)]]), None);
    assert_eq!(split(&[&[(4, 1)], &[(4, 3)]]), None);
    assert_eq!(split(&[&[(0, 0)]]), None);
    let mut sums = VarianceSums::default();
    assert_eq!(sums.add_point(&[(2, 3)]).unwrap_err().to_string(), "`c` is 3, but must be `n` at most");
}
