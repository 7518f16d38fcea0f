//! Bradley-Terry ratings against Newton's method with 40 digits; `fixtures/make_bradley_terry.py` made the values.

use reasonscape_stats::bradley_terry::{TaskBootstrap, fit, rating_intervals};
use reasonscape_stats::pairwise::{Method, task_win_rates};
use reasonscape_stats::{Confidence, wilson};
use reasonscape_test_support::python;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|number| number.as_f64().expect("a number")).collect()
}

#[test]
fn fit_equals_newtons_method() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../fixtures/bradley_terry.json")).unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let wins: Vec<Vec<f64>> = case["wins"].as_array().unwrap().iter().map(numbers).collect();
        let fitted = fit(&wins).unwrap();
        assert!(fitted.converged(), "{}", case["name"]);
        for (found, expected) in fitted.ratings.iter().zip(numbers(&case["ratings"])) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{}: {found} {expected}", case["name"]);
        }
        for (elo, rating) in fitted.elo.iter().zip(&fitted.ratings) {
            assert!((10_f64.powf((elo - 1500.0) / 400.0) / rating - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn rating_intervals_match_python() {
    // From the rates of each task to the intervals with nothing but the documentation at hand.
    const SCRIPT: &str = "
import json, math, random, sys
tasks, replicates, seed = json.load(sys.stdin)
models = len(tasks[0])
def fit(wins):
    ratings = [1.0] * models
    for _ in range(3000):
        def rate(a):
            met = sum((wins[a][b] + wins[b][a]) / (ratings[a] + ratings[b]) for b in range(models) if b != a)
            return sum(wins[a]) / met
        moved = [rate(a) for a in range(models)]
        scale = math.exp(sum(map(math.log, moved)) / models)
        moved = [rating / scale for rating in moved]
        still = max(abs(x / y - 1) for x, y in zip(moved, ratings)) < 1e-13
        ratings = moved
        if still:
            break
    return ratings
found = []
for i in range(replicates):
    rng = random.Random((seed << 32) + i)
    drawn = [tasks[rng.randrange(len(tasks))] for _ in tasks]
    found.append(fit([[sum(task[a][b] for task in drawn) / len(drawn) for b in range(models)] for a in range(models)]))
for model in range(models):
    ratings = sorted(ratings[model] for ratings in found)
    print(ratings[replicates * 25 // 1000], ratings[replicates * 975 // 1000])
";
    let proportion = |k| Some(wilson(k, 40.0, Confidence::P95).unwrap());
    let models = [
        [proportion(20.0), proportion(31.0), proportion(12.0), proportion(25.0)],
        [proportion(25.0), proportion(30.0), proportion(11.0), proportion(18.0)],
        [proportion(12.0), proportion(33.0), proportion(15.0), proportion(20.0)],
    ];
    let rates = task_win_rates(&models, Confidence::P95, Method::Exact).unwrap();
    let rows: Vec<Vec<Vec<f64>>> = (0..4)
        .map(|t| (0..3).map(|a| (0..3).map(|b| rates.rate(t, a, b).unwrap_or(0.0)).collect()).collect())
        .collect();
    let options = TaskBootstrap { replicates: 80, seed: 11 };
    let input = serde_json::json!([rows, options.replicates, options.seed]).to_string();
    let Some(printed) = python(SCRIPT, &input) else { return };
    let found = rating_intervals(&rates, options).unwrap();
    assert_eq!((printed.lines().count(), found.unbounded), (3, 0));
    for (model, line) in printed.lines().enumerate() {
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        assert!((found.low[model] / expected[0] - 1.0).abs() < 1e-8, "{line}: {found:?}");
        assert!((found.high[model] / expected[1] - 1.0).abs() < 1e-8, "{line}: {found:?}");
        assert!(found.low[model] < found.high[model]);
    }
}
