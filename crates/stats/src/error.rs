//! What an argument can be that it must not be.

/// Why a statistic could not be computed: always the caller's argument, named.
///
/// ```
/// use reasonscape_stats::{Counters, StatsError};
///
/// let error = Counters::new(3.0, 5.0, 0.0, 0.0).unwrap_err();
/// assert!(matches!(error, StatsError::TooManyOutcomes { .. }));
/// assert_eq!(error.to_string(), "`n_e` + `n_t` is 5 + 0 = 5, more than the `n` = 3 trials there are");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// NaN or an infinity where a number is needed.
    #[error("`{name}` is {value}, but must be a finite number")]
    NotFinite {
        /// The argument.
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// A number outside its range.
    #[error("`{name}` is {value}, but must be {expected}")]
    OutOfRange {
        /// The argument.
        name: &'static str,
        /// What it was.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// More correct and truncated trials than trials.
    #[error("`n_e` + `n_t` is {n_e} + {n_t} = {sum}, more than the `n` = {n} trials there are", sum = n_e + n_t)]
    TooManyOutcomes {
        /// All trials.
        n: f64,
        /// Correct ones.
        n_e: f64,
        /// Truncated ones.
        n_t: f64,
    },
    /// More expected lucky guesses than completed trials.
    #[error("`g` is {g}, but a guess succeeds at most once a completed trial, and `n_u` = {n_u} completed")]
    TooManyGuesses {
        /// Sum of the guess probabilities.
        g: f64,
        /// Completed trials.
        n_u: f64,
    },
    /// A lower bound above its upper bound.
    #[error("`low` is {low}, above `high` = {high}")]
    CrossedBounds {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// Nothing to compute on.
    #[error("`{name}` is empty, but needs at least one entry")]
    Empty {
        /// The argument.
        name: &'static str,
    },
    /// Two arguments that belong together differ in length.
    #[error("`{name}` has {found} entries, but {expected} are needed")]
    WrongLength {
        /// The argument.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The length that fits the other arguments.
        expected: usize,
    },
    /// Too few different values to fit anything to.
    #[error("`{name}` has {found} different values with trials, but {needed} are needed")]
    TooFewValues {
        /// The argument.
        name: &'static str,
        /// How many different values it has.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
    /// An iteration that did not come to rest.
    #[error("the {name} did not settle within {steps} steps")]
    NotConverged {
        /// What was computed.
        name: &'static str,
        /// Steps taken.
        steps: u64,
    },
    /// More items on which two models differ than items.
    #[error("`b` + `c` is {b} + {c}, more than the `n` = {n} items that both models answered")]
    TooManyDiscordant {
        /// All items.
        n: u64,
        /// Items that only the first model got right.
        b: u64,
        /// Items that only the second model got right.
        c: u64,
    },
    /// A difference of shares that the share of differing items does not allow.
    #[error("`difference` is {difference}, more than the `discordant_share` = {discordant_share} allows")]
    DifferenceTooLarge {
        /// The difference of the shares.
        difference: f64,
        /// The share of the items on which exactly one model is right.
        discordant_share: f64,
    },
    /// A design that would not notice even the largest difference there can be.
    #[error(
        "`n` = {n} items at a `discordant_share` of {discordant_share} would miss every possible difference"
    )]
    TooFewTrials {
        /// Items that both models answer.
        n: u64,
        /// The share of the items on which exactly one model is right.
        discordant_share: f64,
    },
    /// A mode name that is none of the nine.
    #[error("unknown mode `{found}`, expected one of E_I E_P E_O C_I C_P C_O K_I K_P K_O")]
    UnknownMode {
        /// What was given.
        found: String,
    },
}

/// Passes a finite number on, and names the argument otherwise.
pub(crate) fn finite(name: &'static str, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::NotFinite { name, value }) }
}

/// Passes a finite number >= 0 on, and names the argument otherwise.
pub(crate) fn non_negative(name: &'static str, value: f64) -> Result<f64, StatsError> {
    in_range(name, value, 0.0..=f64::MAX, "0 or more")
}

/// Passes a number in `range` on, and names the argument otherwise; `expected` is the range in words.
pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, StatsError> {
    let value = finite(name, value)?;
    if range.contains(&value) { Ok(value) } else { Err(StatsError::OutOfRange { name, value, expected }) }
}
