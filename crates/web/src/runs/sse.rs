//! Progress of a run as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, watch};

use super::Runs;
use super::record::RunRecord;
use crate::error::ApiError;

/// A comment is sent at least this often, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events are sent at most this often.
const EVENT_INTERVAL: Duration = Duration::from_millis(200);

/// A run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Run")]
pub(crate) struct RunReply<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    /// Whether there are results to show.
    has_results: bool,
}

/// The event stream of one client.
struct Updates {
    runs: Arc<Runs>,
    records: watch::Receiver<Arc<RunRecord>>,
    /// Number of the next event.
    number: u64,
    _seat: OwnedSemaphorePermit,
}

impl Updates {
    /// The next event and the rest of the stream; the stream ends with the run.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Option<Self>)> {
        if self.number > 0 {
            tokio::time::sleep(EVENT_INTERVAL).await;
            // axum's own keep-alive needs a feature that changes how tokio is built for everything under DataFusion.
            match tokio::time::timeout(KEEP_ALIVE, self.records.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => return Some((Ok(Event::default().comment("keep-alive")), Some(self))),
            }
        }
        let record = Arc::clone(&self.records.borrow_and_update());
        let is_over = record.state.is_over();
        let event = Event::default()
            .event(if is_over { "end" } else { "progress" })
            .id(self.number.to_string())
            .data(serde_json::json!(self.runs.reply(&record)).to_string());
        self.number += 1;
        Some((Ok(event), (!is_over).then_some(self)))
    }
}

impl Runs {
    /// Events with the state of a run, until it ends. Slow clients skip intermediate states.
    pub(super) fn events(self: &Arc<Self>, name: &str) -> Result<Response, ApiError> {
        let records = self.active().get(name).map(|active| active.watch());
        let records = match records {
            Some(records) => records,
            None => watch::Sender::new(self.get(name)?).subscribe(),
        };
        let seat = Arc::clone(&self.listeners).try_acquire_owned().map_err(|_| {
            let full = "too many open event streams; poll `GET /runs/{name}` instead";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, full)
        })?;
        let updates = Updates { runs: Arc::clone(self), records, number: 0, _seat: seat };
        let events = stream::unfold(Some(updates), |updates| async { updates?.next().await });
        let mut response = Sse::new(events).into_response();
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Keeps nginx from buffering the stream until its end.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    /// A run as the API returns it.
    pub(super) fn reply<'a>(&self, record: &'a RunRecord) -> RunReply<'a> {
        RunReply { record, has_results: self.has_results(record) }
    }
}
