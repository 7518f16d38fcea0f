//! What requests pass on their way to a route: access, limits, and what every response has in common.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::app::App;
use super::auth::MAX_BODY_LEN;
use super::chart::NeedsChartCsp;
use super::error::{ApiError, ErrorReply};
use super::runs::MAX_UPLOAD_LEN;
use super::{pages, response, runs};

/// Beginnings of paths that need no results, on pages and, after `/api/v1`, in the API.
const SECTIONS_WITHOUT_RESULTS: [&str; 7] =
    ["/runs", "/datasets", "/assets/", "/login", "/logout", "/health", "/metrics"];

/// Headers of every response. Scripts, styles and pictures come from here or not at all; nothing on a
/// page can be written into it as script or style.
const HEADERS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
    ("x-robots-tag", "noindex"),
];

/// The same for a page with a chart: plotly writes styles into attributes, and tries whether a browser knows some kinds
/// of picture, on pictures that it has in itself. They are nothing but pixels.
const CHART_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
                            img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                            frame-ancestors 'none'";

/// What every request and every response have in common: the host is checked, an error gets its page, and each response
/// its headers.
pub(crate) async fn handle_request(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let accepts_gzip = response::accepts_gzip(request.headers());
    let is_authenticated = app.access.is_authenticated(request.headers());
    let mut response = match app.access.check(&method, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    let has_error_page = response.extensions().get::<pages::InlineErrorPage>().is_some();
    if !has_error_page && (response.status().is_client_error() || response.status().is_server_error()) {
        response = error_response(&app, &path, response, is_authenticated);
    }
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if response.extensions().get::<NeedsChartCsp>().is_some() {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CHART_POLICY));
    }
    if accepts_gzip {
        response = response::packed(response).await;
    }
    let took = started.elapsed();
    app.metrics.count(response.status(), took);
    tracing::info!(%method, path, status = response.status().as_u16(), ms = took.as_millis() as u64, "answered");
    response
}

/// The path below the base path; empty for one that is not below it.
fn path_in<'r>(app: &App, request: &'r Request) -> &'r str {
    request.uri().path().strip_prefix(app.base.as_str()).unwrap_or_default()
}

/// Sends those who have not shown the token to the login page, and programs an error.
pub(crate) async fn require_token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = path_in(&app, &request);
    // Assets need no token, so neither does the answer that there is no such asset.
    if path.starts_with("/assets/") || app.access.is_authenticated(request.headers()) {
        return next.run(request).await;
    }
    if path.starts_with("/api/") || path == "/metrics" {
        let error = ApiError::new(
            StatusCode::UNAUTHORIZED,
            "this server wants its token, as in `Authorization: Bearer TOKEN`",
        );
        let mut refused = error.into_response();
        refused.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer"));
        return refused;
    }
    let requested = request.uri().path_and_query().map_or("/", |requested| requested.as_str());
    Redirect::to(&format!("{}/login?next={}", app.base, super::query_string::encoded(requested)))
        .into_response()
}

/// Refuses every request that is not for reading, if the server is only for that.
pub(crate) async fn refuse_changes(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_reading = [Method::GET, Method::HEAD].contains(request.method());
    if !is_reading && app.access.read_only {
        return ApiError::new(StatusCode::FORBIDDEN, "this server is for reading only").into_response();
    }
    next.run(request).await
}

/// How long a request may take, and how long its body may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) body: BodyLimit,
}

/// What a body may be as long as.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyLimit {
    Form,
    Upload,
}

/// Refuses a body that is too long, and ends a request that takes too long.
///
/// By hand, because the layers of tower-http answer with a fixed text, and an error here says what to do instead.
pub(crate) async fn limit_request(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
    match limits.body {
        BodyLimit::Upload if length > MAX_UPLOAD_LEN => return runs::upload_too_long().into_response(),
        BodyLimit::Form if length > MAX_BODY_LEN as u64 => {
            let message = format!("a request has at most {MAX_BODY_LEN} bytes here");
            return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        BodyLimit::Upload | BodyLimit::Form => {}
    }
    tokio::time::timeout(limits.timeout, next.run(request)).await.unwrap_or_else(|_| {
        ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "this takes too long; ask for less, as one model or one task",
        )
        .into_response()
    })
}

/// Whether a path belongs to what a study without trials has too. An unknown one in there is not found, whether or not the
/// study has trials.
fn is_in_section_without_results(path: &str) -> bool {
    let section = path.strip_prefix("/api/v1").unwrap_or(path);
    SECTIONS_WITHOUT_RESULTS.iter().any(|prefix| section.starts_with(prefix))
}

/// Sends readers of a study without trials to its runs.
pub(crate) async fn require_results(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = path_in(&app, &request);
    // What is not below the base path is nothing of this study.
    if path.is_empty() || is_in_section_without_results(path) || app.opened().await.is_some() {
        return next.run(request).await;
    }
    if path.starts_with("/api/v1") {
        return ApiError::not_found("the study has no trials yet; a run makes some").into_response();
    }
    Redirect::to(&format!("{}/runs", app.base)).into_response()
}

/// An error as a page, or as JSON for the API.
fn error_response(app: &App, path: &str, response: Response, is_authenticated: bool) -> Response {
    let (head, _) = response.into_parts();
    let problem =
        head.extensions.get::<ApiError>().cloned().unwrap_or_else(|| ApiError::from_status(head.status));
    let path = path.strip_prefix(app.base.as_str()).unwrap_or(path);
    let mut shown = if path.starts_with("/api/") {
        let text = serde_json::to_string(&ErrorReply { error: &problem.message });
        response::reply(response::JSON, text.expect("a text is JSON"))
    } else {
        pages::error_page(app, &problem, is_authenticated)
    };
    *shown.status_mut() = problem.status;
    for name in ["allow", "www-authenticate"] {
        if let Some(value) = head.headers.get(name) {
            shown.headers_mut().insert(HeaderName::from_static(name), value.clone());
        }
    }
    shown
}
