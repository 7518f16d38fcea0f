//! All routes, with their middleware.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::Redirect;
use axum::routing::{get, post, put};
use axum::{Extension, Router};

use super::api::openapi::operations::{self, Operation};
use super::app::App;
use super::busy::{RequestSlots, handle_elsewhere, receive_elsewhere};
use super::error::ApiError;
use super::middleware::{
    BodyLimit, Limits, handle_request, limit_request, refuse_changes, repeat_if_changed, require_results,
    require_token,
};
use super::{api, assets, pages, runs};

/// Time to answer a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Time to receive a dataset.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);

/// All routes, grouped by what a request needs. The layer added last runs first.
pub(crate) fn routes(app: &Arc<App>) -> Router {
    let slots = RequestSlots::default();
    let uploads = upload_routes(app).layer(Extension(slots.clone())).layer(from_fn(receive_elsewhere));
    let uploads = limited(uploads, Limits { timeout: UPLOAD_TIMEOUT, body: BodyLimit::Upload });
    let results = study_routes(app)
        .layer(from_fn_with_state(Arc::clone(app), require_results))
        .layer(from_fn_with_state(Arc::clone(app), repeat_if_changed));
    let limits = Limits { timeout: REQUEST_TIMEOUT, body: BodyLimit::Form };
    let handled = results.merge(run_routes(app)).layer(from_fn_with_state(slots, handle_elsewhere));
    let private = limited(handled, limits)
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

/// Login and logout; need no token.
fn login_routes(app: &App) -> Router<Arc<App>> {
    let at = |path: &str| format!("{}{path}", app.base);
    Router::new()
        .route(&at("/login"), get(pages::login::page).post(pages::login::log_in))
        .route(&at("/logout"), post(pages::login::log_out))
}

/// Needs no token, because these responses reveal nothing about a study.
fn public_routes(app: &App) -> Router<Arc<App>> {
    asset_routes(app).route(&format!("{}/health", app.base), get(api::health))
}

fn asset_routes(app: &App) -> Router<Arc<App>> {
    Router::new().route(&format!("{}/assets/{{name}}", app.base), get(assets::asset))
}

/// Needs the token but no results: runs, datasets, metrics and the OpenAPI document.
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
        .merge(api_routes(app, operations::runs()));
    if !app.base.is_empty() {
        let home = at("/");
        routes = routes.route(&app.base, get(async move || Redirect::permanent(&home)));
    }
    routes
}

fn description_routes(app: &App) -> Router<Arc<App>> {
    api_routes(app, operations::description())
}

/// API routes. Routes and OpenAPI document come from one table, so every route is documented.
fn api_routes(app: &App, operations: Vec<Operation>) -> Router<Arc<App>> {
    operations.into_iter().fold(Router::new(), |routes, operation| {
        routes.route(&format!("{}{}{}", app.base, operations::ROOT, operation.path), operation.handler)
    })
}

/// Needs the token; has a longer timeout and a larger body limit.
fn upload_routes(app: &App) -> Router<Arc<App>> {
    // PUT is what `curl --upload-file` sends; an undocumented alias of POST.
    let path = format!("{}{}/datasets", app.base, operations::ROOT);
    api_routes(app, operations::uploads()).route(&path, put(runs::api::upload))
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
        .merge(api_routes(app, operations::study()))
        .fallback(async || ApiError::from_status(StatusCode::NOT_FOUND))
}

/// The results of a run. Requests arrive through the routes of the server, which check them.
pub(crate) fn run_results_routes(app: &App) -> Router<Arc<App>> {
    study_routes(app).merge(asset_routes(app)).merge(description_routes(app))
}

fn limited(routes: Router<Arc<App>>, limits: Limits) -> Router<Arc<App>> {
    routes.layer(from_fn_with_state(limits, limit_request))
}
