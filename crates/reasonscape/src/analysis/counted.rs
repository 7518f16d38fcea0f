//! What was counted, by evaluation and task, and what is missing of it.

use std::collections::BTreeMap;

use reasonscape_points::{Column, EvalInfo, Filter, PointsDb, PointsError, TrialCounts, Value};
use reasonscape_stats::Mode;

/// Which part of a study is meant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) filter: Filter,
    /// The filter as it was written, for errors.
    items: Vec<String>,
}

impl Asked {
    /// Reads conditions of the form `COLUMN=VALUE`.
    pub(crate) fn parse(items: &[String]) -> Result<Self, PointsError> {
        Ok(Self { filter: Filter::parse(items)?, items: items.to_vec() })
    }

    /// The same, of these evaluations only, which are among those that are meant.
    pub(crate) fn of_evals(&self, eval_ids: &[&str]) -> Self {
        Self { filter: self.filter.of_evals(eval_ids), items: self.items.clone() }
    }

    /// Says what there is, to whoever asked for something that is not there.
    pub(crate) async fn nothing(&self, db: &PointsDb) -> PointsError {
        let mut there = Vec::new();
        for item in &self.items {
            let name = item.split('=').next().unwrap_or_default().trim();
            match values(db, name).await {
                Ok(values) if values.is_empty() => there.push(format!("no point has `{name}`")),
                Ok(values) => there.push(format!("`{name}` is {}", some_of(&values))),
                Err(error) => return error,
            }
        }
        let asked = self.items.iter().map(|item| format!("`{item}`")).collect::<Vec<_>>().join(" and ");
        PointsError::InvalidQuery(match there.as_slice() {
            [] => format!("`{}` has no points; `reasonscape evaluate` counts them", db.study().display()),
            there => format!("nothing in the study matches {asked}; {}", there.join("; ")),
        })
    }
}

/// The values that a column has anywhere in the study.
async fn values(db: &PointsDb, name: &str) -> Result<Vec<String>, PointsError> {
    if name == "groups" {
        let mut labels: Vec<String> = db.evals().iter().flat_map(|eval| eval.groups.clone()).collect();
        labels.sort();
        labels.dedup();
        return Ok(labels);
    }
    let groups = db.aggregate(&[name.parse()?], &Filter::default(), Mode::C_P).await?;
    let known = groups.iter().filter_map(|group| group.key.first());
    Ok(known.filter(|value| **value != Value::Missing).map(ToString::to_string).collect())
}

/// `a, b or c`, of many only the first.
fn some_of(values: &[String]) -> String {
    const MOST: usize = 12;
    match values {
        [] => String::new(),
        [one] => one.clone(),
        few if few.len() <= MOST => {
            let (last, others) = few.split_last().expect("more than one");
            format!("{} or {last}", others.join(", "))
        }
        many => format!("{} or one of {} more", many[..MOST].join(", "), many.len() - MOST),
    }
}

/// Names, of many only the first.
pub(crate) fn some(names: &[String]) -> String {
    const MOST: usize = 5;
    match names.len().saturating_sub(MOST) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST].join(", ")),
    }
}

/// The counters of evaluations on the tasks of their suite.
#[derive(Debug)]
pub(super) struct Counted {
    /// Evaluations that are meant, by model, template and sampler.
    pub(super) evals: Vec<CountedEval>,
    /// The tasks of the suite by name, with the number of their points: all that any evaluation of the study has.
    pub(super) suite: BTreeMap<String, u64>,
}

/// One evaluation.
#[derive(Debug)]
pub(super) struct CountedEval {
    pub(super) info: EvalInfo,
    /// What tables call it.
    pub(super) label: String,
    /// Its tasks by name, those without a trial among them.
    pub(super) tasks: BTreeMap<String, CountedTask>,
}

/// One evaluation on one task.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CountedTask {
    pub(super) points: u64,
    pub(super) counts: TrialCounts,
}

impl Counted {
    /// Adds up the points that are meant. It is an error if there are none.
    pub(super) async fn gather(db: &PointsDb, asked: &Asked) -> Result<Self, PointsError> {
        let groups = db.aggregate(&[Column::EvalId, Column::BaseTask], &asked.filter, Mode::C_P).await?;
        if groups.is_empty() {
            return Err(asked.nothing(db).await);
        }
        let mut of_evals: BTreeMap<String, BTreeMap<String, CountedTask>> = BTreeMap::new();
        for group in groups {
            let [eval_id, task] = &group.key[..] else { unreachable!("grouped by two columns") };
            let counted = CountedTask { points: group.points, counts: group.counts };
            of_evals.entry(eval_id.to_string()).or_default().insert(task.to_string(), counted);
        }
        let evals = db
            .evals()
            .iter()
            .filter_map(|info| {
                let tasks = of_evals.remove(&info.eval_id)?;
                Some(CountedEval { info: info.clone(), label: label(db.evals(), info), tasks })
            })
            .collect();
        let points =
            db.aggregate(&[Column::BaseTask, Column::Params], &asked.filter.of_tests(), Mode::C_P).await?;
        let mut suite: BTreeMap<String, u64> = BTreeMap::new();
        for point in points {
            *suite.entry(point.key[0].to_string()).or_default() += 1;
        }
        Ok(Self { evals, suite })
    }
}

impl CountedEval {
    /// Everything together.
    pub(super) fn total(&self) -> TrialCounts {
        let mut total = TrialCounts::default();
        for task in self.tasks.values() {
            total += task.counts;
        }
        total
    }

    /// The tasks that have a trial, by name.
    pub(super) fn with_trials(&self) -> impl Iterator<Item = (&String, &CountedTask)> {
        self.tasks.iter().filter(|(_, task)| task.counts.n > 0)
    }

    /// The tasks of the suite that have none.
    pub(super) fn without_trials(&self, suite: &BTreeMap<String, u64>) -> Vec<String> {
        let has_trials = |task: &&String| self.tasks.get(*task).is_some_and(|task| task.counts.n > 0);
        suite.keys().filter(|task| !has_trials(task)).cloned().collect()
    }

    /// Points of its tasks that others have and it has not.
    pub(super) fn missing_points(&self, suite: &BTreeMap<String, u64>) -> u64 {
        let missing = |(task, counted): (&String, &CountedTask)| {
            suite.get(task).map_or(0, |points| points.saturating_sub(counted.points))
        };
        self.tasks.iter().map(missing).sum()
    }
}

/// Whether all of these evaluations say which answers were cut off. Logs of other tools may not, and then a rate of
/// zero would be an invention.
pub(super) fn truncation_is_known<'a>(db: &PointsDb, evals: impl IntoIterator<Item = &'a String>) -> bool {
    !evals.into_iter().any(|eval_id| db.truncation_unknown().contains(eval_id))
}

/// For serde, which says nothing of what is as usual.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_known(known: &bool) -> bool {
    *known
}

/// What has to be said beside every number of evaluations whose logs do not say which answers were cut off.
pub(crate) fn truncation_note(db: &PointsDb) -> Option<String> {
    let unknown: Vec<String> = db
        .evals()
        .iter()
        .filter(|eval| db.truncation_unknown().contains(&eval.eval_id))
        .map(|eval| label(db.evals(), eval))
        .collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "nobody wrote down which answers of {} were cut off: `?` in the tables, and such an answer counts as its \
             log scored it",
            unknown.join(", ")
        )
    })
}

/// What a table calls an evaluation: its name, with its id where two have the same.
pub(crate) fn label(evals: &[EvalInfo], eval: &EvalInfo) -> String {
    let is_alone = evals.iter().filter(|other| other.name == eval.name).count() == 1;
    if is_alone { eval.name.clone() } else { format!("{} ({})", eval.name, eval.eval_id) }
}

/// The one evaluation that goes by this id, name or model.
pub(crate) fn evaluation<'a>(evals: &[&'a EvalInfo], name: &str) -> Result<&'a EvalInfo, PointsError> {
    if let Some(eval) = evals.iter().find(|eval| eval.eval_id == name) {
        return Ok(eval);
    }
    let called: Vec<&EvalInfo> =
        evals.iter().copied().filter(|eval| eval.name == name || eval.model == name).collect();
    let list = |evals: &[&EvalInfo]| {
        let one = |eval: &&EvalInfo| {
            format!("{} ({}, {}, {})", eval.eval_id, eval.name, eval.template, eval.sampler)
        };
        some_of(&evals.iter().map(one).collect::<Vec<_>>())
    };
    match called.as_slice() {
        [eval] => Ok(eval),
        [] => Err(PointsError::InvalidQuery(format!(
            "no evaluation is called `{name}`; give an id, a name or a model: {}",
            list(evals)
        ))),
        several => Err(PointsError::InvalidQuery(format!("`{name}` may be {}; give the id", list(several)))),
    }
}
