//! Trials to look at: a few at a time, found by the points that they are at.
//!
//! Whoever pages through trials knows from the counters how many there are at each point, and so which points a page
//! shows. Only their file is read, however many trials the study has.

use std::collections::{BTreeMap, BTreeSet};

use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::{Expr, col, ident, lit};
use reasonscape_core::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::columns::{IntColumn, TextColumn, collect_batch};
use super::{PointsDb, QueryResult};
use crate::{BoxFuture, Filter, PointsError, TRIAL_COLUMNS};

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
}

/// The points of one evaluation on one task.
#[derive(Debug, Clone, Copy)]
pub struct PointSet<'a> {
    /// The evaluation.
    pub eval_id: &'a str,
    /// The task.
    pub base_task: &'a str,
    /// The coordinates of each, as canonical JSON.
    pub params: &'a [&'a str],
}

impl PointSet<'_> {
    /// What holds of a trial at these points of which something else holds too.
    fn with(&self, condition: Option<Expr>) -> Expr {
        let params = self.params.iter().map(|params| lit(*params)).collect();
        let here = col("eval_id")
            .eq(lit(self.eval_id))
            .and(col("base_task").eq(lit(self.base_task)))
            .and(col("params").in_list(params, false));
        condition.into_iter().fold(here, Expr::and)
    }
}

/// A trial among those of its point and evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialNumber {
    /// Place of the test in the stream of its point.
    pub index: u64,
    /// Which repeat of the same request.
    pub repeat: u32,
}

/// A test, whoever is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestName<'a> {
    /// The task.
    pub base_task: &'a str,
    /// The coordinates, as canonical JSON.
    pub params: &'a str,
    /// Which of the tests there.
    pub number: TrialNumber,
}

/// What must hold of a trial, whatever its point.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialFilter {
    /// It ended in one of these ways; in any, if none is named.
    pub statuses: Vec<Outcome>,
    /// Its answer or its target has this in it, in capitals or not.
    pub text: Option<String>,
}

impl TrialFilter {
    fn expression(&self) -> Option<Expr> {
        let mut all = Vec::new();
        if !self.statuses.is_empty() {
            let codes = self.statuses.iter().map(|status| lit(i32::from(status.code()))).collect();
            all.push(col("status").in_list(codes, false));
        }
        if let Some(text) = &self.text {
            let pattern = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            let pattern = lit(format!("%{pattern}%"));
            all.push(col("answer").ilike(pattern.clone()).or(col("target").ilike(pattern)));
        }
        all.into_iter().reduce(Expr::and)
    }
}

/// How many trials are meant at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointTrialCount {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// The coordinates, as canonical JSON.
    pub params: String,
    /// How many.
    pub n: u64,
}

impl PointsDb {
    /// The trials at some points of one evaluation on one task: by coordinates, index and repeat, without the first
    /// `skip`, and at most so many.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trials_at<'a>(
        &'a self,
        points: PointSet<'a>,
        which: &'a TrialFilter,
        skip: usize,
        max: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredTrial>, PointsError>> {
        Box::pin(async move { self.read(points.with(which.expression()), skip, max).await })
    }

    /// Which trials there are at a point of one evaluation, in order. Nothing else of them is read.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trial_numbers<'a>(
        &'a self,
        points: PointSet<'a>,
        which: &'a TrialFilter,
    ) -> BoxFuture<'a, Result<Vec<TrialNumber>, PointsError>> {
        Box::pin(async move {
            let trials = self.session.table("trials").await?.filter(points.with(which.expression()))?;
            let batch = collect_batch(trials.select_columns(&["index", "repeat"])?).await?;
            let (index, repeat) = (IntColumn::new(&batch, "index"), IntColumn::new(&batch, "repeat"));
            let number = |row: usize| TrialNumber {
                index: index.value(row).cast_unsigned(),
                repeat: repeat.value(row).cast_unsigned() as u32,
            };
            let mut found: Vec<TrialNumber> = (0..batch.num_rows()).map(number).collect();
            found.sort_unstable();
            Ok(found)
        })
    }

    /// The trials of one evaluation on these tests, one for each; `None` where it has none.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trials_on<'a>(
        &'a self,
        eval_id: &'a str,
        tests: &'a [TestName<'a>],
    ) -> BoxFuture<'a, Result<Vec<Option<StoredTrial>>, PointsError>> {
        Box::pin(async move {
            let mut tasks: BTreeMap<&str, Vec<&TestName<'_>>> = BTreeMap::new();
            for test in tests {
                tasks.entry(test.base_task).or_default().push(test);
            }
            // Any of these numbers at any of these points: what is too much is less than what it would take to say exactly.
            let of_task = |(task, tests): (&str, Vec<&TestName<'_>>)| {
                let params: BTreeSet<&str> = tests.iter().map(|test| test.params).collect();
                let params: Vec<&str> = params.into_iter().collect();
                let numbers = tests.iter().filter_map(|test| i64::try_from(test.number.index).ok());
                let numbers: BTreeSet<i64> = numbers.collect();
                // Pages of a file are left out by the ends of what is wanted, not by a long list.
                let ends = numbers.first().zip(numbers.last());
                let between = ends.map(|(first, last)| ident("index").between(lit(*first), lit(*last)));
                let listed = ident("index").in_list(numbers.into_iter().map(lit).collect(), false);
                PointSet { eval_id, base_task: task, params: &params }
                    .with(Some(between.into_iter().fold(listed, Expr::and)))
            };
            let Some(condition) = tasks.into_iter().map(of_task).reduce(Expr::or) else {
                return Ok(Vec::new());
            };
            let found = self.read(condition, 0, usize::MAX >> 1).await?;
            let is = |trial: &StoredTrial, test: &TestName<'_>| {
                (trial.index, trial.repeat) == (test.number.index, test.number.repeat)
                    && trial.params == test.params
                    && trial.base_task == test.base_task
            };
            Ok(tests.iter().map(|test| found.iter().find(|trial| is(trial, test)).cloned()).collect())
        })
    }

    /// One trial.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn trial<'a>(
        &'a self,
        eval_id: &'a str,
        base_task: &'a str,
        params: &'a str,
        index: u64,
        repeat: u32,
    ) -> BoxFuture<'a, Result<Option<StoredTrial>, PointsError>> {
        Box::pin(async move {
            // Files hold signed numbers; what does not fit into them is nowhere.
            let (Ok(index), Ok(repeat)) = (i64::try_from(index), i32::try_from(repeat)) else {
                return Ok(None);
            };
            let is_meant = ident("index").eq(lit(index)).and(col("repeat").eq(lit(repeat)));
            let points = PointSet { eval_id, base_task, params: &[params] };
            Ok(self.read(points.with(Some(is_meant)), 0, 1).await?.pop())
        })
    }

    /// The trials of which a condition holds, by coordinates, index and repeat.
    async fn read(&self, condition: Expr, skip: usize, max: usize) -> Result<Vec<StoredTrial>, PointsError> {
        let order = ["params", "index", "repeat"].map(|name| ident(name).sort(true, false)).to_vec();
        let trials = self.session.table("trials").await?.filter(condition)?.sort(order)?;
        let stream = trials.limit(skip, Some(max))?.execute_stream().await?;
        let mut answer = QueryResult { stream };
        let mut found = Vec::new();
        while let Some(rows) = answer.next().await? {
            for row in rows {
                let named = TRIAL_COLUMNS.iter().map(|name| (*name).to_owned()).zip(row).collect();
                let trial = serde_json::from_value(Value::Object(named));
                found
                    .push(trial.map_err(|error| PointsError::Query(format!("a trial is damaged: {error}")))?);
            }
        }
        Ok(found)
    }

    /// How many trials are meant at each point that has any. Without a text the counters would tell; with one, all
    /// trials that the points allow are read.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn count_trials<'a>(
        &'a self,
        filter: &'a Filter,
        which: &'a TrialFilter,
    ) -> BoxFuture<'a, Result<Vec<PointTrialCount>, PointsError>> {
        Box::pin(async move {
            let mut trials = self.session.table("trials").await?;
            if let Some(condition) = which.expression() {
                trials = trials.filter(condition)?;
            }
            let identity = ["eval_id", "base_task", "params"];
            trials = self.at_points(trials, filter).await?;
            let by = identity.iter().map(|name| col(*name)).collect();
            let batch = collect_batch(trials.aggregate(by, vec![count_all().alias("n")])?).await?;
            let [eval_id, base_task, params] = identity.map(|name| TextColumn::new(&batch, name));
            let n = IntColumn::new(&batch, "n");
            Ok((0..batch.num_rows())
                .map(|row| PointTrialCount {
                    eval_id: eval_id.value(row).to_owned(),
                    base_task: base_task.value(row).to_owned(),
                    params: params.value(row).to_owned(),
                    n: n.value(row) as u64,
                })
                .collect())
        })
    }
}
