//! Paired comparison of two models on the same items.
//!
//! Both models get the same prompts, so item difficulty is common to both and cancels. Only the *discordant* items
//! matter, on which exactly one of the two is correct: `b` where only A is, `c` where only B is. [`mcnemar`] tests whether
//! `b` and `c` differ by more than chance; [`paired_difference`] estimates the difference of the accuracies.

use std::fmt;

use crate::{Confidence, StatsError, normal};

/// The conclusion from the confidence interval of a difference "A minus B".
///
/// ```
/// use reasonscape_stats::paired::Verdict;
///
/// assert_eq!(Verdict::from_bounds(0.01, 0.07), Verdict::Better);
/// assert_eq!(Verdict::from_bounds(-0.02, 0.07), Verdict::CannotTell);
/// assert_eq!(Verdict::CannotTell.to_string(), "no significant difference");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// A is better: the whole interval lies above zero.
    Better,
    /// A is worse: the whole interval lies below zero.
    Worse,
    /// The interval includes zero. This does not mean that the models are equal.
    CannotTell,
}

impl Verdict {
    /// The verdict for the interval `[low, high]`; a bound of exactly zero is inconclusive.
    pub fn from_bounds(low: f64, high: f64) -> Self {
        match (low > 0.0, high < 0.0) {
            (true, false) => Self::Better,
            (false, true) => Self::Worse,
            _ => Self::CannotTell,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::CannotTell => "no significant difference",
        })
    }
}

/// Two-sided p-values of the hypothesis that neither model is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// The exact conditional test: conservative, usually by a wide margin.
    pub exact_p: f64,
    /// The mid-p test: its error rate is close to nominal. Preferred.
    pub mid_p: f64,
}

/// McNemar's test on `b` items that only A answered correctly and `c` that only B did.
///
/// If neither is better, each discordant item goes either way with probability one half: `X ~ Binomial(b + c, 1/2)`. With
/// `m = min(b, c)`, `exact_p = min(1, 2 P(X <= m))` and `mid_p = exact_p - P(X = m)`, where `b = c` has
/// `exact_p = 1` and `mid_p = 1 - P(X = m) / 2`. Without discordant items both are 1. Assumes
/// independent items.
///
/// Accurate to twelve digits up to `b + c = 10^6` and to ten up to `10^10`, also in the far tail; beyond that, the
/// normal approximation with continuity correction is used. A p-value below the smallest `f64` is 0.
///
/// Sources: Q. McNemar, Psychometrika 12 (1947); M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for
/// binary matched-pairs data", BMC Med. Res. Methodol. 13:91 (2013), who show that mid-p keeps its level.
///
/// ```
/// use reasonscape_stats::paired::mcnemar;
///
/// // Fagerland's example: 8 of 21 children changed, 7 of them in one direction.
/// let test = mcnemar(1, 7);
/// assert_eq!(format!("{:.4} {:.4}", test.exact_p, test.mid_p), "0.0703 0.0391");
/// ```
pub fn mcnemar(b: u64, c: u64) -> McNemar {
    /// Up to here the tail is summed, in at most about 400,000 steps.
    const SUMMED: f64 = 1e10;

    let (fewer, more) = (b.min(c) as f64, b.max(c) as f64);
    let n = fewer + more;
    if n == 0.0 {
        return McNemar { exact_p: 1.0, mid_p: 1.0 };
    }
    if n > SUMMED {
        let tails = |gap: f64| (2.0 * normal::cdf(-gap / n.sqrt())).min(1.0);
        let gap = b.abs_diff(c) as f64;
        return McNemar { exact_p: tails((gap - 1.0).max(0.0)), mid_p: tails(gap) };
    }
    let probability = ln_fair_binomial(fewer, more).exp();
    if b == c {
        return McNemar { exact_p: 1.0, mid_p: 1.0 - probability / 2.0 };
    }
    // P(X <= m) / P(X = m): each term from the previous one, until they are negligible.
    let (mut sum, mut term) = (1.0, 1.0);
    let (mut below, mut above) = (fewer, more);
    while below > 0.0 && term > 1e-17 * sum {
        above += 1.0;
        term *= below / above;
        below -= 1.0;
        sum += term;
    }
    McNemar { exact_p: (probability * 2.0 * sum).min(1.0), mid_p: (probability * (2.0 * sum - 1.0)).min(1.0) }
}

/// `ln P(X = k)` for `X ~ Binomial(k + rest, 1/2)`.
///
/// Differences of log-gammas lose nine digits at a million trials, so the large terms are cancelled analytically:
/// with `t = (rest - k) / n`, what remains is Stirling's error of the three factorials and
/// `k ln(1 - t) + rest ln(1 + t)`.
///
/// Source: C. Loader, "Fast and accurate computation of binomial probabilities" (2000).
fn ln_fair_binomial(k: f64, rest: f64) -> f64 {
    let n = k + rest;
    if k == 0.0 || rest == 0.0 {
        return -n * std::f64::consts::LN_2;
    }
    let t = (rest - k) / n;
    let deviance = k * (-t).ln_1p() + rest * t.ln_1p();
    stirling_error(n) - stirling_error(k) - stirling_error(rest) - deviance
        + 0.5 * (n / (std::f64::consts::TAU * k * rest)).ln()
}

/// `ln n! - ln(sqrt(2 pi n) (n / e)^n)` for `n >= 1`.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * n.ln() + n - 0.5 * std::f64::consts::TAU.ln();
    }
    let square = n * n;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square) / square)
        / n
}

/// The difference of two accuracies on the same items, "A minus B".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedDifference {
    /// `(b - c) / n`; `None` without items.
    pub point: Option<f64>,
    /// Lower bound, at least -1.
    pub low: f64,
    /// Upper bound, at most 1.
    pub high: f64,
}

impl PairedDifference {
    /// Whether A is better, worse, or neither is established.
    pub fn verdict(&self) -> Verdict {
        Verdict::from_bounds(self.low, self.high)
    }
}

/// The difference of the accuracies on `n` common items, with Tango's score interval.
///
/// `b` items only A answered correctly, `c` only B. The bounds are the differences `d` that a score test at `z`
/// just fails to reject, the roots of
///
/// ```text
/// (b - c - n d)^2 = z^2 n (2 q + d (1 - d))
/// ```
///
/// where `q` is the maximum-likelihood proportion of "only B" given `d`, the larger root of
/// `2n q^2 + ((2n - b + c) d - b - c) q - c d (1 - d) = 0`. At `d = 0` it is McNemar's test without correction,
/// so interval and test agree. Unlike the textbook interval it keeps its coverage with few
/// discordant items: with `b = c = 0` it is `±z^2 / (n + z^2)`, not `±0`. Without items it is `[-1, 1]`.
/// Assumes independent items.
///
/// Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
/// paired-sample design", Statist. Med. 17 (1998).
///
/// ```
/// use reasonscape_stats::{Confidence, paired::{Verdict, paired_difference}};
///
/// let difference = paired_difference(400, 45, 21, Confidence::P95)?;
/// assert_eq!(difference.point, Some(0.06));
/// assert_eq!(format!("{:.3} to {:.3}", difference.low, difference.high), "0.021 to 0.101");
/// assert_eq!(difference.verdict(), Verdict::Better);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::TooManyDiscordant`] when `b + c > n`.
pub fn paired_difference(
    n: u64,
    b: u64,
    c: u64,
    confidence: Confidence,
) -> Result<PairedDifference, StatsError> {
    if b.checked_add(c).is_none_or(|discordant| discordant > n) {
        return Err(StatsError::TooManyDiscordant { n, b, c });
    }
    if n == 0 {
        return Ok(PairedDifference { point: None, low: -1.0, high: 1.0 });
    }
    let (n, b, c, z) = (n as f64, b as f64, c as f64, confidence.z());
    // The lower bound is the negated upper bound of the swapped models, so that swapping negates exactly.
    let (low, high) = (0.0 - upper_bound(n, c, b, z), upper_bound(n, b, c, z));
    Ok(PairedDifference { point: Some((b - c) / n), low, high })
}

/// The largest difference that the score test does not reject, by bisection to the last bit.
fn upper_bound(n: f64, b: f64, c: f64, z: f64) -> f64 {
    let rejects = |difference: f64| {
        let gap = n * difference - (b - c);
        gap * gap > z * z * n * variance(n, b, c, difference)
    };
    let (mut accepted, mut rejected) = ((b - c) / n, 1.0);
    loop {
        let middle = f64::midpoint(accepted, rejected);
        if middle <= accepted || middle >= rejected {
            return rejected;
        }
        if rejects(middle) { rejected = middle } else { accepted = middle }
    }
}

/// The variance of one item's difference if the true difference is `difference`, with the other parameter at its
/// maximum-likelihood value.
fn variance(n: f64, b: f64, c: f64, difference: f64) -> f64 {
    if difference < 0.0 {
        // With the models swapped no term below is negative, which avoids cancellation.
        return variance(n, c, b, -difference);
    }
    let spread = difference * (1.0 - difference);
    let linear = (2.0 * n - b + c) * difference - b - c;
    let root = (linear * linear + 8.0 * n * c * spread).sqrt();
    let only_b = if linear > 0.0 { 2.0 * c * spread / (linear + root) } else { (root - linear) / (4.0 * n) };
    2.0 * only_b + spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P95: Confidence = Confidence::P95;

    /// Items, and how many of them only A or only B answered correctly.
    fn table() -> impl Strategy<Value = (u64, u64, u64)> {
        (1_u64..3000, 0.0..=1.0_f64, 0.0..=1.0_f64).prop_map(|(n, discordant, only_a)| {
            let discordant = (n as f64 * discordant * discordant).round();
            let b = (discordant * only_a).round();
            (n, b as u64, (discordant - b) as u64)
        })
    }

    proptest! {
        #[test]
        fn p_values_are_probabilities_and_symmetric(b in 0_u64..100_000, c in 0_u64..100_000) {
            let test = mcnemar(b, c);
            prop_assert!(0.0 <= test.mid_p && test.mid_p <= test.exact_p && test.exact_p <= 1.0);
            prop_assert_eq!(test, mcnemar(c, b));
        }

        #[test]
        fn p_value_falls_with_larger_imbalance(c in 0_u64..2000, lead in 0_u64..200) {
            let (before, after) = (mcnemar(c + lead, c), mcnemar(c + lead + 1, c));
            prop_assert!(after.mid_p < before.mid_p && after.exact_p <= before.exact_p);
        }

        #[test]
        fn interval_contains_point((n, b, c) in table()) {
            let PairedDifference { point, low, high } = paired_difference(n, b, c, P95).unwrap();
            let point = point.unwrap();
            prop_assert!(-1.0 <= low && low <= point && point <= high && high <= 1.0);
        }

        #[test]
        fn swapping_models_negates_result((n, b, c) in table()) {
            let (forward, backward) =
                (paired_difference(n, b, c, P95).unwrap(), paired_difference(n, c, b, P95).unwrap());
            prop_assert_eq!((forward.low, forward.high), (-backward.high, -backward.low));
        }

        #[test]
        fn verdict_matches_uncorrected_mcnemar((n, b, c) in table()) {
            let statistic = (b as f64 - c as f64) / ((b + c) as f64).sqrt();
            prop_assume!((statistic.abs() - P95.z()).abs() > 1e-9);
            let expected = match statistic {
                s if s > P95.z() => Verdict::Better,
                s if s < -P95.z() => Verdict::Worse,
                _ => Verdict::CannotTell,
            };
            prop_assert_eq!(paired_difference(n, b, c, P95).unwrap().verdict(), expected);
        }

        #[test]
        fn rejection_is_monotone_in_distance((n, b, c) in table()) {
            let high = paired_difference(n, b, c, P95).unwrap().high;
            let (n, b, c) = (n as f64, b as f64, c as f64);
            for step in 1..50 {
                let beyond = high + (1.0 - high) * f64::from(step) / 50.0;
                let gap = n * beyond - (b - c);
                prop_assert!(gap * gap >= P95.z().powi(2) * n * variance(n, b, c, beyond) * (1.0 - 1e-9));
            }
        }
    }

    #[test]
    fn no_discordant_items_match_closed_form() {
        for n in [1_u64, 10, 1000, 1_000_000_000] {
            let found = paired_difference(n, 0, 0, P95).unwrap();
            let expected = P95.z().powi(2) / (n as f64 + P95.z().powi(2));
            assert!((found.high / expected - 1.0).abs() < 1e-12 && found.low == -found.high, "n = {n}");
            assert_eq!((found.point, found.verdict()), (Some(0.0), Verdict::CannotTell));
        }
        assert_eq!(mcnemar(0, 0), McNemar { exact_p: 1.0, mid_p: 1.0 });
    }

    #[test]
    fn bounds_reach_but_do_not_pass_one() {
        let best = paired_difference(30, 30, 0, P95).unwrap();
        assert_eq!((best.point, best.high, best.verdict()), (Some(1.0), 1.0, Verdict::Better));
        let worst = paired_difference(30, 0, 30, P95).unwrap();
        assert_eq!((worst.point, worst.low, worst.verdict()), (Some(-1.0), -1.0, Verdict::Worse));
        let none = paired_difference(0, 0, 0, P95).unwrap();
        assert_eq!((none.point, none.low, none.high), (None, -1.0, 1.0));
    }

    #[test]
    fn rejects_more_discordant_items_than_items() {
        let error = paired_difference(10, 6, 5, P95).unwrap_err();
        assert_eq!(error.to_string(), "`b` + `c` is 6 + 5, more than the `n` = 10 common items");
        assert!(paired_difference(u64::MAX, u64::MAX, 1, P95).is_err());
    }

    #[test]
    fn exact_sum_and_normal_approximation_agree() {
        // Either side of the switch: the same distance in standard deviations.
        let (half, gap) = (5_000_000_000_u64, 196_000_u64);
        let (summed, approximated) =
            (mcnemar(half - gap / 2, half + gap / 2), mcnemar(half - gap / 2, half + gap / 2 + 1));
        assert!((summed.mid_p / approximated.mid_p - 1.0).abs() < 1e-4);
        assert!((summed.exact_p / approximated.exact_p - 1.0).abs() < 1e-4);
        assert_eq!(mcnemar(u64::MAX, 0), McNemar { exact_p: 0.0, mid_p: 0.0 });
        assert_eq!(mcnemar(u64::MAX, u64::MAX).exact_p, 1.0);
    }
}
