//! Connections, routes with their access rules, and what every response has in common.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{delete, get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use reasonscape_pipeline::Shutdown;
use reasonscape_points::PointsError;
use reasonscape_study::Study;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::app::{App, Snapshot};
use super::auth::{Access, MAX_BODY_LEN};
use super::chart::NeedsChartCsp;
use super::error::ApiError;
use super::runs::{MAX_UPLOAD_LEN, Runs};
use super::{api, assets, pages, response, runs};

/// Connections at a time; more wait.
const MAX_CONNECTIONS: usize = 1_024;
/// Length of a request line with its headers.
const MAX_HEAD_LEN: usize = 32 * 1024;
/// Time to receive the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// Time to answer a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Time to receive a dataset.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);
/// How long to wait for runs to record their end in an immediate shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

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

/// The same for a page with a chart: plotly tries whether a browser knows some kinds of picture, on pictures that it has
/// in itself. They are nothing but pixels.
const CHART_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src \
                            'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What to serve, and to whom.
#[derive(Debug)]
pub struct ServeOptions {
    /// The folder of the study.
    pub folder: PathBuf,
    /// The title of the study.
    pub title: String,
    /// The base path: empty, or as `/x`.
    pub base: String,
    /// Which requests are allowed.
    pub access: Access,
}

/// Why a study is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The study could not be opened.
    #[error(transparent)]
    Points(#[from] PointsError),
}

/// What a server tells whoever started it.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The study is open and requests are answered; with what to know about the study.
    Ready {
        /// Notes on the study.
        remarks: &'a [String],
    },
    /// The server was told to shut down and waits for requests of runs that are in flight.
    Draining,
}

/// Serves until `shutdown` is raised. Active runs are then drained, and left at once if it is raised further.
///
/// # Errors
/// A [`ServeError`] when the study cannot be opened; an error of `on_notice`, which ends the server.
pub async fn serve<E: From<ServeError>>(
    listener: TcpListener,
    options: ServeOptions,
    mut shutdown: watch::Receiver<Shutdown>,
    mut on_notice: impl FnMut(Notice<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let snapshot = match Snapshot::open(&options.folder).await {
        Ok(snapshot) => Some(snapshot),
        // A study that has a study.toml can be run from here.
        Err(PointsError::Empty { .. }) if options.folder.join(Study::FILE).exists() => None,
        Err(error) => return Err(ServeError::from(error).into()),
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
        run_results_routes,
    ));
    let accepting = tokio::spawn(accept(listener, routes(&app)));
    on_notice(Notice::Ready { remarks: &remarks })?;
    // A sender that is gone cannot say anything more, so the server ends.
    let _ = shutdown.wait_for(|stop| *stop != Shutdown::None).await;
    if let Ok(runs) = app.runs()
        && runs.active_count() > 0
    {
        on_notice(Notice::Draining)?;
        drain(runs, &mut shutdown).await;
    }
    accepting.abort();
    Ok(())
}

/// Lets runs wait for requests in flight, unless the shutdown is to be immediate.
async fn drain(runs: &Runs, shutdown: &mut watch::Receiver<Shutdown>) {
    runs.stop_all(Shutdown::Drain);
    tokio::select! {
        () = runs.wait_idle() => return,
        _ = shutdown.wait_for(|stop| *stop == Shutdown::Immediate) => runs.stop_all(Shutdown::Immediate),
    }
    // Long enough to record how they ended.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, runs.wait_idle()).await;
}

/// All routes, in groups by what a request needs. The layer added last is the first that a request passes.
fn routes(app: &Arc<App>) -> Router {
    let uploads = limited(upload_routes(app), Limits { timeout: UPLOAD_TIMEOUT, body: BodyLimit::Upload });
    let results = study_routes(app).layer(from_fn_with_state(Arc::clone(app), require_results));
    let limits = Limits { timeout: REQUEST_TIMEOUT, body: BodyLimit::Form };
    let private = limited(results.merge(run_routes(app)), limits)
        .merge(uploads)
        .layer(from_fn_with_state(Arc::clone(app), refuse_changes))
        .layer(from_fn_with_state(Arc::clone(app), require_token));
    let public =
        limited(public_routes(app), limits).layer(from_fn_with_state(Arc::clone(app), refuse_changes));
    let open = limited(login_routes(app), limits);
    open.merge(public)
        .merge(private)
        .layer(from_fn_with_state(Arc::clone(app), handle_request))
        .with_state(Arc::clone(app))
}

/// Showing and giving back the token; needs none.
fn login_routes(app: &App) -> Router<Arc<App>> {
    let at = |path: &str| format!("{}{path}", app.base);
    Router::new()
        .route(&at("/login"), get(pages::login::page).post(pages::login::enter))
        .route(&at("/logout"), post(pages::login::leave))
}

/// Needs no token: says nothing about a study.
fn public_routes(app: &App) -> Router<Arc<App>> {
    asset_routes(app).route(&format!("{}/health", app.base), get(api::health))
}

fn asset_routes(app: &App) -> Router<Arc<App>> {
    Router::new().route(&format!("{}/assets/{{name}}", app.base), get(assets::asset))
}

/// Needs the token, and no results: runs, datasets and what describes the server.
fn run_routes(app: &App) -> Router<Arc<App>> {
    let at = |path: &str| format!("{}{path}", app.base);
    let mut routes = description_routes(app)
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
        .route(&at("/api/v1/datasets"), get(runs::api::datasets))
        .route(&at("/api/v1/datasets/{name}"), delete(runs::api::delete_dataset));
    if !app.base.is_empty() {
        let home = at("/");
        routes = routes.route(&app.base, get(async move || Redirect::permanent(&home)));
    }
    routes
}

fn description_routes(app: &App) -> Router<Arc<App>> {
    Router::new().route(&format!("{}/api/v1/openapi.json", app.base), get(api::openapi))
}

/// Needs the token, and takes longer and larger requests than others.
fn upload_routes(app: &App) -> Router<Arc<App>> {
    let path = format!("{}/api/v1/datasets", app.base);
    Router::new().route(&path, post(runs::api::upload).put(runs::api::upload))
}

/// Needs the token and results: pages and API of a study.
fn study_routes(app: &App) -> Router<Arc<App>> {
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

/// The results of a run, which are those of a study. Requests come through the routes of its server, which check them.
fn run_results_routes(app: &App) -> Router<Arc<App>> {
    study_routes(app).merge(asset_routes(app)).merge(description_routes(app))
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

/// What every request and every response have in common: the host is checked, an error gets its page, and each response
/// its headers.
async fn handle_request(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
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
async fn require_token(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
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
    let wanted = request.uri().path_and_query().map_or("/", |wanted| wanted.as_str());
    Redirect::to(&format!("{}/login?next={}", app.base, super::query_string::encoded(wanted))).into_response()
}

/// Refuses every request that is not for reading, if the server is only for that.
async fn refuse_changes(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let is_reading = [Method::GET, Method::HEAD].contains(request.method());
    if !is_reading && app.access.read_only {
        return ApiError::new(StatusCode::FORBIDDEN, "this server is for reading only").into_response();
    }
    next.run(request).await
}

/// How long a request may take, and how long its body may be.
#[derive(Debug, Clone, Copy)]
struct Limits {
    timeout: Duration,
    body: BodyLimit,
}

#[derive(Debug, Clone, Copy)]
enum BodyLimit {
    Form,
    Upload,
}

fn limited(routes: Router<Arc<App>>, limits: Limits) -> Router<Arc<App>> {
    routes.layer(from_fn_with_state(limits, limit_request))
}

async fn limit_request(State(limits): State<Limits>, request: Request, next: Next) -> Response {
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
async fn require_results(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
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
        response::reply(response::JSON, serde_json::json!({ "error": problem.message }).to_string())
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

/// Binds to an address.
///
/// # Errors
/// When the port is taken or the address is not of this machine.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
    // A server that has just stopped leaves its port in a state that would keep the next one out. Windows understands
    // the same option as leave to take a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1_024)
}
