//! A trial as the table of trials has it.

use datafusion::logical_expr::{Expr, ident};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PointsDb, QueryResult};
use crate::{PointsError, TRIAL_COLUMNS};

/// A trial as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of the table, which the documentation of the files explains")]
pub struct StoredTrial {
    pub eval_id: String,
    pub model: String,
    pub template: String,
    pub sampler: String,
    pub base_task: String,
    pub params: String,
    pub index: u64,
    pub repeat: u32,
    pub status: u8,
    pub guess: f64,
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
    pub reasoning_tokens: Option<u64>,
    pub latency_ms: u64,
    pub received_ms: i64,
    pub reasoning_chars: u64,
    pub answer_chars: u64,
    pub compressed_size: u64,
    pub finish: String,
    pub method: String,
    pub answer: Option<String>,
    pub target: String,
    pub cache_key: String,
    /// Microseconds until the last byte of the response, if they were recorded.
    pub latency_us: Option<u64>,
    /// The model's confidence in its answer, from 0 to 1, if it gave log-probabilities or stated it.
    pub prob_correct: Option<f64>,
}

impl StoredTrial {
    /// Reads a row of the table of trials, with all its columns in their order.
    fn from_row(row: Vec<Value>) -> Result<Self, PointsError> {
        let columns = TRIAL_COLUMNS.iter().map(|name| (*name).to_owned()).zip(row).collect();
        serde_json::from_value(Value::Object(columns))
            .map_err(|error| PointsError::Query(format!("a trial is damaged: {error}")))
    }
}

/// The trials that a query selects, a batch at a time.
#[derive(Debug)]
pub struct StoredTrials {
    pub(super) rows: QueryResult,
}

impl StoredTrials {
    /// The next trials; none when all have come.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<StoredTrial>>, PointsError> {
        let Some(rows) = self.rows.next().await? else { return Ok(None) };
        rows.into_iter().map(StoredTrial::from_row).collect::<Result<_, _>>().map(Some)
    }
}

impl PointsDb {
    /// The trials of which a condition holds, by coordinates, index and repeat.
    pub(super) async fn stored_trials(
        &self,
        condition: Expr,
        skip: usize,
        max: usize,
    ) -> Result<Vec<StoredTrial>, PointsError> {
        let order = ["params", "index", "repeat"].map(|name| ident(name).sort(true, false)).to_vec();
        let trials = self.session.table("trials").await?.filter(condition)?.sort(order)?;
        let stream = trials.limit(skip, Some(max))?.execute_stream().await?;
        let mut batches = StoredTrials { rows: QueryResult { stream } };
        let mut found = Vec::new();
        while let Some(trials) = batches.next().await? {
            found.extend(trials);
        }
        Ok(found)
    }
}
