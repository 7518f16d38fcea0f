//! Where requests are handled: on threads of their own, and only so many at a time.
//!
//! Analyses compute for seconds without yielding. On the threads that serve connections, that would delay every other reply,
//! the health check included.
//!
//! A request counts once its body has arrived: clients that send half of one would otherwise keep everybody else out. How
//! many requests are being received is limited by the number of connections ([`super::connections`]).

use std::future::Future;
use std::io;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::error::ApiError;
use super::runs::body_of;

/// Maximum number of requests in progress. Less than the maximum number of connections, so that there is always one that
/// can be closed for the next.
const MAX_REQUESTS: usize = 256;

static THREADS: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().thread_name("handler").enable_all().build());

/// The number of requests that may still be started.
#[derive(Debug, Clone)]
pub(crate) struct RequestSlots(Arc<Semaphore>);

impl Default for RequestSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_REQUESTS)))
    }
}

/// The server handles as many requests as it can.
pub(crate) struct Busy;

impl IntoResponse for Busy {
    fn into_response(self) -> Response {
        let message =
            format!("the server is handling {MAX_REQUESTS} requests already; try again in a second");
        let mut response = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response();
        response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
        response
    }
}

impl RequestSlots {
    /// A slot for one request, held until it is dropped.
    pub(crate) fn take(&self) -> Result<OwnedSemaphorePermit, Busy> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| Busy)
    }
}

/// Receives a request, and handles it on a thread for requests. It is aborted when its client leaves.
pub(crate) async fn handle_elsewhere(
    State(slots): State<RequestSlots>,
    request: Request,
    next: Next,
) -> Response {
    let (head, body) = request.into_parts();
    let body = match body_of(body).await {
        Ok(body) => body,
        Err(refused) => return refused.into_response(),
    };
    let slot = match slots.take() {
        Ok(slot) => slot,
        Err(busy) => return busy.into_response(),
    };
    run_elsewhere(async move {
        let response = next.run(Request::from_parts(head, Body::from(body))).await;
        drop(slot);
        response
    })
    .await
}

/// Handles an upload on a thread for requests. Its handler takes a slot when it has received the file.
pub(crate) async fn receive_elsewhere(request: Request, next: Next) -> Response {
    run_elsewhere(next.run(request)).await
}

async fn run_elsewhere(handle: impl Future<Output = Response> + Send + 'static) -> Response {
    let failed = || ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR).into_response();
    let Ok(threads) = &*THREADS else { return failed() };
    let mut handling = JoinSet::new();
    handling.spawn_on(handle, threads.handle());
    match handling.join_next().await {
        Some(Ok(response)) => response,
        Some(Err(error)) => {
            tracing::error!(%error, "a request was not handled");
            failed()
        }
        None => failed(),
    }
}
