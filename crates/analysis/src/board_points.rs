//! The points of a board with the suite's weights, and the likelihood ReasonScore of any part of them.

use std::collections::BTreeMap;

use reasonscape_points::{Filter, Mean, PointsDb, PointsError, SamplingRule};
use reasonscape_stats::likelihood::{
    LikelihoodScore, PointSums, StopRule, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::{Confidence, Mode, StatsError};

/// The points that any evaluation of the study has, with the data of each evaluation.
#[derive(Debug)]
pub(crate) struct BoardPoints {
    /// Sorted by task and parameters.
    pub(crate) points: Vec<BoardPoint>,
    /// By evaluation, then as `points`.
    evals: BTreeMap<String, Vec<Option<PointData>>>,
}

/// A point of the suite.
#[derive(Debug, Clone)]
pub(crate) struct BoardPoint {
    pub(crate) base_task: String,
    pub(crate) params: String,
    pub(crate) manifolds: Vec<String>,
    /// Planned problems in the suite. Only ratios within a task matter.
    pub(crate) weight: f64,
}

/// What an evaluation has of a point.
#[derive(Debug, Clone, Copy)]
struct PointData {
    n: u64,
    tokens: Mean,
    sums: PointSums,
    is_from_counters: bool,
    stop_rule: Option<StopRule>,
}

impl BoardPoints {
    /// Loads the points that a filter selects, of all evaluations: a point that only others have is a planned point
    /// without data.
    pub(crate) async fn load(db: &PointsDb, filter: &Filter) -> Result<Self, PointsError> {
        let found = db.query_points(&filter.for_tests(), Mode::E_I.into()).await?;
        let mut known: BTreeMap<(String, String), (Vec<String>, Option<u64>)> = BTreeMap::new();
        let mut of_task: BTreeMap<String, u64> = BTreeMap::new();
        for point in &found {
            let (manifolds, weight) =
                known.entry((point.base_task.clone(), point.params.clone())).or_default();
            if manifolds.is_empty() {
                manifolds.clone_from(&point.manifolds);
            }
            *weight = (*weight).max(point.weight);
            if let Some(weight) = point.weight {
                let largest = of_task.entry(point.base_task.clone()).or_default();
                *largest = weight.max(*largest);
            }
        }
        let points: Vec<BoardPoint> = known
            .into_iter()
            .map(|((base_task, params), (manifolds, weight))| {
                // Files of earlier formats and imported logs don't record the suite's counts.
                let weight = weight.or_else(|| of_task.get(&base_task).copied()).unwrap_or(1);
                BoardPoint { base_task, params, manifolds, weight: weight as f64 }
            })
            .collect();
        let mut evals: BTreeMap<String, Vec<Option<PointData>>> = BTreeMap::new();
        for point in found {
            let key = (point.base_task.as_str(), point.params.as_str());
            let place = |known: &BoardPoint| (known.base_task.as_str(), known.params.as_str()).cmp(&key);
            let Ok(index) = points.binary_search_by(place) else { continue };
            let sums = match point.sums {
                Some(sums) => sums,
                None => PointSums::from_counters(&point.counts.counters()?),
            };
            let stop_rule = point.rule.and_then(SamplingRule::stop_rule);
            let data = PointData {
                n: point.counts.n,
                tokens: point.counts.completion_tokens,
                sums,
                is_from_counters: point.sums.is_none() && point.counts.n > 0,
                // In its first round a rule hasn't decided anything yet.
                stop_rule: stop_rule
                    .filter(|rule| sums.problems >= f64::from(rule.round.min(rule.max_count))),
            };
            evals.entry(point.eval_id).or_insert_with(|| vec![None; points.len()])[index] = Some(data);
        }
        Ok(Self { points, evals })
    }

    /// The tasks as ranges of points.
    fn tasks(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut start = 0;
        self.points.chunk_by(|a, b| a.base_task == b.base_task).map(move |task| {
            let range = start..start + task.len();
            start = range.end;
            range
        })
    }

    /// The score of an evaluation on the points that `is_selected` selects; `None` without data.
    pub(crate) fn score(
        &self,
        eval_id: &str,
        confidence: Confidence,
        is_selected: &dyn Fn(&BoardPoint) -> bool,
    ) -> Result<Option<LikelihoodScore>, StatsError> {
        let Some(data) = self.evals.get(eval_id) else { return Ok(None) };
        let mut tasks = Vec::new();
        for range in self.tasks() {
            let selected = range.filter(|index| is_selected(&self.points[*index]));
            let points: Vec<WeightedPoint> = selected
                .map(|index| WeightedPoint {
                    sums: data[index].map_or_else(PointSums::default, |data| data.sums),
                    weight: self.points[index].weight,
                    stop_rule: data[index].and_then(|data| data.stop_rule),
                })
                .collect();
            tasks.extend(effective_task(&points)?);
        }
        if tasks.is_empty() { Ok(None) } else { likelihood_score(&tasks, confidence).map(Some) }
    }

    /// Whether an evaluation has more trials at some points of a task than the suite's proportions say, so that pooled
    /// counters are those of another mixture.
    pub(crate) fn is_sampled_unequally(&self, eval_id: &str) -> bool {
        let Some(data) = self.evals.get(eval_id) else { return false };
        self.tasks().any(|range| {
            let rates = range.filter_map(|index| {
                let n = data[index].filter(|data| data.n > 0)?.n as f64;
                Some(n / self.points[index].weight)
            });
            let (low, high) =
                rates.fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
            high > low * (1.0 + 1e-9)
        })
    }

    /// Mean tokens of a completion of an evaluation on the selected points.
    pub(crate) fn tokens_mean(
        &self,
        eval_id: &str,
        is_selected: &dyn Fn(&BoardPoint) -> bool,
    ) -> Option<f64> {
        let mut total = Mean::default();
        for (point, data) in self.points.iter().zip(self.evals.get(eval_id)?) {
            if let Some(data) = data.filter(|_| is_selected(point)) {
                total += data.tokens;
            }
        }
        total.value()
    }

    /// Whether points of an evaluation enter by their counters, because their file has no sums over problems and there
    /// are no trials to compute them from.
    pub(crate) fn is_from_counters(&self, eval_id: &str) -> bool {
        let data = self.evals.get(eval_id).into_iter().flatten().flatten();
        data.into_iter().any(|data| data.is_from_counters)
    }
}
