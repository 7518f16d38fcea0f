//! Maximal sets of models that can't be distinguished, overall or by task, parameter, manifold or facet.

use std::cmp::Ordering;

use reasonscape_points::{Column, EvalInfo, PointsDb, PointsError, Value};
use reasonscape_stats::Confidence;
use reasonscape_stats::ranks::indistinguishable_sets;
use schemars::JsonSchema;
use serde::Serialize;

use crate::board_points::{BoardPoint, BoardPoints};
use crate::pair_tests::{BoardProblems, Contestant, PairTests};
use crate::{PointQuery, ReasonScoreEstimate, eval_label};

/// The sets of models that can't be distinguished, group by group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelSets {
    /// The column that points or models are grouped by; null for one group of everything.
    pub by: Option<String>,
    /// The groups, by value.
    pub groups: Vec<ModelSetGroup>,
}

/// The sets of one group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ModelSetGroup {
    /// The value of the column; null if everything is one group.
    pub group: Option<Value>,
    /// Pairs that were tested; p-values are corrected for this many (Holm).
    pub pairs: u64,
    /// The sets, that of the best models first. A model can be in two sets; the models of a set are sorted by mean tokens.
    pub sets: Vec<Vec<SetMember>>,
}

/// A model in a set.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SetMember {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The ReasonScore on the points of the group.
    pub reason_score: ReasonScoreEstimate,
    /// Mean tokens of a completion on the points of the group.
    pub tokens_mean: Option<f64>,
}

impl ModelSetGroup {
    /// The group in tables: its value, or `all`.
    pub fn label(&self) -> String {
        self.group.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string)
    }
}

/// Finds the maximal sets of models of which no pair differs: by paired tests on shared problems, at 5 % after Holm's
/// correction over all pairs of a group.
///
/// # Errors
/// A [`PointsError`] when the study can't be read, nothing matches, trials are missing or `by` is another kind of column.
pub async fn model_sets(
    db: &PointsDb,
    query: &PointQuery,
    by: Option<&Column>,
) -> Result<ModelSets, PointsError> {
    if let Some(
        column @ (Column::EvalId | Column::Model | Column::Template | Column::Sampler | Column::Params),
    ) = by
    {
        return Err(PointsError::InvalidQuery(format!(
            "models can't be grouped by `{column}`; expected base_task, manifold, params.NAME or facets.NAME"
        )));
    }
    let selected =
        db.aggregate(&[Column::EvalId], &query.filter, reasonscape_stats::Mode::C_P.into()).await?;
    let selected: Vec<&EvalInfo> = db
        .evals()
        .iter()
        .filter(|eval| {
            let has_trials = |group: &&reasonscape_points::Group| group.counts.n > 0;
            selected.iter().filter(has_trials).any(|group| group.key[0].to_string() == eval.eval_id)
        })
        .collect();
    if selected.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    let points = BoardPoints::load(db, &query.filter).await?;
    let ids: Vec<&str> = selected.iter().map(|eval| eval.eval_id.as_str()).collect();
    let problems = BoardProblems::load(db, &query.filter, &points, &ids).await?;
    if let Some(eval) = selected.iter().find(|eval| !problems.has_trials(&eval.eval_id)) {
        return Err(PointsError::InvalidQuery(format!(
            "the study has the counters of {}, but not its trials, which a paired test needs",
            eval_label(db.evals(), eval)
        )));
    }
    let builder = GroupBuilder { db, points: &points, problems: &problems };
    let mut groups = Vec::new();
    match by {
        None => groups.push(builder.group(None, &selected, &|_| true)?),
        Some(Column::Facet(facet)) => {
            let value = |eval: &EvalInfo| facet_value(eval, facet);
            for group in sorted(selected.iter().map(|eval| value(eval))) {
                let members: Vec<&EvalInfo> =
                    selected.iter().copied().filter(|eval| value(eval) == group).collect();
                groups.push(builder.group(Some(group), &members, &|_| true)?);
            }
        }
        Some(column) => {
            for group in sorted(points.points.iter().flat_map(|point| values(point, column))) {
                let is_selected = |point: &BoardPoint| values(point, column).contains(&group);
                groups.push(builder.group(Some(group.clone()), &selected, &is_selected)?);
            }
        }
    }
    Ok(ModelSets { by: by.map(ToString::to_string), groups })
}

struct GroupBuilder<'b> {
    db: &'b PointsDb,
    points: &'b BoardPoints,
    problems: &'b BoardProblems<'b>,
}

impl GroupBuilder<'_> {
    /// The sets of some models on some points.
    fn group(
        &self,
        group: Option<Value>,
        evals: &[&EvalInfo],
        is_selected: &(dyn Fn(&BoardPoint) -> bool + Sync),
    ) -> Result<ModelSetGroup, PointsError> {
        let (mut members, mut contestants) = (Vec::new(), Vec::new());
        for eval in evals {
            let eval_id = eval.eval_id.as_str();
            // A model without data on these points can't be compared.
            let Some(score) = self.points.score(eval_id, Confidence::P95, is_selected)? else { continue };
            contestants.push(Contestant { eval_id, score });
            members.push(SetMember {
                eval: (*eval).clone(),
                label: eval_label(self.db.evals(), eval),
                reason_score: score.into(),
                tokens_mean: self.points.tokens_mean(eval_id, is_selected),
            });
        }
        let tests = PairTests::on_points(self.problems, &contestants, is_selected)?;
        let mut order: Vec<usize> = (0..members.len()).collect();
        let estimate = |index: &usize| members[*index].reason_score.estimate;
        order.sort_by(|a, b| {
            estimate(b).total_cmp(&estimate(a)).then_with(|| members[*a].label.cmp(&members[*b].label))
        });
        let tokens = |index: usize| members[index].tokens_mean.unwrap_or(f64::INFINITY);
        let sets = indistinguishable_sets(&order, |a, b| tests.differs(a, b)).into_iter().map(|range| {
            let mut set = order[range].to_vec();
            set.sort_by(|a, b| tokens(*a).total_cmp(&tokens(*b)));
            set.into_iter().map(|index| members[index].clone()).collect()
        });
        let sets = sets.collect();
        let pairs = (members.len() * members.len().saturating_sub(1) / 2) as u64;
        Ok(ModelSetGroup { group, pairs, sets })
    }
}

/// The values of a column at a point: one, or each of its manifolds.
fn values(point: &BoardPoint, column: &Column) -> Vec<Value> {
    match column {
        Column::BaseTask => vec![Value::Text(point.base_task.clone())],
        Column::Manifold => point.manifolds.iter().cloned().map(Value::Text).collect(),
        Column::Param(name) => {
            let params: serde_json::Value = serde_json::from_str(&point.params).unwrap_or_default();
            match params.get(name) {
                None | Some(serde_json::Value::Null) => Vec::new(),
                Some(serde_json::Value::String(text)) => vec![Value::Text(text.clone())],
                Some(value) => {
                    vec![value.as_f64().map_or_else(|| Value::Text(value.to_string()), Value::Number)]
                }
            }
        }
        _ => Vec::new(),
    }
}

/// The value of a label: `moe` for the facet `arch` of an evaluation with the label `arch:moe`.
fn facet_value(eval: &EvalInfo, facet: &str) -> Value {
    let value = eval.groups.iter().find_map(|label| label.strip_prefix(facet)?.strip_prefix(':'));
    value.map_or(Value::Missing, |value| Value::Text(value.to_owned()))
}

/// The distinct values: numbers by size, then texts.
fn sorted(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut distinct: Vec<Value> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct.sort_by(|a, b| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Number(_), _) => Ordering::Less,
        (_, Value::Number(_)) => Ordering::Greater,
        (a, b) => a.to_string().cmp(&b.to_string()),
    });
    distinct
}
