//! The table of problems with different outcomes for two evaluations.

use reasonscape_points::{StoredTrial, TestName, TrialNumber};
use serde::Serialize;

use super::MAX_ANSWER_LEN;
use crate::app::App;
use crate::disagreements::test_href;
use crate::labels::coordinates;
use crate::query_string::Query;
use crate::sanitize::excerpt;

/// A problem with the trials of both evaluations.
#[derive(Serialize)]
pub(super) struct Row {
    task: String,
    params: String,
    index: u64,
    repeat: u32,
    target: String,
    href: String,
    a: Side,
    b: Side,
}

#[derive(Serialize)]
struct Side {
    status: &'static str,
    answer: Option<String>,
}

/// A row of the table. `list` is the query of the list that it is in.
pub(super) fn row(app: &App, [a, b]: &[StoredTrial; 2], list: &Query) -> Row {
    let side = |trial: &StoredTrial| Side {
        status: trial.status_name(),
        answer: trial.answer.as_ref().map(|answer| excerpt(answer, MAX_ANSWER_LEN)),
    };
    let name = TestName {
        base_task: &a.base_task,
        params: &a.params,
        number: TrialNumber { index: a.index, repeat: a.repeat },
    };
    Row {
        task: a.base_task.clone(),
        params: coordinates(&a.params),
        index: a.index,
        repeat: a.repeat,
        target: excerpt(&a.target, MAX_ANSWER_LEN),
        href: test_href(&app.base, name, list),
        a: side(a),
        b: side(b),
    }
}
