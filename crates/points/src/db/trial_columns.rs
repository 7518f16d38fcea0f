//! Outcomes and measures of trials as columns, for analyses that need more than counters.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use datafusion::arrow::array::RecordBatch;
use datafusion::logical_expr::{col, lit};
use datafusion::prelude::DataFrame;
use reasonscape_providers::Usage;
use reasonscape_stats::Mode;
use reasonscape_stats::Outcome;

use super::PointsDb;
use super::columns::{IntColumn, OutcomeColumn, RealColumn, TextColumn, next_batch};
use crate::query_threads::execute_stream;
use crate::{BoxFuture, Column, Filter, PointsError};

/// A numeric column of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Tokens of the completion, reasoning included, where the provider counted them.
    CompletionTokens,
    /// Tokens of the reasoning alone, where the provider counted them.
    ReasoningTokens,
    /// Characters of the reasoning.
    ReasoningChars,
    /// Characters of the reply without its reasoning.
    AnswerChars,
    /// Gzip-compressed size in bytes of the reasoning, or of the whole output if there is none.
    CompressedSize,
}

impl Measure {
    /// The largest value that is believed. Files of earlier versions have whatever an endpoint claimed.
    fn max_value(self) -> i64 {
        match self {
            Self::CompletionTokens | Self::ReasoningTokens => Usage::MAX_TOKENS as i64,
            Self::ReasoningChars | Self::AnswerChars | Self::CompressedSize => i64::MAX,
        }
    }

    fn column_name(self) -> &'static str {
        match self {
            Self::CompletionTokens => "completion_tokens",
            Self::ReasoningTokens => "reasoning_tokens",
            Self::ReasoningChars => "reasoning_chars",
            Self::AnswerChars => "answer_chars",
            Self::CompressedSize => "compressed_size",
        }
    }
}

/// The trials of one evaluation on one task as columns, in no particular order.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialColumns {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// The outcome of each trial.
    pub status: Vec<Outcome>,
    /// Probability that a random guess is correct.
    pub guess: Vec<f64>,
    /// A number that samples of one problem share; empty if every problem has one sample.
    pub problem: Vec<u64>,
    /// Negative where the value is missing; half the size of an `Option`.
    measures: Vec<(Measure, Vec<i64>)>,
}

impl TrialColumns {
    /// Number of trials.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.status.len()
    }

    /// The values of this measure.
    ///
    /// # Panics
    /// If the measure was not passed to [`PointsDb::trial_columns`].
    pub fn measure(&self, measure: Measure) -> impl Iterator<Item = Option<u64>> {
        let found = self.measures.iter().find(|(kind, _)| *kind == measure);
        let (_, numbers) = found.expect("a measure that was selected");
        numbers.iter().map(|number| u64::try_from(*number).ok())
    }

    fn new(eval_id: &str, base_task: &str, measures: &[Measure]) -> Self {
        Self {
            eval_id: eval_id.to_owned(),
            base_task: base_task.to_owned(),
            status: Vec::new(),
            guess: Vec::new(),
            problem: Vec::new(),
            measures: measures.iter().map(|measure| (*measure, Vec::new())).collect(),
        }
    }

    /// Appends rows of a batch, which all belong to this evaluation and task.
    fn extend(&mut self, batch: &RecordBatch) -> Result<(), PointsError> {
        for outcome in OutcomeColumn::new(batch, "status").values() {
            self.status.push(outcome?);
        }
        self.guess.extend_from_slice(RealColumn::new(batch, "guess").values());
        if batch.column_by_name("params").is_some() {
            let (params, index) = (TextColumn::new(batch, "params"), IntColumn::new(batch, "index"));
            self.problem.extend((0..batch.num_rows()).map(|row| {
                let mut hasher = DefaultHasher::new();
                (params.value(row), index.value(row)).hash(&mut hasher);
                hasher.finish()
            }));
        }
        for (measure, values) in &mut self.measures {
            let start = values.len();
            IntColumn::new(batch, measure.column_name()).append_to(values, -1);
            for value in values[start..].iter_mut().filter(|value| **value > measure.max_value()) {
                *value = -1;
            }
        }
        Ok(())
    }
}

impl PointsDb {
    /// Outcomes and the given measures of the trials that a filter selects, by evaluation and task.
    ///
    /// Only the needed columns are read. Evaluations and tasks without trials are omitted.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trial_columns<'a>(
        &'a self,
        filter: &'a Filter,
        measures: &'a [Measure],
    ) -> BoxFuture<'a, Result<Vec<TrialColumns>, PointsError>> {
        Box::pin(async move {
            let mut columns = vec!["eval_id", "base_task", "status", "guess"];
            columns.extend(measures.iter().map(|measure| measure.column_name()));
            if self.max_samples(filter).await? > 1 {
                columns.extend(["params", "index"]);
            }
            let trials = self.trials_of(filter).await?.select_columns(&columns)?;
            let mut batches = execute_stream(trials).await?;
            let mut found: BTreeMap<(String, String), TrialColumns> = BTreeMap::new();
            while let Some(batch) = next_batch(&mut batches).await {
                let batch = batch?;
                let [evals, tasks] = ["eval_id", "base_task"].map(|name| TextColumn::new(&batch, name));
                // A file holds one evaluation and one task, so rows that belong together are mostly adjacent.
                let mut start = 0;
                while start < batch.num_rows() {
                    let (eval, task) = (evals.value(start), tasks.value(start));
                    let is_other = |row: &usize| evals.value(*row) != eval || tasks.value(*row) != task;
                    let end = (start + 1..batch.num_rows()).find(is_other).unwrap_or(batch.num_rows());
                    let unit = found
                        .entry((eval.to_owned(), task.to_owned()))
                        .or_insert_with(|| TrialColumns::new(eval, task, measures));
                    unit.extend(&batch.slice(start, end - start))?;
                    start = end;
                }
            }
            Ok(found.into_values().collect())
        })
    }

    /// The trials at the points that a filter selects.
    pub(super) async fn trials_of(&self, filter: &Filter) -> Result<DataFrame, PointsError> {
        let trials = self.session.table("trials").await?;
        if filter.expression(false).is_none() {
            return Ok(trials);
        }
        let unit = [Column::EvalId, Column::BaseTask];
        let selected = self.aggregate(&unit, filter, Mode::C_P.into()).await?;
        let all = self.aggregate(&unit, &Filter::default(), Mode::C_P.into()).await?;
        let [evals, tasks] = [0, 1].map(|index| {
            let values = selected.iter().map(|group| group.key[index].to_string());
            values.collect::<BTreeSet<String>>()
        });
        // The filter selects whole units: every selected evaluation on every selected task, with all points.
        let are_complete = selected.len() == evals.len() * tasks.len()
            && selected
                .iter()
                .all(|group| all.iter().any(|every| every.key == group.key && every.points == group.points));
        // Rows that these conditions exclude are not decoded, and most of them not even read.
        let one_of = |name: &str, values: BTreeSet<String>| {
            col(name).in_list(values.into_iter().map(lit).collect(), false)
        };
        let trials = trials.filter(one_of("eval_id", evals).and(one_of("base_task", tasks)))?;
        if are_complete {
            return Ok(trials);
        }
        self.at_points(trials, filter).await
    }
}
