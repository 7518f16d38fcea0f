//! Progress of a run as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::Runs;
use super::record::RunRecord;
use crate::error::ApiError;
use crate::response::EVENTS;

/// A comment is sent at least this often, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Events are sent at most this often.
const EVENT_INTERVAL: Duration = Duration::from_millis(200);

/// A response body fed by a channel.
struct ChannelBody {
    receiver: mpsc::Receiver<Bytes>,
}

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// One event: its type, its number and the run at that time.
fn event(kind: &str, number: u64, run: &Value) -> Bytes {
    Bytes::from(format!("event: {kind}\nid: {number}\ndata: {run}\n\n"))
}

impl Runs {
    /// The run as it is, as it changes, and as it ends. A reader who is slow gets the latest, not everything.
    pub(super) fn events(self: &Arc<Self>, name: &str) -> Result<Response, ApiError> {
        let updates = self.active().get(name).map(|active| active.watch());
        let updates = match updates {
            Some(updates) => updates,
            None => watch::Sender::new(self.get(name)?).subscribe(),
        };
        let seat = Arc::clone(&self.listeners).try_acquire_owned().map_err(|_| {
            let full = "too many pages watch runs; reload this one now and then instead";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, full)
        })?;
        let (sender, receiver) = mpsc::channel(4);
        let runs = Arc::clone(self);
        tokio::spawn(async move {
            // Ends when the run does, or when the reader is gone.
            let _ = runs.send_updates(updates, &sender).await;
            drop(seat);
        });
        let mut response = Response::new(Body::new(ChannelBody { receiver }));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A proxy that gathers answers would hold everything back until the end.
        response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    async fn send_updates(
        &self,
        mut updates: watch::Receiver<Arc<RunRecord>>,
        sender: &mpsc::Sender<Bytes>,
    ) -> Result<(), mpsc::error::SendError<Bytes>> {
        for number in 0.. {
            let record = Arc::clone(&updates.borrow_and_update());
            let is_over = record.state.is_over();
            let run = self.run_json(&record);
            sender.send(event(if is_over { "end" } else { "progress" }, number, &run)).await?;
            if is_over {
                break;
            }
            tokio::time::sleep(EVENT_INTERVAL).await;
            loop {
                match tokio::time::timeout(KEEP_ALIVE, updates.changed()).await {
                    Ok(Ok(())) => break,
                    Ok(Err(_)) => return Ok(()),
                    Err(_) => sender.send(Bytes::from_static(b": still here\n\n")).await?,
                }
            }
        }
        Ok(())
    }

    /// A run as JSON.
    pub(crate) fn run_json(&self, record: &RunRecord) -> Value {
        let mut run = serde_json::json!(record);
        run["has_results"] = self.has_results(record).into();
        if let Some(members) = run.as_object_mut() {
            members.retain(|name, _| !matches!(name.as_str(), "format" | "form"));
        }
        run
    }
}
