//! Bradley-Terry ratings against Newton's method with 40 digits; `fixtures/make_bradley_terry.py` made the values.

use reasonscape_stats::bradley_terry::fit;
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|number| number.as_f64().expect("a number")).collect()
}

#[test]
fn equals_newtons_method() {
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
