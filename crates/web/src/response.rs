//! Responses with a content type, compressed where the client accepts it.

use std::io::Write;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE,
    HeaderMap, VARY,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::error::ApiError;

pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
/// Server-sent events.
pub(crate) const EVENTS: &str = "text/event-stream";

/// Shorter bodies fit into a packet or two uncompressed.
const MIN_GZIP_SIZE: usize = 1_400;

/// A response of this content type.
pub(crate) fn reply(kind: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

pub(crate) fn json(value: &impl Serialize) -> Result<Response, ApiError> {
    let text = serde_json::to_string(value);
    Ok(reply(JSON, text.map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error))?))
}

/// A response that browsers save as a file.
pub(crate) fn download(kind: &'static str, name: &str, body: String) -> Response {
    let mut response = reply(kind, body);
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    response.headers_mut().insert(CONTENT_DISPOSITION, disposition.expect("file names are ASCII"));
    response
}

/// Whether the client accepts gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let refused =
            |part: &str| matches!(part.replace(' ', "").as_str(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip")) && !parts.any(refused)
    })
}

/// The response with a compressed body if it is long enough. Event streams and images are not compressed.
///
/// Not done with tower-http, whose layer adds three crates for what takes a few lines with flate2.
pub(crate) async fn packed(response: Response) -> Response {
    let is_left =
        |kind: &HeaderValue| kind.as_bytes().starts_with(b"image/") || kind.as_bytes() == EVENTS.as_bytes();
    let is_text = response.headers().get(CONTENT_TYPE).is_some_and(|kind| !is_left(kind));
    if !is_text || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return Response::from_parts(head, Body::empty());
    };
    // Nested routes of a run have already set the uncompressed length.
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if bytes.len() < MIN_GZIP_SIZE {
        return Response::from_parts(head, Body::from(bytes));
    }
    let mut packer = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    match packer.write_all(&bytes).and_then(|()| packer.finish()) {
        Ok(packed) => {
            head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Response::from_parts(head, Body::from(packed))
        }
        Err(_) => Response::from_parts(head, Body::from(bytes)),
    }
}
