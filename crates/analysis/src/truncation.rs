//! Truncation rates, and whether they are known.

use reasonscape_points::{PointsDb, TrialCounts};
use reasonscape_stats::{Confidence, Interval, wilson};

use crate::labels::eval_label;

/// Whether it is known for all of these evaluations which responses were truncated. Logs of other tools may not record
/// it, and then a rate of zero would be made up.
pub(super) fn truncation_is_known<'a>(db: &PointsDb, evals: impl IntoIterator<Item = &'a String>) -> bool {
    !evals.into_iter().any(|eval_id| db.truncation_unknown().contains(eval_id))
}

/// For serde, which writes `truncation_known` only if it is false.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_known(known: &bool) -> bool {
    *known
}

/// A note on the evaluations whose logs don't record which responses were truncated.
pub fn truncation_note(db: &PointsDb) -> Option<String> {
    let unknown: Vec<String> = db
        .evals()
        .iter()
        .filter(|eval| db.truncation_unknown().contains(&eval.eval_id))
        .map(|eval| eval_label(db.evals(), eval))
        .collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "the logs of {} don't record which responses were truncated: tables show `?`, and each response counts as its \
             log scored it",
            unknown.join(", ")
        )
    })
}

/// The proportion of truncated trials with its 95 % confidence interval (Wilson). Several samples of a problem count as one
/// trial: how alike their lengths are is not stored.
pub(super) fn truncation_interval(counts: &TrialCounts) -> Option<Interval> {
    let rate = truncation_rate(counts)?;
    let problems = counts.distinct_problems() as f64;
    let interval = wilson(rate * problems, problems, Confidence::P95).ok()?;
    Some(Interval { point: Some(rate), ..interval })
}

/// The proportion of truncated trials.
pub(super) fn truncation_rate(counts: &TrialCounts) -> Option<f64> {
    (counts.n > 0).then(|| counts.n_t as f64 / counts.n as f64)
}
