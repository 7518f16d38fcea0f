//! Pages of trials, found by their points.
//!
//! The counters tell how many trials each point has, and so which points are on a page. Only the files of these points
//! are read, however many trials the study has.

use datafusion::functions_aggregate::count::count_all;
use datafusion::logical_expr::{Expr, col, lit};
use reasonscape_core::Outcome;

use super::columns::{IntColumn, TextColumn, collect_batch};
use super::{PointsDb, StoredTrial};
use crate::{BoxFuture, Filter, PointsError};

/// The points of one evaluation on one task.
#[derive(Debug, Clone, Copy)]
pub struct PointSet<'a> {
    /// The evaluation.
    pub eval_id: &'a str,
    /// The task.
    pub base_task: &'a str,
    /// The parameters of each point, as canonical JSON.
    pub params: &'a [&'a str],
}

impl PointSet<'_> {
    /// The condition that a trial is at one of these points and matches another condition.
    pub(super) fn with(&self, condition: Option<Expr>) -> Expr {
        let params = self.params.iter().map(|params| lit(*params)).collect();
        let at_points = col("eval_id")
            .eq(lit(self.eval_id))
            .and(col("base_task").eq(lit(self.base_task)))
            .and(col("params").in_list(params, false));
        condition.into_iter().fold(at_points, Expr::and)
    }
}

/// Identifies a trial within its point and evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialNumber {
    /// Index of the problem at its point.
    pub index: u64,
    /// Which repeat of the same request.
    pub repeat: u32,
}

/// Selects trials by properties other than their point.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialFilter {
    /// One of these outcomes; any if empty.
    pub statuses: Vec<Outcome>,
    /// Text that the answer or the target contains, ignoring case.
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

/// The number of selected trials at a point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointTrialCount {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub base_task: String,
    /// The parameters, as canonical JSON.
    pub params: String,
    /// The number of trials.
    pub n: u64,
}

impl PointsDb {
    /// The trials at some points of one evaluation on one task, sorted by parameters, index and repeat, with offset and
    /// limit.
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
        Box::pin(async move { self.stored_trials(points.with(which.expression()), skip, max).await })
    }

    /// The indices and repeats of the trials at a point of one evaluation, sorted. Only these columns are read.
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

    /// The number of selected trials per point, without points that have none. Needed only for a text filter, which
    /// reads all trials at these points; other counts are in the counters.
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
