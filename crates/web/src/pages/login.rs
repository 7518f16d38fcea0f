//! The login page.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{ORIGIN, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Serialize;
use url::form_urlencoded;

use super::render;
use crate::app::App;
use crate::auth::{MAX_BODY_LEN, Token, TokenCheck};
use crate::error::ApiError;
use crate::middleware::{sender, too_many_guesses};
use crate::query_string::Query;

#[derive(Serialize)]
struct Login<'a> {
    /// Where to go after the login.
    next: &'a str,
    problem: Option<&'static str>,
}

/// The path to redirect to, if it is one of this server.
fn own_path(app: &App, path: Option<&str>) -> String {
    let home = format!("{}/", app.base);
    let is_own = |path: &&str| {
        path.starts_with(&home) && !path.starts_with("//") && !path.contains(['\\', '\r', '\n', '\t'])
    };
    path.filter(is_own).map_or(home.clone(), ToOwned::to_owned)
}

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    let next = own_path(&app, Query::from_uri(&uri).get("next"));
    if app.access.token.is_none() {
        return Ok(Redirect::to(&next).into_response());
    }
    render(&app, "login.html", "", &[], &Login { next: &next, problem: None })
}

pub(crate) async fn log_in(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let (head, body) = request.into_parts();
    let too_long = |_| ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "the token is too long");
    let body = axum::body::to_bytes(body, MAX_BODY_LEN).await.map_err(too_long)?;
    let form_field = |field: &str| {
        let mut fields = form_urlencoded::parse(&body);
        fields.find(|(name, _)| name == field).map(|(_, value)| value.into_owned())
    };
    let next = own_path(&app, form_field("next").as_deref());
    let Some(token) = &app.access.token else { return Ok(Redirect::to(&next).into_response()) };
    let given = form_field("token").unwrap_or_default();
    match token.check(given.trim(), sender(&head.extensions), Instant::now()) {
        TokenCheck::Correct => {}
        TokenCheck::Refused => return Ok(too_many_guesses()),
        TokenCheck::Wrong { delay } => {
            tokio::time::sleep(delay).await;
            let page = Login { next: &next, problem: Some("Incorrect token.") };
            let mut response = render(&app, "login.html", "", &[], &page)?;
            // Not 401, which would be shown as an error page instead of the form.
            *response.status_mut() = StatusCode::OK;
            return Ok(response);
        }
    }
    let is_https = head.headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    Ok(with_cookie(&next, &token.cookie(&app.base, is_https)))
}

pub(crate) async fn log_out(State(app): State<Arc<App>>) -> Response {
    with_cookie(&format!("{}/login", app.base), &Token::no_cookie(&app.base))
}

fn with_cookie(to: &str, cookie: &str) -> Response {
    let mut response = Redirect::to(to).into_response();
    let cookie = HeaderValue::try_from(cookie).expect("the cookie and the checked path are ASCII");
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}
