//! The nine estimators and the normal quantile against plain Python, written from the formulas alone.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Confidence, Counters, Mode};
use reasonscape_test_support::python;

/// The table of the statistics page, in Python's arithmetic; `fractions` keeps Wilson's discriminant exact.
const NINE: &str = r"
import json, math, sys
from fractions import Fraction
from statistics import NormalDist

def wilson(k, n, z):
    if n <= 0: return 0.0, 1.0
    k = min(max(k, 0), n)
    root = math.sqrt(z * z * (k * (n - k) / n + z * z / 4))
    low = 0.0 if k == 0 else float((k + z * z / 2 - Fraction(root)) / (n + z * z))
    high = 1.0 if k == n else float((k + z * z / 2 + Fraction(root)) / (n + z * z))
    return low, high

def times(a, b): return a[0] * b[0], a[1] * b[1]
def less(a): return 1 - a[1], 1 - a[0]
def stretch(a, c): return tuple(min(max((x - c) / (1 - c), 0.0), 1.0) for x in a)

for line in sys.stdin:
    level, n, n_e, n_t, g = json.loads(line)
    z = Fraction(1.959963984540054 if level == 0.95 else NormalDist().inv_cdf((1 + level) / 2))
    n, n_e, n_t, g = map(Fraction, (n, n_e, n_t, g))
    n_u = n - n_t
    E = wilson(n_e, n_u, z), wilson(n_e, n, z), wilson(n_e + n_t, n, z)
    done = (1.0, 1.0) if n_t == 0 else wilson(n_u, n, z)
    if g == 0:
        C = K = E
    else:
        c_i = wilson(n_e - g, n_u - g, z)
        C = c_i, times(c_i, done), less(times(wilson(n_u - n_e, n_u - g, z), done))
        k_i = stretch(wilson(n_e, n_u, z), float(g / n_u)) if g < n_u else (0.0, 1.0)
        K = k_i, times(k_i, done), less(times(less(k_i), done))
    print(json.dumps(E + C + K))
";

#[test]
fn all_modes_match_python_formulas() {
    let mut rng = PyRandom::new(3);
    let cases: Vec<(f64, Counters)> = (0..4000)
        .map(|i| {
            let n = *rng.choice(&[1, 2, 7, 32, 128, 512, 10_000, 1_000_000]);
            let n_t = if i % 4 == 0 { 0 } else { rng.randint(0, n) };
            let n_e = rng.randint(0, n - n_t);
            let options = *rng.choice(&[0, 1, 2, 4, 10]);
            let g = if options == 0 { 0.0 } else { (n - n_t) as f64 / f64::from(options) };
            let level = *rng.choice(&[0.95, 0.95, 0.5, 0.8, 0.99, 0.999]);
            (level, Counters::new(n as f64, n_e as f64, n_t as f64, g).unwrap())
        })
        .collect();
    let input: String = cases
        .iter()
        .map(|(level, c)| format!("[{level:?}, {:?}, {:?}, {:?}, {:?}]\n", c.n(), c.n_e(), c.n_t(), c.g()))
        .collect();
    let Some(output) = python(NINE, &input) else { return };
    assert_eq!(output.lines().count(), cases.len());
    for ((level, counters), line) in cases.iter().zip(output.lines()) {
        let expected: Vec<[f64; 2]> = serde_json::from_str(line).unwrap();
        for (mode, [low, high]) in Mode::ALL.into_iter().zip(expected) {
            let found = mode.estimate(counters, Confidence::new(*level).unwrap());
            assert!(
                (found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12,
                "{mode} at {level} of {counters:?}: {found:?}, Python has [{low}, {high}]"
            );
        }
    }
}

#[test]
fn normal_quantiles_match_python() {
    let script = r"
from statistics import NormalDist
for i in range(1, 1000):
    print(repr(NormalDist().inv_cdf(0.5 + i / 2000)))
print(repr(NormalDist().inv_cdf(1 - 5e-7)))
";
    let Some(output) = python(script, "") else { return };
    let levels = (1..1000).map(|i| f64::from(i) / 1000.0).chain([0.999_999]);
    for (level, line) in levels.zip(output.lines()).filter(|(level, _)| *level >= 0.01) {
        let (found, expected): (f64, f64) = (Confidence::new(level).unwrap().z(), line.parse().unwrap());
        // Python is given 1 - 5e-7, which has lost digits that the tail itself still has.
        let tolerance = if level > 0.9999 { 1e-9 } else { 1e-13 };
        assert!((found / expected - 1.0).abs() < tolerance, "{level}: {found}, Python has {expected}");
    }
}
