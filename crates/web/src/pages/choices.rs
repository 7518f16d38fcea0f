//! Parts of forms and lists that several pages share.

use std::collections::BTreeSet;

use reasonscape_points::PointsDb;
use serde::Serialize;

use crate::labels::eval_label;
use crate::query_string::Query;

/// An option of a form.
#[derive(Serialize)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) shown: String,
    pub(super) is_chosen: bool,
}

/// Links to the other pages of a list.
#[derive(Serialize)]
pub(super) struct Links {
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    last: Option<String>,
}

impl Links {
    /// The links of page `number`, counted from 1.
    pub(super) fn new(number: u64, pages: u64, at: impl Fn(u64) -> String) -> Self {
        Self {
            first: (number > 1).then(|| at(1)),
            previous: (number > 1).then(|| at(number - 1)),
            next: (number < pages).then(|| at(number + 1)),
            last: (number < pages).then(|| at(pages)),
        }
    }
}

/// An option, chosen if the query has its value.
pub(super) fn choice(query: &Query, name: &str, value: &str, shown: &str) -> Choice {
    Choice {
        value: value.to_owned(),
        shown: shown.to_owned(),
        is_chosen: query.all(name).any(|chosen| chosen == value),
    }
}

/// The evaluations of a study as options.
pub(super) fn evals(db: &PointsDb, query: &Query) -> Vec<Choice> {
    db.evals()
        .iter()
        .map(|eval| choice(query, "eval", &eval.eval_id, &eval_label(db, &eval.eval_id)))
        .collect()
}

/// The tasks of a study as options.
pub(super) fn tasks(db: &PointsDb, query: &Query) -> Vec<Choice> {
    let tasks: BTreeSet<&str> = db.sources().iter().map(|source| source.task.as_str()).collect();
    tasks.into_iter().map(|task| choice(query, "task", task, task)).collect()
}
