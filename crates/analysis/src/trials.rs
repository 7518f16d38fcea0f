//! The selected trials, grouped by evaluation and task or by evaluation alone.

use std::str::FromStr;

use reasonscape_points::{EvalInfo, Measure, PointsDb, PointsError, TrialColumns};
use reasonscape_stats::Outcome;
use schemars::JsonSchema;
use serde::Serialize;

use super::query::PointQuery;
use super::totals::SuiteTotals;
use super::truncation::{is_known, truncation_is_known};

/// How trials are grouped into rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupBy {
    /// By evaluation, all tasks pooled.
    Eval,
    /// By evaluation and task.
    #[default]
    Task,
}

impl FromStr for GroupBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "eval" => Ok(Self::Eval),
            "task" => Ok(Self::Task),
            _ => Err(format!("unknown grouping `{name}`; expected `eval` or `task`")),
        }
    }
}

/// The group of a row: one evaluation on one task, or on all tasks.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrialGroupName {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The task; null if all tasks are pooled.
    pub base_task: Option<String>,
    /// The same as `base_task`.
    pub task: Option<String>,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
}

impl TrialGroupName {
    /// The name of the row in tables.
    pub fn title(&self) -> String {
        match &self.task {
            Some(task) => format!("{} on {task}", self.label),
            None => self.label.clone(),
        }
    }
}

/// The trials of one row, at least one.
#[derive(Debug)]
pub(super) struct TrialGroup {
    pub(super) name: TrialGroupName,
    pub(super) units: Vec<TrialColumns>,
}

impl TrialGroup {
    pub(super) fn n(&self) -> u64 {
        self.units.iter().map(|unit| unit.len() as u64).sum()
    }

    /// Completion tokens, outcome and guess probability of the trials with a token count.
    pub(super) fn with_tokens(&self) -> impl Iterator<Item = (u64, Outcome, f64)> {
        self.units.iter().flat_map(|unit| {
            let ends = unit.status.iter().zip(&unit.guess);
            let tokens = unit.measure(Measure::CompletionTokens);
            tokens.zip(ends).filter_map(|(tokens, (status, guess))| Some((tokens?, *status, *guess)))
        })
    }

    /// The problem of each of these trials; empty if every problem has one sample.
    pub(super) fn problems_with_tokens(&self) -> Vec<u64> {
        let mut problems = Vec::new();
        for (place, unit) in self.units.iter().enumerate() {
            let tokens = unit.measure(Measure::CompletionTokens).zip(&unit.problem);
            // Units are different tasks, whose problems may have equal parameters.
            problems.extend(tokens.filter_map(|(tokens, problem)| tokens.map(|_| problem ^ place as u64)));
        }
        problems
    }
}

/// Loads the selected trials, ordered by model, template, sampler and task. It is an error if no point matches; an
/// evaluation or task without trials has no group.
pub(super) async fn load_trial_groups(
    db: &PointsDb,
    query: &PointQuery,
    measures: &[Measure],
    by: GroupBy,
) -> Result<Vec<TrialGroup>, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let mut units = db.trial_columns(&query.filter, measures).await?;
    let mut rows = Vec::new();
    for eval in totals.evals {
        let of_eval: Vec<TrialColumns> =
            units.extract_if(.., |unit| unit.eval_id == eval.info.eval_id).collect();
        let row = |task: Option<String>, units: Vec<TrialColumns>| TrialGroup {
            name: TrialGroupName {
                eval: eval.info.clone(),
                label: eval.label.clone(),
                base_task: task.clone(),
                task,
                truncation_known: truncation_is_known(db, [&eval.info.eval_id]),
            },
            units,
        };
        match by {
            GroupBy::Task => {
                let tasks = of_eval.into_iter().map(|unit| row(Some(unit.base_task.clone()), vec![unit]));
                rows.extend(tasks);
            }
            GroupBy::Eval if of_eval.is_empty() => {}
            GroupBy::Eval => rows.push(row(None, of_eval)),
        }
    }
    Ok(rows)
}

/// Powers of two below the longest trial, and the longest trial itself, so that the token limit is the last one.
pub(super) fn powers_of_two(longest: u64) -> Vec<u64> {
    let longest = longest.max(1);
    let powers = (0..62).map(|power| 1 << power);
    powers.take_while(|end| *end < longest).chain([longest]).collect()
}
