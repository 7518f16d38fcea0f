//! A row of the `trials` table.

use datafusion::logical_expr::{Expr, ident};
use reasonscape_core::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{PointsDb, QueryResult};
use crate::query_threads::execute_stream;
use crate::{PointsError, TRIAL_COLUMNS};

/// A stored trial. JSON has the parameters as an object and the name of the status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredTrial {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The model.
    pub model: String,
    /// The prompt template.
    pub template: String,
    /// The sampling parameters.
    pub sampler: String,
    /// The task.
    pub base_task: String,
    /// The parameters.
    #[serde(serialize_with = "serialize_params")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub params: String,
    /// The index of the problem at its point.
    pub index: u64,
    /// The number of the sample.
    pub repeat: u32,
    /// The outcome.
    #[serde(serialize_with = "serialize_status")]
    #[schemars(with = "String", extend("enum" = ["correct", "incorrect", "truncated", "unknown"]))]
    pub status: u8,
    /// The chance that a blind guess is correct.
    pub guess: f64,
    /// Tokens of the prompt, if the provider counted them.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the completion, including the reasoning, if the provider counted them.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning, if the provider counted them.
    pub reasoning_tokens: Option<u64>,
    /// Milliseconds until the last byte of the response.
    pub latency_ms: u64,
    /// When the response arrived, in milliseconds since 1970.
    pub received_ms: i64,
    /// Code points of the reasoning.
    pub reasoning_chars: u64,
    /// Code points of the response without the reasoning.
    pub answer_chars: u64,
    /// Bytes of the reasoning after gzip, or of the whole response if there is no reasoning.
    pub compressed_size: u64,
    /// Why the model stopped: `stop`, `length`, the provider's own word, or `unknown`.
    pub finish: String,
    /// How the answer was extracted.
    pub method: String,
    /// The extracted answer.
    pub answer: Option<String>,
    /// The correct answer.
    pub target: String,
    /// The key of the response in the cache.
    pub cache_key: String,
    /// Microseconds until the last byte of the response, if they were recorded.
    pub latency_us: Option<u64>,
    /// The model's confidence in its answer, from 0 to 1, if it gave log-probabilities or stated it.
    pub prob_correct: Option<f64>,
}

fn serialize_params<S: Serializer>(params: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::from_str::<Value>(params).unwrap_or(Value::Null).serialize(serializer)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn serialize_status<S: Serializer>(code: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status_name(*code))
}

fn status_name(code: u8) -> &'static str {
    let known = [Outcome::Incorrect, Outcome::Correct, Outcome::Truncated];
    known.into_iter().find(|status| status.code() == code).map_or("unknown", Outcome::name)
}

impl StoredTrial {
    /// The name of the outcome.
    pub fn status_name(&self) -> &'static str {
        status_name(self.status)
    }

    /// Reads a row of the `trials` table with all its columns in schema order.
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
    /// The next trials, or `None` at the end.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<StoredTrial>>, PointsError> {
        let Some(rows) = self.rows.next().await? else { return Ok(None) };
        rows.into_iter().map(StoredTrial::from_row).collect::<Result<_, _>>().map(Some)
    }
}

impl PointsDb {
    /// The trials that match a condition, sorted by parameters, index and repeat.
    pub(super) async fn stored_trials(
        &self,
        condition: Expr,
        skip: usize,
        max: usize,
    ) -> Result<Vec<StoredTrial>, PointsError> {
        let order = ["params", "index", "repeat"].map(|name| ident(name).sort(true, false)).to_vec();
        let trials = self.session.table("trials").await?.filter(condition)?.sort(order)?;
        let stream = execute_stream(trials.limit(skip, Some(max))?).await?;
        let mut batches = StoredTrials { rows: QueryResult::new(stream) };
        let mut found = Vec::new();
        while let Some(trials) = batches.next().await? {
            found.extend(trials);
        }
        Ok(found)
    }
}
