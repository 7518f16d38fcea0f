//! Errors of requests.

use std::fmt::Display;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use reasonscape_points::PointsError;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request failed. The outermost middleware renders it as a page, or as JSON for the API.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

/// An error as the API returns it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct ErrorReply<'a> {
    /// The reason.
    pub(crate) error: &'a str,
}

/// The message of a request during which files of the study were replaced.
const STUDY_CHANGED: &str = "the study was replaced while it was read; try again";

impl ApiError {
    /// Whether the same request may succeed on the study as it is now.
    pub(crate) fn is_study_changed(&self) -> bool {
        self.message == STUDY_CHANGED
    }

    pub(crate) fn new(status: StatusCode, message: impl Display) -> Self {
        Self { status, message: message.to_string() }
    }

    /// 400.
    pub(crate) fn bad_request(message: impl Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 404.
    pub(crate) fn not_found(message: impl Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// The error of a status code.
    pub(crate) fn from_status(status: StatusCode) -> Self {
        Self::new(
            status,
            match status {
                StatusCode::NOT_FOUND => "no page or API route at this URL",
                StatusCode::METHOD_NOT_ALLOWED => "method not allowed at this URL",
                _ => status.canonical_reason().unwrap_or("the request failed"),
            },
        )
    }
}

impl From<PointsError> for ApiError {
    fn from(error: PointsError) -> Self {
        match error {
            PointsError::InvalidQuery(_) => Self::bad_request(error),
            PointsError::Changed { .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, STUDY_CHANGED),
            error => {
                tracing::error!(%error, "a query failed");
                // The details may contain paths of the server, which only the log may show.
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "the study can't be read; `reasonscape serve --log warn` logs the error",
                )
            }
        }
    }
}

impl From<reasonscape_stats::StatsError> for ApiError {
    fn from(error: reasonscape_stats::StatsError) -> Self {
        Self::bad_request(error)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
