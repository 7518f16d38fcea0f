//! The sources of the variance of accuracy: different problems, or different samples of the same problem.

use std::collections::BTreeMap;

use reasonscape_metrics::{majority_vote, pass_estimates};
use reasonscape_points::{PointsDb, PointsError, ProblemSamples, UnitProblems};
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::mean::Moments;
use reasonscape_stats::repeats::{ProblemMean, VarianceSplit, VarianceSums};
use reasonscape_stats::{Confidence, StatsError};
use schemars::JsonSchema;
use serde::Serialize;

use super::query::PointQuery;
use super::totals::SuiteTotals;
use super::trials::{GroupBy, TrialGroupName};
use super::truncation::truncation_is_known;
use super::{IntervalEstimate, estimate_text};

/// Parts of the problems that are left out in turn to estimate the error of the split.
const JACKKNIFE_PARTS: usize = 20;
/// From this proportion on, most of the variance is due to one of the two.
const MOST: f64 = 2.0 / 3.0;

/// The problems of each point.
type Points = Vec<Vec<ProblemSamples>>;

/// Options of the analysis.
#[derive(Debug, Clone, Copy)]
pub struct VarianceOptions {
    /// How trials are grouped into rows.
    pub by: GroupBy,
    /// The level of confidence intervals.
    pub confidence: Confidence,
}

/// One evaluation on one task, or on all of them together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct VarianceRow {
    /// What the row is about.
    #[serde(flatten)]
    pub group: TrialGroupName,
    /// Trials.
    pub n: u64,
    /// Problems.
    pub problems: u64,
    /// Largest number of samples of a problem.
    pub samples: u64,
    /// The proportion of correct trials; the interval counts the samples of one problem as one cluster.
    pub accuracy: IntervalEstimate,
    /// The sources of the variance; null without a problem with several samples.
    pub split: Option<VarianceParts>,
    /// pass@k and pass^k, for powers of two and the largest number of samples.
    pub pass: Vec<PassRow>,
    /// The proportion of problems whose most common answer is correct (maj@k), over problems with several samples.
    pub majority: Option<IntervalEstimate>,
    /// The result as a sentence.
    pub finding: String,
}

/// The variance of one trial's outcome around the mean of its point, as a sum of two parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct VarianceParts {
    /// Variance between problems: some are harder.
    pub problems: f64,
    /// Variance between samples of one problem.
    pub sampling: f64,
    /// The proportion of the variance that is due to problems.
    pub problem_proportion: f64,
    /// Lower end of its confidence interval; null with fewer than three problems.
    pub problem_proportion_low: Option<f64>,
    /// Upper end of its confidence interval.
    pub problem_proportion_high: Option<f64>,
    /// The standard error of the accuracy with these problems and samples.
    pub standard_error: f64,
    /// The standard error with twice as many problems.
    pub standard_error_twice_problems: f64,
    /// The standard error with twice as many samples of the same problems, at the same price.
    pub standard_error_twice_samples: f64,
}

/// pass@k and pass^k for one `k`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PassRow {
    /// The number of samples.
    pub k: u64,
    /// Problems with at least `k` samples.
    pub problems: u64,
    /// The probability that at least one of `k` samples is correct.
    pub pass_at_k: IntervalEstimate,
    /// The probability that all of `k` samples are correct.
    pub pass_hat_k: IntervalEstimate,
}

/// Splits the variance of the selected trials into problems and sampling.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn variance(
    db: &PointsDb,
    query: &PointQuery,
    options: VarianceOptions,
) -> Result<Vec<VarianceRow>, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let mut units: BTreeMap<(String, String), UnitProblems> = BTreeMap::new();
    if db.max_samples(&query.filter).await? > 1 {
        for unit in db.problem_samples(&query.filter).await? {
            units.insert((unit.eval_id.clone(), unit.base_task.clone()), unit);
        }
    }
    let mut rows = Vec::new();
    for eval in &totals.evals {
        let name = |task: Option<&String>| TrialGroupName {
            eval: eval.info.clone(),
            label: eval.label.clone(),
            base_task: task.cloned(),
            task: task.cloned(),
            truncation_known: truncation_is_known(db, [&eval.info.eval_id]),
        };
        let mut of_eval: Vec<(&String, [u64; 2], Points)> = Vec::new();
        for (task, total) in eval.with_trials() {
            let unit = units.remove(&(eval.info.eval_id.clone(), task.clone()));
            let counts = [total.counts.n, total.counts.n_e];
            of_eval.push((task, counts, unit.map(|unit| unit.points).unwrap_or_default()));
        }
        match options.by {
            GroupBy::Task => {
                for (task, counts, points) in &of_eval {
                    rows.push(row(name(Some(task)), *counts, points, options.confidence)?);
                }
            }
            GroupBy::Eval if of_eval.is_empty() => {}
            GroupBy::Eval => {
                let sum = |index: usize| of_eval.iter().map(|(_, counts, _)| counts[index]).sum();
                let counts = [sum(0), sum(1)];
                let points: Points = of_eval.into_iter().flat_map(|(_, _, points)| points).collect();
                rows.push(row(name(None), counts, &points, options.confidence)?);
            }
        }
    }
    Ok(rows)
}

/// One row; without samples of each problem, there is one trial per problem.
fn row(
    group: TrialGroupName,
    [n, n_e]: [u64; 2],
    points: &[Vec<ProblemSamples>],
    confidence: Confidence,
) -> Result<VarianceRow, PointsError> {
    let counts: Vec<Vec<(u64, u64)>> =
        points.iter().map(|problems| problems.iter().map(ProblemSamples::counts).collect()).collect();
    let all: Vec<(u64, u64)> = counts.iter().flatten().copied().collect();
    let mut accuracy = ClusteredRate::default();
    for (samples, correct) in &all {
        accuracy.add(*samples, *correct)?;
    }
    if all.is_empty() {
        for index in 0..n {
            accuracy.add(1, u64::from(index < n_e))?;
        }
    }
    let samples = all.iter().map(|(samples, _)| *samples).max().unwrap_or(u64::from(n > 0));
    let pass = if samples > 1 { pass_estimates(&all, confidence)? } else { Vec::new() };
    let mut majority = ProblemMean::default();
    for problem in points.iter().flatten().filter(|problem| problem.outcomes.len() > 1) {
        let answers: Vec<(u64, bool)> = problem.answers.values().copied().collect();
        if let Some(correct) = majority_vote(&answers) {
            majority.add(correct)?;
        }
    }
    let mut row = VarianceRow {
        group,
        n,
        problems: accuracy.clusters(),
        samples,
        accuracy: accuracy.interval(confidence).into(),
        split: split(&counts, confidence)?,
        pass: pass
            .iter()
            .map(|one| PassRow {
                k: one.k,
                problems: one.problems,
                pass_at_k: one.pass_at_k.into(),
                pass_hat_k: one.pass_hat_k.into(),
            })
            .collect(),
        majority: (majority.problems() > 0).then(|| majority.interval(confidence).into()),
        finding: String::new(),
    };
    row.finding = row.summary();
    Ok(row)
}

/// The split with its error: of the problems of every point, parts are left out in turn (a grouped jackknife).
fn split(points: &[Vec<(u64, u64)>], confidence: Confidence) -> Result<Option<VarianceParts>, StatsError> {
    let total: u64 = points.iter().map(|problems| problems.len() as u64).sum();
    let trials: u64 = points.iter().flatten().map(|(samples, _)| *samples).sum();
    let without = |left_out: Option<(usize, usize)>| -> Result<Option<VarianceSplit>, StatsError> {
        let mut sums = VarianceSums::default();
        let mut index = 0;
        for problems in points {
            let mut kept = Vec::with_capacity(problems.len());
            for problem in problems {
                if left_out.is_none_or(|(part, parts)| index % parts != part) {
                    kept.push(*problem);
                }
                index += 1;
            }
            sums.add_point(&kept)?;
        }
        Ok(sums.split())
    };
    let Some(found) = without(None)? else { return Ok(None) };
    let parts = JACKKNIFE_PARTS.min(total as usize);
    let mut moments = Moments::default();
    for part in 0..parts {
        if let Some(split) = without(Some((part, parts)))? {
            // Tukey's pseudo-values: their mean has the jackknife's error.
            let [whole, rest] = [found.problem_proportion(), split.problem_proportion()];
            moments.add(parts as f64 * whole - (parts as f64 - 1.0) * rest)?;
        }
    }
    let reach = moments
        .interval(confidence)
        .filter(|_| moments.n() == parts as u64 && parts > 2)
        .map(|bounds| (bounds.high - bounds.low) / 2.0);
    let proportion = found.problem_proportion();
    // Samples per problem, which need not be the same for all.
    let samples = trials as f64 / total as f64;
    let error = |problems: f64, samples: f64| ((found.problems + found.sampling / samples) / problems).sqrt();
    let problems = total as f64;
    Ok(Some(VarianceParts {
        problems: found.problems,
        sampling: found.sampling,
        problem_proportion: proportion,
        problem_proportion_low: reach.map(|reach| (proportion - reach).max(0.0)),
        problem_proportion_high: reach.map(|reach| (proportion + reach).min(1.0)),
        standard_error: error(problems, samples),
        standard_error_twice_problems: error(2.0 * problems, samples),
        standard_error_twice_samples: error(problems, 2.0 * samples),
    }))
}

impl VarianceParts {
    /// The proportion due to problems with its confidence interval.
    pub fn proportion_text(&self) -> String {
        match (self.problem_proportion_low, self.problem_proportion_high) {
            (Some(low), Some(high)) => estimate_text(self.problem_proportion, low, high, 2),
            _ => format!("{:.2}", self.problem_proportion),
        }
    }
}

impl VarianceRow {
    fn summary(&self) -> String {
        let Some(split) = &self.split else {
            return if self.samples <= 1 {
                "cannot tell: one sample per problem; set `repeats` in study.toml to sample each problem several times"
                    .to_owned()
            } else {
                "cannot tell: no point has several problems".to_owned()
            };
        };
        if split.problems + split.sampling == 0.0 {
            return "no variance: all trials have the same outcome".to_owned();
        }
        let advice = if split.problem_proportion >= MOST {
            "most of the variance is between problems: buy more problems, more samples of the same ones hardly help"
        } else if split.problem_proportion > 1.0 - MOST {
            "problems and sampling both contribute: more problems help more than more samples of the same ones"
        } else {
            "most of the variance is between samples: more samples of the same problems help almost as much as more problems"
        };
        format!(
            "{advice}; {:.0} % is due to problems, and the standard error of {:.4} would be {:.4} with twice the problems and \
             {:.4} with twice the samples",
            100.0 * split.problem_proportion,
            split.standard_error,
            split.standard_error_twice_problems,
            split.standard_error_twice_samples
        )
    }
}
