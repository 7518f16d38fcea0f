//! One problem, with the trials of two evaluations side by side.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use reasonscape_points::{StoredTrial, TestName, TrialNumber};
use serde::{Deserialize, Serialize};

use super::render;
use super::transcript::{Field, MessageView, TranscriptView, fields};
use crate::analysis_cache::Pair;
use crate::app::{App, Snapshot};
use crate::comparison::disagreements;
use crate::disagreements::{Disagreement, NAMES, test_href};
use crate::error::ApiError;
use crate::labels::{coordinates, eval_label, thousands};
use crate::params::number;
use crate::query_string::Query;
use crate::trial_lookup::{read_transcript, trial_path};
use crate::trial_query::{TrialName, params_of_point};
use reasonscape_analysis::logprob_stats;

/// The path parameters of a problem's URL.
#[derive(Debug, Deserialize)]
pub(crate) struct TestPath {
    a: String,
    b: String,
    task: String,
    point: String,
    index: u64,
}

#[derive(Serialize)]
struct Page {
    task: String,
    params: String,
    index: u64,
    repeat: u32,
    target: String,
    /// The prompt of both; `None` if the prompts differ or are not cached.
    messages: Option<Vec<MessageView>>,
    /// Whether both prompts are cached and differ.
    prompts_differ: bool,
    sides: Vec<Side>,
    previous: Option<String>,
    next: Option<String>,
    back: String,
    swapped: String,
    /// Such as `3 of 120`.
    position: Option<String>,
}

#[derive(Serialize)]
struct Side {
    letter: &'static str,
    label: String,
    how: String,
    status: &'static str,
    answer: Option<String>,
    method: String,
    transcript: Option<TranscriptView>,
    fields: Vec<Field>,
    href: String,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    Path(path): Path<TestPath>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let full_query = Query::from_uri(&uri);
    let study = app.study().await;
    let repeat = number::<u32>(&full_query, "repeat")?.unwrap_or(0);
    let which = Disagreement::from_query(&full_query)?;
    let pair = Pair { a: path.a.clone(), b: path.b.clone() };
    let trials = find(&study, &path, repeat).await?;
    let list = which
        .set_in(&full_query.only(&NAMES))
        .with("page", full_query.get("page"))
        .with("a", Some(&pair.a))
        .with("b", Some(&pair.b));
    let list_of_tests = disagreements(&study.analyses, &pair, &list).await?;
    let [one, _] = &trials;
    let name = TestName {
        base_task: &one.base_task,
        params: &one.params,
        number: TrialNumber { index: one.index, repeat },
    };
    let neighbors = list_of_tests.neighbors(which, name);
    let link = |test: Option<TestName<'_>>| test.map(|test| test_href(&app.base, test, &list));
    let mut sides = Vec::new();
    for (letter, trial) in ["A", "B"].into_iter().zip(&trials) {
        sides.push(side(&app, &study, letter, trial).await);
    }
    let prompts: Vec<&Vec<MessageView>> = sides
        .iter()
        .filter_map(|side| side.transcript.as_ref().map(|transcript| &transcript.messages))
        .collect();
    let prompts_differ = matches!(prompts[..], [a, b] if a != b);
    let messages = if prompts_differ {
        None
    } else {
        // A common prompt is shown once.
        let mut messages = None;
        for transcript in sides.iter_mut().filter_map(|side| side.transcript.as_mut()) {
            messages = Some(std::mem::take(&mut transcript.messages));
        }
        messages
    };
    let other = list.with("a", Some(&pair.b)).with("b", Some(&pair.a));
    let swapped = match which {
        Disagreement::OnlyA => Disagreement::OnlyB,
        Disagreement::OnlyB => Disagreement::OnlyA,
        Disagreement::Any | Disagreement::OnlyOne => which,
    };
    let page = Page {
        task: one.base_task.clone(),
        params: coordinates(&one.params),
        index: one.index,
        repeat,
        target: one.target.clone(),
        messages,
        prompts_differ,
        sides,
        previous: link(neighbors.before),
        next: link(neighbors.behind),
        back: format!("{}/compare/tests{list}", app.base),
        swapped: test_href(&app.base, name, &swapped.set_in(&other)),
        position: neighbors
            .position
            .map(|position| format!("{} of {}", thousands(position), thousands(list_of_tests.count(which)))),
    };
    render(&app, "test.html", "Compare", &study.remarks, &page)
}

/// The trials of both evaluations on a problem.
async fn find(study: &Snapshot, path: &TestPath, repeat: u32) -> Result<[StoredTrial; 2], ApiError> {
    let absent = || ApiError::not_found("no such problem with trials of both evaluations");
    let params =
        params_of_point(&study.analyses.db, &path.a, &path.task, &path.point).await?.ok_or_else(absent)?;
    let of = async |eval: &str| -> Result<StoredTrial, ApiError> {
        study.analyses.db.trial(eval, &path.task, &params, path.index, repeat).await?.ok_or_else(absent)
    };
    Ok([of(&path.a).await?, of(&path.b).await?])
}

async fn side(app: &App, study: &Snapshot, letter: &'static str, trial: &StoredTrial) -> Side {
    let transcript = read_transcript(app, trial).await;
    let logprob_stats =
        transcript.as_ref().and_then(|transcript| logprob_stats(transcript, trial.answer.as_deref()));
    Side {
        letter,
        label: eval_label(&study.analyses.db, &trial.eval_id),
        how: format!("{} · {}", trial.template, trial.sampler),
        status: trial.status_name(),
        answer: trial.answer.clone(),
        method: trial.method.clone(),
        transcript: transcript.as_ref().map(TranscriptView::from),
        fields: fields(trial, logprob_stats),
        href: format!("{}{}", app.base, trial_path(&TrialName::from(trial))),
    }
}
