//! Errors for invalid arguments.

/// An invalid argument, by name.
///
/// ```
/// use reasonscape_stats::{Counters, StatsError};
///
/// let error = Counters::new(3.0, 5.0, 0.0, 0.0).unwrap_err();
/// assert!(matches!(error, StatsError::TooManyOutcomes { .. }));
/// assert_eq!(error.to_string(), "`n_e` + `n_t` is 5 + 0 = 5, more than `n` = 3 trials");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// A value is NaN or infinite.
    #[error("`{name}` is {value}, but must be a finite number")]
    NotFinite {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A value is outside its range.
    #[error("`{name}` is {value}, but must be {expected}")]
    OutOfRange {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: f64,
        /// A description of the range.
        expected: &'static str,
    },
    /// More correct and truncated trials than trials.
    #[error("`n_e` + `n_t` is {n_e} + {n_t} = {sum}, more than `n` = {n} trials", sum = n_e + n_t)]
    TooManyOutcomes {
        /// All trials.
        n: f64,
        /// Correct ones.
        n_e: f64,
        /// Truncated ones.
        n_t: f64,
    },
    /// More expected successful guesses than completed trials.
    #[error("`g` is {g}, more than the `n_u` = {n_u} completed trials")]
    TooManyGuesses {
        /// Sum of the guess probabilities.
        g: f64,
        /// Completed trials.
        n_u: f64,
    },
    /// The lower bound exceeds the upper bound.
    #[error("`low` is {low}, above `high` = {high}")]
    CrossedBounds {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// An empty argument.
    #[error("`{name}` is empty, but needs at least one entry")]
    Empty {
        /// The argument.
        name: &'static str,
    },
    /// An argument whose length doesn't match the other arguments.
    #[error("`{name}` has {found} entries, but {expected} are needed")]
    WrongLength {
        /// The argument.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The required length.
        expected: usize,
    },
    /// Too few distinct values for a fit.
    #[error("`{name}` has {found} distinct values with trials, but {needed} are needed")]
    TooFewValues {
        /// The argument.
        name: &'static str,
        /// Number of distinct values.
        found: usize,
        /// Minimum number required.
        needed: usize,
    },
    /// An iteration that did not converge.
    #[error("the {name} did not converge within {steps} steps")]
    NotConverged {
        /// What was computed.
        name: &'static str,
        /// Steps taken.
        steps: u64,
    },
    /// More discordant items than items.
    #[error("`b` + `c` is {b} + {c}, more than the `n` = {n} common items")]
    TooManyDiscordant {
        /// All items.
        n: u64,
        /// Items that only the first model answered correctly.
        b: u64,
        /// Items that only the second model answered correctly.
        c: u64,
    },
    /// A difference of accuracies larger than the proportion of discordant items.
    #[error("`difference` is {difference}, more than `discordant_share` = {discordant_share} allows")]
    DifferenceTooLarge {
        /// The difference of the accuracies.
        difference: f64,
        /// The proportion of items on which exactly one model is correct.
        discordant_share: f64,
    },
    /// A design that can't detect even the largest possible difference.
    #[error(
        "`n` = {n} items with `discordant_share` = {discordant_share} can't detect any possible difference"
    )]
    TooFewTrials {
        /// Items that both models answer.
        n: u64,
        /// The proportion of items on which exactly one model is correct.
        discordant_share: f64,
    },
    /// A stop rule that can't be read.
    #[error("`{found}` is not a stop rule, expected text such as `rounds=16 margin=0.05 max=512`")]
    InvalidStopRule {
        /// What was given.
        found: String,
    },
    /// An unknown mode name.
    #[error("unknown mode `{found}`, expected one of E_I E_P E_O C_I C_P C_O K_I K_P K_O")]
    UnknownMode {
        /// What was given.
        found: String,
    },
}

/// Returns `value` if it is finite, otherwise an error that names the argument.
pub(crate) fn finite(name: &'static str, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() { Ok(value) } else { Err(StatsError::NotFinite { name, value }) }
}

/// Returns `value` if it is finite and at least 0, otherwise an error that names the argument.
pub(crate) fn non_negative(name: &'static str, value: f64) -> Result<f64, StatsError> {
    in_range(name, value, 0.0..=f64::MAX, "0 or more")
}

/// Returns `value` if it is in `range`, otherwise an error that names the argument; `expected` describes the range.
pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<f64, StatsError> {
    let value = finite(name, value)?;
    if range.contains(&value) { Ok(value) } else { Err(StatsError::OutOfRange { name, value, expected }) }
}
