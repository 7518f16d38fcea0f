//! Finds single trials again by their numbers, for analyses that read columns of all trials without their identity.

use datafusion::logical_expr::{col, lit};

use super::PointsDb;
use super::columns::{IntColumn, TextColumn, collect_batch};
use crate::conditions::any_of;
use crate::{BoxFuture, Filter, PointsError};

/// The known properties of a trial to locate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialMatch<'a> {
    /// The evaluation.
    pub eval_id: &'a str,
    /// The task.
    pub base_task: &'a str,
    /// Tokens of the completion.
    pub completion_tokens: u64,
    /// Gzip-compressed size in bytes.
    pub compressed_size: u64,
}

/// The location of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialLocation {
    /// The parameters, as canonical JSON.
    pub params: String,
    /// Index of the problem at its point.
    pub index: u64,
    /// Which repeat of the same request.
    pub repeat: u32,
    /// The cache key of the prompt and reply, in hexadecimal digits.
    pub cache_key: String,
}

impl PointsDb {
    /// Locates one trial for each match; of several candidates, the first by parameters and index.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn locate_trials<'a>(
        &'a self,
        filter: &'a Filter,
        wanted: &'a [TrialMatch<'a>],
    ) -> BoxFuture<'a, Result<Vec<Option<TrialLocation>>, PointsError>> {
        Box::pin(async move {
            let number = |number: u64| lit(i64::try_from(number).unwrap_or(i64::MAX));
            let alike = |one: &TrialMatch<'_>| {
                col("eval_id")
                    .eq(lit(one.eval_id))
                    .and(col("base_task").eq(lit(one.base_task)))
                    .and(col("completion_tokens").eq(number(one.completion_tokens)))
                    .and(col("compressed_size").eq(number(one.compressed_size)))
            };
            let Some(condition) = any_of(wanted.iter().map(alike).collect()) else { return Ok(Vec::new()) };
            let columns = [
                "eval_id",
                "base_task",
                "completion_tokens",
                "compressed_size",
                "params",
                "index",
                "repeat",
                "cache_key",
            ];
            let rows = self.trials_of(filter).await?.filter(condition)?.select_columns(&columns)?;
            let batch = collect_batch(rows).await?;
            let [evals, tasks, params, keys] =
                ["eval_id", "base_task", "params", "cache_key"].map(|name| TextColumn::new(&batch, name));
            let [tokens, sizes, index, repeat] = ["completion_tokens", "compressed_size", "index", "repeat"]
                .map(|name| IntColumn::new(&batch, name));
            let location = |one: &TrialMatch<'_>| {
                let matches = |row: &usize| {
                    evals.value(*row) == one.eval_id
                        && tasks.value(*row) == one.base_task
                        && tokens.value(*row).cast_unsigned() == one.completion_tokens
                        && sizes.value(*row).cast_unsigned() == one.compressed_size
                };
                let order = |row: &usize| (params.value(*row), index.value(*row), repeat.value(*row));
                let row = (0..batch.num_rows()).filter(matches).min_by_key(order)?;
                Some(TrialLocation {
                    params: params.value(row).to_owned(),
                    index: index.value(row).cast_unsigned(),
                    repeat: repeat.value(row).cast_unsigned() as u32,
                    cache_key: keys.value(row).to_owned(),
                })
            };
            Ok(wanted.iter().map(location).collect())
        })
    }
}
