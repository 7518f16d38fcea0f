//! Reliability of responses: use of the token limit, refusals and unparsed answers.

use std::collections::BTreeMap;

use reasonscape_points::{Measure, PointsDb, PointsError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::PointQuery;

/// A trial that used more of its token limit than this is close to being truncated.
const NEAR_LIMIT: f64 = 0.9;

/// Use of the token limit, refusals and unparsed responses. What isn't known is null.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Reliability {
    /// The token limit of a response; null if it isn't known or differs between trials.
    pub token_limit: Option<u64>,
    /// Mean proportion of the token limit that a response uses.
    pub utilization_mean: Option<f64>,
    /// 95th percentile of that proportion.
    pub utilization_p95: Option<f64>,
    /// Proportion of trials that use more than 90 % of the limit.
    pub near_limit_rate: Option<f64>,
    /// Proportion of trials that a content filter refused.
    pub refusal_rate: Option<f64>,
    /// Proportion of trials that completed without an answer that could be extracted.
    pub unparsed_rate: Option<f64>,
}

/// The trials of one evaluation on one task, as far as reliability is concerned.
#[derive(Debug, Default)]
struct Unit {
    limit: Option<u64>,
    /// Proportions of the limit.
    utilization: Vec<f64>,
    n: u64,
    refused: u64,
    unparsed: u64,
    is_imported: bool,
}

/// Reliability by evaluation and task.
#[derive(Debug)]
pub(crate) struct ReliabilityTable {
    units: BTreeMap<(String, String), Unit>,
}

impl ReliabilityTable {
    pub(crate) async fn load(db: &PointsDb, query: &PointQuery) -> Result<Self, PointsError> {
        let mut units: BTreeMap<(String, String), Unit> = BTreeMap::new();
        for source in db.sources() {
            let unit = units.entry((source.eval_id.clone(), source.task.clone())).or_default();
            unit.limit = source.provenance.max_tokens;
            unit.is_imported = !source.provenance.source.is_empty();
        }
        for counts in db.response_counts(&query.filter).await? {
            let unit = units.entry((counts.eval_id, counts.base_task)).or_default();
            (unit.n, unit.refused, unit.unparsed) = (counts.n, counts.refused, counts.unparsed);
        }
        if units.values().any(|unit| unit.limit.is_some()) {
            for columns in db.trial_columns(&query.filter, &[Measure::CompletionTokens]).await? {
                let unit = units.entry((columns.eval_id.clone(), columns.base_task.clone())).or_default();
                let Some(limit) = unit.limit.filter(|limit| *limit > 0) else { continue };
                let tokens = columns.measure(Measure::CompletionTokens).flatten();
                unit.utilization = tokens.map(|tokens| tokens as f64 / limit as f64).collect();
            }
        }
        Ok(Self { units })
    }

    /// All trials of an evaluation.
    pub(crate) fn of_eval(&self, eval_id: &str) -> Reliability {
        summarize(self.units.iter().filter(|((eval, _), _)| eval == eval_id).map(|(_, unit)| unit))
    }

    /// All trials of a task.
    pub(crate) fn of_task(&self, base_task: &str) -> Reliability {
        summarize(self.units.iter().filter(|((_, task), _)| task == base_task).map(|(_, unit)| unit))
    }
}

fn summarize<'u>(units: impl Iterator<Item = &'u Unit>) -> Reliability {
    let units: Vec<&Unit> = units.filter(|unit| unit.n > 0).collect();
    let n: u64 = units.iter().map(|unit| unit.n).sum();
    if n == 0 {
        return Reliability::default();
    }
    let mut utilization: Vec<f64> = units.iter().flat_map(|unit| unit.utilization.iter().copied()).collect();
    utilization.sort_by(f64::total_cmp);
    let count = utilization.len();
    let of_all = |number: usize| (count > 0).then(|| number as f64 / count as f64);
    let limit = units[0].limit.filter(|_| units.iter().all(|unit| unit.limit == units[0].limit));
    // Logs of other tools record whether an answer was correct, not whether one was extracted.
    let is_own = !units.iter().any(|unit| unit.is_imported);
    let rate = |count: u64| Some(count as f64 / n as f64).filter(|_| is_own);
    Reliability {
        token_limit: limit,
        utilization_mean: (count > 0).then(|| utilization.iter().sum::<f64>() / count as f64),
        utilization_p95: utilization.get(((0.95 * count as f64).ceil() as usize).saturating_sub(1)).copied(),
        near_limit_rate: of_all(utilization.iter().filter(|used| **used > NEAR_LIMIT).count()),
        refusal_rate: rate(units.iter().map(|unit| unit.refused).sum()),
        unparsed_rate: rate(units.iter().map(|unit| unit.unparsed).sum()),
    }
}
