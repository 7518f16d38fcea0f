//! Consistency metrics over several answers of one model to the same task.

use reasonscape_stats::entropy::Entropy;
use reasonscape_stats::repeats::{VarianceSplit, VarianceSums};
use reasonscape_stats::{Confidence, StatsError};

use super::estimate::{Estimate, Groups};
use super::passes::{PassEstimate, pass_estimates};
use super::summary::{EstimateDetail, Summary};

/// Metrics over tasks with more than one answer; tasks with a single answer are ignored.
#[derive(Debug)]
pub(super) struct Repeats {
    /// Maximum number of answers per task.
    pub(super) max: u64,
    pub(super) sce: Estimate,
    pub(super) mode_accuracy: Estimate,
    pub(super) stability: Estimate,
    pub(super) determinism: Estimate,
    /// pass@k and pass^k, where no evaluations are pooled.
    pub(super) passes: Vec<PassEstimate>,
    /// The variance of accuracy between problems and between samples.
    pub(super) variance: Option<VarianceSplit>,
}

/// Whether the most common answer to a problem is correct (majority vote, maj@k); with ties, the proportion of the most
/// common answers that are. Each answer is given with how often it occurred and whether it is correct.
///
/// ```
/// use reasonscape_metrics::majority_vote;
///
/// assert_eq!(majority_vote(&[(3, true), (1, false)]), Some(1.0));
/// assert_eq!(majority_vote(&[(2, true), (2, false)]), Some(0.5));
/// ```
pub fn majority_vote(answers: &[(u64, bool)]) -> Option<f64> {
    let max = answers.iter().map(|(count, _)| *count).max()?;
    let modes = answers.iter().filter(|(count, _)| *count == max);
    let correct = modes.clone().filter(|(_, correct)| *correct).count();
    Some(correct as f64 / modes.count() as f64)
}

/// One task with several answers.
#[derive(Debug, Clone, Copy)]
struct Repeated {
    /// Entropy of its answers.
    sce: f64,
    /// Whether its most common answer is correct; with ties, the proportion of them that is.
    mode_correct: f64,
    /// Proportion of its answers that equal the most common one.
    stability: f64,
    /// Whether all its answers are equal; `None` unless all were sampled at temperature 0.
    same: Option<bool>,
}

/// Computes consistency metrics. `series` are the answers of one evaluation to one task; where a summary pools several
/// evaluations, those to the same task are one cluster.
pub(super) fn repeats(
    summary: &Summary,
    tasks: &Groups,
    series: &Groups,
    answers: &Groups,
) -> Result<Repeats, StatsError> {
    /// A missing answer counts as a distinct answer: a model that sometimes gives none is not stable.
    const NO_ANSWER: u32 = u32::MAX;

    let sizes = series.sizes();
    let repeats = sizes.iter().max().copied().unwrap_or(u32::from(!summary.is_empty()));
    let mut rows: Vec<(u32, u32, bool, bool)> = Vec::new();
    for (index, row) in summary.rows().enumerate().filter(|_| repeats > 1) {
        let task = series.first(index);
        if sizes[task] > 1 {
            let answer = if row.has_answer() { answers.first(index) as u32 } else { NO_ANSWER };
            rows.push((task as u32, answer, row.correct(), row.at_zero()));
        }
    }
    rows.sort_unstable();
    let mut repeated = Vec::new();
    let mut clusters: Vec<[u64; 2]> = Vec::new();
    let mut samples: Vec<(u64, u64)> = Vec::new();
    for task in rows.chunk_by(|one, other| one.0 == other.0) {
        let given: Vec<(u64, bool)> = task
            .chunk_by(|one, other| one.1 == other.1)
            .map(|same| (same.len() as u64, same.iter().any(|row| row.2)))
            .collect();
        let max = given.iter().map(|(count, _)| *count).max().expect("a task has answers");
        samples.push((task.len() as u64, task.iter().filter(|row| row.2).count() as u64));
        clusters.push([tasks.first(task[0].0 as usize) as u64, 0]);
        repeated.push(Repeated {
            sce: Entropy::from_counts(given.iter().map(|(count, _)| *count)).map_or(0.0, |found| found.nats),
            mode_correct: majority_vote(&given).unwrap_or(0.0),
            stability: max as f64 / task.len() as f64,
            same: task.iter().all(|row| row.3).then_some(given.len() == 1),
        });
    }

    let each = Groups::new(repeated.len(), &clusters.iter().copied());
    let mean = |of: fn(&Repeated) -> f64, max: f64| {
        let (value, detail) = each.mean(repeated.iter().map(|task| Some(of(task))))?;
        Ok::<Estimate, StatsError>((value, detail.within(0.0, max)))
    };
    // Where evaluations are pooled, samples of several of them are one cluster and not samples of each other.
    let passes = if each.are_single() { pass_estimates(&samples, Confidence::P95)? } else { Vec::new() };
    let mut sums = VarianceSums::default();
    if each.are_single() {
        sums.add_point(&samples)?;
    }
    let (same, mut detail) = each.rate(repeated.iter().map(|task| task.same.map(Into::into)))?;
    if same.is_none() {
        detail = EstimateDetail::without(
            0,
            detail.method,
            "no task is known to have been answered at temperature 0",
        );
    }
    Ok(Repeats {
        max: u64::from(repeats),
        sce: mean(|task| task.sce, f64::INFINITY)?,
        mode_accuracy: each.proportion(repeated.iter().map(|task| Some(task.mode_correct)))?,
        stability: mean(|task| task.stability, 1.0)?,
        determinism: (same, detail),
        passes,
        variance: sums.split(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{MetricOptions, MetricsSummary, SampleRecord, measure};
    use super::*;

    fn summarize(rows: &[(&str, u32, Option<&str>, f64)]) -> MetricsSummary {
        let targets = ["right".into()];
        let mut summary = Summary::default();
        for (id, repeat, answer, temperature) in rows {
            let row = SampleRecord {
                id,
                repeat: *repeat,
                answer: *answer,
                targets: &targets,
                temperature: Some(*temperature),
                ..SampleRecord::default()
            };
            summary.add(&measure(&row, &MetricOptions::default()));
        }
        summary.finish(10).unwrap()
    }

    #[test]
    fn repeated_tasks_are_measured_per_task() {
        let found = summarize(&[
            ("a", 0, Some("right"), 0.0),
            ("a", 1, Some("RIGHT "), 0.0),
            ("b", 0, Some("wrong"), 0.0),
            ("b", 1, Some("right"), 0.0),
            ("c", 0, Some("right"), 0.0),
            ("d", 0, None, 0.7),
            ("d", 1, None, 0.7),
        ]);
        assert_eq!((found.repeats, found.tasks, found.n), (2, 4, 7));
        // One of b's two most common answers is correct; d has none; c has one sample.
        assert_eq!(found.mode_accuracy, Some(0.5));
        assert_eq!(found.stability, Some((1.0 + 0.5 + 1.0) / 3.0));
        assert!((found.sce_per_task_mean.unwrap() - 2.0_f64.ln() / 3.0).abs() < 1e-15);
        assert_eq!(found.determinism_index, Some(0.5));
        assert_eq!(found.details["determinism_index"].n, 2);
        assert_eq!(found.details["stability"].n, 3);
    }

    #[test]
    fn only_answers_of_one_evaluation_are_samples_of_each_other() {
        let targets = ["right".into()];
        let mut summary = Summary::default();
        for (eval_id, repeat, answer) in
            [("a", 0, "right"), ("a", 1, "right"), ("b", 0, "wrong"), ("b", 1, "wrong"), ("c", 0, "other")]
        {
            let row = SampleRecord {
                id: "q",
                repeat,
                answer: Some(answer),
                targets: &targets,
                eval_id: Some(eval_id),
                ..SampleRecord::default()
            };
            summary.add(&measure(&row, &MetricOptions::default()));
        }
        assert!(summary.duplicates().is_empty());
        let found = summary.finish(10).unwrap();
        assert_eq!((found.n, found.tasks, found.repeats), (5, 1, 2));
        assert_eq!((found.stability, found.mode_accuracy), (Some(1.0), Some(0.5)));
        // Two evaluations of one problem are one cluster, which has no spread.
        assert_eq!((found.details["mode_accuracy"].n, found.details["mode_accuracy"].low), (2, None));
    }

    #[test]
    fn tasks_without_repeats_give_no_consistency() {
        let found = summarize(&[("a", 0, Some("right"), 0.0), ("b", 0, Some("x"), 0.0)]);
        assert_eq!((found.repeats, found.stability, found.determinism_index), (1, None, None));
        assert!(!found.details.contains_key("stability"));
        let warm = summarize(&[("a", 0, Some("right"), 0.7), ("a", 1, Some("x"), 0.7)]);
        assert_eq!((warm.stability, warm.determinism_index), (Some(0.5), None));
        assert!(warm.details["determinism_index"].reason.is_some());
    }
}
