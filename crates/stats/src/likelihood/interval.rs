//! The score of several tasks with its confidence interval.

use super::EffectiveTask;
use crate::chi_square::survival;
use crate::score::{Band, FLOOR};
use crate::{Confidence, StatsError, in_range, non_negative};

/// A ReasonScore with its confidence interval, from 10 to 1000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LikelihoodScore {
    /// `1000 x` the geometric mean over tasks of the estimate, clamped to `[0.01, 1]`.
    pub estimate: f64,
    /// Lower end of the confidence interval.
    pub ci_low: f64,
    /// Upper end of the confidence interval.
    pub ci_high: f64,
    /// Confidence level, 0.95 for 95 %.
    pub level: f64,
}

impl LikelihoodScore {
    /// The band that the estimate falls into.
    pub fn band(&self) -> Band {
        Band::from_score(self.estimate)
    }
}

/// The ReasonScore of tasks with its confidence interval.
///
/// The interval has every mean of `ln s` over tasks whose deviance is at most the chi-square quantile. The deviance is that
/// of the multinomial likelihoods of all tasks, each with the penalty `a ln s`. For one value of the mean the likelihood
/// is maximal where all tasks share one Lagrange multiplier, so both ends are found by bisection over the multiplier.
///
/// Coverage is measured in `docs/coverage.md`. Assumes independent problems.
///
/// # Errors
/// A [`StatsError`] when there is no task, or a value of a task is out of range.
pub fn likelihood_score(
    tasks: &[EffectiveTask],
    confidence: Confidence,
) -> Result<LikelihoodScore, StatsError> {
    if tasks.is_empty() {
        return Err(StatsError::Empty { name: "tasks" });
    }
    for task in tasks {
        validate(task)?;
    }
    let count = tasks.len() as f64;
    let estimate = tasks.iter().map(|task| task.estimate().clamp(FLOOR, 1.0).ln()).sum::<f64>() / count;
    let mut profiles: Vec<TaskProfile> = tasks.iter().map(TaskProfile::new).collect();
    let limit = confidence.z() * confidence.z();
    let top: f64 = profiles.iter().map(|profile| profile.maximum(0.0).0).sum();

    let high = end(&profiles, 1.0, top, limit);
    release_to_floor(&mut profiles, confidence)?;
    let low = end(&profiles, -1.0, top, limit);
    let scaled = |mean: f64| 1000.0 * mean.exp();
    Ok(LikelihoodScore {
        estimate: scaled(estimate),
        ci_low: scaled(low.min(estimate)),
        ci_high: scaled(high.max(estimate)),
        level: confidence.level(),
    })
}

fn validate(task: &EffectiveTask) -> Result<(), StatsError> {
    const PROPORTION: &str = "from 0 to 1";
    in_range("q", task.q, 0.0..=1.0 + 1e-9, PROPORTION)?;
    in_range("c", task.c, 0.0..=1.0 + 1e-9, PROPORTION)?;
    in_range("g", task.g, 0.0..=1.0 - f64::EPSILON, "from 0 to below 1")?;
    in_range("n", task.n, f64::MIN_POSITIVE..=f64::MAX, "above 0")?;
    non_negative("a", task.a)?;
    Ok(())
}

/// The log-likelihood of one task, maximal under constraints.
struct TaskProfile {
    correct: f64,
    incorrect: f64,
    truncated: f64,
    guess: f64,
    penalty: f64,
    /// Log-likelihood at the unconstrained maximum.
    maximum: f64,
    /// Log-likelihood at the best parameters with `s` at the floor.
    at_floor: f64,
}

impl TaskProfile {
    fn new(task: &EffectiveTask) -> Self {
        // Differences of proportions leave rounding errors, which are no trials.
        let count = |proportion: f64| Some(task.n * proportion).filter(|&count| count > 1e-9).unwrap_or(0.0);
        let mut profile = Self {
            correct: task.n * task.q,
            incorrect: count(task.c - task.q),
            truncated: count(1.0 - task.c),
            guess: task.g,
            penalty: task.a,
            maximum: 0.0,
            at_floor: 0.0,
        };
        let completed = profile.completed();
        let c = completed / (completed + profile.truncated);
        let accuracy = if completed > 0.0 { profile.correct / completed } else { 0.0 };
        let kappa = ((accuracy - task.g) / (1.0 - task.g)).clamp(0.0, 1.0);
        profile.maximum = profile.log_likelihood(c, kappa);
        profile.at_floor = if c * kappa <= FLOOR { profile.maximum } else { profile.best_at_floor() };
        profile
    }

    fn completed(&self) -> f64 {
        self.correct + self.incorrect
    }

    fn log_likelihood(&self, c: f64, kappa: f64) -> f64 {
        times_ln(self.completed(), c)
            + times_ln(self.truncated, 1.0 - c)
            + times_ln(self.correct, self.guess + (1.0 - self.guess) * kappa)
            + times_ln(self.incorrect, 1.0 - kappa)
    }

    /// The maximum over `c` with `c kappa` at the floor. It is concave in `c`: bisection on the derivative.
    fn best_at_floor(&self) -> f64 {
        let (mut low, mut high) = (FLOOR, 1.0);
        if self.truncated > 0.0 {
            for _ in 0..60 {
                let c = f64::midpoint(low, high);
                let slope = self.correct * self.guess / (c * self.guess + (1.0 - self.guess) * FLOOR)
                    + self.incorrect / (c - FLOOR)
                    - self.truncated / (1.0 - c);
                if slope > 0.0 { low = c } else { high = c }
            }
        }
        self.log_likelihood(high, (FLOOR / high).min(1.0))
    }

    /// Twice the log-likelihood that the floor costs.
    fn floor_deviance(&self) -> f64 {
        2.0 * (self.maximum - self.at_floor)
    }

    /// The penalized log-likelihood and `ln s` where the penalized log-likelihood plus `multiplier * ln s` is maximal.
    fn maximum(&self, multiplier: f64) -> (f64, f64) {
        let floor = FLOOR.ln();
        let pull = multiplier + self.penalty;
        let (completed, g) = (self.completed(), self.guess);
        if completed + pull > 0.0 {
            // `kappa` is the larger root of a quadratic.
            let square = (1.0 - g) * (completed + pull);
            let linear = self.correct * (1.0 - g) - self.incorrect * g + pull * (1.0 - 2.0 * g);
            let discriminant = linear * linear + 4.0 * square * pull * g;
            if discriminant >= 0.0 {
                let kappa = ((linear + discriminant.sqrt()) / (2.0 * square)).min(1.0);
                let c = (completed + pull) / (completed + self.truncated + pull);
                if kappa > 0.0 && c * kappa >= FLOOR {
                    let (value, ln_s) = (self.log_likelihood(c, kappa), (c * kappa).ln());
                    if value + pull * ln_s > self.at_floor + pull * floor {
                        return (value + self.penalty * ln_s, ln_s);
                    }
                }
            }
        }
        (self.at_floor + self.penalty * floor, floor)
    }
}

/// `count * ln(probability)`, 0 for an outcome that wasn't observed.
fn times_ln(count: f64, probability: f64) -> f64 {
    if count > 0.0 { count * probability.max(1e-300).ln() } else { 0.0 }
}

/// The end of the interval in the direction of `sign`, as a mean of `ln s`.
fn end(profiles: &[TaskProfile], sign: f64, top: f64, limit: f64) -> f64 {
    // Deviance and mean at a multiplier of `sign * exp(x)`.
    let at = |x: f64| {
        let multiplier = sign * x.exp();
        let (mut value, mut sum) = (0.0, 0.0);
        for profile in profiles {
            let (task_value, ln_s) = profile.maximum(multiplier);
            value += task_value;
            sum += ln_s;
        }
        (2.0 * (top - value), sum / profiles.len() as f64)
    };
    let (mut low, mut high) = (-9.0, 21.0);
    let (mut inside, mut outside) = (at(low), at(high));
    if outside.0 <= limit {
        return outside.1;
    }
    for _ in 0..60 {
        let x = f64::midpoint(low, high);
        let found = at(x);
        if found.0 <= limit {
            (low, inside) = (x, found);
        } else {
            (high, outside) = (x, found);
        }
    }
    // The mean jumps where a task leaves the floor; it is interpolated by the deviance.
    let proportion = ((limit - inside.0) / (outside.0 - inside.0).max(1e-12)).clamp(0.0, 1.0);
    inside.1 + (outside.1 - inside.1) * proportion
}

/// Whether a deviance of `tasks` tasks from the floor is compatible with all of them being there.
///
/// At a boundary the deviance of one task is zero or chi-square with 1 degree of freedom, half of the time each. So the sum
/// is a mixture of chi-squares with binomial weights.
fn is_at_floor(deviance: f64, tasks: usize, confidence: Confidence) -> Result<bool, StatsError> {
    let rejected = 1.0 - confidence.level();
    let deviance = deviance.max(0.0);
    // More degrees of freedom than in the mixture: most tasks are far from the floor and end here.
    if survival(deviance, tasks as u64)? <= rejected {
        return Ok(false);
    }
    let ln_factorial = |k: usize| libm::lgamma(k as f64 + 1.0);
    let ln_all = ln_factorial(tasks) - tasks as f64 * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for degrees in 1..=tasks {
        let weight = (ln_all - ln_factorial(degrees) - ln_factorial(tasks - degrees)).exp();
        if weight > 1e-20 {
            tail += weight * survival(deviance, degrees as u64)?;
        }
    }
    Ok(tail > rejected)
}

/// Lets the tasks that are jointly compatible with the floor be there at no cost, for the lower end.
///
/// The floor is a boundary of the parameter space, where the deviance isn't chi-square.
fn release_to_floor(profiles: &mut [TaskProfile], confidence: Confidence) -> Result<(), StatsError> {
    profiles.sort_by(|a, b| a.floor_deviance().total_cmp(&b.floor_deviance()));
    let (mut deviance, mut released) = (0.0, 0);
    for (index, profile) in profiles.iter().enumerate() {
        deviance += profile.floor_deviance();
        if is_at_floor(deviance, index + 1, confidence)? {
            released = index + 1;
        }
    }
    for profile in &mut profiles[..released] {
        profile.at_floor = profile.maximum(0.0).0 - profile.penalty * FLOOR.ln();
    }
    Ok(())
}
