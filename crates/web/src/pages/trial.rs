//! One trial: its prompt, its response, and how it was scored.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use serde::Serialize;

use super::render;
use super::transcript::{Field, TranscriptView, fields};
use crate::app::App;
use crate::error::ApiError;
use crate::labels::{coordinates, eval_label};
use crate::query_string::{Query, encoded};
use crate::trial_lookup::{TrialDetails, TrialPath, find_trial, trial_href, trial_path};
use crate::trial_query::{NAMES, TrialName};

#[derive(Serialize)]
struct Page {
    status: &'static str,
    eval: String,
    eval_href: String,
    task: String,
    task_href: String,
    index: u64,
    repeat: u32,
    params: String,
    point_href: String,
    fields: Vec<Field>,
    answer: Option<String>,
    target: String,
    method: String,
    transcript: Option<TranscriptView>,
    previous: Option<String>,
    next: Option<String>,
    back: String,
    json: String,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    Path(path): Path<TrialPath>,
    uri: Uri,
) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let study = app.study().await;
    let found = find_trial(&app, &study, &path, &query).await?;
    let logprob_stats = found.logprob_stats();
    let TrialDetails { trial, transcript, previous, next } = found;
    let keep = query.only(&NAMES).with("page", query.get("page"));
    let [previous, next] = [previous, next].map(|name| name.map(|name| trial_href(&app, &name, &keep)));
    let below = |rest: String| format!("{}/trials?eval={}{rest}", app.base, encoded(&trial.eval_id));
    let task = format!("&task={}", encoded(&trial.base_task));
    let page = Page {
        status: trial.status_name(),
        eval: eval_label(&study.analyses.db, &trial.eval_id),
        eval_href: below(String::new()),
        task: trial.base_task.clone(),
        task_href: below(task.clone()),
        index: trial.index,
        repeat: trial.repeat,
        params: coordinates(&trial.params),
        point_href: below(format!("{task}&params={}", encoded(&coordinates(&trial.params)))),
        fields: fields(&trial, logprob_stats),
        answer: trial.answer.clone(),
        target: trial.target.clone(),
        method: trial.method.clone(),
        transcript: transcript.as_ref().map(TranscriptView::from),
        previous,
        next,
        back: format!("{}/trials{keep}", app.base),
        json: format!("{}/api/v1{}", app.base, trial_path(&TrialName::from(&trial))),
    };
    render(&app, "trial.html", "Trials", &study.remarks, &page)
}
