//! Pairwise win rates against 40-digit integrals (`fixtures/make_pairwise.py`), Monte Carlo, and python3.

use reasonscape_stats::pairwise::{
    Beta, Method, probability_greater, probability_greater_monte_carlo, win_rates,
};
use reasonscape_stats::{Confidence, Interval, wilson};
use reasonscape_test_support::python;
use serde_json::Value;

fn interval(low: f64, high: f64) -> Interval {
    Interval { low, high, point: None }
}

/// Intervals of every kind, the degenerate ones included.
fn grid() -> Vec<Interval> {
    let mut all: Vec<Interval> = [
        (0.0, 0.0),
        (1.0, 1.0),
        (0.0, 1.0),
        (0.5, 0.5),
        (0.3, 0.3 + 1e-9),
        (0.3 + 4e-7, 0.3 + 5e-7),
        (0.0, 1e-9),
        (1.0 - 1e-9, 1.0),
        (0.0, 0.02),
        (0.9, 1.0),
        (0.25, 0.75),
    ]
    .map(|(low, high)| interval(low, high))
    .to_vec();
    for (k, n) in [(0.0, 20.0), (3.0, 20.0), (15.0, 20.0), (20.0, 20.0), (300.0, 1000.0), (310.0, 1000.0)] {
        all.push(wilson(k, n, Confidence::P95).expect("finite counts"));
    }
    all
}

#[test]
fn exact_method_equals_integral() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../fixtures/pairwise.json")).unwrap();
    assert_eq!(cases.len(), 21);
    for case in cases {
        let beta =
            |side: &str| Beta::new(case[side][0].as_f64().unwrap(), case[side][1].as_f64().unwrap()).unwrap();
        let (a, b) = (beta("a"), beta("b"));
        let expected = case["probability"].as_f64().unwrap();
        let found = probability_greater(&a, &b);
        // Beyond a billion trials the rounding of the mean is no longer small beside the standard deviation.
        let tolerance = if a.alpha() + a.beta() > 1e9 { 1e-10 } else { 1e-13 };
        assert!((found - expected).abs() < tolerance, "{}: {found} {expected}", case["name"]);
    }
}

#[test]
fn monte_carlo_agrees_with_integral() {
    const DRAWS: usize = 10_000;
    let betas: Vec<Beta> = grid()
        .into_iter()
        .map(|proportion| Beta::from_interval(proportion, Confidence::P95).unwrap())
        .collect();
    for (i, a) in betas.iter().enumerate() {
        for (j, b) in betas.iter().enumerate() {
            let exact = probability_greater(a, b);
            let drawn = probability_greater_monte_carlo(a, b, DRAWS, (100 * i + j) as i64).unwrap();
            // At 0 and 1 the standard error vanishes, and one draw in ten thousand is what can be seen.
            let standard_error = (exact * (1.0 - exact) / DRAWS as f64).sqrt().max(0.25 / DRAWS as f64);
            assert!((drawn - exact).abs() <= 4.0 * standard_error, "{a:?} {b:?}: {drawn} {exact}");
        }
    }
}

#[test]
fn monte_carlo_win_rates_agree_with_integral() {
    const DRAWS: usize = 10_000;
    let models: Vec<_> = grid().into_iter().map(|proportion| [Some(proportion)]).collect();
    let exact = win_rates(&models, Confidence::P95, Method::Exact).unwrap();
    let drawn = win_rates(&models, Confidence::P95, Method::MonteCarlo { draws: DRAWS, seed: 42 }).unwrap();
    for a in 0..models.len() {
        for b in (0..models.len()).filter(|&b| b != a) {
            let (exact, drawn) = (exact.rate(a, b).unwrap(), drawn.rate(a, b).unwrap());
            let standard_error = (exact * (1.0 - exact) / DRAWS as f64).sqrt().max(0.25 / DRAWS as f64);
            assert!((drawn - exact).abs() <= 4.0 * standard_error, "{a} {b}: {drawn} {exact}");
        }
    }
}

#[test]
fn draws_match_python() {
    const SCRIPT: &str = "
import random, sys
for line in sys.stdin:
    a, b, c, d = map(float, line.split())
    rng = random.Random(42)
    first = [rng.betavariate(a, b) for _ in range(500)]
    second = [rng.betavariate(c, d) for _ in range(500)]
    print(sum((x > y) + 0.5 * (x == y) for x, y in zip(first, second)) / 500)
";
    let shapes =
        [(1.42, 1.42, 81.0, 21.0), (1.0, 1.0, 1.0, 3.5), (1e6, 1e12, 2.5, 1e3), (400.5, 300.5, 410.0, 300.0)];
    let input: String = shapes.iter().map(|(a, b, c, d)| format!("{a} {b} {c} {d}\n")).collect();
    let Some(printed) = python(SCRIPT, &input) else { return };
    assert_eq!(printed.lines().count(), shapes.len());
    for ((a, b, c, d), line) in shapes.into_iter().zip(printed.lines()) {
        let (one, other) = (Beta::new(a, b).unwrap(), Beta::new(c, d).unwrap());
        let drawn = probability_greater_monte_carlo(&one, &other, 500, 42).unwrap();
        assert_eq!(drawn, line.parse::<f64>().unwrap(), "{one:?} {other:?}");
    }
}

#[test]
fn win_rates_match_python() {
    // From the intervals to the rates with nothing but the documentation of `win_rates` at hand.
    const SCRIPT: &str = "
import json, random, sys
models, z, draws, seed = json.load(sys.stdin)
def betas(t, m):
    low, high = models[m][t]
    mean, sd = (low + high) / 2, (high - low) / 2 / z
    nu = mean * (1 - mean) / sd ** 2 - 1
    rng = random.Random(abs(seed) << 64 | t << 32 | m)
    return [rng.betavariate(mean * nu, (1 - mean) * nu) for _ in range(draws)]
for a in range(len(models)):
    for b in range(len(models)):
        shared = [t for t in range(len(models[a])) if models[a][t] and models[b][t]]
        if a != b:
            wins = [sum(x > y for x, y in zip(betas(t, a), betas(t, b))) / draws for t in shared]
            print(a, b, sum(wins) / len(wins))
";
    let proportion = |k| Some(wilson(k, 60.0, Confidence::P95).unwrap());
    let models = [
        vec![proportion(20.0), proportion(31.0)],
        vec![proportion(25.0), None],
        vec![proportion(12.0), proportion(40.0)],
    ];
    let rows: Vec<Vec<Option<[f64; 2]>>> = models
        .iter()
        .map(|row| row.iter().map(|cell| cell.map(|cell| [cell.low, cell.high])).collect())
        .collect();
    let (draws, seed) = (400, -7);
    let input = serde_json::json!([rows, Confidence::P95.z(), draws, seed]).to_string();
    let Some(printed) = python(SCRIPT, &input) else { return };
    let rates = win_rates(&models, Confidence::P95, Method::MonteCarlo { draws, seed }).unwrap();
    assert_eq!(printed.lines().count(), 6);
    for line in printed.lines() {
        let [a, b, rate] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let found = rates.rate(a.parse().unwrap(), b.parse().unwrap()).unwrap();
        // A draw may differ in its last bit, for the shapes do; no comparison here is that close.
        assert!((found - rate.parse::<f64>().unwrap()).abs() < 1e-12, "{line}: {found}");
    }
}
