//! The leaderboard: ReasonScores with their v2 intervals, and the ranks that these support.

use std::collections::BTreeMap;

use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError};
use reasonscape_stats::score::{
    Band, Bootstrap, IntervalClass, IntervalFactors, TaskBounds, ranks, reason_scores,
};
use reasonscape_stats::{Event, Mode, StatsError};
use schemars::JsonSchema;
use serde::Serialize;

use super::query::PointQuery;
use super::reliability::{Reliability, ReliabilityTable};
use super::totals::{EvalTotals, SuiteTotals};
use super::truncation::{is_known, truncation_is_known, truncation_rate};
use super::{IntervalEstimate, Score, calibrated_near_chance};

/// A leaderboard and its notes.
#[derive(Debug)]
pub struct Leaderboard {
    /// By rank.
    pub rows: Vec<ScoreRow>,
    /// The estimator of task bounds; the ReasonScore is defined with `C_P`.
    pub mode: Mode,
    /// Whether bounds are computed by the table's products everywhere.
    pub is_literal: bool,
    /// The tasks of the suite, by name.
    pub tasks: Vec<String>,
    /// Evaluations without trials, which have no score.
    pub unscored: Vec<String>,
    /// Tasks with accuracies near chance, where bounds are too narrow, and the evaluations concerned.
    pub near_chance: BTreeMap<String, Vec<String>>,
}

/// One evaluation on the leaderboard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ScoreRow {
    /// The rank.
    pub rank: usize,
    /// The best rank that the interval supports.
    pub rank_best: usize,
    /// The worst rank that the interval supports.
    pub rank_worst: usize,
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Whether the evaluation has every task, point and trial of the suite.
    pub complete: bool,
    /// The ReasonScore.
    pub score: Score,
    /// The name of the band of the score.
    pub band: &'static str,
    /// Width of the v2 interval: `tight` (margin below 10), `moderate` (10 to 20) or `wide` (above 20).
    pub interval_class: &'static str,
    /// What explains the width of the interval: accuracy, truncation, spread over tasks or few trials.
    pub interval_causes: Vec<String>,
    /// The tasks in the score, by name.
    pub tasks: BTreeMap<String, TaskScore>,
    /// Mean tokens of a completion.
    pub tokens_mean: Option<f64>,
    /// The proportion of truncated trials; null where the log does not say which were truncated.
    pub truncation_rate: Option<f64>,
    /// Whether the log says which answers were truncated; absent if it does.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// The score for each 1,000 tokens of a mean completion.
    pub score_per_1k_tokens: Option<f64>,
    /// Use of the token limit, refusals and unparsed responses.
    pub reliability: Reliability,
    /// Trials that were planned and not answered.
    pub missing: u64,
    /// Points that only other evaluations have.
    pub missing_points: u64,
    /// Tasks of the suite without a trial.
    pub missing_tasks: Vec<String>,
    /// The estimator.
    pub mode: &'static str,
    /// Whether bounds are computed by the table's products everywhere.
    #[serde(skip_serializing_if = "is_false")]
    pub literal: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The ranks that a score supports, as every table shows them: `1`, or `=2-4` for a tie.
///
/// ```
/// use reasonscape_analysis::rank_label;
///
/// assert_eq!((rank_label(1, 1, 1).as_str(), rank_label(2, 1, 3).as_str()), ("1", "=1-3"));
/// ```
pub fn rank_label(rank: usize, best: usize, worst: usize) -> String {
    if best == worst { rank.to_string() } else { format!("={best}-{worst}") }
}

/// The counters of a task and the bounds with which it enters the score.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct TaskScore {
    /// Trials that were answered or truncated.
    pub n: u64,
    /// Trials answered correctly.
    pub n_e: u64,
    /// Trials that were not truncated.
    pub n_u: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// Lower bound in the score: at least 0.01.
    pub low: f64,
    /// Upper bound in the score: at least 0.01.
    pub high: f64,
    /// The accuracy by the estimator, with its confidence interval.
    pub accuracy: IntervalEstimate,
}

impl ScoreRow {
    /// Whether another interval overlaps, so that the rank is tied.
    pub fn is_tied(&self) -> bool {
        self.rank_best != self.rank_worst
    }

    /// The ranks that the score supports: `1`, or `=2-4` for a tie.
    pub fn rank_label(&self) -> String {
        rank_label(self.rank, self.rank_best, self.rank_worst)
    }

    /// The bounds with which its tasks enter the score, by name.
    ///
    /// # Errors
    /// A [`StatsError`] when bounds are crossed or outside of 0 to 1; those of a leaderboard never are.
    pub fn task_bounds(&self) -> Result<Vec<TaskBounds>, StatsError> {
        self.tasks.values().map(|task| TaskBounds::new(task.low, task.high)).collect()
    }

    /// What is missing, as text; `None` if the evaluation is complete.
    pub fn describe_missing(&self) -> Option<String> {
        let mut missing_parts = Vec::new();
        if !self.missing_tasks.is_empty() {
            missing_parts.push(format!("every trial of {}", self.missing_tasks.join(", ")));
        }
        if self.missing > 0 {
            missing_parts.push(format!("{} planned trials", self.missing));
        }
        if self.missing_points > 0 {
            missing_parts.push(format!("{} points that others have", self.missing_points));
        }
        (!missing_parts.is_empty()).then(|| missing_parts.join(" and "))
    }
}

impl Leaderboard {
    /// Notes for readers of the numbers.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.mode != Mode::C_P {
            remarks.push(format!("Scores by {}: comparable only with scores by {0}.", self.mode));
        }
        if self.is_literal {
            remarks.push(
                "Scores by the literal products: comparable only with scores computed the same way."
                    .to_owned(),
            );
        }
        if self.rows.iter().any(ScoreRow::is_tied) {
            remarks.push(
                "= marks a tie: intervals (v2) overlap, so the rank can be any of the range.".to_owned(),
            );
        }
        for row in &self.rows {
            if let Some(missing_parts) = row.describe_missing() {
                remarks.push(format!(
                    "* {} is missing {missing_parts}; its score uses the available trials.",
                    row.label
                ));
            }
        }
        for label in &self.unscored {
            remarks.push(format!("{label} has no trials yet, so it has no score."));
        }
        let calibrated = Mode { event: Event::Calibrated, ..self.mode };
        for (task, evals) in &self.near_chance {
            let subject = match evals.as_slice() {
                [one] => format!("{one} is"),
                several => format!("{} evaluations are", several.len()),
            };
            remarks.push(format!(
                "On {task}, {subject} near chance, where these intervals are too narrow; use {calibrated} there."
            ));
        }
        remarks
    }
}

/// The ReasonScores of the evaluations that the query selects, from the pooled counters of their tasks.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn leaderboard(
    db: &PointsDb,
    query: &PointQuery,
    estimator: Estimator,
) -> Result<Leaderboard, PointsError> {
    let mode = estimator.mode;
    let totals = SuiteTotals::load(db, query).await?;
    let reliability = ReliabilityTable::load(db, query).await?;
    let (scored, unscored): (Vec<&EvalTotals>, Vec<&EvalTotals>) =
        totals.evals.iter().partition(|eval| eval.with_trials().next().is_some());
    let mut near_chance: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tasks = Vec::new();
    for eval in &scored {
        tasks.push(task_scores(eval, estimator, &mut near_chance)?);
    }
    let bounds: Vec<Vec<TaskBounds>> = tasks
        .iter()
        .map(|tasks| tasks.values().map(|task| TaskBounds::new(task.low, task.high)).collect())
        .collect::<Result<_, _>>()?;
    let scores = reason_scores(&bounds, Bootstrap::default())?;
    let mut rows: Vec<ScoreRow> = scored
        .iter()
        .zip(tasks.into_iter().zip(&bounds))
        .zip(scores.iter().zip(ranks(&scores)))
        .map(|((eval, (tasks, bounds)), (score, rank))| {
            let total = eval.total();
            let truncation_known = truncation_is_known(db, [&eval.info.eval_id]);
            let (missing, missing_points) = (total.missing(), eval.missing_points(&totals.suite));
            let missing_tasks = eval.without_trials(&totals.suite);
            let tokens_mean = total.completion_tokens.value();
            let truncation_rate = truncation_rate(&total).filter(|_| truncation_known);
            let class = IntervalClass::from_margin(score.margin());
            let min_trials = tasks.values().map(|task| task.n).min();
            ScoreRow {
                rank: rank.rank,
                rank_best: rank.best,
                rank_worst: rank.worst,
                eval: eval.info.clone(),
                label: eval.label.clone(),
                complete: missing == 0 && missing_points == 0 && missing_tasks.is_empty(),
                score: Score::from(*score),
                band: Band::from_score(score.center()).name(),
                interval_class: class.name(),
                interval_causes: IntervalFactors::new(bounds, truncation_rate, min_trials).causes(class),
                tasks,
                tokens_mean,
                truncation_rate,
                truncation_known,
                score_per_1k_tokens: tokens_mean
                    .filter(|tokens| *tokens > 0.0)
                    .map(|tokens| score.center() / (tokens / 1000.0)),
                reliability: reliability.of_eval(&eval.info.eval_id),
                missing,
                missing_points,
                missing_tasks,
                mode: mode.name(),
                literal: estimator.is_literal,
            }
        })
        .collect();
    rows.sort_by(|a, b| (a.rank, &a.label).cmp(&(b.rank, &b.label)));
    Ok(Leaderboard {
        rows,
        mode,
        is_literal: estimator.is_literal,
        tasks: totals.suite.into_keys().collect(),
        unscored: unscored.iter().map(|eval| eval.label.clone()).collect(),
        near_chance,
    })
}

/// The bounds of each task with trials; records where they are too narrow.
fn task_scores(
    eval: &EvalTotals,
    estimator: Estimator,
    near_chance: &mut BTreeMap<String, Vec<String>>,
) -> Result<BTreeMap<String, TaskScore>, PointsError> {
    eval.with_trials()
        .map(|(name, task)| {
            let counters = task.counts.counters()?;
            // v2's bounds are those of the pooled counters; the accuracy clusters samples by problem.
            let bounds = TaskBounds::from(estimator.estimate_counters(&counters));
            let accuracy = estimator.estimate(&task.counts)?;
            if calibrated_near_chance(estimator.mode, &counters, estimator.confidence).is_some() {
                near_chance.entry(name.clone()).or_default().push(eval.label.clone());
            }
            let counts = task.counts;
            let score = TaskScore {
                n: counts.n,
                n_e: counts.n_e,
                n_u: counts.n_u(),
                n_t: counts.n_t,
                g: counts.g,
                low: bounds.low(),
                high: bounds.high(),
                accuracy: accuracy.into(),
            };
            Ok((name.clone(), score))
        })
        .collect()
}
