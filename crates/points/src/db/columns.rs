//! Typed access to the columns of a query result.
//!
//! DataFusion may return text as `Utf8View` or a count as `UInt64`; readers convert once, so that callers get `&str` and
//! `i64`. A missing column or another type is a bug, and panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::DataFrame;
use futures_util::{FutureExt, StreamExt};
use reasonscape_stats::Outcome;
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::likelihood::PointSums;

use crate::error::panic_message;
use crate::schema::SUM_COLUMNS;
use crate::{Mean, PointsError, SamplingRule, TrialCounts, query_threads};

/// Runs a query and returns its rows as one batch.
pub(super) async fn collect_batch(frame: DataFrame) -> Result<RecordBatch, PointsError> {
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = AssertUnwindSafe(query_threads::collect(frame))
        .catch_unwind()
        .await
        .map_err(|panic| decoder_failure(&*panic))??;
    // The plan's schema and its batches may differ in nullability.
    let schema = batches.first().map_or(schema, RecordBatch::schema);
    Ok(concat_batches(&schema, &batches)?)
}

/// The next batch of a query.
pub(super) async fn next_batch(
    stream: &mut SendableRecordBatchStream,
) -> Option<Result<RecordBatch, PointsError>> {
    match AssertUnwindSafe(stream.next()).catch_unwind().await {
        Ok(batch) => batch.map(|batch| batch.map_err(PointsError::from)),
        Err(panic) => Some(Err(decoder_failure(&*panic))),
    }
}

/// The decoder has assertions that a damaged file without hashes can fail: they are errors.
fn decoder_failure(panic: &(dyn std::any::Any + Send)) -> PointsError {
    PointsError::Query(format!(
        "a file of trials is damaged ({}); `reasonscape verify` names it and its repair",
        panic_message(panic)
    ))
}

/// A column as the engine returned it.
pub(super) fn column(batch: &RecordBatch, name: &str) -> ArrayRef {
    Arc::clone(batch.column_by_name(name).expect("a column that was selected"))
}

/// A column of text.
pub(super) struct TextColumn(StringArray);

impl TextColumn {
    pub(super) fn new(batch: &RecordBatch, name: &str) -> Self {
        let text = cast(&column(batch, name), &DataType::Utf8).expect("a column of text");
        Self(text.as_string::<i32>().clone())
    }

    /// The text of a row, in a column without missing values.
    pub(super) fn value(&self, row: usize) -> &str {
        self.0.value(row)
    }

    /// The text of a row, if there is one.
    pub(super) fn optional(&self, row: usize) -> Option<&str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// The texts of all rows that have one.
    pub(super) fn present(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten()
    }
}

/// A column of lists of texts.
pub(super) struct TextListColumn(ListArray);

impl TextListColumn {
    pub(super) fn new(batch: &RecordBatch, name: &str) -> Self {
        Self(column(batch, name).as_list::<i32>().clone())
    }

    pub(super) fn value(&self, row: usize) -> Vec<String> {
        let items = cast(&self.0.value(row), &DataType::Utf8).expect("a list of texts");
        items.as_string::<i32>().iter().flatten().map(ToOwned::to_owned).collect()
    }
}

/// A column of integers.
pub(super) struct IntColumn(Int64Array);

impl IntColumn {
    pub(super) fn new(batch: &RecordBatch, name: &str) -> Self {
        let integers = cast(&column(batch, name), &DataType::Int64).expect("a column of integers");
        Self(integers.as_primitive::<Int64Type>().clone())
    }

    /// The integer of a row, in a column without missing values.
    pub(super) fn value(&self, row: usize) -> i64 {
        self.0.value(row)
    }

    /// The integer of a row, if there is one.
    pub(super) fn optional(&self, row: usize) -> Option<i64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    /// All integers of a column without missing values.
    pub(super) fn values(&self) -> &[i64] {
        self.0.values()
    }

    /// Appends all integers to a list, with `missing` where there is none.
    pub(super) fn append_to(&self, list: &mut Vec<i64>, missing: i64) {
        if self.0.null_count() == 0 {
            list.extend_from_slice(self.0.values());
        } else {
            list.extend(self.0.iter().map(|number| number.unwrap_or(missing)));
        }
    }
}

/// A column of real numbers without missing values.
pub(super) struct RealColumn(Float64Array);

impl RealColumn {
    pub(super) fn new(batch: &RecordBatch, name: &str) -> Self {
        Self(column(batch, name).as_primitive::<Float64Type>().clone())
    }

    pub(super) fn value(&self, row: usize) -> f64 {
        self.0.value(row)
    }

    pub(super) fn values(&self) -> &[f64] {
        self.0.values()
    }
}

/// The sums over problems of a batch of points, with the suite's weights and the rules by which trials count.
pub(super) struct SumColumns {
    problems: IntColumn,
    sums: [RealColumn; 6],
    weight: IntColumn,
    rule: TextColumn,
}

impl SumColumns {
    pub(super) fn new(batch: &RecordBatch) -> Self {
        Self {
            problems: IntColumn::new(batch, "problems"),
            sums: SUM_COLUMNS.map(|name| RealColumn::new(batch, name)),
            weight: IntColumn::new(batch, "weight"),
            rule: TextColumn::new(batch, "stop_rule"),
        }
    }

    /// The sums of a row; `None` if its file has none and there are no trials to compute them from.
    pub(super) fn sums(&self, row: usize) -> Option<PointSums> {
        let [q, c, gm, a, b, yy] = self.sums.each_ref().map(|column| column.value(row));
        let problems = self.problems.optional(row)?;
        Some(PointSums { problems: problems as f64, q, c, gm, a, b, yy })
    }

    pub(super) fn weight(&self, row: usize) -> Option<u64> {
        self.weight.optional(row).and_then(|weight| u64::try_from(weight).ok())
    }

    /// The rule of a row. One that can't be read is that of a newer program, and its trials count as if sampled by none.
    pub(super) fn rule(&self, row: usize) -> Option<SamplingRule> {
        self.rule.optional(row)?.parse().ok()
    }
}

/// A column of outcomes, stored as their codes.
pub(super) struct OutcomeColumn(IntColumn);

impl OutcomeColumn {
    pub(super) fn new(batch: &RecordBatch, name: &str) -> Self {
        Self(IntColumn::new(batch, name))
    }

    /// The outcome of a row; an error if its code is unknown, as in a damaged file.
    pub(super) fn value(&self, row: usize) -> Result<Outcome, PointsError> {
        outcome(self.0.value(row))
    }

    /// All outcomes; an error if a code is unknown, as in a damaged file.
    pub(super) fn values(&self) -> impl Iterator<Item = Result<Outcome, PointsError>> {
        self.0.values().iter().map(|code| outcome(*code))
    }
}

fn outcome(code: i64) -> Result<Outcome, PointsError> {
    Outcome::from_code(code)
        .ok_or_else(|| PointsError::Query(format!("{code} is not a status; expected 0, 1 or 2")))
}

/// The names of a point's counts, in the order in which they are summed and read back.
pub(super) const COUNT_COLUMNS: [&str; 12] = [
    "planned",
    "n",
    "n_e",
    "n_t",
    "prompt_tokens_sum",
    "prompt_tokens_n",
    "completion_tokens_sum",
    "completion_tokens_n",
    "reasoning_tokens_sum",
    "reasoning_tokens_n",
    "latency_ms_sum",
    "compressed_size_sum",
];

/// The counters of a batch of points or of sums of points.
pub(crate) struct CountColumns {
    rows: usize,
    numbers: Vec<ArrayRef>,
    g: ArrayRef,
}

impl CountColumns {
    pub(crate) fn new(batch: &RecordBatch) -> Result<Self, PointsError> {
        let numbers = COUNT_COLUMNS.iter().map(|name| cast(&column(batch, name), &DataType::Int64));
        Ok(Self {
            rows: batch.num_rows(),
            numbers: numbers.collect::<Result<_, _>>()?,
            g: cast(&column(batch, "g"), &DataType::Float64)?,
        })
    }

    /// All rows together.
    pub(crate) fn total(&self) -> TrialCounts {
        let mut total = TrialCounts::default();
        for row in 0..self.rows {
            total += self.row(row);
        }
        total
    }

    pub(super) fn row(&self, row: usize) -> TrialCounts {
        let number = |index: usize| {
            let column = self.numbers[index].as_primitive::<Int64Type>();
            if column.is_null(row) { 0 } else { column.value(row).max(0) as u64 }
        };
        let mean = |index| Mean { sum: number(index), n: number(index + 1) };
        let g = self.g.as_primitive::<Float64Type>();
        TrialCounts {
            planned: number(0),
            n: number(1),
            n_e: number(2),
            n_t: number(3),
            g: if g.is_null(row) { 0.0 } else { g.value(row) },
            prompt_tokens: mean(4),
            completion_tokens: mean(6),
            reasoning_tokens: mean(8),
            latency_ms: number(10),
            compressed_size: number(11),
            problems: ClusteredRate::default(),
        }
    }
}
