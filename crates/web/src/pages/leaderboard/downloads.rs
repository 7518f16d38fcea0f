//! The leaderboard as files.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use reasonscape_analysis::Leaderboard;
use reasonscape_analysis::tables::scores;
use serde::Serialize;

use super::facets::conditions;
use crate::app::App;
use crate::error::ApiError;
use crate::params::board_options;
use crate::query_string::Query;
use crate::response::{self, download};

/// A link to a file.
#[derive(Serialize)]
pub(super) struct Download {
    name: &'static str,
    href: String,
}

/// Links to the files with the rows of the page.
pub(super) fn downloads(app: &App, query: &Query) -> Vec<Download> {
    let query = query.only(&["mode", "method", "ties", "group", "filter"]);
    [("CSV", "csv"), ("JSON", "json"), ("Markdown", "md")]
        .map(|(name, end)| Download { name, href: format!("{}/leaderboard.{end}{query}", app.base) })
        .into()
}

async fn board(app: &App, uri: &Uri) -> Result<Arc<Leaderboard>, ApiError> {
    let query = Query::from_uri(uri);
    app.study_for(&query).await?.analyses.leaderboard(board_options(&query)?, &conditions(&query)).await
}

pub(crate) async fn csv(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let table = scores::export_table(&*board(&app, &uri).await?);
    Ok(download("text/csv; charset=utf-8", "leaderboard.csv", table.to_csv()))
}

pub(crate) async fn json(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let board = board(&app, &uri).await?;
    let text = serde_json::to_string_pretty(&board.rows).map_err(ApiError::bad_request)?;
    Ok(download(response::JSON, "leaderboard.json", text + "\n"))
}

pub(crate) async fn markdown(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let table = scores::display_table(&*board(&app, &uri).await?);
    Ok(download("text/markdown; charset=utf-8", "leaderboard.md", table.to_markdown()))
}
