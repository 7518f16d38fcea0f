//! `P(A > B)` of Betas by Monte Carlo, with the same draws as Python's standard library.

use super::beta::Beta;
use crate::random::PyRandom;
use crate::{StatsError, in_range};

/// [`probability_greater`](super::probability_greater) by Monte Carlo: the proportion of `draws` pairs in which `a` is larger, ties counting half.
///
/// With `rng = random.Random(seed)`, first all draws of `a`, then all of `b`, each `rng.betavariate(alpha, beta)`.
/// The standard error is `sqrt(p (1 - p) / draws)`, at most 0.005 for 10,000 draws.
///
/// ```
/// use reasonscape_stats::pairwise::{Beta, probability_greater, probability_greater_monte_carlo};
///
/// // r = random.Random(42); a = [r.betavariate(81, 21) for _ in range(10000)]
/// // b = [r.betavariate(71, 31) for _ in range(10000)]; print(sum(x > y for x, y in zip(a, b)) / 10000)
/// let (better, worse) = (Beta::new(81.0, 21.0)?, Beta::new(71.0, 31.0)?);
/// let drawn = probability_greater_monte_carlo(&better, &worse, 10_000, 42)?;
/// assert!((drawn - probability_greater(&better, &worse)).abs() < 0.01);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::OutOfRange`] when there is no draw, or there are more than 100,000,000.
pub fn probability_greater_monte_carlo(
    a: &Beta,
    b: &Beta,
    draws: usize,
    seed: i64,
) -> Result<f64, StatsError> {
    check_draws(draws)?;
    let mut rng = PyRandom::new(seed);
    let of_a = draw(a, draws, &mut rng);
    let of_b = draw(b, draws, &mut rng);
    Ok(proportion_greater(&of_a, &of_b))
}

/// Rejects zero draws and numbers of draws that don't fit in memory.
pub(super) fn check_draws(draws: usize) -> Result<(), StatsError> {
    in_range("draws", draws as f64, 1.0..=1e8, "from 1 to 100000000").map(drop)
}

/// The next `draws` draws.
pub(super) fn draw(beta: &Beta, draws: usize, rng: &mut PyRandom) -> Vec<f64> {
    (0..draws).map(|_| rng.betavariate(beta.alpha(), beta.beta())).collect()
}

/// The proportion of pairs in which the first is greater, ties counting half.
pub(super) fn proportion_greater(a: &[f64], b: &[f64]) -> f64 {
    // Greater counts twice, equal once; integers, so that the loop vectorizes.
    let halves: u64 = a.iter().zip(b).map(|(a, b)| u64::from(a > b) + u64::from(a >= b)).sum();
    halves as f64 / (2 * a.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tie_counts_as_half_a_win() {
        assert_eq!(proportion_greater(&[1.0, 2.0, 3.0, 4.0], &[1.0, 1.0, 4.0, 4.0]), 0.5);
    }
}
