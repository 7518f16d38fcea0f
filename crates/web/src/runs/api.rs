//! The API of runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CreateRunRequest, DatasetInfo, RunRecord, RunReply, Runs};
use crate::app::App;
use crate::auth::MAX_BODY_LEN;
use crate::busy::RequestSlots;
use crate::error::ApiError;
use crate::query_string::Query;
use crate::response;

/// How long a request of the API waits for a plan.
const PLAN_TIMEOUT: Duration = Duration::from_secs(25);

/// Reads a body that is not an upload.
pub(crate) async fn body_of(body: Body) -> Result<axum::body::Bytes, ApiError> {
    let too_long = |_| {
        ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request body is too long; at most {MAX_BODY_LEN} bytes are accepted"),
        )
    };
    axum::body::to_bytes(body, MAX_BODY_LEN).await.map_err(too_long)
}

/// Runs work that reads files on a thread for blocking work.
pub(crate) async fn run_blocking<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Arc<Runs>) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let runs = Arc::clone(app.runs()?);
    let done = tokio::task::spawn_blocking(move || work(&runs)).await;
    done.unwrap_or_else(|_| Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)))
}

fn shown(app: &App, status: StatusCode, record: &RunRecord) -> Result<Response, ApiError> {
    let mut response = response::json(&app.runs()?.reply(record))?;
    *response.status_mut() = status;
    Ok(response)
}

/// All runs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunList<'a> {
    /// The runs, latest first.
    runs: Vec<RunReply<'a>>,
    /// Whether the server refuses to start runs.
    read_only: bool,
}

pub(crate) async fn list(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let read_only = app.access.read_only;
    let reply = run_blocking(&app, move |runs| {
        let records = runs.list();
        let runs = records.iter().map(|record| runs.reply(record)).collect();
        response::json(&RunList { runs, read_only })
    });
    reply.await
}

pub(crate) async fn create(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let request = CreateRunRequest::from_json(&body_of(request.into_body()).await?)?;
    let record = run_blocking(&app, move |runs| runs.create(&request)).await?;
    let mut response = shown(&app, StatusCode::CREATED, &record)?;
    let location = format!("{}/api/v1/runs/{}", app.base, record.name);
    let location = HeaderValue::try_from(location).expect("run names are ASCII");
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}

pub(crate) async fn get(State(app): State<Arc<App>>, Path(name): Path<String>) -> Result<Response, ApiError> {
    let record = run_blocking(&app, move |runs| runs.get(&name)).await?;
    shown(&app, StatusCode::OK, &record)
}

pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    run_blocking(&app, move |runs| runs.delete(&name)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn plan(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let record = run_blocking(&app, move |runs| runs.get(&name)).await?;
    match app.runs()?.planned(&record, PLAN_TIMEOUT).await? {
        Some(plan) => response::json(&*plan),
        None => Err(ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the plan is still being computed; try again in a few seconds",
        )),
    }
}

/// The body of a request that starts a run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "StartRun")]
pub(crate) struct Start {
    /// API keys by the `id` of the plan's `keys`; held in memory until the run ends.
    #[serde(default)]
    keys: BTreeMap<String, String>,
}

pub(crate) async fn start(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let body = body_of(request.into_body()).await?;
    // The error is not shown, because it may contain a key.
    let invalid =
        |_| ApiError::bad_request("invalid body; expected none, or `{\"keys\": {\"NAME\": \"…\"}}`");
    let Start { keys } =
        if body.is_empty() { Start::default() } else { serde_json::from_slice(&body).map_err(invalid)? };
    let record = run_blocking(&app, move |runs| runs.start(&name, &keys)).await?;
    shown(&app, StatusCode::ACCEPTED, &record)
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let record = run_blocking(&app, move |runs| runs.cancel(&name)).await?;
    shown(&app, StatusCode::ACCEPTED, &record)
}

pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    app.runs()?.events(&name)
}

/// All uploaded datasets.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DatasetList {
    /// The datasets, by name.
    datasets: Vec<DatasetInfo>,
}

pub(crate) async fn datasets(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    response::json(&DatasetList { datasets: app.runs()?.list_datasets() })
}

pub(crate) async fn upload(
    State(app): State<Arc<App>>,
    Extension(slots): Extension<RequestSlots>,
    uri: Uri,
    request: Request,
) -> Result<Response, ApiError> {
    let query = Query::from_uri(&uri);
    let Some(name) = query.get("name") else {
        return Err(ApiError::bad_request("missing file name; add it as `?name=questions.jsonl`"));
    };
    let received = app.runs()?.receive_dataset(name, request.into_body()).await?;
    let _slot = match slots.take() {
        Ok(slot) => slot,
        Err(busy) => return Ok(busy.into_response()),
    };
    let uploaded = app.runs()?.keep_dataset(received).await?;
    let mut response = response::json(&uploaded)?;
    *response.status_mut() = StatusCode::CREATED;
    Ok(response)
}

pub(crate) async fn delete_dataset(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    app.runs()?.delete_dataset(&name)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
