//! Styles and scripts, compiled into the program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, HeaderMap, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use reasonscape_charts::plotly_script;

use super::error::ApiError;
use super::response::{accepts_gzip, reply};

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PLOTLY_NAME: &str = "plotly.js";

/// Name, content type and text of each asset.
const ASSETS: &[(&str, &str, &str)] = &[
    ("site.css", CSS, include_str!("assets/site.css")),
    ("theme.js", SCRIPT, include_str!("assets/theme.js")),
    ("leaderboard.js", SCRIPT, include_str!("assets/leaderboard.js")),
    ("compare.js", SCRIPT, include_str!("assets/compare.js")),
    ("trials.js", SCRIPT, include_str!("assets/trials.js")),
    ("trial.js", SCRIPT, include_str!("assets/trial.js")),
    ("chart.css", CSS, include_str!("assets/chart.css")),
    ("chart.js", SCRIPT, include_str!("assets/chart.js")),
    ("surface.js", SCRIPT, include_str!("assets/surface.js")),
    ("filters.js", SCRIPT, include_str!("assets/filters.js")),
    ("runs.js", SCRIPT, include_str!("assets/runs.js")),
    ("run.js", SCRIPT, include_str!("assets/run.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// A hash of all assets: it is part of their URLs, so that a browser may cache them forever.
pub(crate) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = DefaultHasher::new();
    ASSETS.hash(&mut hasher);
    // The script begins with its name and version.
    plotly_script().get(..100).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
});

/// The plotly script, compressed once: it is thirty times as large as all other assets together.
static PLOTLY: LazyLock<Bytes> = LazyLock::new(|| {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(plotly_script().as_bytes()).expect("writing to memory can't fail");
    packer.finish().expect("writing to memory can't fail").into()
});

pub(crate) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let mut response = if name == PLOTLY_NAME {
        plotly(&headers).await?
    } else {
        let known = ASSETS.iter().find(|(known, ..)| *known == name);
        let (_, kind, text) = known.ok_or_else(|| ApiError::not_found("no such file"))?;
        static_reply(kind, text)
    };
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, for_ever);
    Ok(response)
}

/// A response without a copy of its text, so that clients who don't read it take no memory.
fn static_reply(kind: &'static str, text: &'static str) -> Response {
    let mut response = reply(kind, String::new());
    *response.body_mut() = Body::from(text);
    response
}

async fn plotly(headers: &HeaderMap) -> Result<Response, ApiError> {
    let mut response = if accepts_gzip(headers) {
        // Compression takes a moment, so it must not block other requests.
        let packed = tokio::task::spawn_blocking(|| PLOTLY.clone()).await;
        let packed = packed.map_err(|_| ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR))?;
        let mut response = reply(SCRIPT, String::new());
        *response.body_mut() = Body::from(packed);
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        static_reply(SCRIPT, plotly_script())
    };
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    Ok(response)
}
