//! Selecting points and evaluations of a study, and the error when nothing matches.

use std::collections::BTreeSet;

use reasonscape_points::{EvalInfo, Filter, PointsDb, PointsError, Value};
use reasonscape_stats::Mode;

use crate::labels::join_alternatives;

/// Maximum number of conditions that an error shows, and of columns that it lists the values of.
const MAX_SHOWN: usize = 10;

/// The points of a study that an analysis uses.
#[derive(Debug, Clone, Default)]
pub struct PointQuery {
    /// The conditions that a point must meet.
    pub filter: Filter,
    /// The filter as it was written, for errors.
    items: Vec<String>,
}

impl PointQuery {
    /// Parses conditions of the form `COLUMN=VALUE`.
    ///
    /// # Errors
    /// [`PointsError::InvalidQuery`] when a condition is malformed.
    pub fn parse(items: &[String]) -> Result<Self, PointsError> {
        Ok(Self { filter: Filter::parse(items)?, items: items.to_vec() })
    }

    /// The same query restricted to these evaluations, which must be among those that it selects.
    #[must_use]
    pub fn for_evals(&self, eval_ids: &[&str]) -> Self {
        Self { filter: self.filter.for_evals(eval_ids), items: self.items.clone() }
    }

    /// The error when nothing matches; it lists the values that exist.
    pub async fn no_match_error(&self, db: &PointsDb) -> PointsError {
        let names: BTreeSet<&str> =
            self.items.iter().map(|item| item.split('=').next().unwrap_or_default().trim()).collect();
        let mut available = Vec::new();
        for name in names.into_iter().take(MAX_SHOWN) {
            match values(db, name).await {
                Ok(values) if values.is_empty() => available.push(format!("no point has `{name}`")),
                Ok(values) => available.push(format!("`{name}` is {}", join_alternatives(&values))),
                Err(error) => return error,
            }
        }
        let shown = self.items.iter().take(MAX_SHOWN).map(|item| format!("`{item}`"));
        let mut conditions = shown.collect::<Vec<_>>().join(" and ");
        if let Some(more @ 1..) = self.items.len().checked_sub(MAX_SHOWN) {
            conditions = format!("{conditions} and {more} more conditions");
        }
        PointsError::InvalidQuery(match available.as_slice() {
            [] => format!("`{}` has no points; run `reasonscape evaluate` first", db.study().display()),
            available => format!("nothing in the study matches {conditions}; {}", available.join("; ")),
        })
    }
}

/// All values of a column in the study.
async fn values(db: &PointsDb, name: &str) -> Result<Vec<String>, PointsError> {
    if name == "groups" {
        let mut labels: Vec<String> = db.evals().iter().flat_map(|eval| eval.groups.clone()).collect();
        labels.sort();
        labels.dedup();
        return Ok(labels);
    }
    let groups = db.aggregate(&[name.parse()?], &Filter::default(), Mode::C_P.into()).await?;
    let known = groups.iter().filter_map(|group| group.key.first());
    Ok(known.filter(|value| **value != Value::Missing).map(ToString::to_string).collect())
}

/// The evaluation with this id, name or model.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub fn find_eval<'a>(evals: &[&'a EvalInfo], name: &str) -> Result<&'a EvalInfo, PointsError> {
    if let Some(eval) = evals.iter().find(|eval| eval.eval_id == name) {
        return Ok(eval);
    }
    let matching: Vec<&EvalInfo> =
        evals.iter().copied().filter(|eval| eval.name == name || eval.model == name).collect();
    let list = |evals: &[&EvalInfo]| {
        let describe = |eval: &&EvalInfo| {
            format!("{} ({}, {}, {})", eval.eval_id, eval.name, eval.template, eval.sampler)
        };
        join_alternatives(&evals.iter().map(describe).collect::<Vec<_>>())
    };
    match matching.as_slice() {
        [eval] => Ok(eval),
        [] => Err(PointsError::InvalidQuery(format!(
            "unknown evaluation `{name}`; expected an id, a name or a model: {}",
            list(evals)
        ))),
        several => {
            Err(PointsError::InvalidQuery(format!("`{name}` is ambiguous: {}; use the id", list(several))))
        }
    }
}
