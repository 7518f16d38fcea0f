//! The values of single problems, for paired tests of many evaluations.

use std::collections::HashMap;

use datafusion::execution::SendableRecordBatchStream;
use futures_util::StreamExt;
use reasonscape_stats::Mode;

use super::PointsDb;
use super::columns::{IntColumn, OutcomeColumn, RealColumn, TextColumn};
use crate::query_threads::execute_stream;
use crate::sampling::{Sample, problem_values};
use crate::{BoxFuture, Filter, PointsError, SamplingRule};

/// The problems of a point that an evaluation has answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemValues {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// The parameters, as canonical JSON.
    pub params: String,
    /// Index and value of each problem that enters the ReasonScore, by index: the mean over its samples of 1 if correct,
    /// `-g/(1-g)` if incorrect and 0 if truncated, with `g` the probability of guessing correctly.
    pub values: Vec<(u64, f64)>,
}

/// The samples of a point, and which of them count.
struct PointSamples {
    eval_id: String,
    base_task: String,
    params: String,
    rule: Option<SamplingRule>,
    samples: Vec<Sample>,
}

impl PointsDb {
    /// The values of the problems of the points that a filter selects, sorted by point. Points without trials are left
    /// out.
    ///
    /// # Errors
    /// A [`PointsError`] if the trials can't be read.
    pub fn problem_values<'a>(
        &'a self,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Vec<ProblemValues>, PointsError>> {
        Box::pin(async move {
            let mut points: Vec<PointSamples> = self
                .query_points(filter, Mode::E_I.into())
                .await?
                .into_iter()
                .map(|point| PointSamples {
                    eval_id: point.eval_id,
                    base_task: point.base_task,
                    params: point.params,
                    rule: point.rule,
                    samples: Vec::new(),
                })
                .collect();
            let mut evals: Vec<String> =
                points.iter().map(|point| format!("'{}'", point.eval_id.replace('\'', "''"))).collect();
            evals.sort();
            evals.dedup();
            if evals.is_empty() {
                return Ok(Vec::new());
            }
            let trials = self
                .session
                .sql(&format!(
                    "SELECT eval_id, base_task, params, \"index\", repeat, status, guess FROM trials WHERE eval_id IN ({})",
                    evals.join(", ")
                ))
                .await?;
            collect_samples(execute_stream(trials).await?, &mut points).await?;
            let values = points.into_iter().filter(|point| !point.samples.is_empty()).map(|mut point| {
                let values = problem_values(&mut point.samples, point.rule);
                ProblemValues {
                    eval_id: point.eval_id,
                    base_task: point.base_task,
                    params: point.params,
                    values,
                }
            });
            Ok(values.collect())
        })
    }
}

/// Adds trials to their points. Trials of other points are ignored.
async fn collect_samples(
    mut trials: SendableRecordBatchStream,
    points: &mut [PointSamples],
) -> Result<(), PointsError> {
    let mut slots: HashMap<String, HashMap<String, HashMap<String, usize>>> = HashMap::new();
    for (slot, point) in points.iter().enumerate() {
        let of_eval = slots.entry(point.eval_id.clone()).or_default();
        of_eval.entry(point.base_task.clone()).or_default().insert(point.params.clone(), slot);
    }
    while let Some(batch) = trials.next().await {
        let batch = batch?;
        let [evals, tasks, params] =
            ["eval_id", "base_task", "params"].map(|name| TextColumn::new(&batch, name));
        let [index, repeat] = ["index", "repeat"].map(|name| IntColumn::new(&batch, name));
        let status = OutcomeColumn::new(&batch, "status");
        let guess = RealColumn::new(&batch, "guess");
        // The trials of a point are adjacent in their file, so most rows belong to the same point as the one before.
        let mut slot = None;
        for row in 0..batch.num_rows() {
            let key = |row: usize| (params.value(row), tasks.value(row), evals.value(row));
            if row == 0 || key(row) != key(row - 1) {
                let of_eval = slots.get(evals.value(row)).and_then(|tasks_of| tasks_of.get(tasks.value(row)));
                slot = of_eval.and_then(|points| points.get(params.value(row))).copied();
            }
            let Some(slot) = slot else { continue };
            points[slot].samples.push(Sample {
                // An imported index is a hash, stored with its sign bit.
                index: index.value(row) as u64,
                repeat: u32::try_from(repeat.value(row)).unwrap_or(u32::MAX),
                outcome: status.value(row)?,
                guess: guess.value(row),
            });
        }
    }
    Ok(())
}
