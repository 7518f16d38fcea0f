//! The page of one run: its plan, its progress and its results.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;
use url::form_urlencoded;

use super::render;
use super::run_fields::{Moment, Totals, moment, money, seconds, totals};
use crate::app::App;
use crate::error::ApiError;
use crate::labels::thousands;
use crate::runs::api::{body_of, run_blocking};
use crate::runs::{
    EvalProgress, Plan, PromptMessage, RequiredKey, RunRecord, RunState, Sample, view_address,
};
use crate::sanitize::visible;
use reasonscape_pipeline::FailureGroup;

/// How long a page waits for the plan before it says that it is being computed.
const PLAN_TIMEOUT: Duration = Duration::from_secs(5);
/// The prefix of form fields that hold keys.
const KEY_PREFIX: &str = "key:";

#[expect(clippy::struct_excessive_bools, reason = "what a template decides by")]
#[derive(Serialize)]
struct Page {
    name: String,
    asks: String,
    of_study: bool,
    state: &'static str,
    is_going: bool,
    reason: Option<String>,
    read_only: bool,
    created: Moment,
    started: Option<Moment>,
    ended: Option<Moment>,
    took: Option<String>,
    limits: Vec<String>,
    totals: Totals,
    judged: Option<[u64; 2]>,
    rows: Vec<Row>,
    plan: Option<Planned>,
    /// Why there is none.
    plan_problem: Option<String>,
    /// Whether it is still being reckoned.
    is_reckoning: bool,
    problem: Option<String>,
    results: Option<String>,
    /// Where another like it is made.
    again: String,
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    done: u64,
    planned: u64,
    said: String,
    cached: String,
    truncated: String,
    missing: String,
    tokens: String,
    cost: Option<String>,
    rate: Option<String>,
    left: Option<String>,
    note: Option<String>,
    problem: Option<String>,
    troubles: Vec<FailureGroup>,
}

/// What starting the run would send.
#[derive(Serialize)]
struct Planned {
    rows: Vec<PlannedRow>,
    to_send: String,
    tokens: String,
    cost: Option<String>,
    is_again: bool,
    warnings: Vec<String>,
    keys: Vec<RequiredKey>,
    samples: Vec<Sample>,
}

#[derive(Serialize)]
struct PlannedRow {
    name: String,
    how: String,
    points: String,
    trials: String,
    cached: String,
    to_send: String,
    prompt_tokens: String,
    completion_tokens: String,
    most: Option<String>,
    cost: Option<String>,
}

pub(crate) async fn page(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    render_run(&app, &name, None).await
}

/// The page of a run, with the error of an action on it.
async fn render_run(app: &App, name: &str, problem: Option<ApiError>) -> Result<Response, ApiError> {
    let (of, has_results) = run_blocking(app, {
        let name = name.to_owned();
        move |runs| runs.get(&name).map(|run| (Arc::clone(&run), runs.has_results(&run)))
    })
    .await?;
    let is_going = !of.state.is_over();
    let mut is_reckoning = false;
    let (plan, plan_problem) = if is_going || of.state == RunState::Complete || app.access.read_only {
        (None, None)
    } else {
        match app.runs()?.planned(&of, PLAN_TIMEOUT).await {
            Ok(plan) => {
                is_reckoning = plan.is_none();
                (plan.map(|plan| plan_view(&of, &plan)), None)
            }
            Err(problem) => (None, Some(problem.message)),
        }
    };
    let status = problem.as_ref().map(|problem| problem.status);
    let mut limits: Vec<String> = of.tasks.iter().map(|task| format!("only {task}")).collect();
    limits.extend(of.count.map(|count| format!("{} tests at each point", thousands(u64::from(count)))));
    let page = Page {
        name: of.name.clone(),
        asks: visible(&of.asks).into_owned(),
        of_study: of.of_study,
        state: of.state.name(),
        is_going,
        reason: of.reason.as_deref().map(|reason| visible(reason).into_owned()),
        read_only: app.access.read_only,
        created: moment(of.created_ms),
        started: of.started_ms.map(moment),
        ended: of.ended_ms.map(moment),
        took: of
            .ended_ms
            .zip(of.started_ms)
            .map(|(end, start)| seconds(end.saturating_sub(start) as f64 / 1e3)),
        limits,
        totals: totals(&of.progress),
        judged: of.judged,
        rows: of.progress.iter().map(row).collect(),
        plan,
        plan_problem,
        is_reckoning,
        problem: problem.map(|problem| problem.message),
        results: (has_results && of.started_ms.is_some()).then(|| view_address(app, &of)),
        again: format!("{}/runs/new?{}", app.base, of.form),
    };
    let mut response = render(app, "run.html", "Runs", &[], &page)?;
    if let Some(status) = status {
        // The page says itself what is wrong.
        response.extensions_mut().insert(super::InlineErrorPage);
        *response.status_mut() = status;
    }
    Ok(response)
}

fn row(progress: &EvalProgress) -> Row {
    Row {
        id: progress.eval_id.clone(),
        name: visible(&progress.name).into_owned(),
        done: progress.done,
        planned: progress.planned,
        said: format!("{} of {}", thousands(progress.done), thousands(progress.planned)),
        cached: thousands(progress.cached),
        truncated: thousands(progress.truncated),
        missing: thousands(progress.missing),
        tokens: thousands(progress.prompt_tokens + progress.completion_tokens),
        cost: progress.cost.map(money),
        rate: progress.per_second.map(|rate| format!("{rate:.1}/s")),
        left: progress.seconds_left.map(seconds),
        note: progress.note.as_deref().map(|note| visible(note).into_owned()),
        problem: progress.problem.as_deref().map(|problem| visible(problem).into_owned()),
        troubles: progress
            .failures
            .iter()
            .map(|trouble| FailureGroup {
                problem: visible(&trouble.problem).into_owned(),
                ..trouble.clone()
            })
            .collect(),
    }
}

fn plan_view(of: &RunRecord, plan: &Plan) -> Planned {
    let sum = |of: fn(&reasonscape_pipeline::Forecast) -> u64| plan.forecasts.iter().map(of).sum::<u64>();
    let costs: Option<Vec<f64>> = plan.forecasts.iter().map(|one| one.cost).collect();
    let to_send = sum(reasonscape_pipeline::Forecast::to_send);
    Planned {
        rows: plan
            .forecasts
            .iter()
            .zip(&plan.evals)
            .map(|(one, told)| PlannedRow {
                name: visible(&one.name).into_owned(),
                how: visible(told["how"].as_str().unwrap_or_default()).into_owned(),
                points: thousands(one.points as u64),
                trials: thousands(one.trials),
                cached: thousands(one.cached),
                to_send: thousands(one.to_send()),
                prompt_tokens: thousands(one.prompt_tokens),
                completion_tokens: thousands(one.completion_tokens),
                most: one.max_completion_tokens.map(thousands),
                cost: one.cost.map(money),
            })
            .collect(),
        to_send: thousands(to_send),
        tokens: thousands(sum(|one| one.prompt_tokens + one.completion_tokens)),
        cost: costs.filter(|costs| !costs.is_empty()).map(|costs| money(costs.iter().sum())),
        is_again: of.state != RunState::Planned,
        warnings: plan.warnings.clone(),
        keys: plan.keys.clone(),
        samples: plan.samples.iter().map(sample_view).collect(),
    }
}

/// A sample with control characters made visible: a dataset may come from anybody.
fn sample_view(sample: &Sample) -> Sample {
    let seen = |text: &str| visible(text).into_owned();
    let messages = sample.messages.iter().map(|said| PromptMessage { text: seen(&said.text), ..*said });
    Sample { task: seen(&sample.task), target: seen(&sample.target), messages: messages.collect() }
}

fn back(app: &App, name: &str) -> Response {
    Redirect::to(&format!("{}/runs/{name}", app.base)).into_response()
}

pub(crate) async fn start(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let body = body_of(request.into_body()).await?;
    let keys: BTreeMap<String, String> = form_urlencoded::parse(&body)
        .filter_map(|(field, key)| Some((field.strip_prefix(KEY_PREFIX)?.to_owned(), key.into_owned())))
        .collect();
    let started = run_blocking(&app, {
        let name = name.clone();
        move |runs| runs.start(&name, &keys)
    });
    match started.await {
        Ok(_) => Ok(back(&app, &name)),
        Err(problem) => render_run(&app, &name, Some(problem)).await,
    }
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let cancelled = run_blocking(&app, {
        let name = name.clone();
        move |runs| runs.cancel(&name)
    });
    match cancelled.await {
        Ok(_) => Ok(back(&app, &name)),
        Err(problem) => render_run(&app, &name, Some(problem)).await,
    }
}

#[derive(Serialize)]
struct Confirm {
    name: String,
    of_study: bool,
    answers: String,
}

pub(crate) async fn confirm(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let run = run_blocking(&app, move |runs| runs.get(&name)).await?;
    let answers: u64 = run.progress.iter().map(|one| one.cached + one.answered).sum();
    let page = Confirm { name: run.name.clone(), of_study: run.of_study, answers: thousands(answers) };
    render(&app, "delete_run.html", "Runs", &[], &page)
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let deleted = run_blocking(&app, {
        let name = name.clone();
        move |runs| runs.delete(&name)
    });
    match deleted.await {
        Ok(()) => Ok(Redirect::to(&format!("{}/runs", app.base)).into_response()),
        Err(problem) => render_run(&app, &name, Some(problem)).await,
    }
}
