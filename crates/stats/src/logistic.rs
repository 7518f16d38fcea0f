//! Logistic threshold: accuracy against one parameter, and the value at which it crosses one half.
//!
//! With guess probability `g`, the accuracy at the parameter value `x` is `p = g + (1 - g) / (1 + exp(-(a + b x)))`. The
//! *threshold* is the `x` at which half of the answers are known, corrected for guessing: `x50 = -a / b`. [`fit`]
//! estimates `a` and `b` by maximum likelihood, computes a profile-likelihood interval of the threshold, and tests the
//! goodness of fit.

mod crossing;
mod likelihood;

use std::fmt;

use self::crossing::Profile;
use self::likelihood::{Curve, Data};
use crate::{Confidence, StatsError, chi_square, finite, in_range, non_negative};

/// Outcomes at one value of the parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The parameter.
    pub x: f64,
    /// Trials.
    pub n: f64,
    /// Trials that succeeded.
    pub successes: f64,
    /// Probability that a blind guess succeeds, below 1.
    pub guess: f64,
}

/// Whether and where the threshold lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Crossing {
    /// The proportion of known answers crosses one half within the tested values.
    Crosses,
    /// More than half is known at every tested value; the threshold lies beyond them.
    AlwaysAbove,
    /// Less than half is known at every tested value; the threshold lies before them.
    AlwaysBelow,
    /// Neither a slope nor a side is statistically significant.
    Unclear,
}

impl fmt::Display for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Crosses => "crosses",
            Self::AlwaysAbove => "always above",
            Self::AlwaysBelow => "always below",
            Self::Unclear => "unclear",
        })
    }
}

/// The direction of the slope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trend {
    /// Accuracy falls as the parameter grows.
    Falling,
    /// Accuracy rises as the parameter grows.
    Rising,
    /// No significant slope.
    Flat,
}

impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Falling => "falling",
            Self::Rising => "rising",
            Self::Flat => "flat",
        })
    }
}

/// Lack of fit, against a saturated model with one proportion per row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LackOfFit {
    /// Deviance `2 Σ observed ln(observed / expected)`, over successes and failures.
    pub g2: f64,
    /// Pearson's `Σ (observed - expected)^2 / expected`, over successes and failures.
    pub pearson: f64,
    /// Rows (equal ones pooled) minus two.
    pub degrees: u64,
    /// Probability of a deviance at least this large if the curve were true; `None` without a degree of freedom.
    pub p: Option<f64>,
}

impl LackOfFit {
    /// Variance around the curve relative to the binomial, `pearson / degrees`.
    pub fn dispersion(&self) -> Option<f64> {
        (self.degrees > 0).then(|| self.pearson / self.degrees as f64)
    }

    /// Whether the rows scatter more than the binomial allows, at the 5 % level: the interval of the threshold is then too
    /// narrow, or the curve has the wrong shape.
    pub fn is_overdispersed(&self) -> bool {
        self.p.is_some_and(|p| p < 0.05) && self.dispersion().is_some_and(|dispersion| dispersion > 1.0)
    }
}

/// A fitted curve with its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticFit {
    /// `a`, the log-odds at `x = 0`.
    pub intercept: f64,
    /// `b`, the change of the log-odds per unit of `x`.
    pub slope: f64,
    /// Whether the likelihood has a finite maximum. Otherwise it keeps increasing towards a step (or a constant 0 or 1), as
    /// when every row is entirely correct or entirely incorrect; `a` and `b` are then just a steep curve.
    pub is_finite: bool,
    /// Log-likelihood, without the binomial coefficients.
    pub log_likelihood: f64,
    /// p-value of the likelihood-ratio test of no slope (chi-square).
    pub slope_p: f64,
    /// Direction of the slope, if significant at the given confidence.
    pub trend: Trend,
    /// Whether and where the threshold lies.
    pub crossing: Crossing,
    /// The threshold, if the slope is significant; outside the tested values it is extrapolated.
    pub x50: Option<f64>,
    /// Lower bound of the threshold; `None` if unbounded.
    pub low: Option<f64>,
    /// Upper bound of the threshold; `None` if unbounded.
    pub high: Option<f64>,
    /// Goodness of fit.
    pub lack_of_fit: LackOfFit,
}

impl LogisticFit {
    /// The proportion of known answers at `x`, corrected for guessing.
    pub fn known(&self, x: f64) -> f64 {
        1.0 / (1.0 + (-(self.intercept + self.slope * x)).exp())
    }
}

/// Fits the curve to outcomes at two or more values of the parameter.
///
/// The likelihood is maximized by Newton's method with step halving, from a constant, a falling and a rising start: with
/// guessing it may have several maxima. The bounds of the threshold are the values `c` for which the best curve through
/// one half at `c` loses less than `z^2 / 2` of log-likelihood (profile likelihood); with a significant slope
/// (likelihood ratio at the same confidence) both bounds exist.
///
/// | slope | crossing | threshold |
/// |---|---|---|
/// | significant | by where `x50` lies | `x50`, `low`, `high` |
/// | not significant, all rows and the overall level significantly on one side | above or below | only the bound towards the data |
/// | not significant | unclear | none |
///
/// Assumes independent trials; rows that scatter more than that show in [`LackOfFit`].
///
/// ```
/// use reasonscape_stats::Confidence;
/// use reasonscape_stats::logistic::{Crossing, Row, fit};
///
/// let row = |x, successes| Row { x, n: 40.0, successes, guess: 0.0 };
/// let found = fit(&[row(2.0, 39.0), row(4.0, 33.0), row(6.0, 22.0), row(8.0, 8.0)], Confidence::P95)?;
/// assert_eq!(found.crossing, Crossing::Crosses);
/// let [x50, low, high] = [found.x50, found.low, found.high].map(|bound| bound.unwrap());
/// assert_eq!(format!("{x50:.2}, from {low:.2} to {high:.2}"), "6.21, from 5.68 to 6.79");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a number is out of range, when fewer than two values of the parameter have trials, or when the
/// iteration does not converge.
pub fn fit(rows: &[Row], confidence: Confidence) -> Result<LogisticFit, StatsError> {
    let data = Data::new(rows)?;
    let level = data.maximize(Curve::LEVEL, true)?;
    let mut best = data.maximize(level.curve, false)?;
    for slope in [-2.0, 2.0] {
        let other = data.maximize(Curve { height: level.curve.height, slope }, false)?;
        // A start that leads to the same maximum must not change the digits.
        if other.log_likelihood > best.log_likelihood + 1e-9 {
            best = other;
        }
    }
    let gain = (2.0 * (best.log_likelihood - level.log_likelihood)).max(0.0);
    let z = confidence.z();
    let is_clear = gain > z * z;
    let trend = match (is_clear, best.curve.slope < 0.0) {
        (false, _) => Trend::Flat,
        (true, true) => Trend::Falling,
        (true, false) => Trend::Rising,
    };
    let profile = Profile::new(&data, &best, z * z);
    let found = if is_clear { profile.for_slope() } else { profile.for_level(&level) };
    let (intercept, slope) = data.in_units(best.curve);
    Ok(LogisticFit {
        intercept,
        slope,
        is_finite: best.is_finite,
        log_likelihood: best.log_likelihood,
        slope_p: chi_square::survival(gain, 1)?,
        trend,
        crossing: found.crossing,
        x50: found.x50.map(|x| data.unscale(x)),
        low: found.low.map(|x| data.unscale(x)),
        high: found.high.map(|x| data.unscale(x)),
        lack_of_fit: data.lack_of_fit(best.curve)?,
    })
}

/// A row whose numbers are validated.
fn checked(row: &Row) -> Result<Row, StatsError> {
    in_range("x", row.x, -1e100..=1e100, "from -1e100 to 1e100")?;
    non_negative("n", row.n)?;
    in_range("guess", row.guess, 0.0..=0.999_999, "from 0 to 0.999999")?;
    finite("successes", row.successes)?;
    if row.successes < 0.0 || row.successes > row.n {
        let expected = "from 0 to the `n` of its row";
        return Err(StatsError::OutOfRange { name: "successes", value: row.successes, expected });
    }
    Ok(*row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P95: Confidence = Confidence::P95;

    fn row(x: f64, n: f64, successes: f64, guess: f64) -> Row {
        Row { x, n, successes, guess }
    }

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let guess = prop::sample::select(vec![0.0, 0.0, 0.25, 0.5]);
        // Evenly spaced and doubling values; mostly few trials; proportions that are often 0 and 1.
        let x =
            prop_oneof![(-5_i32..5).prop_map(f64::from), (0_i32..14).prop_map(|power| 2.0_f64.powi(power))];
        let n = prop_oneof![4 => 0_u32..200, 1 => 0_u32..1_000_000_000].prop_map(f64::from);
        let proportion = prop_oneof![2 => 0.0..=1.0_f64, 1 => Just(0.0), 1 => Just(1.0)];
        let row = (x, n, proportion, guess).prop_map(|(x, n, proportion, guess)| Row {
            x,
            n,
            successes: (proportion * n).round(),
            guess,
        });
        prop::collection::vec(row, 2..9).prop_filter("two values of x", |rows| {
            let tried: Vec<f64> = rows.iter().filter(|row| row.n > 0.0).map(|row| row.x).collect();
            tried.iter().any(|x| *x != tried[0])
        })
    }

    proptest! {
        #[test]
        fn fit_is_finite_and_bounds_contain_crossing(rows in rows()) {
            let found = fit(&rows, P95).unwrap();
            prop_assert!(found.intercept.is_finite() && found.slope.is_finite());
            prop_assert!(found.log_likelihood.is_finite() && (0.0..=1.0).contains(&found.slope_p));
            for bound in [found.x50, found.low, found.high].into_iter().flatten() {
                prop_assert!(bound.is_finite());
            }
            if let Some(x50) = found.x50 {
                prop_assert!(found.low.is_none_or(|low| low <= x50), "{found:?}");
                prop_assert!(found.high.is_none_or(|high| x50 <= high), "{found:?}");
            }
            if found.crossing == Crossing::Crosses {
                prop_assert!(found.low.is_some() && found.high.is_some(), "{found:?}");
            }
        }

        #[test]
        fn fit_is_independent_of_row_order_and_splitting(mut rows in rows()) {
            let before = fit(&rows, P95).unwrap();
            rows.reverse();
            let half = Row { n: (rows[0].n / 2.0).floor(), successes: 0.0, ..rows[0] };
            if half.n <= rows[0].n - rows[0].successes {
                rows[0].n -= half.n;
                rows.push(half);
            }
            let after = fit(&rows, P95).unwrap();
            prop_assert_eq!(after, before);
        }

        #[test]
        fn crossing_is_equivariant_under_affine_parameter(rows in rows()) {
            let moved: Vec<Row> = rows.iter().map(|row| Row { x: 8.0 * row.x + 1024.0, ..*row }).collect();
            let (before, after) = (fit(&rows, P95).unwrap(), fit(&moved, P95).unwrap());
            prop_assert_eq!(before.crossing, after.crossing);
            if let (Some(before), Some(after)) = (before.x50, after.x50) {
                prop_assert!((8.0 * before + 1024.0 - after).abs() < 1e-6 * (1.0 + before.abs()));
            }
        }
    }

    #[test]
    fn step_data_crosses_in_the_gap() {
        let found =
            fit(&[row(1.0, 20.0, 20.0, 0.0), row(2.0, 20.0, 20.0, 0.0), row(4.0, 20.0, 0.0, 0.0)], P95)
                .unwrap();
        assert_eq!(
            (found.crossing, found.trend, found.is_finite),
            (Crossing::Crosses, Trend::Falling, false)
        );
        let [x50, low, high] = [found.x50, found.low, found.high].map(Option::unwrap);
        assert!(
            (x50 - 3.0).abs() < 0.1 && (1.9..=2.1).contains(&low) && (3.9..=4.1).contains(&high),
            "{found:?}"
        );
    }

    #[test]
    fn finds_cliff_between_closest_doubling_values() {
        let rows: Vec<Row> = (0..12)
            .map(|power| row(2.0_f64.powi(power), 30.0, if power == 0 { 30.0 } else { 0.0 }, 0.0))
            .collect();
        let found = fit(&rows, P95).unwrap();
        let [x50, low, high] = [found.x50, found.low, found.high].map(Option::unwrap);
        assert!((1.2..=1.8).contains(&x50) && low < x50 && x50 < high && high < 2.1, "{found:?}");
        assert!((0.9..=1.1).contains(&low) && found.crossing == Crossing::Crosses, "{found:?}");
    }

    #[test]
    fn all_correct_is_always_above_and_all_incorrect_always_below() {
        let all = |successes| [1.0, 2.0, 3.0].map(|x| row(x, 50.0, successes, 0.0));
        let above = fit(&all(50.0), P95).unwrap();
        assert_eq!((above.crossing, above.trend, above.x50), (Crossing::AlwaysAbove, Trend::Flat, None));
        assert!(above.low.is_some_and(|low| (2.5..=3.2).contains(&low)) && above.high.is_none(), "{above:?}");
        let below = fit(&all(0.0), P95).unwrap();
        assert_eq!((below.crossing, below.trend, below.x50), (Crossing::AlwaysBelow, Trend::Flat, None));
        assert!(
            below.high.is_some_and(|high| (0.8..=1.5).contains(&high)) && below.low.is_none(),
            "{below:?}"
        );
    }

    #[test]
    fn guess_rate_moves_crossing() {
        // With two options, 75 % correct is 50 % known.
        let with = |guess| {
            [1.0, 2.0, 3.0, 4.0].map(|x| row(x, 1000.0, [980.0, 900.0, 750.0, 600.0][x as usize - 1], guess))
        };
        let (plain, corrected) = (fit(&with(0.0), P95).unwrap(), fit(&with(0.5), P95).unwrap());
        assert!((corrected.x50.unwrap() - 3.0).abs() < 0.1, "{corrected:?}");
        assert!(plain.x50.unwrap() > 4.0 && plain.crossing == Crossing::AlwaysAbove, "{plain:?}");
    }

    #[test]
    fn reports_unclear_and_rising_trends() {
        let coin = fit(&[row(1.0, 10.0, 5.0, 0.0), row(2.0, 10.0, 5.0, 0.0)], P95).unwrap();
        assert_eq!((coin.crossing, coin.x50, coin.low, coin.high), (Crossing::Unclear, None, None, None));
        let rise = fit(&[row(1.0, 50.0, 5.0, 0.0), row(2.0, 50.0, 45.0, 0.0)], P95).unwrap();
        assert_eq!((rise.trend, rise.crossing), (Trend::Rising, Crossing::Crosses));
        assert!((rise.x50.unwrap() - 1.5).abs() < 1e-9 && rise.lack_of_fit.p.is_none());
    }

    #[test]
    fn converges_for_rows_below_guess_rate() {
        // Fisher scoring needed thousands of steps on a plateau here.
        let rows = [
            (2.0, 26.0, 4.0, 0.0),
            (-2.0, 40.0, 27.0, 0.25),
            (1.0, 95.0, 61.0, 0.0),
            (-3.0, 157.0, 10.0, 0.25),
            (1.0, 123.0, 33.0, 0.5),
            (-2.0, 112.0, 80.0, 0.5),
            (0.0, 28.0, 3.0, 0.25),
        ];
        fit(&rows.map(|(x, n, successes, guess)| row(x, n, successes, guess)), P95).unwrap();
    }

    #[test]
    fn reports_overdispersion() {
        let found = fit(
            &[1.0, 2.0, 3.0, 4.0].map(|x| row(x, 200.0, [190.0, 60.0, 150.0, 10.0][x as usize - 1], 0.0)),
            P95,
        )
        .unwrap();
        assert!(found.lack_of_fit.is_overdispersed() && found.lack_of_fit.degrees == 2, "{found:?}");
        assert!(found.lack_of_fit.dispersion().unwrap() > 10.0);
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |rows: &[Row]| fit(rows, P95).unwrap_err().to_string();
        let good = row(1.0, 5.0, 2.0, 0.0);
        assert_eq!(message(&[]), "`x` has 0 distinct values with trials, but 2 are needed");
        assert_eq!(message(&[good, good]), "`x` has 1 distinct values with trials, but 2 are needed");
        assert_eq!(message(&[good, row(f64::NAN, 1.0, 0.0, 0.0)]), "`x` is NaN, but must be a finite number");
        assert_eq!(
            message(&[row(0.0, 1.0, 2.0, 0.0)]),
            "`successes` is 2, but must be from 0 to the `n` of its row"
        );
        assert_eq!(message(&[row(0.0, 1.0, 1.0, 1.0)]), "`guess` is 1, but must be from 0 to 0.999999");
    }
}
