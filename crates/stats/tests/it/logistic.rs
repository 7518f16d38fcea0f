//! The logistic curve against statsmodels and SciPy, and the coverage of the frontier's interval.

use rand_distr::{Binomial, Distribution};
use reasonscape_stats::logistic::{Crossing, Row, Trend, fit};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::{Confidence, chi_square};

use crate::golden::{assert_close, assert_proportion, cases, list, number};

#[test]
fn chi_square_tail_agrees_with_scipy() {
    for case in cases("chi_square") {
        let found =
            chi_square::survival(number(&case, "statistic"), number(&case, "degrees") as u64).unwrap();
        let expected = number(&case, "p");
        assert!((found / expected - 1.0).abs() < 1e-11, "{found} {case}");
    }
}

#[test]
fn fit_agrees_with_references() {
    for case in cases("logistic") {
        let rows: Vec<Row> = list(&case, "rows")
            .iter()
            .map(|row| Row {
                x: number(row, "x"),
                n: number(row, "n"),
                successes: number(row, "successes"),
                guess: number(row, "guess"),
            })
            .collect();
        let found = fit(&rows, Confidence::new(number(&case, "confidence")).unwrap()).unwrap();
        assert!(found.is_finite && found.trend == Trend::Falling && found.crossing == Crossing::Crosses);
        assert_close(found.intercept, number(&case, "intercept"), "intercept");
        assert_close(found.slope, number(&case, "slope"), "slope");
        assert_close(found.log_likelihood, number(&case, "log_likelihood"), "log-likelihood");
        assert_close(found.x50.unwrap(), number(&case, "x50"), "x50");
        // The reference minimises numerically, which leaves it some eight digits.
        let close = |found: f64, name: &str| (found / number(&case, name) - 1.0).abs() < 1e-7;
        assert!(close(found.low.unwrap(), "low") && close(found.high.unwrap(), "high"), "{found:?} {case}");
        assert!((found.slope_p.ln() / number(&case, "slope_p").ln() - 1.0).abs() < 1e-7, "{found:?} {case}");
        if case["deviance"].is_number() {
            assert_close(found.lack_of_fit.g2, number(&case, "deviance"), "deviance");
            assert_close(found.lack_of_fit.pearson, number(&case, "pearson"), "Pearson");
            assert_close(found.lack_of_fit.p.unwrap(), number(&case, "deviance_p"), "p");
        }
    }
}

/// A frontier of known place and slope, with trials at each of some values.
struct Truth {
    x50: f64,
    slope: f64,
    guess: f64,
    n: u64,
}

impl Truth {
    fn observe(&self, rng: &mut PyRandom) -> Vec<Row> {
        [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
            .map(|x| {
                let known = 1.0 / (1.0 + (-self.slope * (x - self.x50)).exp());
                let right = self.guess + (1.0 - self.guess) * known;
                let successes = Binomial::new(self.n, right).expect("a share").sample(rng) as f64;
                Row { x, n: self.n as f64, successes, guess: self.guess }
            })
            .to_vec()
    }
}

#[test]
fn interval_covers_known_crossing_at_95_percent() {
    let runs = 400;
    let mut rng = PyRandom::new(1944);
    let truths = [
        Truth { x50: 7.0, slope: -0.8, guess: 0.0, n: 32 },
        Truth { x50: 10.5, slope: -0.5, guess: 0.0, n: 64 },
        Truth { x50: 6.3, slope: -0.7, guess: 0.25, n: 96 },
        Truth { x50: 7.0, slope: -4.0, guess: 0.0, n: 32 },
    ];
    for truth in truths {
        let (mut covered, mut poor) = (0, 0);
        for _ in 0..runs {
            let found = fit(&truth.observe(&mut rng), Confidence::P95).unwrap();
            let [low, high] =
                [found.low, found.high].map(|bound| bound.expect("a slope this clear has bounds"));
            covered += usize::from(low <= truth.x50 && truth.x50 <= high);
            poor += usize::from(found.lack_of_fit.is_overdispersed());
        }
        let what = format!("frontier {} at slope {}", truth.x50, truth.slope);
        if truth.slope > -1.0 {
            assert_proportion(covered, runs, 0.95, &what);
        } else {
            // A cliff between two tested values leaves hardly a mixed row; the interval is then the gap, and safe.
            assert!(covered >= runs * 93 / 100, "{what}: {covered}");
        }
        // The curve is true, so that a poor fit is a false alarm. Rare counts make the deviance less than chi-square.
        assert!(poor <= runs * 9 / 100, "{what}: {poor} poor fits");
    }
}

#[test]
fn reports_poor_fit_for_other_curve_shapes() {
    let mut rng = PyRandom::new(3);
    let rows: Vec<Row> = (1..=8)
        .map(|x| {
            // A plateau at 70 % that no logistic curve has.
            let proportion = if x < 7 { 0.7 } else { 0.02 };
            let successes = Binomial::new(400, proportion).expect("a share").sample(&mut rng) as f64;
            Row { x: f64::from(x), n: 400.0, successes, guess: 0.0 }
        })
        .collect();
    let found = fit(&rows, Confidence::P95).unwrap();
    assert!(found.lack_of_fit.p.unwrap() < 1e-6 && found.lack_of_fit.is_overdispersed(), "{found:?}");
}
