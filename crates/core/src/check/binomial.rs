//! The upper tail of a binomial distribution.

/// The probability of `k` or more successes in `n` trials with success probability `p`, exact up to rounding; 1 for a `k` that
/// isn't above the mean, whose tail no test needs.
///
/// Sums the terms from `k` on, each from the one before; the first is computed through logarithms of the gamma function.
pub(super) fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    let (successes, trials) = (k as f64, n as f64);
    if successes <= trials * p || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 || k > n {
        return 0.0;
    }
    let ln_choose =
        libm::lgamma(trials + 1.0) - libm::lgamma(successes + 1.0) - libm::lgamma(trials - successes + 1.0);
    let mut term = libm::exp(ln_choose + successes * libm::log(p) + (trials - successes) * libm::log1p(-p));
    let mut sum = term;
    let odds = p / (1.0 - p);
    for successes in k..n {
        term *= (n - successes) as f64 / (successes + 1) as f64 * odds;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_test_support::python;

    /// Python's integers and fractions are exact.
    #[test]
    fn tail_matches_exact_fractions() {
        let cases: Vec<(u64, u64, f64)> = [1_u64, 2, 10, 100, 1000]
            .into_iter()
            .flat_map(|n| [0.05, 0.25, 0.55, 0.9375].map(|p| (n, p)))
            .flat_map(|(n, p)| {
                let mean = (n as f64 * p) as u64;
                [mean, mean + 1, mean + n / 20 + 1, n].map(move |k| (k, n, p))
            })
            .collect();
        let script = "
import sys
from fractions import Fraction
from math import comb
for line in sys.stdin:
    k, n, p = line.split()
    k, n, p = int(k), int(n), float(p)
    if k <= n * p:
        print(1.0)
        continue
    a, b = p.as_integer_ratio()
    print(repr(float(Fraction(sum(comb(n, i) * a**i * (b - a)**(n - i) for i in range(k, n + 1)), b**n))))
";
        let input: String = cases.iter().map(|(k, n, p)| format!("{k} {n} {p:?}\n")).collect();
        let Some(output) = python(script, &input) else { return };
        for ((k, n, p), expected) in cases.iter().zip(output.lines()) {
            let (found, expected) = (upper_tail(*k, *n, *p), expected.parse::<f64>().expect("a number"));
            assert!(
                (found - expected).abs() <= 1e-10 * expected,
                "{k} of {n} at {p}: {found}, not {expected}"
            );
        }
    }
}
