//! Metrics aggregated over answered questions.

mod row;

use std::collections::BTreeMap;

use reasonscape_stats::calibration::{Bin, Binning, Calibration, equal_mass, reliability};
use reasonscape_stats::design_effect::ClusteredRate;
use reasonscape_stats::effect_size::Sample;
use reasonscape_stats::entropy::Entropy;
use reasonscape_stats::quantile::quantile;
use reasonscape_stats::{Confidence, Interval, StatsError};
use serde::Serialize;

use super::PerTaskResult;
use super::consistency::repeats;
use super::estimate::{Counted, Estimate, Groups};
use super::passes::PassEstimate;
use row::{ANSWERED, Row, SELF_CORRECTING, TRUNCATED, finite, known};

/// How words are counted.
pub const TOKENIZER: &str = "whitespace";

/// Sample size and confidence interval of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EstimateDetail {
    /// Number of answers it is based on; for consistency metrics, of tasks.
    pub n: u64,
    /// Lower bound of the 95 % confidence interval.
    pub low: Option<f64>,
    /// Upper bound of the 95 % confidence interval.
    pub high: Option<f64>,
    /// Method of the interval.
    pub method: &'static str,
    /// Why a bound is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

impl EstimateDetail {
    pub(super) fn between(n: u64, low: f64, high: f64, method: &'static str) -> Self {
        Self { n, low: Some(low), high: Some(high), method, reason: None }
    }

    pub(super) fn without(n: u64, method: &'static str, reason: &'static str) -> Self {
        Self { n, low: None, high: None, method, reason: Some(reason) }
    }

    pub(super) fn no_values(method: &'static str) -> Self {
        Self::without(0, method, "no answer has the value")
    }

    /// Clamps the interval to the range of the metric.
    pub(super) fn within(self, min: f64, max: f64) -> Self {
        let held = |end: Option<f64>| end.map(|end| end.clamp(min, max));
        Self { low: held(self.low), high: held(self.high), ..self }
    }
}

/// The metrics of one model. A metric is `None` if no answer has the fields it needs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MetricsSummary {
    /// Answers.
    pub n: u64,
    /// Different questions.
    pub tasks: u64,
    /// Truncated answers; they count as incorrect.
    pub truncated: u64,
    /// Missing answers; they count as incorrect and are ignored by all other metrics.
    pub unanswered: u64,
    /// Proportion of correct answers.
    pub accuracy: Option<f64>,
    /// Proportion of incorrect answers.
    pub err: Option<f64>,
    /// Brier score: mean squared error of the stated probabilities.
    pub brier: Option<f64>,
    /// Expected calibration error with equal-width bins.
    pub ece: Option<f64>,
    /// Expected calibration error with equal-mass bins.
    pub ece_adaptive: Option<f64>,
    /// Entropy of the normalized answers, in nats.
    pub sce: Option<f64>,
    /// Entropy relative to its maximum for the number of distinct answers.
    pub sce_normalized: Option<f64>,
    /// Unsupported step rate, version 0: proportion of incorrect answers.
    pub usr: Option<f64>,
    /// Proportion of the checkable equations in the reasoning that are false.
    pub usr_math: Option<f64>,
    /// Equations that could be checked.
    pub equations_checked: u64,
    /// Those of them that are false.
    pub equations_false: u64,
    /// Proportion of the checkable sentences in the reasoning that the context doesn't support.
    pub usr_retrieval: Option<f64>,
    /// Sentences with items that can be looked up.
    pub sentences_checked: u64,
    /// Those with an item that is not in the context.
    pub sentences_unsupported: u64,
    /// Words of reasoning.
    pub cot_tokens_mean: Option<f64>,
    /// Code points of reasoning.
    pub cot_chars_mean: Option<f64>,
    /// Lines of reasoning that look like steps.
    pub step_count_mean: Option<f64>,
    /// Words of reasoning for each word of the answer.
    pub ra_ratio_mean: Option<f64>,
    /// Proportion of reasoning texts with a self-correction.
    pub self_correction_rate: Option<f64>,
    /// Tokens of the prompt.
    pub prompt_tokens_mean: Option<f64>,
    /// Tokens of the reply.
    pub completion_tokens_mean: Option<f64>,
    /// Tokens of both.
    pub total_tokens_mean: Option<f64>,
    /// Milliseconds to the end of the reply.
    pub latency_mean_ms: Option<f64>,
    /// 95th percentile of the latency, in milliseconds.
    pub latency_p95_ms: Option<f64>,
    /// Maximum number of answers per task.
    pub repeats: u64,
    /// Mean per-task entropy of the answers, over tasks with several.
    pub sce_per_task_mean: Option<f64>,
    /// Proportion of tasks whose most common answer is correct (majority vote, maj@k).
    pub mode_accuracy: Option<f64>,
    /// pass@k at `k = repeats`: the probability that at least one of `k` answers is correct.
    pub pass_at_k: Option<f64>,
    /// pass^k at `k = repeats`: the probability that all of `k` answers are correct.
    pub pass_hat_k: Option<f64>,
    /// pass@k and pass^k for powers of two and `repeats`; absent without repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<PassSummary>,
    /// Variance of one answer's correctness that is due to tasks: some are harder.
    pub variance_problems: Option<f64>,
    /// Variance of one answer's correctness that is due to sampling: another answer to the same task may differ.
    pub variance_sampling: Option<f64>,
    /// Mean proportion of a task's answers that equal its most common one.
    pub stability: Option<f64>,
    /// Proportion of tasks whose answers are all equal, at temperature 0.
    pub determinism_index: Option<f64>,
    /// How words were counted.
    pub tokens: &'static str,
    /// Sample size, 95 % confidence interval and method of each metric.
    pub details: BTreeMap<&'static str, EstimateDetail>,
}

/// pass@k and pass^k for one `k`, with their 95 % confidence intervals over tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassSummary {
    /// The number of answers.
    pub k: u64,
    /// Tasks with at least `k` answers.
    pub tasks: u64,
    /// Probability that at least one of `k` answers is correct.
    pub pass_at_k: f64,
    /// Lower bound.
    pub pass_at_k_low: f64,
    /// Upper bound.
    pub pass_at_k_high: f64,
    /// Probability that all of `k` answers are correct.
    pub pass_hat_k: f64,
    /// Lower bound.
    pub pass_hat_k_low: f64,
    /// Upper bound.
    pub pass_hat_k_high: f64,
}

impl From<&PassEstimate> for PassSummary {
    fn from(found: &PassEstimate) -> Self {
        let (at_k, hat_k) = (found.pass_at_k, found.pass_hat_k);
        Self {
            k: found.k,
            tasks: found.problems,
            pass_at_k: at_k.point.unwrap_or_default(),
            pass_at_k_low: at_k.low,
            pass_at_k_high: at_k.high,
            pass_hat_k: hat_k.point.unwrap_or_default(),
            pass_hat_k_low: hat_k.low,
            pass_hat_k_high: hat_k.high,
        }
    }
}

/// Collects the answered questions of one model, about a hundred bytes each.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// In chunks, so that growing never copies all rows.
    parts: Vec<Vec<Row>>,
}

/// Rows of a piece.
const PART: usize = 8192;

impl Summary {
    /// Adds an answered question.
    pub fn add(&mut self, task: &PerTaskResult<'_>) {
        self.push(Row::new(task));
    }

    /// Appends all answers of `other`.
    pub fn merge(&mut self, other: Self) {
        for row in other.parts.into_iter().flatten() {
            self.push(row);
        }
    }

    fn push(&mut self, row: Row) {
        match self.parts.last_mut() {
            Some(part) if part.len() < PART => part.push(row),
            _ => self.parts.push(vec![row]),
        }
    }

    /// Number of answers.
    pub fn len(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.parts.iter().flatten()
    }

    pub(super) fn tasks(&self) -> Groups {
        Groups::new(self.len(), &self.rows().map(|row| row.task))
    }

    /// Answers that are samples of each other: those of one evaluation to one task.
    fn series(&self) -> Groups {
        Groups::new(self.len(), &self.rows().map(|row| row.series))
    }

    /// Answers that say to be the same one: of each its place in the order in which answers were added, and the place
    /// of the first that has its id, evaluation and repeat.
    pub fn duplicates(&self) -> Vec<[usize; 2]> {
        if self.series().are_single() {
            return Vec::new();
        }
        let mut keys: Vec<([u64; 2], u32, u32)> = Vec::with_capacity(self.len());
        keys.extend(self.rows().zip(0..).map(|(row, index)| (row.series, row.repeat, index)));
        keys.sort_unstable();
        let same = keys.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
        let mut found: Vec<[usize; 2]> = same
            .flat_map(|group| group[1..].iter().map(|again| [again.2 as usize, group[0].2 as usize]))
            .collect();
        found.sort_unstable();
        found
    }

    /// The points of a reliability diagram. Several answers to one task are one cluster in the interval of a bin.
    ///
    /// # Errors
    /// A [`StatsError`] when a probability is not from 0 to 1, or `bins` is out of range.
    pub fn reliability(&self, bins: usize) -> Result<Vec<Bin>, StatsError> {
        let mut found = reliability(&self.stated(), Binning::EqualWidth(bins), Confidence::P95)?;
        let mut answers: Vec<(usize, [u64; 2], bool)> = self
            .rows()
            .filter_map(|row| Some((bin_of(finite(row.prob_correct)?, bins), row.task, row.correct())))
            .collect();
        answers.sort_unstable();
        // Both are in ascending order, without the bins that have no answers.
        for (bin, answers) in found.iter_mut().zip(answers.chunk_by(|one, other| one.0 == other.0)) {
            let mut rate = ClusteredRate::default();
            for task in answers.chunk_by(|one, other| one.1 == other.1) {
                rate.add(task.len() as u64, task.iter().filter(|(.., correct)| *correct).count() as u64)?;
            }
            bin.interval = rate.interval(Confidence::P95);
        }
        Ok(found)
    }

    /// Stated probabilities with the outcome.
    fn stated(&self) -> Vec<(f64, bool)> {
        let known = |row: &Row| Some((finite(row.prob_correct)?, row.correct()));
        let mut stated = Vec::with_capacity(self.rows().filter_map(known).count());
        stated.extend(self.rows().filter_map(known));
        stated
    }

    /// Computes all metrics, with calibration over `bins` bins.
    ///
    /// # Errors
    /// A [`StatsError`] when a probability is not from 0 to 1, a latency is not finite, or `bins` is out of range.
    pub fn finish(&self, bins: usize) -> Result<MetricsSummary, StatsError> {
        let tasks = self.tasks();
        let count = |flag: u8| self.rows().filter(|row| row.has(flag)).count() as u64;
        let mut found = MetricsSummary {
            n: self.len() as u64,
            tasks: tasks.count() as u64,
            truncated: count(TRUNCATED),
            unanswered: self.len() as u64 - count(ANSWERED),
            tokens: TOKENIZER,
            ..MetricsSummary::default()
        };
        let mut details = BTreeMap::new();
        let mut keep = |name: &'static str, (value, detail): Estimate| {
            details.insert(name, detail);
            value
        };
        let rate = |of: fn(&Row) -> Option<Counted>| tasks.rate(self.rows().map(of));
        let mean = |of: fn(&Row) -> Option<f64>| {
            let (value, detail) = tasks.mean(self.rows().map(of))?;
            Ok::<Estimate, StatsError>((value, detail.within(0.0, f64::INFINITY)))
        };

        found.accuracy = keep("accuracy", rate(|row| Some(row.correct().into()))?);
        let wrong = rate(|row| Some((!row.correct()).into()))?;
        found.err = keep("err", wrong);
        found.usr = keep("usr", wrong);
        found.self_correction_rate = keep("self_correction_rate", rate(|row| row.reasoned(SELF_CORRECTING))?);
        let pair = |[hits, trials]: [u32; 2]| Counted { hits: u64::from(hits), trials: u64::from(trials) };
        let total = |of: fn(&Row) -> u32| self.rows().map(|row| u64::from(of(row))).sum::<u64>();
        [found.equations_false, found.equations_checked] =
            [total(|row| row.equations[0]), total(|row| row.equations[1])];
        [found.sentences_unsupported, found.sentences_checked] =
            [total(|row| row.sentences[0]), total(|row| row.sentences[1])];
        let some = |counts: [u32; 2]| (counts[1] > 0).then(|| pair(counts));
        found.usr_math = keep("usr_math", tasks.rate(self.rows().map(|row| some(row.equations)))?);
        found.usr_retrieval = keep("usr_retrieval", tasks.rate(self.rows().map(|row| some(row.sentences)))?);

        found.cot_tokens_mean = keep("cot_tokens_mean", mean(|row| known(row.cot_tokens))?);
        found.cot_chars_mean = keep("cot_chars_mean", mean(|row| known(row.cot_chars))?);
        found.step_count_mean = keep("step_count_mean", mean(|row| known(row.step_count))?);
        found.ra_ratio_mean = keep("ra_ratio_mean", mean(Row::ra_ratio)?);
        found.prompt_tokens_mean = keep("prompt_tokens_mean", mean(|row| known(row.prompt_tokens))?);
        found.completion_tokens_mean =
            keep("completion_tokens_mean", mean(|row| known(row.completion_tokens))?);
        found.total_tokens_mean = keep("total_tokens_mean", mean(Row::total_tokens)?);
        found.latency_mean_ms = keep("latency_mean_ms", mean(|row| finite(row.latency_ms))?);
        found.latency_p95_ms = keep("latency_p95_ms", self.latency_p95(&tasks)?);

        let calibrated = self.calibrated(&tasks, bins)?;
        found.brier = keep("brier", calibrated.brier);
        found.ece = keep("ece", calibrated.ece);
        found.ece_adaptive = keep("ece_adaptive", calibrated.ece_adaptive);

        let answers = Groups::new(self.len(), &self.rows().map(|row| row.answer));
        let variety = self.variety(&tasks, &answers)?;
        found.sce = keep("sce", (variety.0.map(|entropy| entropy.nats), variety.1));
        found.sce_normalized = variety.0.and_then(|entropy| entropy.normalized());
        let is_pooled = self.rows().any(|row| row.series != row.task);
        let series = is_pooled.then(|| self.series());
        let consistency = repeats(self, &tasks, series.as_ref().unwrap_or(&tasks), &answers)?;
        found.repeats = consistency.max;
        if found.repeats > 1 {
            found.sce_per_task_mean = keep("sce_per_task_mean", consistency.sce);
            found.mode_accuracy = keep("mode_accuracy", consistency.mode_accuracy);
            if let Some(last) = consistency.passes.last() {
                const METHOD: &str = "wilson, effective n";
                let pass = |interval: Interval| {
                    let detail = EstimateDetail::between(last.problems, interval.low, interval.high, METHOD);
                    (interval.point, detail)
                };
                found.pass_at_k = keep("pass_at_k", pass(last.pass_at_k));
                found.pass_hat_k = keep("pass_hat_k", pass(last.pass_hat_k));
            }
            found.pass = consistency.passes.iter().map(PassSummary::from).collect();
            found.variance_problems = consistency.variance.map(|split| split.problems);
            found.variance_sampling = consistency.variance.map(|split| split.sampling);
            found.stability = keep("stability", consistency.stability);
            found.determinism_index = keep("determinism_index", consistency.determinism);
        }
        found.details = details;
        Ok(found)
    }

    fn latency_p95(&self, tasks: &Groups) -> Result<Estimate, StatsError> {
        let method = if tasks.are_single() { "order statistics" } else { "woodruff, clustered by task" };
        let latencies: Vec<f64> = self.rows().filter_map(|row| finite(row.latency_ms)).collect();
        if latencies.is_empty() {
            return Ok((None, EstimateDetail::no_values(method)));
        }
        let n = latencies.len() as u64;
        let sample = Sample::new(latencies)?;
        let found = quantile(&sample, 0.95, Confidence::P95)?;
        let [low, high] = if tasks.are_single() {
            [found.low, found.high]
        } else {
            self.clustered_quantile_bounds(tasks, &sample, found.value)?
        };
        let reason = (low.is_none() || high.is_none())
            .then_some("so few answers do not bound their 95th percentile on both sides");
        Ok((Some(found.value), EstimateDetail { n, low, high, method, reason }))
    }

    /// Bounds of a quantile of the latency: those of the proportion of answers up to it, clustered by task, as quantiles.
    ///
    /// Source: R. S. Woodruff, "Confidence intervals for medians and other position measures", JASA 47 (1952).
    fn clustered_quantile_bounds(
        &self,
        tasks: &Groups,
        sample: &Sample,
        value: f64,
    ) -> Result<[Option<f64>; 2], StatsError> {
        let up_to = |row: &Row| finite(row.latency_ms).map(|latency| Counted::from(latency <= value));
        let (_, detail) = tasks.rate(self.rows().map(up_to))?;
        let sorted = sample.sorted();
        let at = |proportion: f64| {
            let index = (proportion * sorted.len() as f64).ceil() as usize;
            sorted.get(index.saturating_sub(1)).copied()
        };
        // A proportion of 1 would be the largest latency, beyond which there may be others.
        Ok([detail.low.and_then(at), detail.high.filter(|high| *high < 1.0).and_then(at)])
    }

    /// The entropy of all answers.
    ///
    /// It is the mean of `-ln p` over the answers, `p` being the proportion with the same one, and has the interval of
    /// that mean: to first order the spread of an entropy, but not its bias, which is downwards. Where most answers
    /// occur once the estimate is dominated by its bias, and there is no interval.
    fn variety(
        &self,
        tasks: &Groups,
        answers: &Groups,
    ) -> Result<(Option<Entropy>, EstimateDetail), StatsError> {
        let sizes = answers.sizes();
        let size = |index: usize| sizes.get(index).copied().unwrap_or(1);
        let counts =
            || self.rows().zip(0..).filter(|(row, _)| row.has_answer()).map(|(_, index)| size(index));
        let answered = self.rows().filter(|row| row.has_answer()).count();
        let entropy = Entropy::from_counts(counts().map(u64::from));
        let surprise = self.rows().zip(0..).map(|(row, index)| {
            row.has_answer().then(|| -(f64::from(size(answers.first(index))) / answered as f64).ln())
        });
        let (_, found) = tasks.mean(surprise)?;
        let detail = linearised(found).within(0.0, f64::INFINITY);
        let once = counts().filter(|size| *size == 1).count();
        Ok(if entropy.is_some() && 2 * once > answered {
            let reason = "most answers occur once, so that more tasks would raise it";
            (entropy, EstimateDetail::without(detail.n, detail.method, reason))
        } else {
            (entropy, detail)
        })
    }

    /// The Brier score and the two calibration errors.
    ///
    /// A calibration error is the mean of `s (c - p)` over the answers, `s` being the sign of their bin, and has the
    /// interval of that mean: the spread but not the bias, which is upwards where bins hold few.
    fn calibrated(&self, tasks: &Groups, bins: usize) -> Result<Calibrated, StatsError> {
        let each = |row: &Row| Some((finite(row.prob_correct)?, f64::from(u8::from(row.correct()))));
        let (_, brier_detail) =
            tasks.mean(self.rows().map(|row| each(row).map(|(p, right)| (p - right) * (p - right))))?;
        let error = |found: &[Bin], bin_of: &dyn Fn(f64) -> usize| {
            let signed = |row: &Row| {
                let (p, right) = each(row)?;
                let bin = &found[bin_of(p)];
                Some(if bin.accuracy < bin.confidence { p - right } else { right - p })
            };
            let (_, detail) = tasks.mean(self.rows().map(signed))?;
            Ok::<Estimate, StatsError>((mean_gap(found), linearised(detail).within(0.0, 1.0)))
        };
        let mut calibration = Calibration::new(bins)?;
        for row in self.rows() {
            if let Some(p) = finite(row.prob_correct) {
                calibration.add(p, row.correct())?;
            }
        }
        let by_width = calibration.reliability(Confidence::P95);
        let by_mass = equal_mass(self.stated(), bins, Confidence::P95)?;
        // Bins without answers are not listed, so the bin of `p` is the one that begins where its own does.
        let width_of =
            |p: f64| by_width.partition_point(|bin| bin.low < bin_of(p, bins) as f64 / bins as f64);
        Ok(Calibrated {
            brier: (calibration.brier(), brier_detail.within(0.0, 1.0)),
            ece: error(&by_width, &width_of)?,
            ece_adaptive: error(&by_mass, &|p| by_mass.partition_point(|bin| bin.high < p))?,
        })
    }
}

/// The index of the equal-width bin of a probability.
fn bin_of(p: f64, bins: usize) -> usize {
    ((p * bins as f64) as usize).min(bins - 1)
}

struct Calibrated {
    brier: Estimate,
    ece: Estimate,
    ece_adaptive: Estimate,
}

/// Mean calibration gap of the bins, weighted by answers.
fn mean_gap(bins: &[Bin]) -> Option<f64> {
    let n: u64 = bins.iter().map(|bin| bin.n).sum();
    (n > 0).then(|| bins.iter().map(|bin| bin.n as f64 * bin.gap()).sum::<f64>() / n as f64)
}

fn linearised(detail: EstimateDetail) -> EstimateDetail {
    let method = match detail.method {
        "student-t" => "student-t, linearised",
        _ => "student-t, linearised, clustered by task",
    };
    EstimateDetail { method, ..detail }
}

#[cfg(test)]
mod tests {
    use reasonscape_stats::wilson;

    use super::super::{MetricOptions, SampleRecord, measure};
    use super::*;

    /// Forty problems with the stated probability 0.85, of which 34 are solved in all samples.
    fn summarize(repeats: u32) -> Summary {
        let targets = ["right".into()];
        let mut summary = Summary::default();
        for repeat in 0..repeats {
            for problem in 0..40 {
                let row = SampleRecord {
                    id: &problem.to_string(),
                    repeat,
                    answer: Some(if problem < 34 { "right" } else { "wrong" }),
                    targets: &targets,
                    prob_correct: Some(0.85),
                    ..SampleRecord::default()
                };
                summary.add(&measure(&row, &MetricOptions::default()));
            }
        }
        summary
    }

    #[test]
    fn bins_count_samples_of_one_problem_as_one() {
        let expected = wilson(34.0, 40.0, Confidence::P95).unwrap();
        for repeats in [1, 8] {
            let bins = summarize(repeats).reliability(10).unwrap();
            let [bin] = bins.as_slice() else { panic!("{bins:?}") };
            assert_eq!((bin.n, bin.accuracy, bin.low), (40 * u64::from(repeats), 0.85, 0.8));
            // Eight equal samples have as much information as one; as independent answers their interval would be a third as wide.
            let interval = bin.interval;
            assert!((interval.low - expected.low).abs() < 0.003, "{interval:?}, expected {expected:?}");
            assert!((interval.high - expected.high).abs() < 0.003, "{interval:?}, expected {expected:?}");
        }
    }

    #[test]
    fn intervals_belong_to_their_bins() {
        let targets = ["right".into()];
        let mut summary = Summary::default();
        for (problem, prob, answer) in
            [(0, 1.0, "wrong"), (1, 0.05, "right"), (2, 0.55, "wrong"), (3, 0.96, "right")]
        {
            let row = SampleRecord {
                id: &problem.to_string(),
                answer: Some(answer),
                targets: &targets,
                prob_correct: Some(prob),
                ..SampleRecord::default()
            };
            summary.add(&measure(&row, &MetricOptions::default()));
        }
        let bins = summary.reliability(10).unwrap();
        let found: Vec<(f64, f64, f64)> =
            bins.iter().map(|bin| (bin.accuracy, bin.interval.low, bin.interval.high)).collect();
        let expected = [(1.0, 1.0), (0.0, 1.0), (1.0, 2.0)].map(|(k, n)| {
            let interval = wilson(k, n, Confidence::P95).unwrap();
            (k / n, interval.low, interval.high)
        });
        assert_eq!(found, expected);
    }
}
