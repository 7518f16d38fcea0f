//! Means, quantiles, entropies and clustered rates against SciPy and statsmodels, calibration against python3.

use std::fmt::Write;

use reasonscape_stats::Confidence;
use reasonscape_stats::calibration::{Binning, Calibration, brier, expected_error, reliability};
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::entropy::Entropy;
use reasonscape_stats::mean::Moments;
use reasonscape_stats::quantile::rank_bounds;
use reasonscape_stats::random::PyRandom;

use crate::golden::{answer_metrics_cases, assert_close, list, number, numbers};

#[test]
fn means_and_intervals_agree_with_scipy() {
    for case in answer_metrics_cases("means") {
        let mut found = Moments::default();
        for value in numbers(&case, "values") {
            found.add(value).unwrap();
        }
        let close = |found: f64, name: &str| {
            let expected = number(&case, name);
            assert!((found / expected - 1.0).abs() < 1e-10, "{name}: {found}, expected {expected}");
        };
        close(found.mean().unwrap(), "mean");
        close(found.variance().unwrap(), "variance");
        let bounds = found.interval(Confidence::P95).unwrap();
        close(bounds.low, "low");
        close(bounds.high, "high");
        let wide = found.interval(Confidence::new(0.999).unwrap()).unwrap();
        close(wide.low, "wide_low");
        close(wide.high, "wide_high");
    }
}

#[test]
fn student_t_quantiles_agree_with_scipy() {
    for case in answer_metrics_cases("student") {
        let (degrees, expected) = (number(&case, "degrees"), number(&case, "t"));
        // A pair of -1 and 1, doubled by merging, and a zero when there is one value too few: a sample whose variance
        // is known exactly, so that its interval is t times a known number.
        let n = degrees as u64 + 1;
        let mut sample = Moments::default();
        let mut pair = Moments::default();
        pair.add(-1.0).unwrap();
        pair.add(1.0).unwrap();
        let mut left = n / 2;
        while left > 0 {
            if left % 2 == 1 {
                sample.merge(&pair);
            }
            let half = pair;
            pair.merge(&half);
            left /= 2;
        }
        if n % 2 == 1 {
            sample.add(0.0).unwrap();
        }
        assert_eq!((sample.n(), sample.mean()), (n, Some(0.0)));
        let error = (sample.variance().unwrap() / n as f64).sqrt();
        let t = sample.interval(Confidence::new(number(&case, "level")).unwrap()).unwrap().high / error;
        assert!((t / expected - 1.0).abs() < 1e-10, "{case}: {t}");
    }
}

#[test]
fn entropies_agree_with_scipy() {
    for case in answer_metrics_cases("entropies") {
        let counts: Vec<u64> = list(&case, "counts").iter().map(|count| count.as_u64().unwrap()).collect();
        assert_close(Entropy::from_counts(counts).unwrap().nats, number(&case, "nats"), "entropy");
    }
}

#[test]
fn rank_bounds_agree_with_scipy() {
    for case in answer_metrics_cases("places") {
        let confidence = Confidence::new(number(&case, "level")).unwrap();
        let found = rank_bounds(number(&case, "n") as usize, number(&case, "share"), confidence).unwrap();
        let expected = ["low", "high"].map(|name| case[name].as_u64().map(|rank| rank as usize));
        assert_eq!([found.low, found.high], expected, "{case}");
    }
}

#[test]
fn quantile_bounds_cover_true_quantile() {
    let mut rng = PyRandom::new(95);
    for (n, proportion) in [(80, 0.95), (200, 0.5), (30, 0.9)] {
        let bounds = rank_bounds(n, proportion, Confidence::P95).unwrap();
        let (runs, mut covered) = (2000, 0);
        for _ in 0..runs {
            let mut values: Vec<f64> = (0..n).map(|_| rng.random()).collect();
            values.sort_unstable_by(f64::total_cmp);
            // The quantile of a uniform variable is the share itself.
            covered += u32::from(
                bounds.low.is_none_or(|low| values[low] <= proportion)
                    && bounds.high.is_none_or(|high| proportion <= values[high]),
            );
        }
        assert!(f64::from(covered) / f64::from(runs) > 0.94, "{n} {proportion}: {covered} of {runs}");
    }
}

#[test]
fn design_effects_and_intervals_agree_with_statsmodels() {
    for case in answer_metrics_cases("clustered") {
        let mut found = ClusteredRate::default();
        for (n, k) in list(&case, "sizes").iter().zip(list(&case, "successes")) {
            found.add(n.as_u64().unwrap(), k.as_u64().unwrap()).unwrap();
        }
        assert_close(found.design_effect().unwrap(), number(&case, "effect"), "design effect");
        let interval = found.interval(Confidence::P95);
        assert_close(interval.low, number(&case, "low"), "low");
        assert_close(interval.high, number(&case, "high"), "high");
    }
}

#[test]
fn clustered_interval_covers_where_wilson_does_not() {
    let mut rng = PyRandom::new(1965);
    let (runs, mut covered, mut plainly) = (2000, 0, 0);
    for _ in 0..runs {
        let mut rate = ClusteredRate::default();
        for _ in 0..100 {
            // Tasks differ: a Beta(1.2, 0.8) has mean 0.6 and a correlation of 1/3 within a task.
            let proportion = rng.betavariate(1.2, 0.8);
            rate.add(5, (0..5).map(|_| u64::from(rng.random() < proportion)).sum()).unwrap();
        }
        let holds = |low: f64, high: f64| u32::from(low <= 0.6 && 0.6 <= high);
        let found = rate.interval(Confidence::P95);
        covered += holds(found.low, found.high);
        let plain = reasonscape_stats::wilson(rate.k() as f64, rate.n() as f64, Confidence::P95).unwrap();
        plainly += holds(plain.low, plain.high);
    }
    let proportion = |count: u32| f64::from(count) / f64::from(runs);
    assert!((proportion(covered) - 0.95).abs() < 0.02, "{covered} of {runs}");
    assert!(proportion(plainly) < 0.88, "{plainly} of {runs}");
}

/// The seed's formulas, and bins of equal mass found by placing every answer by itself.
const PLAIN_PYTHON: &str = r"
import math, sys
from fractions import Fraction
for line in sys.stdin:
    bins, *rows = line.split()
    K = int(bins)
    rows = [(float(row[1:]), row[0] == '+') for row in rows]
    M = len(rows)
    def error(groups):
        total = 0.0
        for group in groups.values():
            confidence = math.fsum(p for p, _ in group) / len(group)
            accuracy = sum(right for _, right in group) / len(group)
            total += len(group) / M * abs(accuracy - confidence)
        return total
    width, mass = {}, {}
    for p, right in rows:
        width.setdefault(min(int(p * K), K - 1), []).append((p, right))
        below = sum(q < p for q, _ in rows)
        equal = sum(q == p for q, _ in rows)
        middle = Fraction(below) + Fraction(equal, 2)
        mass.setdefault(math.floor(K * middle / M), []).append((p, right))
    print(repr(math.fsum((p - right) ** 2 for p, right in rows) / M), repr(error(width)), repr(error(mass)), len(width), len(mass))
";

#[test]
fn calibration_agrees_with_plain_python() {
    let mut rng = PyRandom::new(1950);
    let mut cases = Vec::new();
    let mut input = String::new();
    for round in 0..300 {
        let n = 1 + rng.randrange(0, 120) as usize;
        let bins = 1 + rng.randrange(0, 20) as usize;
        let answers: Vec<(f64, bool)> = (0..n)
            .map(|_| {
                let p = rng.random();
                // Every third case has ties and edges.
                let p = if round % 3 == 0 { (p * 20.0).round() / 20.0 } else { p };
                (p, rng.random() < p)
            })
            .collect();
        write!(input, "{bins}").unwrap();
        for (p, right) in &answers {
            write!(input, " {}{p:?}", if *right { '+' } else { '-' }).unwrap();
        }
        input.push('\n');
        cases.push((bins, answers));
    }
    let Some(output) = reasonscape_test_support::python(PLAIN_PYTHON, &input) else { return };
    assert_eq!(output.lines().count(), cases.len());
    for (line, (bins, answers)) in output.lines().zip(cases) {
        let expected: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        let [wide, massive] = [Binning::EqualWidth(bins), Binning::EqualMass(bins)];
        let found = [
            brier(&answers).unwrap().unwrap(),
            expected_error(&answers, wide).unwrap().unwrap(),
            expected_error(&answers, massive).unwrap().unwrap(),
            reliability(&answers, wide, Confidence::P95).unwrap().len() as f64,
            reliability(&answers, massive, Confidence::P95).unwrap().len() as f64,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{bins} {answers:?}: {found}, expected {expected}");
        }
        let mut streamed = Calibration::new(bins).unwrap();
        for (p, right) in answers {
            streamed.add(p, right).unwrap();
        }
        assert_eq!((streamed.brier(), streamed.expected_error()), (Some(found[0]), Some(found[1])));
    }
}
