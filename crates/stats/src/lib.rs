//! Statistics for language-model evaluations: confidence intervals, scores, comparisons and survival analysis.
//!
//! [`Counters`] (trials, correct, truncated, expected successful guesses) give an [`Interval`] under one of nine
//! [`Mode`]s. Points with the suite's weights give a ReasonScore with its confidence interval ([`likelihood`]), and two
//! models on the same problems a test and ranks ([`paired_score`], [`ranks`]). Task intervals are combined into
//! [ReasonScore v2](score), a pairwise win rate or a rating.
//! Per-trial data gives the tokens needed to answer ([`survival`]), the threshold along a parameter ([`logistic`]), the
//! effect of a smaller token limit ([`token_budget`]), and differences between samples, prompts and models
//! ([`effect_size`], [`spectrum`], [`cluster`]). For answer metrics: [`calibration`], [`entropy`], [`mean`],
//! [`quantile`], and rates over repeated trials ([`design_effect`], [`repeats`]).
//!
//! # Guarantees
//! Pure functions on numbers: no files, no network, no clock, no state that changes a result (tables of stop rules are kept
//! for speed). Seeds are always arguments, and the same
//! arguments give bit-identical results on any number of threads. An argument out of range is a [`StatsError`] that
//! names it; no function returns NaN.
//!
//! ```
//! use reasonscape_stats::{Confidence, Counters, Mode};
//!
//! // 128 trials: 100 correct, 5 truncated, and 12.3 successes expected from guessing.
//! let counters = Counters::new(128.0, 100.0, 5.0, 12.3)?;
//! let estimate = Mode::C_P.estimate(&counters, Confidence::P95);
//! assert_eq!(format!("{:.3} ± {:.3}", estimate.center(), estimate.margin()), "0.744 ± 0.099");
//! # Ok::<(), reasonscape_stats::StatsError>(())
//! ```

pub mod adjusted_difference;
pub mod bradley_terry;
pub mod calibration;
pub mod chi_square;
pub mod cluster;
mod counters;
pub mod design_effect;
pub mod effect_size;
pub mod entropy;
mod error;
mod estimators;
mod interval;
pub mod likelihood;
pub mod logistic;
pub mod mean;
mod mt19937;
pub mod multiple_testing;
mod normal;
mod outcome;
pub mod paired;
pub mod paired_bootstrap;
pub mod paired_score;
pub mod pairwise;
pub mod power;
pub mod quantile;
pub mod random;
pub mod ranks;
pub mod repeats;
pub mod score;
pub mod spectrum;
mod student_t;
pub mod survival;
pub mod token_budget;

pub use counters::Counters;
pub use error::StatsError;
pub use estimators::{Assumption, Event, Mode};
pub use interval::{Interval, wilson};
pub use normal::Confidence;
pub use outcome::Outcome;

pub(crate) use error::{finite, in_range, non_negative};
