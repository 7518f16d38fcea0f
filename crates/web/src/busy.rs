//! Where requests are handled: on threads of their own, and only so many at a time.
//!
//! Analyses compute for seconds without yielding. On the threads that serve connections, that would delay every other reply,
//! the health check included.

use std::io;
use std::sync::{Arc, LazyLock};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::error::ApiError;

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

/// Handles a request on a thread for requests. It is aborted when its client leaves.
pub(crate) async fn handle_elsewhere(
    State(slots): State<RequestSlots>,
    request: Request,
    next: Next,
) -> Response {
    let failed = || ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR).into_response();
    let Ok(slot) = slots.0.try_acquire_owned() else {
        let busy = format!("the server is handling {MAX_REQUESTS} requests already; try again in a second");
        let mut response = ApiError::new(StatusCode::SERVICE_UNAVAILABLE, busy).into_response();
        response.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
        return response;
    };
    let Ok(threads) = &*THREADS else { return failed() };
    let mut handling = JoinSet::new();
    handling.spawn_on(next.run(request), threads.handle());
    let response = match handling.join_next().await {
        Some(Ok(response)) => response,
        Some(Err(error)) => {
            tracing::error!(%error, "a request was not handled");
            failed()
        }
        None => failed(),
    };
    drop(slot);
    response
}
