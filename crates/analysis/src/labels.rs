//! What tables call an evaluation, how an evaluation is found by name, and how lists of names are shortened.

use reasonscape_points::{EvalInfo, PointsDb, PointsError};

/// `a, b or c`, of many only the first.
pub(crate) fn join_alternatives(values: &[String]) -> String {
    const MAX: usize = 12;
    match values {
        [] => String::new(),
        [one] => one.clone(),
        few if few.len() <= MAX => {
            let (last, others) = few.split_last().expect("more than one");
            format!("{} or {last}", others.join(", "))
        }
        many => format!("{} or one of {} more", many[..MAX].join(", "), many.len() - MAX),
    }
}

/// Names, of many only the first.
pub fn join_truncated(names: &[String]) -> String {
    const MAX: usize = 5;
    match names.len().saturating_sub(MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX].join(", ")),
    }
}

/// What has to be said beside every number of evaluations whose logs do not say which answers were cut off.
pub fn truncation_note(db: &PointsDb) -> Option<String> {
    let unknown: Vec<String> = db
        .evals()
        .iter()
        .filter(|eval| db.truncation_unknown().contains(&eval.eval_id))
        .map(|eval| eval_label(db.evals(), eval))
        .collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "nobody wrote down which answers of {} were cut off: `?` in the tables, and such an answer counts as its \
             log scored it",
            unknown.join(", ")
        )
    })
}

/// The name of an evaluation in tables: its name, with its id where two have the same.
pub fn eval_label(evals: &[EvalInfo], eval: &EvalInfo) -> String {
    let is_alone = evals.iter().filter(|other| other.name == eval.name).count() == 1;
    if is_alone { eval.name.clone() } else { format!("{} ({})", eval.name, eval.eval_id) }
}

/// The one evaluation that goes by this id, name or model.
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
            "no evaluation is called `{name}`; give an id, a name or a model: {}",
            list(evals)
        ))),
        several => Err(PointsError::InvalidQuery(format!("`{name}` may be {}; give the id", list(several)))),
    }
}
