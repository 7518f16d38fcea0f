//! Adjusted p-values for multiple tests.
//!
//! Twelve models make 66 pairs; at the 5 % level, about three of them differ "significantly" even if all models are
//! equally good. An adjusted p-value is compared with the same 5 % as a single one.

use crate::{StatsError, in_range};

/// Holm's adjusted p-values, in input order: rejecting those below 5 % has at most a 5 % chance of any false positive.
///
/// With the p-values sorted ascending, `adjusted(i) = min(1, max over j <= i of (m - j + 1) p(j))`, `j` from 1.
/// Controls the family-wise error rate under any dependence between the tests, which pairs with a common model have.
/// An empty input gives an empty result.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).
///
/// ```
/// use reasonscape_stats::multiple_testing::holm;
///
/// assert_eq!(holm(&[0.04, 0.01, 0.03])?, [0.06, 0.03, 0.06]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a p-value is not a number from 0 to 1.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &place) in order.iter().enumerate() {
        largest = largest.max((order.len() - rank) as f64 * p_values[place]).min(1.0);
        adjusted[place] = largest;
    }
    Ok(adjusted)
}

/// Benjamini-Hochberg adjusted p-values, in input order: of those below 5 %, on average at most 5 % are false positives.
///
/// With the p-values sorted ascending, `adjusted(i) = min(1, min over j >= i of (m / j) p(j))`, `j` from 1.
/// Controls the false discovery rate; assumes independent or positively dependent tests. More powerful than [`holm`],
/// with a weaker guarantee. An empty input gives an empty result.
///
/// Source: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57 (1995).
///
/// ```
/// use reasonscape_stats::multiple_testing::benjamini_hochberg;
///
/// assert_eq!(benjamini_hochberg(&[0.04, 0.01, 0.03])?, [0.04, 0.03, 0.04]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a p-value is not a number from 0 to 1.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &place) in order.iter().enumerate().rev() {
        // The factor is never below 1, so computing it first keeps rounding from pushing the result below the raw value.
        let factor = order.len() as f64 / (rank + 1) as f64;
        smallest = smallest.min(factor * p_values[place]);
        adjusted[place] = smallest;
    }
    Ok(adjusted)
}

/// The indices of the p-values in ascending order, after checking that all are probabilities.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, StatsError> {
    for &p in p_values {
        in_range("p", p, 0.0..=1.0, "from 0 to 1")?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn p_values() -> impl Strategy<Value = Vec<f64>> {
        // Squares make small values common, and repeated values make ties common.
        prop::collection::vec(prop_oneof![0.0..=1.0_f64, Just(0.01), Just(1.0)].prop_map(|p| p * p), 0..40)
    }

    proptest! {
        #[test]
        fn holm_is_at_least_benjamini_hochberg_is_at_least_raw(raw in p_values()) {
            let (strict, lenient) = (holm(&raw).unwrap(), benjamini_hochberg(&raw).unwrap());
            for ((&raw, lenient), strict) in raw.iter().zip(lenient).zip(strict) {
                prop_assert!(raw <= lenient && lenient <= strict && strict <= 1.0, "{raw} {lenient} {strict}");
            }
        }

        #[test]
        fn adjustment_is_independent_of_order(mut raw in p_values()) {
            for adjust in [holm, benjamini_hochberg] {
                let mut forward = adjust(&raw).unwrap();
                raw.reverse();
                forward.reverse();
                prop_assert_eq!(adjust(&raw).unwrap(), forward);
            }
        }

        #[test]
        fn adjustment_preserves_ranking(raw in p_values()) {
            for adjusted in [holm(&raw).unwrap(), benjamini_hochberg(&raw).unwrap()] {
                for i in 0..raw.len() {
                    for j in 0..raw.len() {
                        prop_assert!(raw[i] > raw[j] || adjusted[i] <= adjusted[j]);
                    }
                }
            }
        }
    }

    #[test]
    fn single_and_empty_inputs_are_unchanged() {
        for adjust in [holm, benjamini_hochberg] {
            assert_eq!(adjust(&[0.03]).unwrap(), [0.03]);
            assert_eq!(adjust(&[]).unwrap(), []);
        }
    }

    #[test]
    fn rejects_values_that_are_not_probabilities() {
        for adjust in [holm, benjamini_hochberg] {
            let message = |p| adjust(&[0.5, p]).unwrap_err().to_string();
            assert_eq!(message(f64::NAN), "`p` is NaN, but must be a finite number");
            assert_eq!(message(1.5), "`p` is 1.5, but must be from 0 to 1");
            assert_eq!(message(-0.1), "`p` is -0.1, but must be from 0 to 1");
        }
    }
}
