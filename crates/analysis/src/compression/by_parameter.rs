//! Bits per token by a parameter: do models keep their entropy as problems get harder?

use std::collections::BTreeMap;

use reasonscape_points::{Column, EvalInfo, PointsDb, PointsError, Value};
use reasonscape_stats::effect_size::Sample;
use reasonscape_stats::{Confidence, Mode};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CompressedTrial, MEASURES, QuartileSummary, measure_compression};
use crate::PointQuery;
use crate::trials::{GroupBy, load_trial_groups};

/// Bits per token of evaluations by one parameter.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntropyByParameter {
    /// The parameter.
    pub parameter: String,
    /// A row for each evaluation, task and value.
    pub rows: Vec<EntropyRow>,
    /// Every pair of evaluations on the same task at the same value.
    pub comparisons: Vec<EntropyComparison>,
    /// How much of its entropy each evaluation keeps on each task, from the smallest value to the largest.
    pub retention: Vec<EntropyRetention>,
}

/// The trials of an evaluation on a task at one value of the parameter.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntropyRow {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The task.
    pub base_task: String,
    /// The value of the parameter.
    pub value: f64,
    /// Trials whose bits per token are known, whatever their outcome.
    pub n: u64,
    /// Bits per token.
    pub bits_per_token: QuartileSummary,
}

/// Two evaluations at equal difficulty.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntropyComparison {
    /// The task.
    pub base_task: String,
    /// The value of the parameter.
    pub value: f64,
    /// The id of evaluation A.
    pub a: String,
    /// The id of evaluation B.
    pub b: String,
    /// Cliff's delta of the bits per token: 1 if every trial of A has more than every trial of B.
    pub delta: f64,
    /// Lower end of its confidence interval.
    pub low: f64,
    /// Upper end of its confidence interval.
    pub high: f64,
    /// Whether the interval excludes zero.
    pub clear: bool,
}

/// How much of its entropy an evaluation keeps on a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntropyRetention {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The task.
    pub base_task: String,
    /// The smallest value with trials.
    pub from: f64,
    /// The largest value with trials.
    pub to: f64,
    /// Median bits per token at the largest value, divided by the median at the smallest.
    pub ratio: f64,
    /// Cliff's delta of the trials at the largest value against those at the smallest; below 0 where entropy falls.
    pub delta: f64,
    /// Lower end of its confidence interval.
    pub low: f64,
    /// Upper end of its confidence interval.
    pub high: f64,
    /// Whether the interval excludes zero.
    pub clear: bool,
}

/// Bits per token of the trials that the query selects, by evaluation, task and value of a numeric parameter.
///
/// # Errors
/// A [`PointsError`] when the study can't be read, nothing matches, or the parameter has no numeric values.
pub async fn entropy_by_parameter(
    db: &PointsDb,
    query: &PointQuery,
    parameter: &str,
    confidence: Confidence,
) -> Result<EntropyByParameter, PointsError> {
    let column = Column::Param(parameter.to_owned());
    let groups = db.aggregate(std::slice::from_ref(&column), &query.filter, Mode::C_P.into()).await?;
    if groups.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    let values: Vec<f64> = groups
        .iter()
        .filter_map(|group| match group.key[0] {
            Value::Number(number) => Some(number),
            _ => None,
        })
        .collect();
    if values.is_empty() {
        return Err(PointsError::InvalidQuery(format!(
            "no selected point has a numeric parameter `{parameter}`; `reasonscape analyze points` lists the parameters"
        )));
    }
    let mut samples: BTreeMap<(String, String), Vec<(f64, Sample)>> = BTreeMap::new();
    let mut evals: BTreeMap<String, (EvalInfo, String)> = BTreeMap::new();
    for value in values {
        let mut at_value = query.clone();
        at_value.filter = query.filter.with_param(parameter, value);
        for group in load_trial_groups(db, &at_value, &MEASURES, GroupBy::Task).await? {
            let bits: Vec<f64> = group
                .units
                .iter()
                .flat_map(measure_compression)
                .filter_map(|trial: CompressedTrial| trial.bits())
                .collect();
            if bits.is_empty() {
                continue;
            }
            let name = group.name;
            let key = (name.eval.eval_id.clone(), name.task.clone().unwrap_or_default());
            samples.entry(key).or_default().push((value, Sample::new(bits)?));
            evals.entry(name.eval.eval_id.clone()).or_insert((name.eval, name.label));
        }
    }
    let rows = samples
        .iter()
        .flat_map(|((eval_id, task), values)| {
            let (eval, label) = &evals[eval_id];
            values.iter().map(move |(value, sample)| EntropyRow {
                eval: eval.clone(),
                label: label.clone(),
                base_task: task.clone(),
                value: *value,
                n: sample.len() as u64,
                bits_per_token: QuartileSummary::new(sample, confidence),
            })
        })
        .collect();
    let retention = samples
        .iter()
        .filter_map(|((eval_id, task), values)| {
            let ((from, easy), (to, hard)) = (values.first()?, values.last()?);
            let effect = (from < to).then(|| hard.compared_with(easy, confidence))?;
            Some(EntropyRetention {
                eval_id: eval_id.clone(),
                label: evals[eval_id].1.clone(),
                base_task: task.clone(),
                from: *from,
                to: *to,
                ratio: hard.quartiles().median / easy.quartiles().median,
                delta: effect.delta,
                low: effect.low,
                high: effect.high,
                clear: effect.is_clear(),
            })
        })
        .collect();
    let mut comparisons = Vec::new();
    for ((a, task), of_a) in &samples {
        for ((b, _), of_b) in samples.iter().filter(|((b, other), _)| b > a && other == task) {
            for (value, sample) in of_a {
                let Some((_, other)) = of_b.iter().find(|(at, _)| at == value) else { continue };
                let effect = sample.compared_with(other, confidence);
                comparisons.push(EntropyComparison {
                    base_task: task.clone(),
                    value: *value,
                    a: a.clone(),
                    b: b.clone(),
                    delta: effect.delta,
                    low: effect.low,
                    high: effect.high,
                    clear: effect.is_clear(),
                });
            }
        }
    }
    Ok(EntropyByParameter { parameter: parameter.to_owned(), rows, comparisons, retention })
}

impl EntropyByParameter {
    /// Sentences on how bits per token change with difficulty, and on how models compare at equal difficulty.
    pub fn findings(&self) -> Vec<String> {
        let mut findings: Vec<String> = self
            .retention
            .iter()
            .map(|kept| {
                let verdict = match (kept.clear, kept.delta < 0.0) {
                    (false, _) => "no significant change in bits per token",
                    (true, true) => "bits per token fall",
                    (true, false) => "bits per token rise",
                };
                format!(
                    "{} on {}: {verdict} from {}={} to {} (x {:.2}, delta {:+.2}, {:+.2} to {:+.2})",
                    kept.label,
                    kept.base_task,
                    self.parameter,
                    kept.from,
                    kept.to,
                    kept.ratio,
                    kept.delta,
                    kept.low,
                    kept.high
                )
            })
            .collect();
        let label = |eval_id: &str| {
            self.rows.iter().find(|row| row.eval.eval_id == eval_id).map_or("", |row| row.label.as_str())
        };
        let mut pairs: BTreeMap<(&str, &str, &str), [usize; 3]> = BTreeMap::new();
        for found in &self.comparisons {
            let counts = pairs.entry((&found.base_task, &found.a, &found.b)).or_default();
            counts[0] += 1;
            counts[1] += usize::from(found.clear && found.delta > 0.0);
            counts[2] += usize::from(found.clear && found.delta < 0.0);
        }
        findings.extend(pairs.into_iter().map(|((task, a, b), [all, more, fewer])| {
            format!(
                "{} against {} on {task}, at equal {}: more bits per token at {more} of {all} values, fewer at {fewer}",
                label(a),
                label(b),
                self.parameter
            )
        }));
        findings
    }
}
