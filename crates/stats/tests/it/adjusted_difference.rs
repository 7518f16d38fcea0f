//! The adjusted difference against normal equations solved in plain Python.

use std::fmt::Write;

use reasonscape_stats::Confidence;
use reasonscape_stats::adjusted_difference::{Observation, adjusted_difference};
use reasonscape_stats::random::PyRandom;
use reasonscape_test_support::python;

/// Least squares with an indicator per stratum, and the cluster-robust (CR1) standard error of the group's coefficient.
const SCRIPT: &str = r#"
import collections, math, sys
for line in sys.stdin:
    rows = [tuple(map(float, row.split(","))) for row in line.split()]
    strata = sorted({row[3] for row in rows})
    X = [[first, x, x * x] + [float(stratum == name) for name in strata] for y, x, first, stratum, cluster in rows]
    Y = [row[0] for row in rows]
    p = len(X[0])
    A = [[math.fsum(r[i] * r[j] for r in X) for j in range(p)] + [math.fsum(r[i] * y for r, y in zip(X, Y))] + [float(i == j) for j in range(p)] for i in range(p)]
    for i in range(p):
        pivot = max(range(i, p), key=lambda row: abs(A[row][i]))
        A[i], A[pivot] = A[pivot], A[i]
        A[i] = [value / A[i][i] for value in A[i]]
        for j in range(p):
            if j != i:
                A[j] = [a - A[j][i] * b for a, b in zip(A[j], A[i])]
    beta = [A[i][p] for i in range(p)]
    inverse = [A[i][p + 1:] for i in range(p)]
    scores = collections.defaultdict(lambda: [0.0] * p)
    for r, y, row in zip(X, Y, rows):
        residual = y - sum(b * v for b, v in zip(beta, r))
        scores[row[4]] = [s + residual * v for s, v in zip(scores[row[4]], r)]
    n, g = len(rows), len(scores)
    meat = sum(sum(inverse[0][i] * s[i] for i in range(p)) ** 2 for s in scores.values())
    print(beta[0], math.sqrt(g / (g - 1) * (n - 1) / (n - p) * meat))
"#;

#[test]
fn estimate_and_robust_error_match_normal_equations() {
    let mut rng = PyRandom::new(5);
    let mut designs: Vec<Vec<Observation>> = Vec::new();
    for design in 0..12_u64 {
        let n = 20 + 15 * design;
        let repeats = 1 + design % 3;
        let rows = (0..n).map(|i| {
            let is_first = rng.random() < 0.4;
            let x = 4.0 * rng.random() + if is_first { 1.0 } else { 0.0 };
            let stratum = (i % (1 + design % 4)) as u32;
            let y = 2.0 * f64::from(stratum) - x + 0.3 * x * x + rng.random() * x;
            Observation { y, x, is_first, stratum, cluster: i / repeats }
        });
        designs.push(rows.collect());
    }
    let mut input = String::new();
    for rows in &designs {
        for row in rows {
            let Observation { y, x, is_first, stratum, cluster } = row;
            write!(input, "{y},{x},{},{stratum},{cluster} ", u8::from(*is_first)).unwrap();
        }
        input.push('\n');
    }
    let Some(printed) = python(SCRIPT, &input) else { return };
    for (rows, line) in designs.iter().zip(printed.lines()) {
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let at = |confidence| adjusted_difference(rows, confidence).unwrap().unwrap();
        let found = at(Confidence::P95);
        assert!((found.difference - expected[0]).abs() < 1e-7, "{found:?}, expected {line}");
        let clusters = rows.iter().map(|row| row.cluster).collect::<std::collections::BTreeSet<_>>().len();
        let reach = (found.high - found.low) / 2.0;
        let strata = rows.iter().map(|row| row.stratum).collect::<std::collections::BTreeSet<_>>().len();
        let t = student((clusters - 1).min(rows.len() - strata - 3));
        assert!((reach / t / expected[1] - 1.0).abs() < 1e-4, "{reach} / {t}, expected {line}");
    }
    assert_eq!(printed.lines().count(), designs.len());
}

/// The 97.5th percentile of Student's t, by the expansion of Abramowitz and Stegun 26.7.5; good to 1e-5 from 6 degrees on.
fn student(degrees: usize) -> f64 {
    let (z, n) = (1.959_963_984_540_054_f64, degrees as f64);
    let g1 = (z.powi(3) + z) / 4.0;
    let g2 = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let g3 = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    let g4 = (79.0 * z.powi(9) + 776.0 * z.powi(7) + 1482.0 * z.powi(5) - 1920.0 * z.powi(3) - 945.0 * z)
        / 92160.0;
    z + g1 / n + g2 / n.powi(2) + g3 / n.powi(3) + g4 / n.powi(4)
}
