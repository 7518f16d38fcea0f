//! Connections, routes, and what every answer has in common.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{delete, get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use reasonscape_pipeline::Stop;
use reasonscape_points::PointsError;
use reasonscape_runner::{Interrupts, Study};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::app::{App, Snapshot};
use super::auth::{Access, MAX_BODY_LEN};
use super::chart::NeedsChartCsp;
use super::error::ApiError;
use super::runs::{MAX_UPLOAD_LEN, Runs};
use super::{api, assets, pages, response, runs};
use crate::failure::{Failure, note};

/// Connections at a time; more wait.
const MAX_CONNECTIONS: usize = 1_024;
/// A request line with its headers that is longer is refused.
const MAX_HEAD_LEN: usize = 32 * 1024;
/// Headers that take longer are not waited for.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// Answers that take longer are given up.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// As are uploads that take longer than this.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);
/// How long runs that are left at once are waited for.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// Where datasets go.
const UPLOADS: &str = "/api/v1/datasets";

/// What browsers are told with every answer. Scripts, styles and pictures come from here or not at all; nothing on a
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

/// The same for a page with a chart: plotly tries whether a browser knows some kinds of picture, on pictures that it has
/// in itself. They are nothing but pixels.
const CHART_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src \
                            'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What to serve, and to whom.
pub(crate) struct ServeOptions {
    /// The folder of the study.
    pub(crate) folder: PathBuf,
    /// What the study is called.
    pub(crate) title: String,
    /// What stands before every path: nothing, or as `/x`.
    pub(crate) base: String,
    pub(crate) access: Access,
}

/// Serves until Ctrl-C. `ready` is told when the study is open and connections are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    options: ServeOptions,
    ready: impl FnOnce(&[String]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let snapshot = match Snapshot::open(&options.folder).await {
        Ok(snapshot) => Some(snapshot),
        // A study that asks something can be run from here.
        Err(PointsError::Empty { .. }) if options.folder.join(Study::FILE).exists() => None,
        Err(error) => return Err(error.into()),
    };
    let remarks = match &snapshot {
        Some(snapshot) => snapshot.remarks.clone(),
        None => vec!["the study has no trials yet; the page Runs starts a run".to_owned()],
    };
    let app = Arc::new(App::new(
        options.folder,
        options.title,
        options.base,
        options.access,
        snapshot,
        study_pages,
    ));
    let accepting = tokio::spawn(accept(listener, routes(&app)));
    let mut interrupts = Interrupts::listen();
    ready(&remarks)?;
    interrupts.next().await;
    if let Ok(runs) = app.runs() {
        end(runs, &mut interrupts).await;
    }
    accepting.abort();
    Ok(())
}

/// Lets runs end as Ctrl-C does: what is in flight is waited for, unless somebody presses it again.
async fn end(runs: &Runs, interrupts: &mut Interrupts) {
    if runs.active_count() == 0 {
        return;
    }
    note("stopping: waiting for what runs have in flight; press Ctrl-C again to leave at once");
    runs.stop_all(Stop::Drain);
    tokio::select! {
        () = runs.wait_idle() => return,
        () = interrupts.next() => runs.stop_all(Stop::Now),
    }
    // Long enough to say in the record how it ended.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, runs.wait_idle()).await;
}

fn routes(app: &Arc<App>) -> Router {
    let at = |path: &str| format!("{}{path}", app.base);
    let mut routes = study_pages(app)
        .route(&at("/login"), get(pages::login::page).post(pages::login::enter))
        .route(&at("/logout"), post(pages::login::leave))
        .route(&at("/health"), get(api::health))
        .route(&at("/metrics"), get(api::metrics))
        .route(&at("/runs"), get(pages::runs::page).post(pages::new_run::create))
        .route(&at("/runs/new"), get(pages::new_run::page))
        .route(&at("/runs/{name}"), get(pages::run::page))
        .route(&at("/runs/{name}/start"), post(pages::run::start))
        .route(&at("/runs/{name}/cancel"), post(pages::run::cancel))
        .route(&at("/runs/{name}/delete"), get(pages::run::confirm).post(pages::run::delete))
        .route(&at("/runs/{name}/view"), get(runs::view_home))
        .route(&at("/runs/{name}/view/"), get(runs::view))
        .route(&at("/runs/{name}/view/{*rest}"), get(runs::view))
        .route(&at("/datasets"), post(pages::new_run::paste))
        .route(&at("/datasets/{name}/delete"), post(pages::new_run::delete_dataset))
        .route(&at("/api/v1/runs"), get(runs::api::list).post(runs::api::create))
        .route(&at("/api/v1/runs/{name}"), get(runs::api::get).delete(runs::api::delete))
        .route(&at("/api/v1/runs/{name}/plan"), get(runs::api::plan))
        .route(&at("/api/v1/runs/{name}/start"), post(runs::api::start))
        .route(&at("/api/v1/runs/{name}/cancel"), post(runs::api::cancel))
        .route(&at("/api/v1/runs/{name}/events"), get(runs::api::events))
        .route(&at(UPLOADS), get(runs::api::datasets).post(runs::api::upload).put(runs::api::upload))
        .route(&at("/api/v1/datasets/{name}"), delete(runs::api::delete_dataset));
    if !app.base.is_empty() {
        let home = at("/");
        routes = routes.route(&app.base, get(async move || Redirect::permanent(&home)));
    }
    routes.layer(middleware::from_fn_with_state(Arc::clone(app), handle_request)).with_state(Arc::clone(app))
}

/// What shows a study, be it the one that was named at the start or that of a run.
fn study_pages(app: &App) -> Router<Arc<App>> {
    let at = |path: &str| format!("{}{path}", app.base);
    Router::new()
        .route(&at("/"), get(pages::leaderboard::page))
        .route(&at("/leaderboard.csv"), get(pages::leaderboard::csv))
        .route(&at("/leaderboard.json"), get(pages::leaderboard::json))
        .route(&at("/leaderboard.md"), get(pages::leaderboard::markdown))
        .route(&at("/compare"), get(pages::compare::page))
        .route(&at("/compare/tests"), get(pages::disagreements::page))
        .route(&at("/compare/tests/{a}/{b}/{task}/{point}/{index}"), get(pages::test::page))
        .route(&at("/trials"), get(pages::trials::page))
        .route(&at("/trials/{eval}/{task}/{point}/{index}"), get(pages::trial::page))
        .route(&at("/explorer"), get(pages::explorer::page))
        .route(&at("/forensics"), get(pages::forensics::page))
        .route(&at("/assets/{name}"), get(assets::asset))
        .route(&at("/api/v1/openapi.json"), get(api::openapi))
        .route(&at("/api/v1/leaderboard"), get(api::leaderboard))
        .route(&at("/api/v1/evals"), get(api::evals))
        .route(&at("/api/v1/tasks"), get(api::tasks))
        .route(&at("/api/v1/points"), get(api::points))
        .route(&at("/api/v1/pairwise"), get(api::comparison::pairwise))
        .route(&at("/api/v1/compare"), get(api::comparison::compare))
        .route(&at("/api/v1/differences"), get(api::comparison::differences))
        .route(&at("/api/v1/trials"), get(api::trials))
        .route(&at("/api/v1/trials/{eval}/{task}/{point}/{index}"), get(api::trial))
        .route(&at("/api/v1/surface"), get(api::analyses::surface))
        .route(&at("/api/v1/projection"), get(api::analyses::projection))
        .route(&at("/api/v1/frontier"), get(api::analyses::frontier))
        .route(&at("/api/v1/hazard"), get(api::analyses::hazard))
        .route(&at("/api/v1/tokens"), get(api::analyses::tokens))
        .route(&at("/api/v1/compression"), get(api::analyses::compression))
        .route(&at("/api/v1/figures/{kind}"), get(api::analyses::figure))
        .fallback(async || ApiError::from_status(StatusCode::NOT_FOUND))
}

async fn accept(listener: TcpListener, routes: Router) {
    let seats = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(seat) = Arc::clone(&seats).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: connections that end will free some.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without it small replies wait for an acknowledgement; a failure only costs time.
        let _ = stream.set_nodelay(true);
        let routes = TowerToHyperService::new(routes.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .max_buf_size(MAX_HEAD_LEN)
                .serve_connection(TokioIo::new(stream), routes);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
            drop(seat);
        });
    }
}

/// Lets a request in or refuses it, and dresses what comes out.
async fn handle_request(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let unpacks = response::accepts_gzip(request.headers());
    let is_authenticated = app.access.is_authenticated(request.headers());
    let mut response = match admit(&app, &request, is_authenticated) {
        Err(refused) => refused,
        Ok(()) => {
            match tokio::time::timeout(time_for(&app, &request), require_results(&app, request, next)).await {
                Ok(response) => response,
                Err(_) => ApiError::new(
                    StatusCode::GATEWAY_TIMEOUT,
                    "this takes too long; ask for less, as one model or one task",
                )
                .into_response(),
            }
        }
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
    if unpacks {
        response = response::packed(response).await;
    }
    let took = started.elapsed();
    app.metrics.count(response.status(), took);
    tracing::info!(%method, path, status = response.status().as_u16(), ms = took.as_millis() as u64, "answered");
    response
}

/// Hands a request on, unless it asks of a study what only one with trials has.
async fn require_results(app: &App, request: Request, next: Next) -> Response {
    let path = request.uri().path().strip_prefix(app.base.as_str()).unwrap_or_default();
    let needs_no_trials = ["/runs", "/datasets", "/assets/", "/login", "/logout", "/health", "/metrics"];
    let is_free = |path: &str| needs_no_trials.iter().any(|free| path.starts_with(free));
    let within_api = path.strip_prefix("/api/v1");
    if path.is_empty() || is_free(within_api.unwrap_or(path)) || within_api == Some("/openapi.json") {
        return next.run(request).await;
    }
    if app.opened().await.is_some() {
        return next.run(request).await;
    }
    if within_api.is_some() {
        return ApiError::not_found("the study has no trials yet; a run makes some").into_response();
    }
    Redirect::to(&format!("{}/runs", app.base)).into_response()
}

/// Whether a request brings a dataset, which takes longer and is longer than others.
fn is_upload(app: &App, request: &Request) -> bool {
    let path = request.uri().path().strip_prefix(app.base.as_str()).unwrap_or_default();
    path == UPLOADS && [Method::POST, Method::PUT].contains(request.method())
}

fn time_for(app: &App, request: &Request) -> Duration {
    if is_upload(app, request) { UPLOAD_TIMEOUT } else { REQUEST_TIMEOUT }
}

#[expect(clippy::result_large_err, reason = "the refusal is the answer")]
fn admit(app: &App, request: &Request, is_authenticated: bool) -> Result<(), Response> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    app.access.check(method, uri, headers).map_err(IntoResponse::into_response)?;
    let path = uri.path().strip_prefix(app.base.as_str()).unwrap_or_default();
    let is_entrance = matches!(path, "/login" | "/logout");
    let is_open = is_entrance || path == "/health" || path.starts_with("/assets/");
    if !is_authenticated && !is_open {
        if path.starts_with("/api/") || path == "/metrics" {
            let problem = ApiError::new(
                StatusCode::UNAUTHORIZED,
                "this server wants its token, as in `Authorization: Bearer TOKEN`",
            );
            let mut refused = problem.into_response();
            refused.headers_mut().insert("www-authenticate", HeaderValue::from_static("Bearer"));
            return Err(refused);
        }
        let wanted = uri.path_and_query().map_or("/", |wanted| wanted.as_str());
        let login = format!("{}/login?next={}", app.base, super::query_string::encoded(wanted));
        return Err(Redirect::to(&login).into_response());
    }
    let is_reading = [Method::GET, Method::HEAD].contains(method);
    if !is_reading && app.access.read_only && !is_entrance {
        let problem = ApiError::new(StatusCode::FORBIDDEN, "this server is for reading only");
        return Err(problem.into_response());
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if is_upload(app, request) {
        let is_short = length.is_none_or(|length| length <= MAX_UPLOAD_LEN);
        return if is_short { Ok(()) } else { Err(runs::upload_too_long().into_response()) };
    }
    if length.is_some_and(|length| length > MAX_BODY_LEN as u64) {
        let problem = format!("a request has at most {MAX_BODY_LEN} bytes here");
        return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, problem).into_response());
    }
    Ok(())
}

/// A failure in words: a page for people, JSON for programs.
fn error_response(app: &App, path: &str, response: Response, is_authenticated: bool) -> Response {
    let (head, _) = response.into_parts();
    let problem =
        head.extensions.get::<ApiError>().cloned().unwrap_or_else(|| ApiError::from_status(head.status));
    let path = path.strip_prefix(app.base.as_str()).unwrap_or(path);
    let mut said = if path.starts_with("/api/") {
        response::reply(response::JSON, serde_json::json!({ "error": problem.message }).to_string())
    } else {
        pages::failed(app, &problem, is_authenticated)
    };
    *said.status_mut() = problem.status;
    for name in ["allow", "www-authenticate"] {
        if let Some(value) = head.headers.get(name) {
            said.headers_mut().insert(HeaderName::from_static(name), value.clone());
        }
    }
    said
}

/// Binds to an address.
pub(crate) async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
    // A server that has just stopped leaves its port in a state that would keep the next one out. Windows understands
    // the same option as leave to take a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1_024)
}
