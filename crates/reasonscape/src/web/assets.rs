//! Styles and scripts, which are part of the program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;

use super::problem::Problem;
use super::reply::reply;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All of them: name, kind, text.
const ASSETS: &[(&str, &str, &str)] = &[
    ("site.css", CSS, include_str!("assets/site.css")),
    ("theme.js", SCRIPT, include_str!("assets/theme.js")),
    ("leaderboard.js", SCRIPT, include_str!("assets/leaderboard.js")),
    ("trials.js", SCRIPT, include_str!("assets/trials.js")),
    ("trial.js", SCRIPT, include_str!("assets/trial.js")),
    ("runs.js", SCRIPT, include_str!("assets/runs.js")),
    ("run.js", SCRIPT, include_str!("assets/run.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// What changes when any of them does: it stands in their addresses, so that a browser may keep them for ever.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    ASSETS.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
});

pub(super) async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let (_, kind, text) = ASSETS
        .iter()
        .find(|(known, ..)| *known == name)
        .ok_or_else(|| Problem::absent("there is no such file"))?;
    let mut response = reply(kind, (*text).to_owned());
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, for_ever);
    Ok(response)
}
