//! Whether it is known which answers were truncated, and how many were.

use reasonscape_points::{PointsDb, TrialCounts};

use crate::labels::eval_label;

/// Whether all of these evaluations say which answers were cut off. Logs of other tools may not, and then a rate of
/// zero would be an invention.
pub(super) fn truncation_is_known<'a>(db: &PointsDb, evals: impl IntoIterator<Item = &'a String>) -> bool {
    !evals.into_iter().any(|eval_id| db.truncation_unknown().contains(eval_id))
}

/// For serde: `truncation_known` is only written where it is false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_known(known: &bool) -> bool {
    *known
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

/// The share of trials that were cut off.
pub(super) fn truncation_rate(counts: &TrialCounts) -> Option<f64> {
    (counts.n > 0).then(|| counts.n_t as f64 / counts.n as f64)
}
