//! Spectra against SciPy and NumPy, and populations that are alike and that are not.

use reasonscape_stats::random::PyRandom;
use reasonscape_stats::spectrum::{PermutationTest, Population, periodogram};

use crate::golden::{assert_close, assert_proportion, cases, number, numbers};

#[test]
fn periodograms_agree_with_references() {
    for case in cases("spectrum") {
        let series = numbers(&case, "series");
        let found = periodogram(&series).unwrap();
        for (found, expected) in found.frequencies.iter().zip(numbers(&case, "frequencies")) {
            assert_close(*found, expected, "frequency");
        }
        assert_eq!(found.power.len(), numbers(&case, "power").len());
        for (found, expected) in found.power.iter().zip(numbers(&case, "power")) {
            assert_close(*found, expected, "power");
        }
        let bins = number(&case, "bins") as usize;
        let grid = Population::new(&[series], bins).unwrap().mean();
        assert_eq!(grid.len(), bins);
        for (found, expected) in grid.into_iter().zip(numbers(&case, "grid")) {
            assert_close(found, expected, "grid");
        }
    }
}

/// Noise in which each value keeps a part of the one before, of 20 to 60 values.
fn population(rng: &mut PyRandom, series: usize, keep: f64) -> Population {
    let made: Vec<Vec<f64>> = (0..series)
        .map(|_| {
            let mut value = 0.0;
            let length = rng.randint(20, 60);
            (0..length)
                .map(|_| {
                    value = keep * value + rng.uniform(-1.0, 1.0);
                    value
                })
                .collect()
        })
        .collect();
    Population::new(&made, 16).expect("series that are long enough")
}

#[test]
fn permutation_test_has_nominal_size_and_power() {
    let runs = 400;
    let mut rng = PyRandom::new(2010);
    let (mut alarms, mut below_half) = (0, 0);
    for run in 0..runs {
        let test = PermutationTest { permutations: 99, seed: run as u64 };
        let (few, many) = if run % 2 == 0 { (16, 16) } else { (12, 20) };
        let base = population(&mut rng, few, 0.4);
        let found = base.compare(&population(&mut rng, many, 0.4), test).unwrap();
        alarms += usize::from(found.p <= 0.05);
        below_half += usize::from(found.p <= 0.5);
        // Between the two the interpolation of the quantile decides.
        assert!(found.p > 0.05 || found.distance_db > found.chance_db, "{found:?}");
        assert!(found.p < 0.07 || found.distance_db < found.chance_db, "{found:?}");
    }
    assert_proportion(alarms, runs, 0.05, "false alarms");
    assert_proportion(below_half, runs, 0.5, "p-values up to one half");
    for _ in 0..10 {
        let (base, other) = (population(&mut rng, 60, 0.0), population(&mut rng, 60, 0.6));
        let found = base.compare(&other, PermutationTest::default()).unwrap();
        assert!(found.p <= 0.002 && found.distance_db > 2.0, "{found:?}");
    }
}
