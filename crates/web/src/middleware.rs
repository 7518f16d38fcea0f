//! Middleware: access checks, limits, error pages and response headers.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::{Extensions, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::app::App;
use super::auth::{MAX_BODY_LEN, TokenCheck};
use super::chart::NeedsChartCsp;
use super::connections::Peer;
use super::error::{ApiError, ErrorReply};
use super::runs::MAX_UPLOAD_LEN;
use super::{pages, response, runs};

/// Prefixes of paths that need no results, for pages and, after `/api/v1`, for the API.
const SECTIONS_WITHOUT_RESULTS: [&str; 7] =
    ["/runs", "/datasets", "/assets/", "/login", "/logout", "/health", "/metrics"];

/// How often a request is repeated because files were replaced while it read them.
const MAX_REPEATS: usize = 3;

/// Headers of every response. Scripts, styles and images come only from this server, and inline scripts and styles are
/// forbidden.
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

/// The policy of a page with a chart: plotly sets style attributes, and probes image formats with `data:` URLs.
const CHART_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
                            img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                            frame-ancestors 'none'";

/// The outermost middleware: checks the host, renders errors, and adds headers to each response.
pub(crate) async fn handle_request(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let accepts_gzip = response::accepts_gzip(request.headers());
    // Tokens are checked, and guesses counted, only where one is required.
    let is_authenticated = app.access.has_session(request.headers());
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
    tracing::info!(%method, path, status = response.status().as_u16(), ms = took.as_millis() as u64, "request handled");
    response
}

/// The path below the base path; empty for one that is not below it.
fn path_in<'r>(app: &App, request: &'r Request) -> &'r str {
    request.uri().path().strip_prefix(app.base.as_str()).unwrap_or_default()
}

/// Redirects unauthenticated browsers to the login page, and returns 401 to API clients.
pub(crate) async fn require_token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = path_in(&app, &request);
    // Assets need no token, so neither does a 404 for an asset.
    if path.starts_with("/assets/") || app.access.has_session(request.headers()) {
        return next.run(request).await;
    }
    match app.access.check_bearer(request.headers(), sender(request.extensions()), Instant::now()) {
        Some(TokenCheck::Correct) => return next.run(request).await,
        Some(TokenCheck::Wrong { delay }) => tokio::time::sleep(delay).await,
        Some(TokenCheck::Refused) => return too_many_guesses(),
        None => {}
    }
    if path.starts_with("/api/") || path == "/metrics" {
        let error = ApiError::new(
            StatusCode::UNAUTHORIZED,
            "this server requires its token: `Authorization: Bearer TOKEN`",
        );
        let mut refused = error.into_response();
        refused.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer"));
        return refused;
    }
    let requested = request.uri().path_and_query().map_or("/", |requested| requested.as_str());
    Redirect::to(&format!("{}/login?next={}", app.base, super::query_string::encoded(requested)))
        .into_response()
}

/// The address that a request came from.
pub(crate) fn sender(extensions: &Extensions) -> IpAddr {
    extensions.get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0)
}

/// The reply to a token that is not checked.
pub(crate) fn too_many_guesses() -> Response {
    let error = ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too many incorrect tokens from your address; wait a few seconds",
    );
    let mut refused = error.into_response();
    refused.headers_mut().insert("retry-after", HeaderValue::from_static("2"));
    refused
}

/// Refuses changes if the server is read-only.
pub(crate) async fn refuse_changes(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_reading = [Method::GET, Method::HEAD].contains(request.method());
    if !is_reading && app.access.read_only {
        return ApiError::new(StatusCode::FORBIDDEN, "this server is read-only").into_response();
    }
    next.run(request).await
}

/// Limits on the duration and the body of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) body: BodyLimit,
}

/// The kind of body, which determines its maximum length.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyLimit {
    Form,
    Upload,
}

/// Refuses a body that is too long, and times out a request that takes too long.
///
/// Not done with tower-http, because its layers reply with a fixed text instead of a hint.
pub(crate) async fn limit_request(State(limits): State<Limits>, request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok()).unwrap_or(0);
    match limits.body {
        BodyLimit::Upload if length > MAX_UPLOAD_LEN => return runs::upload_too_long().into_response(),
        BodyLimit::Form if length > MAX_BODY_LEN as u64 => {
            let message = format!("the request body is too long; at most {MAX_BODY_LEN} bytes are accepted");
            return ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
        BodyLimit::Upload | BodyLimit::Form => {}
    }
    tokio::time::timeout(limits.timeout, next.run(request)).await.unwrap_or_else(|_| {
        ApiError::new(
            StatusCode::GATEWAY_TIMEOUT,
            "the request timed out; select less, such as one model or one task",
        )
        .into_response()
    })
}

/// Whether a path is in a section that exists without trials. An unknown path there is a 404, with or without trials.
fn is_in_section_without_results(path: &str) -> bool {
    let section = path.strip_prefix("/api/v1").unwrap_or(path);
    SECTIONS_WITHOUT_RESULTS.iter().any(|prefix| section.starts_with(prefix))
}

/// Redirects from a study without trials to its runs.
pub(crate) async fn require_results(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = path_in(&app, &request);
    // Paths outside the base path don't belong to this study.
    if path.is_empty() || is_in_section_without_results(path) || app.opened().await.is_some() {
        return next.run(request).await;
    }
    if path.starts_with("/api/v1") {
        return ApiError::not_found("the study has no trials yet; start a run first").into_response();
    }
    Redirect::to(&format!("{}/runs", app.base)).into_response()
}

/// Repeats a request during which the files of the study were replaced, on the study as it is then.
pub(crate) async fn repeat_if_changed(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let again = head.clone();
    let mut response = next.clone().run(Request::from_parts(head, body)).await;
    for _ in 0..MAX_REPEATS {
        if !response.extensions().get::<ApiError>().is_some_and(ApiError::is_study_changed) {
            break;
        }
        app.look_for_changes().await;
        // What reads a study has no body.
        response = next.clone().run(Request::from_parts(again.clone(), Body::empty())).await;
    }
    response
}

/// An error as a page, or as JSON for the API.
fn error_response(app: &App, path: &str, response: Response, is_authenticated: bool) -> Response {
    let (head, _) = response.into_parts();
    let problem =
        head.extensions.get::<ApiError>().cloned().unwrap_or_else(|| ApiError::from_status(head.status));
    let path = path.strip_prefix(app.base.as_str()).unwrap_or(path);
    let mut shown = if path.starts_with("/api/") {
        let text = serde_json::to_string(&ErrorReply { error: &problem.message });
        response::reply(response::JSON, text.expect("a string is valid JSON"))
    } else {
        pages::error_page(app, &problem, is_authenticated)
    };
    *shown.status_mut() = problem.status;
    for name in ["allow", "retry-after", "www-authenticate"] {
        if let Some(value) = head.headers.get(name) {
            shown.headers_mut().insert(HeaderName::from_static(name), value.clone());
        }
    }
    shown
}
