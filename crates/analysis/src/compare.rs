//! Paired comparison of two evaluations on the same problems, with the number of trials that a decision would take.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use reasonscape_points::{Column, EvalInfo, PairedTask, PointsDb, PointsError};
use reasonscape_stats::mean::Moments;
use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::paired::{PairedDifference, Verdict, mcnemar, paired_difference};
use reasonscape_stats::paired_bootstrap::{PairedBootstrap, ScoreDifference, paired_score_difference};
use reasonscape_stats::power::{
    Design, minimum_detectable_difference, trials_for_difference, trials_for_score_difference,
};
use reasonscape_stats::{Confidence, Mode, StatsError};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::board_points::{BoardPoint, BoardPoints};
use super::labels::eval_label;
use super::leaderboard::UNEQUAL_SAMPLING;
use super::pair_tests::BoardProblems;
use super::query::{PointQuery, find_eval};
use super::score_method::ReasonScoreEstimate;

/// Significance level.
const LEVEL: f64 = 0.05;

/// A compared with B.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// The result as a sentence, with the difference of the scores v2.
    pub sentence: String,
    /// The result as a sentence, with the difference of the ReasonScores; the same as `sentence` for other estimators than
    /// `C_P`.
    pub finding: String,
    /// The verdict on A.
    #[serde(serialize_with = "serialize_name")]
    #[schemars(with = "String", extend("enum" = ["better", "worse", "cannot tell"]))]
    pub verdict: Verdict,
    /// The evaluation A.
    pub a: EvalInfo,
    /// The evaluation B.
    pub b: EvalInfo,
    /// The names of A and B in tables.
    #[serde(skip)]
    pub labels: [String; 2],
    /// The estimator.
    pub mode: &'static str,
    /// The difference of the ReasonScores v2 on the problems that both answered.
    pub score: ScoreGap,
    /// A's ReasonScore minus B's, on the points that both answered; null for other estimators than `C_P`.
    pub reason_score: Option<ReasonScoreGap>,
    /// The paired test that the verdict comes from; null for other estimators than `C_P`, where it comes from `score`.
    pub test: Option<PairedTest>,
    /// Which of the two evaluations, as ids, have points that were sampled in other proportions than the suite's.
    pub unequal_sampling: Vec<String>,
    /// Problems that both answered.
    pub pairs: u64,
    /// Paired samples of these problems; null if each has one.
    pub samples: Option<u64>,
    /// Problems that only A answered; they are left out.
    pub unpaired_a: u64,
    /// Problems that only B answered.
    pub unpaired_b: u64,
    /// Proportion of pairs of samples of which exactly one is correct; with one sample per problem, of problems.
    pub discordant_share: f64,
    /// The smallest difference of proportions that these problems detect with a power of 80 %, if there is one.
    pub detectable_difference: Option<f64>,
    /// Additional trials per task that would resolve a difference of the scores v2 of this size, with as many samples per
    /// problem; null if it is resolved.
    pub more_trials_a_task: Option<u64>,
    /// The comparison by task.
    pub tasks: Vec<TaskComparison>,
}

/// A sign-flip test of equal ReasonScores on the problems that both answered, with points weighted as in the suite.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PairedTest {
    /// A's ReasonScore divided by B's.
    pub ratio: f64,
    /// Lower end of the 95 % confidence interval of the ratio.
    pub ratio_low: f64,
    /// Upper end of the 95 % confidence interval of the ratio.
    pub ratio_high: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// The difference of two ReasonScores with its confidence interval.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ReasonScoreGap {
    /// A's ReasonScore.
    pub a: ReasonScoreEstimate,
    /// B's ReasonScore.
    pub b: ReasonScoreEstimate,
    /// A's estimate minus B's.
    pub difference: f64,
    /// Lower end of the confidence interval of the difference, in which the difficulty of shared problems cancels.
    pub ci_low: f64,
    /// Upper end of the confidence interval of the difference.
    pub ci_high: f64,
    /// Confidence level of the interval.
    pub level: f64,
    /// Additional trials per task that would resolve a difference of this size; null if it is resolved.
    pub more_trials_a_task: Option<u64>,
}

impl ReasonScoreGap {
    /// The interval in tables and sentences, such as `-5 to +21`.
    pub fn interval_label(&self) -> String {
        format!("{:+.0} to {:+.0}", self.ci_low, self.ci_high)
    }
}

/// The difference of two ReasonScores v2, by paired bootstrap.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ScoreGap {
    /// A's score minus B's.
    pub difference: f64,
    /// Half the width of the confidence interval.
    pub margin: f64,
    /// Lower end of the 95 % confidence interval.
    pub ci_low: f64,
    /// Upper end of the 95 % confidence interval.
    pub ci_high: f64,
    /// The p-value of the bootstrap, which can't be below 0.001.
    pub p: f64,
    /// Replicates of the bootstrap.
    pub replicates: usize,
}

/// A compared with B on one task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskComparison {
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// Problems that both answered.
    pub pairs: u64,
    /// Problems that only A answered correctly; of several samples, more of A's than of B's.
    pub b: u64,
    /// Problems that only B answered correctly, or in more samples.
    pub c: u64,
    /// Problems that only A answered.
    pub unpaired_a: u64,
    /// Problems that only B answered.
    pub unpaired_b: u64,
    /// A's accuracy minus B's; its interval is Tango's, or with several samples per problem Student's.
    pub difference: Option<f64>,
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// The mid-p value of McNemar's test, or with several samples per problem of Student's.
    pub p: f64,
    /// The p-value corrected for the number of tasks (Holm).
    pub p_adjusted: f64,
    /// The verdict on A, by the corrected p-value.
    #[serde(serialize_with = "serialize_name")]
    #[schemars(with = "String", extend("enum" = ["better", "worse", "cannot tell"]))]
    pub verdict: Verdict,
    /// Problems that would resolve a difference of this size, with as many samples each.
    pub pairs_needed: Option<u64>,
}

impl Comparison {
    /// The p-value of the verdict.
    pub fn p(&self) -> f64 {
        self.test.map_or(self.score.p, |test| test.p)
    }

    /// Notes for readers of the numbers.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.mode != Mode::C_P.name() {
            remarks.push(format!("ReasonScores by {0}: comparable only with scores by {0}", self.mode));
        }
        if let Some(gap) = &self.reason_score {
            let [a, b] = &self.labels;
            let only_a: u64 = self.tasks.iter().map(|task| task.b).sum();
            let only_b: u64 = self.tasks.iter().map(|task| task.c).sum();
            let behind = match (gap.difference > 0.0, gap.difference < 0.0, only_a.cmp(&only_b)) {
                (true, _, Ordering::Less) => Some(b),
                (_, true, Ordering::Greater) => Some(a),
                _ => None,
            };
            if let Some(behind) = behind {
                remarks.push(format!(
                    "{behind} is correct on more of these problems but has the lower ReasonScore, a geometric mean, which weak tasks lower \
                     more than strong ones raise it"
                ));
            }
        }
        if !self.unequal_sampling.is_empty() {
            remarks.push(UNEQUAL_SAMPLING.to_owned());
        }
        for (label, unpaired) in self.labels.iter().zip([self.unpaired_a, self.unpaired_b]) {
            match unpaired {
                0 => {}
                1 => remarks.push(format!(
                    "1 problem that only {label} answered counts in its ReasonScore, but not in the tests"
                )),
                several => remarks.push(format!(
                    "{several} problems that only {label} answered count in its ReasonScore, but not in the tests"
                )),
            }
        }
        remarks
    }
}

/// A p-value with three decimals, or `<0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// `better`, `worse` or `cannot tell`, as in JSON and CSV.
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::CannotTell => "cannot tell",
    }
}

/// `better`, `worse` or `not significant`, for readers.
pub fn verdict_label(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::CannotTell => "not significant",
        Verdict::Better | Verdict::Worse => verdict_name(verdict),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn serialize_name<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict_name(*verdict))
}

/// Compares two evaluations, given by id, name or model, on the problems that both answered.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn compare(
    db: &PointsDb,
    query: &PointQuery,
    [a, b]: [&str; 2],
    mode: Mode,
) -> Result<Comparison, PointsError> {
    let groups = db.aggregate(&[Column::EvalId, Column::BaseTask], &query.filter, mode.into()).await?;
    if groups.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    let selected: Vec<&EvalInfo> = db
        .evals()
        .iter()
        .filter(|eval| groups.iter().any(|group| group.key[0].to_string() == eval.eval_id))
        .collect();
    let (a, b) = (find_eval(&selected, a)?, find_eval(&selected, b)?);
    if a.eval_id == b.eval_id {
        return Err(PointsError::InvalidQuery(format!(
            "A and B are the same evaluation {} ({}); a comparison needs two",
            a.eval_id, a.name
        )));
    }
    let labels = [a, b].map(|eval| eval_label(db.evals(), eval));
    let answered = |eval: &EvalInfo| -> BTreeMap<String, u64> {
        let of_eval = groups.iter().filter(|group| group.key[0].to_string() == eval.eval_id);
        of_eval.map(|group| (group.key[1].to_string(), group.counts.distinct_problems())).collect()
    };
    let (answered_a, answered_b) = (answered(a), answered(b));
    let paired: Vec<PairedTask> = db
        .paired(&a.eval_id, &b.eval_id, &query.filter.for_tests())
        .await?
        .into_iter()
        .filter(|task| task.pairs() > 0)
        .collect();
    if paired.is_empty() {
        return Err(PointsError::InvalidQuery(format!(
            "{} and {} have no problem in common, so they cannot be compared; run both with `reasonscape run` on the same \
             suite and seed",
            labels[0], labels[1]
        )));
    }
    let found = v2_difference(&paired, mode)?;
    let tasks = task_comparisons(&paired, &answered_a, &answered_b)?;
    let points = BoardPoints::load(db, &query.filter).await?;
    let by_likelihood =
        if mode == Mode::C_P { by_likelihood(db, query, &points, [a, b]).await? } else { None };
    let unequal_sampling = [a, b].map(|eval| eval.eval_id.clone()).into_iter();
    let unequal_sampling = unequal_sampling.filter(|id| points.is_sampled_unequally(id)).collect();
    let verdict = by_likelihood.as_ref().map_or_else(|| found.verdict(), |found| found.verdict);

    let pairs: u64 = tasks.iter().map(|task| task.pairs).sum();
    let evidence = Evidence::new(&paired);
    let total_a: u64 = answered_a.values().sum();
    let total_b: u64 = answered_b.values().sum();
    let detectable_difference = evidence.detectable_difference();
    let more_trials_of = |found: &ScoreDifference| match verdict {
        Verdict::CannotTell => more_trials(found, pairs, evidence.samples, tasks.len()),
        Verdict::Better | Verdict::Worse => None,
    };
    let more_trials_a_task = more_trials_of(&found);
    let reason_score = by_likelihood.as_ref().map(|by_likelihood| {
        let more_trials_a_task = more_trials_of(&by_likelihood.difference());
        ReasonScoreGap { more_trials_a_task, ..by_likelihood.gap }
    });
    let v2 = Shown { found, is_v2: true };
    let sentence = sentence_of(&labels, verdict, &v2, more_trials_a_task, detectable_difference);
    let finding = by_likelihood.as_ref().zip(reason_score).map_or_else(
        || sentence.clone(),
        |(by_likelihood, gap)| {
            let shown = Shown { found: by_likelihood.difference(), is_v2: false };
            sentence_of(&labels, verdict, &shown, gap.more_trials_a_task, detectable_difference)
        },
    );
    Ok(Comparison {
        sentence,
        finding,
        verdict,
        a: a.clone(),
        b: b.clone(),
        labels,
        mode: mode.name(),
        score: ScoreGap {
            difference: found.difference,
            margin: (found.ci_high - found.ci_low) / 2.0,
            ci_low: found.ci_low,
            ci_high: found.ci_high,
            p: found.p,
            replicates: found.replicates,
        },
        reason_score,
        test: by_likelihood.as_ref().map(|found| found.test),
        unequal_sampling,
        pairs,
        samples: (evidence.samples > pairs).then_some(evidence.samples),
        unpaired_a: total_a.saturating_sub(pairs),
        unpaired_b: total_b.saturating_sub(pairs),
        discordant_share: evidence.discordant_share,
        detectable_difference,
        more_trials_a_task,
        tasks,
    })
}

/// The difference of the ReasonScores v2 by paired bootstrap; problems are drawn with all of their samples.
fn v2_difference(paired: &[PairedTask], mode: Mode) -> Result<ScoreDifference, StatsError> {
    let options = PairedBootstrap { mode, ..PairedBootstrap::default() };
    if paired.iter().all(|task| task.repeated.is_empty()) {
        let cells: Vec<_> = paired.iter().map(|task| task.cells.as_slice()).collect();
        paired_score_difference(&cells, options)
    } else {
        let problems: Vec<_> = paired.iter().map(|task| task.repeated.as_slice()).collect();
        paired_score_difference(&problems, options)
    }
}

/// What the pairs of some tasks say about the difference of two accuracies.
struct Evidence {
    problems: u64,
    /// Pairs of samples.
    samples: u64,
    /// Proportion of the pairs of samples of which exactly one is correct.
    discordant_share: f64,
    /// How many problems with one sample each would say as much.
    effective: f64,
}

impl Evidence {
    fn new<'t>(tasks: impl IntoIterator<Item = &'t PairedTask>) -> Self {
        let (mut problems, mut samples, mut discordant) = (0, 0, 0);
        let mut differences = Moments::default();
        for task in tasks {
            problems += task.problems();
            samples += task.pairs();
            let (b, c) = task.discordant();
            discordant += b + c;
            for difference in task.problem_differences() {
                differences.add(difference).expect("a difference of proportions is finite");
            }
        }
        let discordant_share = discordant as f64 / samples as f64;
        // One sample per problem has the variance `psi - d^2`, the mean of several what their differences have.
        let effective = match (differences.mean(), differences.variance()) {
            (Some(mean), Some(variance)) if variance > 0.0 => {
                let of_single = discordant_share - mean * mean;
                problems as f64 * (of_single / variance).clamp(1.0, samples as f64 / problems as f64)
            }
            _ => problems as f64,
        };
        Self { problems, samples, discordant_share, effective }
    }

    fn detectable_difference(&self) -> Option<f64> {
        minimum_detectable_difference(self.effective as u64, self.discordant_share, Design::default()).ok()
    }

    /// Problems that would resolve a difference.
    fn problems_needed(&self, difference: f64) -> Option<u64> {
        let needed = trials_for_difference(difference, self.discordant_share, Design::default()).ok()?;
        Some((needed as f64 * self.problems as f64 / self.effective).ceil() as u64)
    }
}

/// The comparison of two scores by likelihood.
struct LikelihoodComparison {
    gap: ReasonScoreGap,
    test: PairedTest,
    verdict: Verdict,
}

impl LikelihoodComparison {
    fn difference(&self) -> ScoreDifference {
        let ReasonScoreGap { difference, ci_low, ci_high, .. } = self.gap;
        ScoreDifference { difference, ci_low, ci_high, p: self.test.p, replicates: 0 }
    }
}

/// The paired test and the difference; `None` if a score has no likelihood, because every guess is correct.
async fn by_likelihood(
    db: &PointsDb,
    query: &PointQuery,
    points: &BoardPoints,
    evals: [&EvalInfo; 2],
) -> Result<Option<LikelihoodComparison>, PointsError> {
    let ids = evals.map(|eval| eval.eval_id.as_str());
    let problems = BoardProblems::load(db, &query.filter, points, &ids).await?;
    let Ok(Some(test)) = problems.test(ids, &|_| true) else { return Ok(None) };
    let of_one_alone = problems.of_one_alone(ids);
    let is_common =
        |point: &BoardPoint| !of_one_alone.contains(&(point.base_task.as_str(), point.params.as_str()));
    let scores = ids.map(|eval_id| points.score(eval_id, Confidence::P95, &is_common));
    let [Ok(Some(a)), Ok(Some(b))] = scores else { return Ok(None) };
    let (gap, ratio) = (test.score_difference(&a, &b), test.score_ratio(&a, &b));
    let verdict = if test.p_value > LEVEL || test.difference == 0.0 {
        Verdict::CannotTell
    } else if test.difference > 0.0 {
        Verdict::Better
    } else {
        Verdict::Worse
    };
    Ok(Some(LikelihoodComparison {
        gap: ReasonScoreGap {
            a: a.into(),
            b: b.into(),
            difference: gap.estimate,
            ci_low: gap.ci_low,
            ci_high: gap.ci_high,
            level: a.level,
            more_trials_a_task: None,
        },
        test: PairedTest {
            ratio: ratio.estimate,
            ratio_low: ratio.ci_low,
            ratio_high: ratio.ci_high,
            p: test.p_value,
        },
        verdict,
    }))
}

/// The difference that a comparison shows.
struct Shown {
    found: ScoreDifference,
    is_v2: bool,
}

impl Shown {
    /// The size of the difference with its interval, seen from the better one.
    fn size(&self) -> String {
        let ScoreDifference { difference, ci_low, ci_high, .. } = self.found;
        if self.is_v2 {
            return format!("{:.0} ± {:.0}", difference.abs(), (ci_high - ci_low) / 2.0);
        }
        let (low, high) = if difference < 0.0 { (-ci_high, -ci_low) } else { (ci_low, ci_high) };
        format!("{:.0} (95 % CI {} to {})", difference.abs(), whole(low), whole(high))
    }

    /// The difference of A and B with its interval.
    fn signed(&self) -> String {
        let ScoreDifference { difference, ci_low, ci_high, .. } = self.found;
        if self.is_v2 {
            format!("{} ± {:.0}", whole(difference), (ci_high - ci_low) / 2.0)
        } else {
            format!("{} (95 % CI {} to {})", whole(difference), whole(ci_low), whole(ci_high))
        }
    }
}

/// A rounded number, never `-0`.
fn whole(number: f64) -> String {
    format!("{:.0}", number.round() + 0.0)
}

/// The difference in accuracy on a task, and the p-value that there is none.
struct TaskTest {
    difference: PairedDifference,
    p: f64,
}

/// McNemar's test and Tango's interval; with several samples per problem, Student's t test of the problems' differences.
fn test_task(task: &PairedTask) -> Result<TaskTest, StatsError> {
    let (b, c) = task.discordant();
    let by_pairs = || -> Result<TaskTest, StatsError> {
        let difference = paired_difference(task.pairs(), b, c, Confidence::P95)?;
        Ok(TaskTest { difference, p: mcnemar(b, c).mid_p })
    };
    let mut moments = Moments::default();
    for difference in task.problem_differences() {
        moments.add(difference)?;
    }
    let (Some(mean), Some(bounds)) = (moments.mean(), moments.interval(Confidence::P95)) else {
        return by_pairs();
    };
    let Some(p) = moments.p_value_of_zero() else {
        // The same difference on every problem: each is one pair.
        let problems = moments.n();
        let [b, c] = if mean > 0.0 { [problems, 0] } else { [0, problems] };
        let difference = paired_difference(problems, b, c, Confidence::P95)?;
        return Ok(TaskTest {
            difference: PairedDifference { point: Some(mean), ..difference },
            p: mcnemar(b, c).mid_p,
        });
    };
    let difference =
        PairedDifference { low: bounds.low.max(-1.0), high: bounds.high.min(1.0), point: Some(mean) };
    Ok(TaskTest { difference, p })
}

fn task_comparisons(
    paired: &[PairedTask],
    answered_a: &BTreeMap<String, u64>,
    answered_b: &BTreeMap<String, u64>,
) -> Result<Vec<TaskComparison>, StatsError> {
    let tested: Vec<TaskTest> = paired.iter().map(test_task).collect::<Result<_, StatsError>>()?;
    let p_values: Vec<f64> = tested.iter().map(|test| test.p).collect();
    paired
        .iter()
        .zip(tested.iter().zip(holm(&p_values)?))
        .map(|(task, (TaskTest { difference, p }, p_adjusted))| {
            let (pairs, (b, c)) = (task.problems(), task.discordant_problems());
            let unpaired = |answered: &BTreeMap<String, u64>| {
                answered.get(&task.base_task).map_or(0, |answered| answered.saturating_sub(pairs))
            };
            let seen = difference.point.unwrap_or(0.0);
            let verdict = if p_adjusted > LEVEL || seen == 0.0 {
                Verdict::CannotTell
            } else if seen > 0.0 {
                Verdict::Better
            } else {
                Verdict::Worse
            };
            Ok(TaskComparison {
                base_task: task.base_task.clone(),
                task: task.base_task.clone(),
                pairs,
                b,
                c,
                unpaired_a: unpaired(answered_a),
                unpaired_b: unpaired(answered_b),
                difference: difference.point,
                low: difference.low,
                high: difference.high,
                p: *p,
                p_adjusted,
                verdict,
                pairs_needed: Evidence::new([task]).problems_needed(seen.abs()),
            })
        })
        .collect()
}

/// Additional trials per task, with as many samples per problem, that would make a difference of the observed size significant.
fn more_trials(found: &ScoreDifference, problems: u64, samples: u64, tasks: usize) -> Option<u64> {
    let needed = trials_for_score_difference(found, problems, Design::default()).ok()?;
    let trials = u128::from(needed.saturating_sub(problems)) * u128::from(samples);
    let trials = u64::try_from(trials.div_ceil(u128::from(problems))).ok()?;
    Some(trials.div_ceil(tasks as u64).max(1))
}

/// The result as a sentence.
fn sentence_of(
    [a, b]: &[String; 2],
    verdict: Verdict,
    shown: &Shown,
    more: Option<u64>,
    detectable: Option<f64>,
) -> String {
    let difference = shown.found.difference;
    match (verdict, more) {
        // The difference is that of all problems, the verdict that of the shared ones: they can disagree.
        (Verdict::Better, _) if difference < 0.0 => format!("{a} is better than {b}"),
        (Verdict::Worse, _) if difference > 0.0 => format!("{a} is worse than {b}"),
        (Verdict::Better, _) => format!("{a} is better than {b} by {}", shown.size()),
        (Verdict::Worse, _) => format!("{a} is worse than {b} by {}", shown.size()),
        (Verdict::CannotTell, Some(more)) => format!(
            "no significant difference between {a} and {b}: their ReasonScores differ by {}; about {} \
             more trials per task would detect a difference of this size",
            shown.signed(),
            rounded(more)
        ),
        (Verdict::CannotTell, None) => {
            let reach = detectable.map_or_else(
                || "too few problems to detect any difference".to_owned(),
                |difference| {
                    format!(
                        "a difference of {:.1} percentage points or more would have been detected",
                        100.0 * difference
                    )
                },
            );
            let size = if shown.is_v2 {
                format!("are equal ± {:.0}", (shown.found.ci_high - shown.found.ci_low) / 2.0)
            } else {
                format!("differ by {}", shown.signed())
            };
            format!("no significant difference between {a} and {b}: their ReasonScores {size}; {reach}")
        }
    }
}

/// A number of trials, rounded up to two significant digits.
fn rounded(trials: u64) -> u64 {
    let unit = 10_u64.pow(trials.max(1).ilog10().saturating_sub(1));
    trials.div_ceil(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence_for(difference: f64, [ci_low, ci_high]: [f64; 2], is_v2: bool) -> String {
        let labels = ["A".to_owned(), "B".to_owned()];
        let found = ScoreDifference { difference, ci_low, ci_high, p: 0.5, replicates: 2000 };
        let more = more_trials(&found, 400, 400, 4);
        sentence_of(&labels, found.verdict(), &Shown { found, is_v2 }, more, Some(0.0321))
    }

    #[test]
    fn sentence_names_the_better_or_the_trials_needed() {
        assert_eq!(sentence_for(23.4, [11.2, 35.0], false), "A is better than B by 23 (95 % CI 11 to 35)");
        assert_eq!(sentence_for(-23.4, [-35.0, -11.2], false), "A is worse than B by 23 (95 % CI 11 to 35)");
        assert_eq!(sentence_for(23.4, [15.4, 31.4], true), "A is better than B by 23 ± 8");
        // 400 pairs at a margin of twice the difference: 400 × (2.80 × 2 / 1.96)² = 3267, so 717 more for each of four.
        assert_eq!(
            sentence_for(5.0, [-5.0, 15.0], false),
            "no significant difference between A and B: their ReasonScores differ by 5 (95 % CI -5 to 15); about 720 more trials \
             per task would detect a difference of this size"
        );
        assert_eq!(
            sentence_for(0.0, [-6.0, 6.0], false),
            "no significant difference between A and B: their ReasonScores differ by 0 (95 % CI -6 to 6); a difference of 3.2 \
             percentage points or more would have been detected"
        );
        assert!(sentence_for(-0.2, [-6.0, 5.6], true).contains("differ by 0 ± 6; about "));
    }

    #[test]
    fn rounds_trials_to_two_digits() {
        assert_eq!([1, 9, 41, 432, 1999, 12_345].map(rounded), [1, 9, 41, 440, 2000, 13_000]);
    }
}
