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
use crate::runs::{EvalProgress, Plan, RequiredKey, RunRecord, RunState, Runs, Sample, view_address};
use reasonscape_pipeline::FailureGroup;

/// How long a page waits for the plan.
const PLAN_TIMEOUT: Duration = Duration::from_secs(5);
/// The prefix of form fields that hold keys.
const KEY_PREFIX: &str = "key:";

#[expect(clippy::struct_excessive_bools, reason = "flags for a template")]
#[derive(Serialize)]
struct Page {
    name: String,
    source: String,
    of_study: bool,
    state: &'static str,
    state_label: &'static str,
    is_active: bool,
    reason: Option<String>,
    read_only: bool,
    created: Moment,
    started: Option<Moment>,
    ended: Option<Moment>,
    took: Option<String>,
    limits: Vec<String>,
    totals: Totals,
    is_scoring: bool,
    rows: Vec<Row>,
    plan: Option<Planned>,
    /// Why there is no plan.
    plan_problem: Option<String>,
    /// Whether the plan is still being computed.
    is_planning: bool,
    problem: Option<String>,
    results: Option<String>,
    /// The form to create another run like this one.
    again: String,
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    done: u64,
    planned: u64,
    progress: String,
    cached: String,
    truncated: String,
    missing: String,
    tokens: String,
    cost: Option<String>,
    rate: Option<String>,
    left: Option<String>,
    note: Option<String>,
    problem: Option<String>,
    failures: Vec<FailureGroup>,
}

/// The requests that starting the run would send.
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
    max_completion_tokens: Option<String>,
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
    let (run, has_results) = run_blocking(app, {
        let name = name.to_owned();
        move |runs| runs.get(&name).map(|run| (Arc::clone(&run), runs.has_results(&run)))
    })
    .await?;
    let is_active = !run.state.is_over();
    let mut is_planning = false;
    let (plan, plan_problem) = if is_active || run.state == RunState::Complete || app.access.read_only {
        (None, None)
    } else {
        match app.runs()?.planned(&run, PLAN_TIMEOUT).await {
            Ok(plan) => {
                is_planning = plan.is_none();
                (plan.map(|plan| plan_view(&run, &plan)), None)
            }
            Err(problem) => (None, Some(problem.message)),
        }
    };
    let status = problem.as_ref().map(|problem| problem.status);
    let mut limits: Vec<String> = run.tasks.iter().map(|task| format!("only {task}")).collect();
    limits.extend(run.count.map(|count| format!("{} problems per point", thousands(u64::from(count)))));
    let page = Page {
        name: run.name.clone(),
        source: run.source.clone(),
        of_study: run.of_study,
        state: run.state.name(),
        state_label: run.state.label(),
        is_active,
        reason: run.reason.clone(),
        read_only: app.access.read_only,
        created: moment(run.created_ms),
        started: run.started_ms.map(moment),
        ended: run.ended_ms.map(moment),
        took: run
            .ended_ms
            .zip(run.started_ms)
            .map(|(end, start)| seconds(end.saturating_sub(start) as f64 / 1e3)),
        limits,
        totals: totals(&run.progress),
        is_scoring: run.judged.is_some(), // wording: allow
        rows: run.progress.iter().map(row).collect(),
        plan,
        plan_problem,
        is_planning,
        problem: problem.map(|problem| problem.message),
        results: (has_results && run.started_ms.is_some()).then(|| view_address(app, &run)),
        again: format!("{}/runs/new?{}", app.base, run.form),
    };
    let mut response = render(app, "run.html", "Runs", &[], &page)?;
    if let Some(status) = status {
        // The page shows the error itself.
        response.extensions_mut().insert(super::InlineErrorPage);
        *response.status_mut() = status;
    }
    Ok(response)
}

fn row(progress: &EvalProgress) -> Row {
    Row {
        id: progress.eval_id.clone(),
        name: progress.name.clone(),
        done: progress.done,
        planned: progress.planned,
        progress: format!("{} of {}", thousands(progress.done), thousands(progress.planned)),
        cached: thousands(progress.cached),
        truncated: thousands(progress.truncated),
        missing: thousands(progress.missing),
        tokens: thousands(progress.prompt_tokens + progress.completion_tokens),
        cost: progress.cost.map(money),
        rate: progress.per_second.map(|rate| format!("{rate:.1}/s")),
        left: progress.seconds_left.map(seconds),
        note: progress.note.clone(),
        problem: progress.problem.clone(),
        failures: progress.failures.clone(),
    }
}

fn plan_view(run: &RunRecord, plan: &Plan) -> Planned {
    let sum =
        |field: fn(&reasonscape_pipeline::Forecast) -> u64| plan.forecasts.iter().map(field).sum::<u64>();
    let costs: Option<Vec<f64>> = plan.forecasts.iter().map(|one| one.cost).collect();
    let to_send = sum(reasonscape_pipeline::Forecast::to_send);
    Planned {
        rows: plan
            .forecasts
            .iter()
            .zip(&plan.evals)
            .map(|(one, eval)| PlannedRow {
                name: one.name.clone(),
                how: eval.how.clone(),
                points: thousands(one.points as u64),
                trials: thousands(one.trials),
                cached: thousands(one.cached),
                to_send: thousands(one.to_send()),
                prompt_tokens: thousands(one.prompt_tokens),
                completion_tokens: thousands(one.completion_tokens),
                max_completion_tokens: one.max_completion_tokens.map(thousands),
                cost: one.cost.map(money),
            })
            .collect(),
        to_send: thousands(to_send),
        tokens: thousands(sum(|one| one.prompt_tokens + one.completion_tokens)),
        cost: costs.filter(|costs| !costs.is_empty()).map(|costs| money(costs.iter().sum())),
        is_again: run.state != RunState::Planned,
        warnings: plan.warnings.clone(),
        keys: plan.keys.clone(),
        samples: plan.samples.clone(),
    }
}

/// Changes a run and redirects to `next`, a path below the base path. The page of the run reports a failure.
async fn change_run<T: Send + 'static>(
    app: &App,
    name: &str,
    next: &str,
    change: impl FnOnce(&Arc<Runs>, &str) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let changed = run_blocking(app, {
        let name = name.to_owned();
        move |runs| change(runs, &name)
    });
    match changed.await {
        Ok(_) => Ok(Redirect::to(&format!("{}{next}", app.base)).into_response()),
        Err(problem) => render_run(app, name, Some(problem)).await,
    }
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
    change_run(&app, &name, &format!("/runs/{name}"), move |runs, name| runs.start(name, &keys)).await
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    change_run(&app, &name, &format!("/runs/{name}"), |runs, name| runs.cancel(name)).await
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
    change_run(&app, &name, "/runs", |runs, name| runs.delete(name)).await
}
