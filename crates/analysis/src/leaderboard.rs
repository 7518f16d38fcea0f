//! The leaderboard: ReasonScores with their intervals, and the ranks that the data support.

use std::collections::BTreeMap;

use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError};
use reasonscape_stats::score::{Band, Bootstrap, IntervalClass, IntervalFactors, TaskBounds, reason_scores};
use reasonscape_stats::{Event, Mode, StatsError};
use schemars::JsonSchema;
use serde::Serialize;

use super::board_points::BoardPoints;
use super::query::PointQuery;
use super::ranking::Ranking;
use super::reliability::{Reliability, ReliabilityTable};
use super::totals::{EvalTotals, SuiteTotals};
use super::truncation::{is_known, truncation_is_known, truncation_rate};
use super::{
    BoardOptions, IntervalEstimate, ReasonScoreEstimate, Score, ScoreMethod, Ties, calibrated_near_chance,
    join_truncated,
};

/// A leaderboard and its notes.
#[derive(Debug)]
pub struct Leaderboard {
    /// By rank.
    pub rows: Vec<ScoreRow>,
    /// The estimator of task bounds; the ReasonScore is defined with `C_P`.
    pub mode: Mode,
    /// Whether bounds are computed by the table's products everywhere.
    pub is_literal: bool,
    /// How scores and intervals are computed.
    pub method: ScoreMethod,
    /// How ties are found.
    pub ties: Ties,
    /// Why scores or ties are not computed as usual.
    pub notes: Vec<String>,
    /// The tasks of the suite, by name.
    pub tasks: Vec<String>,
    /// Evaluations without trials, which have no score.
    pub unscored: Vec<String>,
    /// Tasks with accuracies near chance, where bounds are too narrow, and the evaluations concerned.
    pub near_chance: BTreeMap<String, Vec<String>>,
}

/// One evaluation on the leaderboard.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of a row in public JSON")]
pub struct ScoreRow {
    /// The rank.
    pub rank: usize,
    /// 1 + the number of evaluations that are better.
    pub rank_best: usize,
    /// The number of evaluations minus those that are worse.
    pub rank_worst: usize,
    /// How better and worse are decided: `paired` (tests on shared problems) or `v2` (intervals that don't overlap).
    pub ties: &'static str,
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Whether the evaluation has every task, point and trial of the suite.
    pub complete: bool,
    /// The ReasonScore: estimate with its confidence interval.
    pub reason_score: ReasonScoreEstimate,
    /// ReasonScore v2, from pooled counters.
    pub score: Score,
    /// The name of the band of the v2 score.
    pub band: &'static str,
    /// Whether the points of a task were sampled in other proportions than the suite's, so that v2 is that of another
    /// mixture of points.
    pub unequal_sampling: bool,
    /// Whether points enter by their counters, as if every problem had the same chance of a correct guess and one sample.
    pub from_counters: bool,
    /// Width of the v2 interval: `tight` (margin below 10), `moderate` (10 to 20) or `wide` (above 20).
    pub interval_class: &'static str,
    /// What explains the width of the interval: accuracy, truncation, spread over tasks or few trials.
    pub interval_causes: Vec<String>,
    /// The tasks in the score, by name.
    pub tasks: BTreeMap<String, TaskScore>,
    /// Mean tokens of a completion.
    pub tokens_mean: Option<f64>,
    /// The proportion of truncated trials; null where the log has no reasons why responses ended.
    pub truncation_rate: Option<f64>,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// The v2 score for each 1,000 tokens of a mean completion.
    pub score_per_1k_tokens: Option<f64>,
    /// The ReasonScore for each 1,000 tokens of a mean completion.
    pub reason_score_per_1k_tokens: Option<f64>,
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
    if best == worst && rank == best { rank.to_string() } else { format!("={best}-{worst}") }
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
    /// The ReasonScore in tables, with `*` if the evaluation is incomplete.
    pub fn score_label(&self) -> String {
        format!("{:.0}{}", self.reason_score.estimate, if self.complete { "" } else { "*" })
    }

    /// The v2 score in tables, with `†` if points were sampled unequally.
    pub fn v2_label(&self) -> String {
        let mark = if self.unequal_sampling { "†" } else { "" };
        format!("{:.0} ± {:.0}{mark}", self.score.center, self.score.margin)
    }

    /// Whether it cannot be distinguished from another evaluation, so that the rank is tied.
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
        let mut remarks = self.notes.clone();
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
            remarks.push(match self.ties {
                Ties::Paired => "= marks a tie: paired tests on the problems that both answered (5 %, Holm's correction over \
                                 all pairs) leave any rank of the range possible."
                    .to_owned(),
                Ties::V2 => "= marks a tie: intervals (v2) overlap, so the rank can be any of the range.".to_owned(),
            });
        }
        if self.rows.iter().any(|row| row.unequal_sampling) {
            remarks.push(UNEQUAL_SAMPLING.to_owned());
        }
        let from_counters: Vec<String> =
            self.rows.iter().filter(|row| row.from_counters).map(|row| row.label.clone()).collect();
        if !from_counters.is_empty() {
            remarks.push(format!(
                "The trials of {} are not in the study: points enter the score by their counters.",
                join_truncated(&from_counters)
            ));
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

/// The meaning of `†` beside a v2 score.
const UNEQUAL_SAMPLING: &str = "† v2 pools the trials of points that were sampled in other proportions than the suite's, so it \
                                is not comparable; the ReasonScore weights points as the suite does.";

/// The ReasonScores of the evaluations that the query selects.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn leaderboard(
    db: &PointsDb,
    query: &PointQuery,
    options: BoardOptions,
) -> Result<Leaderboard, PointsError> {
    let estimator = options.estimator;
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
    let points = BoardPoints::load(db, &query.filter).await?;
    let ids: Vec<&str> = scored.iter().map(|eval| eval.info.eval_id.as_str()).collect();
    let ranking = Ranking::new(db, query, &points, &ids, &scores, options).await?;
    let mut rows: Vec<ScoreRow> = scored
        .iter()
        .zip(tasks.into_iter().zip(&bounds))
        .zip(scores.iter().zip(ranking.scores.iter().zip(&ranking.ranks)))
        .map(|((eval, (tasks, bounds)), (score, (reason_score, rank)))| {
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
                ties: ranking.ties.name(),
                eval: eval.info.clone(),
                label: eval.label.clone(),
                complete: missing == 0 && missing_points == 0 && missing_tasks.is_empty(),
                reason_score: *reason_score,
                score: Score::from(*score),
                band: Band::from_score(score.center()).name(),
                unequal_sampling: points.is_sampled_unequally(&eval.info.eval_id),
                from_counters: points.is_from_counters(&eval.info.eval_id),
                interval_class: class.name(),
                interval_causes: IntervalFactors::new(bounds, truncation_rate, min_trials).causes(class),
                tasks,
                tokens_mean,
                truncation_rate,
                truncation_known,
                score_per_1k_tokens: per_1k_tokens(score.center(), tokens_mean),
                reason_score_per_1k_tokens: per_1k_tokens(reason_score.estimate, tokens_mean),
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
        method: ranking.method,
        ties: ranking.ties,
        notes: ranking.notes,
        tasks: totals.suite.into_keys().collect(),
        unscored: unscored.iter().map(|eval| eval.label.clone()).collect(),
        near_chance,
    })
}

/// A score for each 1,000 tokens of a mean completion.
fn per_1k_tokens(score: f64, tokens_mean: Option<f64>) -> Option<f64> {
    tokens_mean.filter(|tokens| *tokens > 0.0).map(|tokens| score / (tokens / 1000.0))
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
