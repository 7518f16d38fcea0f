//! Pairs the trials of two evaluations on the same problems.

use std::collections::BTreeMap;

use datafusion::common::JoinType;
use datafusion::functions_aggregate::count::count_all;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::{col, lit, when};
use datafusion::prelude::DataFrame;
use reasonscape_stats::Outcome;
use reasonscape_stats::paired_bootstrap::{PairedCell, PairedProblems, SampleCounts};

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
    /// The same by problem, with the samples of each; empty if every problem has one sample.
    pub repeated: Vec<PairedProblems>,
}

impl PairedTask {
    /// Number of paired samples.
    pub fn pairs(&self) -> u64 {
        self.cells.iter().map(|cell| cell.count).sum()
    }

    /// Number of paired problems.
    pub fn problems(&self) -> u64 {
        if self.repeated.is_empty() {
            self.pairs()
        } else {
            self.repeated.iter().map(|problems| problems.count).sum()
        }
    }

    /// Discordant samples: correct only for the first, and only for the second. Truncated counts as not correct.
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

    /// Problems that the first, and that the second, answered correctly in more samples.
    pub fn discordant_problems(&self) -> (u64, u64) {
        if self.repeated.is_empty() {
            return self.discordant();
        }
        let count = |test: fn(f64) -> bool| {
            let problems = self.repeated.iter().filter(|problems| test(problems.difference()));
            problems.map(|problems| problems.count).sum()
        };
        (count(|difference| difference > 0.0), count(|difference| difference < 0.0))
    }

    /// The difference in accuracy on each problem, in ascending order; empty if every problem has one sample.
    pub fn problem_differences(&self) -> Vec<f64> {
        let of_cell = |problems: &PairedProblems| {
            std::iter::repeat_n(problems.difference(), usize::try_from(problems.count).unwrap_or(usize::MAX))
        };
        let mut differences: Vec<f64> = self.repeated.iter().flat_map(of_cell).collect();
        differences.sort_by(f64::total_cmp);
        differences
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
            let mut repeated = self.paired_samples(a, b, filter).await?;
            let pairs = self.pairs(a, b, filter).await?.aggregate(
                vec![col("base_task_a"), col("status_a"), col("status_b"), col("guess_a")],
                vec![count_all().alias("pairs")],
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
                    let repeated = repeated.remove(task).unwrap_or_default();
                    PairedTask { base_task: task.to_owned(), cells, repeated }
                })
                .collect())
        })
    }

    /// The samples of single problems by task; empty if every problem has one sample.
    async fn paired_samples(
        &self,
        a: &str,
        b: &str,
        filter: &Filter,
    ) -> Result<BTreeMap<String, Vec<PairedProblems>>, PointsError> {
        let mut found: BTreeMap<String, Vec<PairedProblems>> = BTreeMap::new();
        if !self.has_repeats {
            return Ok(found);
        }
        let is = |status: i32, name: &str| when(col(name).eq(lit(status)), lit(1_i64)).otherwise(lit(0_i64));
        let guess_of = |name: &str| when(col(name).lt(lit(2)), col("guess_a")).otherwise(lit(0.0_f64));
        let sums = vec![
            sum(is(1, "status_a")?).alias("n_e_a"),
            sum(is(2, "status_a")?).alias("n_t_a"),
            sum(guess_of("status_a")?).alias("g_a"),
            sum(is(1, "status_b")?).alias("n_e_b"),
            sum(is(2, "status_b")?).alias("n_t_b"),
            sum(guess_of("status_b")?).alias("g_b"),
            sum(col("guess_a")).alias("guess"),
            count_all().alias("samples"),
        ];
        let problem = vec![col("base_task_a"), col("params_a"), col("index_a")];
        let names = ["n_e_a", "n_t_a", "g_a", "n_e_b", "n_t_b", "g_b", "guess", "samples"];
        let groups = std::iter::once("base_task_a").chain(names).map(col).collect();
        let problems = self.pairs(a, b, filter).await?.aggregate(problem, sums)?;
        let batch = collect_batch(problems.aggregate(groups, vec![count_all().alias("problems")])?).await?;
        let tasks = TextColumn::new(&batch, "base_task_a");
        let [n_e_a, n_t_a, n_e_b, n_t_b, samples, problems] =
            ["n_e_a", "n_t_a", "n_e_b", "n_t_b", "samples", "problems"]
                .map(|name| IntColumn::new(&batch, name));
        let [g_a, g_b, guess] = ["g_a", "g_b", "guess"].map(|name| RealColumn::new(&batch, name));
        for row in 0..batch.num_rows() {
            let counts = |n_e: &IntColumn, n_t: &IntColumn, g: &RealColumn| SampleCounts {
                n_e: n_e.value(row) as u64,
                n_t: n_t.value(row) as u64,
                g: g.value(row),
            };
            found.entry(tasks.value(row).to_owned()).or_default().push(PairedProblems {
                a: counts(&n_e_a, &n_t_a, &g_a),
                b: counts(&n_e_b, &n_t_b, &g_b),
                samples: samples.value(row) as u64,
                guess: guess.value(row),
                count: problems.value(row) as u64,
            });
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
