//! The nine estimator modes: three events by three assumptions about truncated trials.

use std::fmt;
use std::str::FromStr;

use crate::interval::wilson_unchecked;
use crate::{Confidence, Counters, Interval, StatsError};

/// Which event counts as a success.
///
/// ```
/// use reasonscape_stats::{Event, Mode};
///
/// assert_eq!(Mode::K_P.event, Event::Calibrated);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// The answer equals the target, whether known or guessed.
    Equality,
    /// The answer was known: expected guesses are subtracted from successes and trials (ReasonScape's correction).
    Correctness,
    /// The answer was known, with bounds that keep their coverage near chance (this project's addition).
    Calibrated,
}

/// How truncated trials are treated.
///
/// ```
/// use reasonscape_stats::{Assumption, Mode};
///
/// assert_eq!(Mode::K_P.assumption, Assumption::Pessimism);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Assumption {
    /// Ignored: they would have done as the completed trials did.
    Independence,
    /// Counted as failures: the token limit is part of the deployment.
    Pessimism,
    /// Counted as successes: an upper bound.
    Optimism,
}

/// An estimator: an [`Event`] under an [`Assumption`], named as in `C_P`.
///
/// | mode | expression |
/// |---|---|
/// | `E_I` | `Wilson(n_e, n_u)` |
/// | `E_P` | `Wilson(n_e, n)` |
/// | `E_O` | `Wilson(n_e + n_t, n)` |
/// | `C_I` | `Wilson(n_e - g, n_u - g)` |
/// | `C_P` | `C_I x Wilson(n_u, n)` |
/// | `C_O` | `1 - Wilson(n_u - n_e, n_u - g) x Wilson(n_u, n)` |
/// | `K_I` | `clamp01((Wilson(n_e, n_u) - gbar) / (1 - gbar))` on both ends, `gbar = g / n_u` |
/// | `K_P` | `K_I x Wilson(n_u, n)` |
/// | `K_O` | `1 - (1 - K_I) x Wilson(n_u, n)` |
///
/// Two reductions hold exactly: with `g = 0` the C and K rows equal the E rows, and with `n_t = 0` the completion
/// factor `Wilson(n_u, n)` is dropped, because no trial was censored.
///
/// Source: the E and C rows are from ReasonScape's "Statistical Methodology"; the K rows are this project's, because the
/// C rows fall short of their nominal coverage near chance (simulated on the statistics page of the documentation).
///
/// ```
/// use reasonscape_stats::{Confidence, Counters, Mode};
///
/// // Without truncation and guessing, all modes agree.
/// let plain = Counters::new(100.0, 80.0, 0.0, 0.0)?;
/// let first = Mode::E_I.estimate(&plain, Confidence::P95);
/// assert!(Mode::ALL.iter().all(|mode| mode.estimate(&plain, Confidence::P95) == first));
///
/// // With half of the trials truncated, the assumption matters.
/// let cut = Counters::new(100.0, 40.0, 50.0, 0.0)?;
/// let center = |mode: Mode| mode.estimate(&cut, Confidence::P95).center();
/// assert!(center(Mode::C_P) < center(Mode::C_I) && center(Mode::C_I) < center(Mode::C_O));
///
/// assert_eq!("C_P".parse::<Mode>()?, Mode::C_P);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode {
    /// Which event counts as a success.
    pub event: Event,
    /// How truncated trials are treated.
    pub assumption: Assumption,
}

macro_rules! modes {
    ($($name:ident = $event:ident, $assumption:ident;)*) => {
        impl Mode {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub const $name: Mode =
                    Mode { event: Event::$event, assumption: Assumption::$assumption };
            )*

            /// All nine modes, in the order used in tables.
            pub const ALL: [Mode; 9] = [$(Mode::$name),*];

            /// The name, as in `C_P`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Mode::$name => stringify!($name),)*
                }
            }
        }
    };
}

modes! {
    E_I = Equality, Independence;
    E_P = Equality, Pessimism;
    E_O = Equality, Optimism;
    C_I = Correctness, Independence;
    C_P = Correctness, Pessimism;
    C_O = Correctness, Optimism;
    K_I = Calibrated, Independence;
    K_P = Calibrated, Pessimism;
    K_O = Calibrated, Optimism;
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Mode {
    type Err = StatsError;

    fn from_str(name: &str) -> Result<Self, StatsError> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| StatsError::UnknownMode { found: name.to_owned() })
    }
}

impl Mode {
    /// The confidence interval for these counters.
    ///
    /// Products are propagated by interval arithmetic, each factor at the same confidence. Without a completed trial the
    /// I modes give `[0, 1]`; the P and O modes still count the truncated trials.
    pub fn estimate(self, counters: &Counters, confidence: Confidence) -> Interval {
        let (n, n_u, n_e, n_t) = (counters.n(), counters.n_u(), counters.n_e(), counters.n_t());
        let wilson = |k, n| wilson_unchecked(k, n, confidence);
        if counters.g() == 0.0 || self.event == Event::Equality {
            return match self.assumption {
                Assumption::Independence => wilson(n_e, n_u),
                Assumption::Pessimism => wilson(n_e, n),
                Assumption::Optimism => wilson(n_e + n_t, n),
            };
        }
        if n_t == 0.0 {
            return self.known(counters, confidence);
        }
        self.estimate_literal(counters, confidence)
    }

    /// The interval by the table's literal expressions, without the reductions of [`Mode::estimate`].
    ///
    /// The E rows are the same. The C and K rows keep the factor `Wilson(n_u, n)` even without truncation or guessing, so
    /// intervals are wider there and there is no discontinuity between `n_t = 0` and `n_t = 1`.
    ///
    /// ```
    /// use reasonscape_stats::{Confidence, Counters, Mode, wilson};
    ///
    /// let counters = Counters::new(40.0, 36.0, 0.0, 0.0)?;
    /// let literal = Mode::C_P.estimate_literal(&counters, Confidence::P95);
    /// let expected = wilson(36.0, 40.0, Confidence::P95)?.low * wilson(40.0, 40.0, Confidence::P95)?.low;
    /// assert_eq!(literal.low, expected);
    /// assert!(literal.margin() > Mode::C_P.estimate(&counters, Confidence::P95).margin());
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    pub fn estimate_literal(self, counters: &Counters, confidence: Confidence) -> Interval {
        if self.event == Event::Equality {
            return self.estimate(counters, confidence);
        }
        let known = self.known(counters, confidence);
        let completed = || wilson_unchecked(counters.n_u(), counters.n(), confidence);
        match self.assumption {
            Assumption::Independence => known,
            Assumption::Pessimism => known.times(completed()),
            Assumption::Optimism => known.complement().times(completed()).complement(),
        }
    }

    /// The first factor of the C and K rows: the proportion of completed answers that were known.
    fn known(self, counters: &Counters, confidence: Confidence) -> Interval {
        let (n_u, n_e, g) = (counters.n_u(), counters.n_e(), counters.g());
        match self.event {
            Event::Calibrated if g > 0.0 => calibrated(wilson_unchecked(n_e, n_u, confidence), g / n_u),
            _ => wilson_unchecked(n_e - g, n_u - g, confidence),
        }
    }
}

/// Corrects an interval of the raw proportion for chance by rescaling `[chance, 1]` to `[0, 1]`.
fn calibrated(raw: Interval, chance: f64) -> Interval {
    if chance >= 1.0 {
        return Interval::UNKNOWN;
    }
    let stretch = |proportion: f64| ((proportion - chance) / (1.0 - chance)).clamp(0.0, 1.0);
    Interval { low: stretch(raw.low), high: stretch(raw.high), point: raw.point.map(stretch) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const P95: Confidence = Confidence::P95;

    /// Integer counters with every trial on `options` options (0: free-form).
    fn counters() -> impl Strategy<Value = Counters> {
        (0_u32..2000, 0.0..=1.0_f64, 0.0..=1.0_f64, prop::sample::select(vec![0_u32, 2, 3, 4, 7])).prop_map(
            |(n, truncated, correct, options)| {
                let n_t = (f64::from(n) * truncated).floor();
                let n_u = f64::from(n) - n_t;
                let g = if options == 0 { 0.0 } else { n_u / f64::from(options) };
                Counters::new(f64::from(n), (n_u * correct).floor(), n_t, g).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn every_mode_contains_its_point_in_unit_range(counters in counters()) {
            for mode in Mode::ALL {
                let Interval { low, high, point } = mode.estimate(&counters, P95);
                prop_assert!(0.0 <= low && low <= high && high <= 1.0, "{mode}: [{low}, {high}]");
                // Products of rounded numbers may differ in the last bit.
                prop_assert!(point.is_none_or(|p| low <= p + 1e-15 && p <= high + 1e-15), "{mode}: {point:?}");
            }
        }

        #[test]
        fn pessimistic_never_exceeds_optimistic(counters in counters()) {
            for event in [Event::Equality, Event::Correctness, Event::Calibrated] {
                let at = |assumption| Mode { event, assumption }.estimate(&counters, P95);
                let (worst, best) = (at(Assumption::Pessimism), at(Assumption::Optimism));
                prop_assert!(worst.low <= best.low + 1e-15 && worst.high <= best.high + 1e-15);
            }
        }

        #[test]
        fn c_and_k_equal_e_without_guessing(n in 1_u32..500, correct in 0.0..=1.0_f64, truncated in 0.0..=1.0_f64) {
            let n_t = (f64::from(n) * truncated).floor();
            let n_e = ((f64::from(n) - n_t) * correct).floor();
            let counters = Counters::new(f64::from(n), n_e, n_t, 0.0).unwrap();
            for mode in Mode::ALL {
                let plain = Mode { event: Event::Equality, ..mode };
                prop_assert_eq!(mode.estimate(&counters, P95), plain.estimate(&counters, P95));
            }
        }

        #[test]
        fn truncation_assumption_is_irrelevant_without_truncation(n in 1_u32..500, correct in 0.0..=1.0_f64) {
            let n = f64::from(n);
            let counters = Counters::new(n, (n * correct).floor(), 0.0, n / 3.0).unwrap();
            for mode in Mode::ALL {
                let ignoring = Mode { assumption: Assumption::Independence, ..mode };
                prop_assert_eq!(mode.estimate(&counters, P95), ignoring.estimate(&counters, P95));
            }
        }
    }

    #[test]
    fn all_modes_equal_wilson_without_guessing_and_truncation() {
        let counters = Counters::new(37.0, 12.0, 0.0, 0.0).unwrap();
        let wilson = crate::wilson(12.0, 37.0, P95).unwrap();
        assert!(Mode::ALL.iter().all(|mode| mode.estimate(&counters, P95) == wilson));
    }

    #[test]
    fn all_truncated_is_unknown_only_when_ignored() {
        let counters = Counters::new(40.0, 0.0, 40.0, 0.0).unwrap();
        for event in [Event::Equality, Event::Correctness, Event::Calibrated] {
            let at = |assumption| Mode { event, assumption }.estimate(&counters, P95);
            assert_eq!(at(Assumption::Independence), Interval::UNKNOWN);
            assert_eq!(at(Assumption::Pessimism), crate::wilson(0.0, 40.0, P95).unwrap());
            assert_eq!(at(Assumption::Optimism), crate::wilson(40.0, 40.0, P95).unwrap());
        }
    }

    #[test]
    fn single_option_gives_unknown() {
        let counters = Counters::new(10.0, 10.0, 0.0, 10.0).unwrap();
        assert_eq!(Mode::C_I.estimate(&counters, P95), Interval::UNKNOWN);
        assert_eq!(Mode::K_I.estimate(&counters, P95), Interval::UNKNOWN);
    }

    #[test]
    fn below_chance_clamps_to_zero() {
        let counters = Counters::new(100.0, 30.0, 0.0, 50.0).unwrap();
        for mode in [Mode::C_P, Mode::K_P] {
            let estimate = mode.estimate(&counters, P95);
            assert_eq!((estimate.low, estimate.point), (0.0, Some(0.0)));
        }
    }

    #[test]
    fn names_round_trip_and_unknown_names_are_rejected() {
        for mode in Mode::ALL {
            assert_eq!(mode.to_string().parse::<Mode>().unwrap(), mode);
        }
        assert_eq!("c_p".parse::<Mode>().unwrap(), Mode::C_P);
        assert!("C_X".parse::<Mode>().unwrap_err().to_string().contains("unknown mode `C_X`"));
    }
}
