//! The list of runs.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::render;
use super::run_fields::{Moment, Totals, moment, seconds, totals};
use crate::app::App;
use crate::error::ApiError;
use crate::runs::api::run_blocking;
use crate::runs::{RunRecord, view_address};
use crate::sanitize::excerpt;

/// Maximum number of model names in a row.
const MAX_NAMES: usize = 3;

#[derive(Serialize)]
struct Page {
    runs: Vec<Row>,
    is_active: bool,
    read_only: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    href: String,
    state: &'static str,
    state_label: &'static str,
    source: String,
    models: String,
    totals: Totals,
    started: Option<Moment>,
    took: Option<String>,
    results: Option<String>,
}

pub(crate) async fn page(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let runs = run_blocking(&app, |runs| {
        Ok(runs.list().into_iter().map(|run| (runs.has_results(&run), run)).collect::<Vec<_>>())
    });
    let runs = runs.await?;
    let row = |(has_results, run): &(bool, Arc<RunRecord>)| Row {
        name: run.name.clone(),
        href: format!("{}/runs/{}", app.base, run.name),
        state: run.state.name(),
        state_label: run.state.label(),
        source: run.source.clone(),
        models: models(&run.models),
        totals: totals(&run.progress),
        started: run.started_ms.map(moment),
        took: took(run),
        results: (*has_results && run.started_ms.is_some()).then(|| view_address(&app, run)),
    };
    let page = Page {
        runs: runs.iter().map(row).collect(),
        is_active: runs.iter().any(|(_, run)| !run.state.is_over()),
        read_only: app.access.read_only,
    };
    render(&app, "runs.html", "Runs", &[], &page)
}

/// The first names, and the number of others.
fn models(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| excerpt(name, 40)).collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("{} more", names.len() - MAX_NAMES));
    }
    shown.join(", ")
}

fn took(run: &RunRecord) -> Option<String> {
    let ms = run.ended_ms?.checked_sub(run.started_ms?)?;
    Some(seconds(ms as f64 / 1000.0))
}
