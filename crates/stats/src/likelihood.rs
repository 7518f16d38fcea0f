//! ReasonScore with a confidence interval: a penalized profile likelihood on effective counts.
//!
//! The estimand is `1000 x` the geometric mean over tasks of `s = max(0.01, kappa c)`: `c` is the probability that a fresh
//! trial of the task completes, `kappa` the probability that a completed answer was known rather than guessed. A fresh
//! trial is drawn from the points of the suite in the suite's proportions, however many trials were sampled at each point.
//!
//! 1. [`PointSums`] summarize the problems of a point.
//! 2. [`effective_task`] weights points as the suite does. The result is that of `n` independent trials with the same
//!    rates, `n` chosen so that the variance is the same.
//! 3. [`likelihood_score`] combines tasks: the interval contains every score that a likelihood-ratio test doesn't reject.
//!
//! No random numbers. `tests/reference/reason_score.py` is the same in plain Python.
//!
//! ```
//! use reasonscape_stats::likelihood::{PointSums, WeightedPoint, effective_task, likelihood_score};
//! use reasonscape_stats::{Confidence, Counters};
//!
//! // Three points with 8 free-form problems each, of which 8, 7 and 3 were answered correctly.
//! let mut points = Vec::new();
//! for correct in [8.0, 7.0, 3.0] {
//!     let sums = PointSums::from_counters(&Counters::new(8.0, correct, 0.0, 0.0)?);
//!     points.push(WeightedPoint { sums, weight: 1.0, stop_rule: None });
//! }
//! let task = effective_task(&points)?.expect("there are trials");
//! let score = likelihood_score(&[task], Confidence::P95)?;
//! assert_eq!(format!("{:.0}", score.estimate), "750");
//! assert!(score.ci_low < 640.0 && score.ci_high > 840.0);
//! # Ok::<(), reasonscape_stats::StatsError>(())
//! ```

mod interval;
mod point;
mod stop_rule;
mod task;

pub use interval::{LikelihoodScore, likelihood_score};
pub use point::{PointSums, WeightedPoint};
pub use stop_rule::StopRule;
pub use task::{EffectiveTask, effective_task};
