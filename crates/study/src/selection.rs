//! Which part of a study is run: evaluations, tasks, and the shard of this machine.

use std::collections::BTreeSet;

use reasonscape_core::{Point, Task};

use crate::{Eval, Study};
use reasonscape_core::CacheKey;

/// Which part of a study is run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Evaluations by id, name or model; all when empty.
    pub evals: Vec<String>,
    /// Tasks by name; all when empty.
    pub tasks: Vec<String>,
    /// Tests at each point, instead of what the study says.
    pub count: Option<usize>,
    /// The part that this machine runs.
    pub shard: Shard,
}

/// One of several equal parts of a plan. Which part a request belongs to depends on its key alone, so machines share a
/// study without talking to each other, and an identical request is always in the same part.
///
/// ```
/// use reasonscape_study::Shard;
///
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!((shard.number, shard.total), (2, 3));
/// assert!("4/3".parse::<Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: u64,
    /// How many parts there are.
    pub total: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 1, total: 1 }
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(number, total)| Some((number.parse().ok()?, total.parse().ok()?)));
        match parsed {
            Some((number, total)) if (1..=total).contains(&number) => Ok(Self { number, total }),
            _ => Err(format!(
                "invalid shard `{text}`; expected a part and the number of parts, as in `1/4` to `4/4`"
            )),
        }
    }
}

impl Shard {
    /// The part of a limit for the whole study that this shard may use; those of all shards add up to it.
    pub fn part_of(self, limit: u64) -> u64 {
        let up_to = |number: u64| (u128::from(limit) * u128::from(number) / u128::from(self.total)) as u64;
        up_to(self.number) - up_to(self.number - 1)
    }

    pub(crate) fn contains(self, key: &CacheKey) -> bool {
        let [a, b, c, d, e, f, g, h, ..] = key.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) % self.total == self.number - 1
    }
}

/// A selection that cannot be run: it names something that does not exist, or contradicts the study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SelectionError {
    /// What was asked for, and what there is.
    pub problem: String,
}

/// The points of a study that a selection includes.
pub fn selected_points<'s>(study: &'s Study, selection: &Selection) -> Vec<Point<'s>> {
    let is_included = |point: &Point<'_>| {
        selection.tasks.is_empty() || selection.tasks.iter().any(|name| is_task(point.task, name))
    };
    study.suite.points().into_iter().filter(is_included).collect()
}

/// Whether this names the task: `sort` in any version, `sort@2` in one.
fn is_task(task: &dyn Task, name: &str) -> bool {
    match name.rsplit_once('@') {
        Some((family, version)) if family == task.family() => version.parse() == Ok(task.version()),
        _ => name == task.family() || name == task.name(),
    }
}

/// Whether an evaluation is among those selected.
pub fn is_selected(eval: &Eval, selection: &Selection) -> bool {
    selection.evals.is_empty() || selection.evals.iter().any(|name| matches_name(eval, name))
}

/// Whether this is the id, the display name or the model of an evaluation.
pub fn matches_name(eval: &Eval, name: &str) -> bool {
    [eval.id.as_str(), &eval.name, &eval.model].contains(&name)
}

/// Refuses a selection with a name that does not exist: a misspelled name would otherwise be left out silently.
///
/// # Errors
/// A [`SelectionError`] that names what is not there and what is.
pub fn check_selection(study: &Study, selection: &Selection) -> Result<(), SelectionError> {
    let unknown = |names: &[String], is_known: &dyn Fn(&str) -> bool| {
        let unknown: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_known(name)).collect();
        (!unknown.is_empty()).then(|| unknown.join(", "))
    };
    let eval = |name: &str| study.evals.iter().any(|eval| matches_name(eval, name));
    if let Some(unknown) = unknown(&selection.evals, &eval) {
        let known: Vec<&str> = study.evals.iter().map(|eval| eval.name.as_str()).collect();
        let problem =
            format!("nothing to run: no evaluation is called {unknown}; the study has {}", known.join(", "));
        return Err(SelectionError { problem });
    }
    let points = study.suite.points();
    let tasks: BTreeSet<&str> = points.iter().map(|point| point.task.name()).collect();
    let is_known = |name: &str| points.iter().any(|point| is_task(point.task, name));
    if let Some(unknown) = unknown(&selection.tasks, &is_known) {
        let known: Vec<&str> = tasks.into_iter().collect();
        let problem = format!("nothing to run: the suite has no task {unknown}; it has {}", known.join(", "));
        return Err(SelectionError { problem });
    }
    if study.precision.is_some() && selection.shard.total > 1 {
        let problem = "a precision cannot be combined with a shard: a shard holds only part of the trials of each point, \
                       so it cannot tell when the margin is reached; give every shard the same `count` instead";
        return Err(SelectionError { problem: problem.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_exactly_one_shard() {
        for i in 0..200_u8 {
            let key = CacheKey::from_canonical_json(&i.to_string());
            let holders = (1..=7).filter(|number| Shard { number: *number, total: 7 }.contains(&key)).count();
            assert_eq!(holders, 1);
        }
        let parts = (1..=7).map(|number| Shard { number, total: 7 }.part_of(100));
        assert_eq!(parts.sum::<u64>(), 100);
        for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
