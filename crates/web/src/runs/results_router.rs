//! The results of a run with a study of its own: the pages of a study, for the directory of the run.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use reasonscape_points::PointsError;

use super::RunRecord;
use crate::app::{App, Snapshot};
use crate::error::ApiError;

/// Maximum number of runs with results in memory.
const CAPACITY: usize = 8;

/// The most recently opened results, by run.
#[derive(Default)]
pub(super) struct Views {
    open: Mutex<Vec<(String, Router)>>,
}

impl Views {
    fn find(&self, name: &str) -> Option<Router> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().find(|(known, _)| known == name).map(|(_, routes)| routes.clone())
    }

    fn keep(&self, name: &str, routes: &Router) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(known, _)| known != name);
        if open.len() >= CAPACITY {
            drop(open.remove(0));
        }
        open.push((name.to_owned(), routes.clone()));
    }

    pub(super) fn evict(&self, name: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| known != name);
    }
}

/// The link to the results of a run.
pub(crate) fn address(app: &App, record: &RunRecord) -> String {
    if record.of_study { format!("{}/", app.base) } else { base(app, &record.name) + "/" }
}

fn base(app: &App, name: &str) -> String {
    format!("{}/runs/{name}/view", app.base)
}

/// Redirects to the URL with the trailing slash.
pub(crate) async fn view_home(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    match app.runs().and_then(|runs| runs.get(&name)) {
        Ok(record) => Redirect::to(&address(&app, &record)).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Forwards a request to the pages of a run.
pub(crate) async fn view(
    State(app): State<Arc<App>>,
    Path(parts): Path<Vec<(String, String)>>,
    mut request: Request,
) -> Result<Response, ApiError> {
    let name = parts.first().map(|(_, name)| name.as_str()).unwrap_or_default();
    let routes = open(&app, name).await?;
    // The inner router parses the path parameters again.
    request.extensions_mut().clear();
    let response = TowerToHyperService::new(routes).call(request).await;
    Ok(response.unwrap_or_else(|never| match never {}))
}

async fn open(app: &Arc<App>, name: &str) -> Result<Router, ApiError> {
    let runs = app.runs()?;
    let record = runs.get(name)?;
    if record.of_study {
        return Err(ApiError::not_found("this run belongs to the study and has no results of its own"));
    }
    if let Some(routes) = runs.views.find(name) {
        return Ok(routes);
    }
    let folder = runs.store.study_folder(&record);
    let snapshot = Snapshot::open(&folder, None).await.map_err(|error| match error {
        PointsError::Empty { .. } => ApiError::not_found("this run has no results yet"),
        error => error.into(),
    })?;
    let inner = Arc::new(app.within(folder, name.to_owned(), base(app, name), snapshot));
    let routes = (app.study_routes)(&inner).with_state(inner);
    runs.views.keep(name, &routes);
    Ok(routes)
}
