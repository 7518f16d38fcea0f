//! Power analysis: trials needed to detect a difference or to reach a margin.
//!
//! All formulas are the usual normal approximations, accurate to a few percent from about twenty discordant items on (a
//! test simulates it).

use crate::interval::wilson_unchecked;
use crate::paired_bootstrap::ScoreDifference;
use crate::{Confidence, StatsError, in_range, normal};

/// Confidence and power of a planned comparison.
///
/// The default is the conventional choice: 5 % false positives, and 80 % power.
///
/// ```
/// use reasonscape_stats::{Confidence, power::Design};
///
/// assert_eq!(Design::default(), Design { confidence: Confidence::P95, power: 0.8 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// Confidence of the two-sided test; 95 % allows 5 % false positives.
    pub confidence: Confidence,
    /// Probability of detecting a difference of the given size, from 0.5 to 0.999999.
    pub power: f64,
}

impl Default for Design {
    fn default() -> Self {
        Self { confidence: Confidence::P95, power: 0.8 }
    }
}

impl Design {
    /// The normal quantiles of the confidence and of the power.
    fn quantiles(self) -> Result<Quantiles, StatsError> {
        in_range("power", self.power, 0.5..=0.999_999, "from 0.5 to 0.999999 (0.8 is 80 %)")?;
        Ok(Quantiles { confidence: self.confidence.z(), power: normal::quantile(self.power) })
    }
}

struct Quantiles {
    confidence: f64,
    power: f64,
}

/// The smallest difference of two accuracies that `n` common items can detect.
///
/// `discordant_share` is the proportion of items on which exactly one of the models is correct, `psi`, known from a pilot
/// run or a similar pair of models. With `z_a` of the confidence and `z_b` of the power, McNemar's test needs
/// `n = (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2` items for a difference `d`; solved for `d`, this is
///
/// ```text
/// d = sqrt(psi) (z_a sqrt(n) + z_b sqrt(n + z_b^2 - z_a^2)) / (n + z_b^2)
/// ```
///
/// Sources: O. S. Miettinen, "The matched pairs design in the case of all-or-none responses", Biometrics 24
/// (1968); R. J. Connor, "Sample size for testing differences in proportions for the paired-sample design",
/// Biometrics 43 (1987). Assumes independent items.
///
/// ```
/// use reasonscape_stats::power::{Design, minimum_detectable_difference};
///
/// // Models that differ on a fifth of 1000 items: differences of four points or more are detectable.
/// let difference = minimum_detectable_difference(1000, 0.2, Design::default())?;
/// assert_eq!(format!("{difference:.3}"), "0.040");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::TooFewTrials`] when even the largest possible difference, `discordant_share`, is undetectable;
/// [`StatsError::OutOfRange`] when `discordant_share` or the power is out of range.
pub fn minimum_detectable_difference(
    n: u64,
    discordant_share: f64,
    design: Design,
) -> Result<f64, StatsError> {
    in_range("discordant_share", discordant_share, 0.0..=1.0, "from 0 to 1")?;
    let Quantiles { confidence, power } = design.quantiles()?;
    let items = n as f64;
    let square = items + power * power - confidence * confidence;
    // The formula has a value for `n = 0`, but nothing is detectable there.
    if n > 0 && square >= 0.0 {
        let reach = confidence * items.sqrt() + power * square.sqrt();
        let difference = discordant_share.sqrt() * reach / (items + power * power);
        if difference <= discordant_share && discordant_share > 0.0 {
            return Ok(difference);
        }
    }
    Err(StatsError::TooFewTrials { n, discordant_share })
}

/// Number of common items needed to detect that two accuracies differ by `difference`.
///
/// The formula of [`minimum_detectable_difference`], rounded up.
///
/// ```
/// use reasonscape_stats::power::{Design, trials_for_difference};
///
/// assert_eq!(trials_for_difference(0.04, 0.2, Design::default())?, 979);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::DifferenceTooLarge`] when `difference` exceeds `discordant_share`; and when one of them, or the
/// power, is out of range.
pub fn trials_for_difference(
    difference: f64,
    discordant_share: f64,
    design: Design,
) -> Result<u64, StatsError> {
    in_range("difference", difference, 1e-6..=1.0, "from 0.000001 to 1")?;
    in_range("discordant_share", discordant_share, 0.0..=1.0, "from 0 to 1")?;
    if difference > discordant_share {
        return Err(StatsError::DifferenceTooLarge { difference, discordant_share });
    }
    let Quantiles { confidence, power } = design.quantiles()?;
    let unexplained = discordant_share - difference * difference;
    let reach = confidence * discordant_share.sqrt() + power * unexplained.sqrt();
    Ok((reach / difference).powi(2).ceil() as u64)
}

/// Number of common items needed to detect a ReasonScore difference of the size observed on `items`.
///
/// The standard error shrinks with the square root of the number of items: with the standard deviation
/// `s = (ci_high - ci_low) / (2 z)` of the difference `d`, `z` of 95 %, this is `items ((z_a + z_b) s / d)^2`, rounded
/// up. The observed difference is itself uncertain, so this is a rough guide. Assumes that additional items have the same
/// mix of tasks and points.
///
/// ```
/// use reasonscape_stats::paired_bootstrap::ScoreDifference;
/// use reasonscape_stats::power::{Design, trials_for_score_difference};
///
/// let found = ScoreDifference { difference: 10.0, ci_low: -9.6, ci_high: 29.6, p: 0.3, replicates: 2000 };
/// assert_eq!(trials_for_score_difference(&found, 1000, Design::default())?, 7850);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when the difference is below 0.000001 points, or the power is out of range.
pub fn trials_for_score_difference(
    found: &ScoreDifference,
    items: u64,
    design: Design,
) -> Result<u64, StatsError> {
    let difference =
        in_range("difference", found.difference.abs(), 1e-6..=1000.0, "from 0.000001 to 1000 points")?;
    let Quantiles { confidence, power } = design.quantiles()?;
    let deviation = (found.ci_high - found.ci_low) / (2.0 * Confidence::P95.z());
    Ok((items as f64 * ((confidence + power) * deviation / difference).powi(2)).ceil() as u64)
}

/// Number of items that **each** model needs if they don't share items.
///
/// `n = (z_a sqrt(2 p (1 - p)) + z_b sqrt(p_a (1 - p_a) + p_b (1 - p_b)))^2 / (p_a - p_b)^2`, with `p` the mean
/// of the accuracies `p_a` and `p_b`, rounded up. The ratio to [`trials_for_difference`] is what pairing saves.
///
/// Source: J. L. Fleiss, "Statistical Methods for Rates and Proportions" (1981), without continuity correction.
///
/// ```
/// use reasonscape_stats::power::{Design, trials_for_difference, trials_for_difference_unpaired};
///
/// let design = Design::default();
/// let unpaired = trials_for_difference_unpaired(0.72, 0.68, design)?;
/// assert_eq!(unpaired, 2060);
/// assert!(trials_for_difference(0.04, 0.2, design)? < unpaired / 2);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when an accuracy or the power is out of range, or the accuracies differ by less than 0.000001.
pub fn trials_for_difference_unpaired(
    accuracy_a: f64,
    accuracy_b: f64,
    design: Design,
) -> Result<u64, StatsError> {
    in_range("accuracy_a", accuracy_a, 0.0..=1.0, "from 0 to 1")?;
    in_range("accuracy_b", accuracy_b, 0.0..=1.0, "from 0 to 1")?;
    let difference =
        in_range("difference", (accuracy_a - accuracy_b).abs(), 1e-6..=1.0, "from 0.000001 to 1")?;
    let Quantiles { confidence, power } = design.quantiles()?;
    let variance = |proportion: f64| proportion * (1.0 - proportion);
    let if_equal = 2.0 * variance(f64::midpoint(accuracy_a, accuracy_b));
    let as_given = variance(accuracy_a) + variance(accuracy_b);
    Ok(((confidence * if_equal.sqrt() + power * as_given.sqrt()) / difference).powi(2).ceil() as u64)
}

/// The margin of [`wilson`](crate::wilson) for a true `proportion` after `n` trials.
///
/// Half the width of `Wilson(proportion n, n)`, `z sqrt(proportion (1 - proportion) n + z^2 / 4) / (n + z^2)`.
///
/// ```
/// use reasonscape_stats::{Confidence, power::margin_after};
///
/// assert_eq!(format!("{:.3}", margin_after(0.5, 100, Confidence::P95)?), "0.096");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `proportion` is not a number from 0 to 1.
pub fn margin_after(proportion: f64, n: u64, confidence: Confidence) -> Result<f64, StatsError> {
    in_range("proportion", proportion, 0.0..=1.0, "from 0 to 1")?;
    Ok(wilson_unchecked(proportion * n as f64, n as f64, confidence).margin())
}

/// The smallest number of trials for which the Wilson margin of a `proportion` is at most `margin`.
///
/// A binary search on [`margin_after`], which decreases with `n`. The textbook formula `z^2 p (1 - p) / margin^2` gives
/// far too few trials near 0 and 1.
///
/// ```
/// use reasonscape_stats::{Confidence, power::trials_for_margin};
///
/// assert_eq!(trials_for_margin(0.5, 0.05, Confidence::P95)?, 381);
/// assert_eq!(trials_for_margin(1.0, 0.05, Confidence::P95)?, 35);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when `proportion` is not from 0 to 1, or `margin` not from 0.000001 to 0.5.
pub fn trials_for_margin(proportion: f64, margin: f64, confidence: Confidence) -> Result<u64, StatsError> {
    in_range("margin", margin, 1e-6..=0.5, "from 0.000001 to 0.5")?;
    // No margin is reached without trials; 2^50 trials reach every allowed margin.
    let (mut too_few, mut enough) = (0, 1_u64 << 50);
    while enough - too_few > 1 {
        let middle = u64::midpoint(too_few, enough);
        if margin_after(proportion, middle, confidence)? <= margin {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P95: Confidence = Confidence::P95;

    fn design() -> impl Strategy<Value = Design> {
        (0.5..0.999_f64, 0.5..0.999_f64)
            .prop_map(|(level, power)| Design { confidence: Confidence::new(level).unwrap(), power })
    }

    #[test]
    fn nothing_is_detectable_without_items() {
        let design = Design { confidence: Confidence::new(0.5).unwrap(), power: 0.765_957_431_752_968 };
        assert!(minimum_detectable_difference(0, 0.957_128_690_843_272_8, design).is_err());
    }

    proptest! {
        #[test]
        fn trials_and_detectable_difference_are_inverse(
            psi in 0.01..=1.0_f64, part in 0.01..=1.0_f64, design in design()
        ) {
            let difference = part * psi;
            let n = trials_for_difference(difference, psi, design).unwrap();
            prop_assert!(minimum_detectable_difference(n, psi, design).unwrap() <= difference * (1.0 + 1e-12));
            // With one item fewer, the difference is undetectable.
            let short = minimum_detectable_difference(n - 1, psi, design);
            prop_assert!(short.is_err() || short.unwrap() >= difference * (1.0 - 1e-12));
        }

        #[test]
        fn detectable_difference_shrinks_with_n(n in 100_u64..100_000, psi in 0.1..=1.0_f64) {
            let at = |n| minimum_detectable_difference(n, psi, Design::default()).unwrap();
            prop_assert!(at(n + 1) < at(n));
        }

        #[test]
        fn trials_for_margin_is_minimal(
            proportion in 0.0..=1.0_f64, margin in 0.001..0.499_f64, level in 0.5..0.999_f64
        ) {
            let confidence = Confidence::new(level).unwrap();
            let n = trials_for_margin(proportion, margin, confidence).unwrap();
            prop_assert!(margin_after(proportion, n, confidence).unwrap() <= margin);
            prop_assert!(margin_after(proportion, n - 1, confidence).unwrap() > margin);
        }
    }

    #[test]
    fn handles_smallest_margin() {
        let confidence = Confidence::new(0.999_999).unwrap();
        let n = trials_for_margin(0.5, 1e-6, confidence).unwrap();
        assert!(n < 1 << 43, "{n}");
        assert_eq!(trials_for_margin(0.5, 0.5, confidence).unwrap(), 1);
    }

    #[test]
    fn score_spread_matches_discordance() {
        use crate::Outcome::{Correct, Incorrect};
        use crate::paired_bootstrap::{PairedBootstrap, PairedCell, paired_score_difference};
        let cell = |a, b, count| PairedCell { a, b, guess: 0.0, count };
        let task = [
            cell(Correct, Incorrect, 60),
            cell(Incorrect, Correct, 44),
            cell(Correct, Correct, 196),
            cell(Incorrect, Incorrect, 100),
        ];
        let options = PairedBootstrap { replicates: 20_000, ..PairedBootstrap::default() };
        let found = paired_score_difference(&[task], options).unwrap();
        let design = Design::default();
        let by_spread = trials_for_score_difference(&found, 400, design).unwrap();
        let by_discordance = trials_for_difference(0.04, 0.26, design).unwrap();
        let ratio = by_spread as f64 / by_discordance as f64;
        assert!((ratio - 1.0).abs() < 0.06, "{by_spread} {by_discordance}");
        // Half the difference at the same spread takes four times the items.
        let half = ScoreDifference { difference: found.difference / 2.0, ..found };
        assert!(trials_for_score_difference(&half, 400, design).unwrap().abs_diff(4 * by_spread) < 5);
    }

    #[test]
    fn rejects_impossible_arguments_by_name() {
        let design = Design::default();
        assert!(matches!(
            trials_for_difference(0.3, 0.2, design),
            Err(StatsError::DifferenceTooLarge { difference: 0.3, discordant_share: 0.2 })
        ));
        assert!(matches!(
            minimum_detectable_difference(30, 0.1, design),
            Err(StatsError::TooFewTrials { n: 30, .. })
        ));
        assert!(matches!(
            minimum_detectable_difference(1_000_000, 0.0, design),
            Err(StatsError::TooFewTrials { .. })
        ));
        assert!(minimum_detectable_difference(0, 1.0, design).is_err());
        let message = |result: Result<u64, StatsError>| result.unwrap_err().to_string();
        assert_eq!(
            message(trials_for_difference(0.0, 0.2, design)),
            "`difference` is 0, but must be from 0.000001 to 1"
        );
        assert_eq!(
            message(trials_for_difference(0.1, 0.2, Design { power: 80.0, ..design })),
            "`power` is 80, but must be from 0.5 to 0.999999 (0.8 is 80 %)"
        );
        assert_eq!(
            message(trials_for_difference_unpaired(0.5, 0.5, design)),
            "`difference` is 0, but must be from 0.000001 to 1"
        );
        let same = ScoreDifference { difference: 0.0, ci_low: -3.0, ci_high: 3.0, p: 1.0, replicates: 100 };
        assert_eq!(
            message(trials_for_score_difference(&same, 400, design)),
            "`difference` is 0, but must be from 0.000001 to 1000 points"
        );
        assert_eq!(message(trials_for_margin(1.5, 0.1, P95)), "`proportion` is 1.5, but must be from 0 to 1");
    }
}
