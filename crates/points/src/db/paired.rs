//! Pairs the trials of two evaluations on the same problems.

use std::collections::BTreeMap;

use datafusion::common::JoinType;
use datafusion::functions_aggregate::average::avg;
use datafusion::logical_expr::{col, lit, when};
use datafusion::prelude::DataFrame;
use reasonscape_stats::Outcome;
use reasonscape_stats::paired_bootstrap::PairedCell;

use super::PointsDb;
use super::columns::{IntColumn, OutcomeColumn, RealColumn, TextColumn, collect_batch};
use crate::{BoxFuture, Filter, PointsError};

/// The outcomes of two evaluations on the problems of a task that both have trials of.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedTask {
    /// The task.
    pub base_task: String,
    /// How often each pair of outcomes occurred, by guess probability.
    pub cells: Vec<PairedCell>,
    /// The difference in accuracy on each problem, in ascending order; empty if every problem has one sample.
    pub problem_differences: Vec<f64>,
}

impl PairedTask {
    /// Number of paired problems.
    pub fn pairs(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count).sum()
    }

    /// Discordant pairs: correct only for the first, and only for the second. Truncated counts as not correct.
    pub fn discordant(&self) -> (u64, u64) {
        let count = |a: bool, b: bool| {
            self.cells
                .iter()
                .filter(|cell| (cell.a == Outcome::Correct, cell.b == Outcome::Correct) == (a, b))
                .map(|cell| cell.count)
                .sum()
        };
        (count(true, false), count(false, true))
    }
}

impl PointsDb {
    /// Pairs two evaluations on the problems that both have trials of, by task.
    ///
    /// # Errors
    /// A [`PointsError`] when the trials cannot be read.
    pub fn paired<'a>(
        &'a self,
        a: &'a str,
        b: &'a str,
        filter: &'a Filter,
    ) -> BoxFuture<'a, Result<Vec<PairedTask>, PointsError>> {
        Box::pin(async move {
            let mut differences = self.problem_differences(a, b, filter).await?;
            let pairs = self.pairs(a, b, filter).await?.aggregate(
                vec![col("base_task_a"), col("status_a"), col("status_b"), col("guess_a")],
                vec![datafusion::functions_aggregate::count::count_all().alias("pairs")],
            )?;
            let batch = collect_batch(pairs).await?;
            let tasks = TextColumn::new(&batch, "base_task_a");
            let [outcome_a, outcome_b] =
                ["status_a", "status_b"].map(|name| OutcomeColumn::new(&batch, name));
            let guesses = RealColumn::new(&batch, "guess_a");
            let pairs = IntColumn::new(&batch, "pairs");
            let mut found: BTreeMap<&str, Vec<PairedCell>> = BTreeMap::new();
            for row in 0..batch.num_rows() {
                found.entry(tasks.value(row)).or_default().push(PairedCell {
                    a: outcome_a.value(row)?,
                    b: outcome_b.value(row)?,
                    guess: guesses.value(row),
                    count: pairs.value(row) as u64,
                });
            }
            Ok(found
                .into_iter()
                .map(|(task, mut cells)| {
                    // DataFusion returns groups in any order, but the bootstrap must be reproducible.
                    cells.sort_by(|a, b| {
                        (a.a as u8, a.b as u8).cmp(&(b.a as u8, b.b as u8)).then(a.guess.total_cmp(&b.guess))
                    });
                    let problem_differences = differences.remove(task).unwrap_or_default();
                    PairedTask { base_task: task.to_owned(), cells, problem_differences }
                })
                .collect())
        })
    }

    /// The differences in accuracy on single problems by task; empty if every problem has one sample.
    async fn problem_differences(
        &self,
        a: &str,
        b: &str,
        filter: &Filter,
    ) -> Result<BTreeMap<String, Vec<f64>>, PointsError> {
        let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        if !self.has_repeats {
            return Ok(found);
        }
        let correct = |name: &str| when(col(name).eq(lit(1)), lit(1.0_f64)).otherwise(lit(0.0_f64));
        let difference = avg(correct("status_a")? - correct("status_b")?).alias("difference");
        let problem = vec![col("base_task_a"), col("params_a"), col("index_a")];
        let problems = self.pairs(a, b, filter).await?.aggregate(problem, vec![difference])?;
        let batch = collect_batch(problems).await?;
        let (tasks, differences) =
            (TextColumn::new(&batch, "base_task_a"), RealColumn::new(&batch, "difference"));
        for row in 0..batch.num_rows() {
            found.entry(tasks.value(row).to_owned()).or_default().push(differences.value(row));
        }
        // DataFusion returns groups in any order, but sums must be reproducible.
        for differences in found.values_mut() {
            differences.sort_by(f64::total_cmp);
        }
        Ok(found)
    }

    /// The joined trials of two evaluations, with column suffixes `_a` and `_b`.
    pub(super) async fn pairs(&self, a: &str, b: &str, filter: &Filter) -> Result<DataFrame, PointsError> {
        let trials = |eval_id: &str, suffix: &str| {
            format!(
                "SELECT base_task AS base_task{suffix}, params AS params{suffix}, \"index\" AS index{suffix}, \
                 repeat AS repeat{suffix}, status AS status{suffix}, guess AS guess{suffix} FROM trials \
                 WHERE eval_id = '{}'",
                eval_id.replace('\'', "''")
            )
        };
        let mut first = self.session.sql(&trials(a, "_a")).await?;
        if let Some(condition) = filter.expression(false) {
            let points = self.session.table("points").await?;
            let points = points.filter(condition)?.select_columns(&["base_task", "params"])?;
            first = first.join(
                points,
                JoinType::LeftSemi,
                &["base_task_a", "params_a"],
                &["base_task", "params"],
                None,
            )?;
        }
        let second = self.session.sql(&trials(b, "_b")).await?;
        Ok(first.join(
            second,
            JoinType::Inner,
            &["base_task_a", "params_a", "index_a", "repeat_a"],
            &["base_task_b", "params_b", "index_b", "repeat_b"],
            None,
        )?)
    }
}
