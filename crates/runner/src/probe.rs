//! Probes an endpoint before a run, to report wrong settings early.

use std::time::Duration;

use reasonscape_providers::{Message, Provider, ReplyError, Role};
use reasonscape_study::Eval;
use serde_json::Value;

use crate::client::{Endpoint, RawReply, Timeouts, TransportError};
use crate::run::{RunError, header_map};

/// Timeout for connecting and for listing models.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a probe failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// A key or header is not available, for example because its environment variable is not set.
    #[error(transparent)]
    Headers(#[from] RunError),
    /// The endpoint cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The endpoint rejected the request.
    #[error(transparent)]
    Refused(#[from] ReplyError),
    /// The endpoint does not list its models.
    #[error("the endpoint does not list its models (HTTP {status})")]
    NoList {
        /// The HTTP status.
        status: u16,
    },
    /// The HTTP client or the request could not be created.
    #[error("failed to create the request: {0}")]
    Client(String),
}

impl From<TransportError> for ProbeError {
    fn from(problem: TransportError) -> Self {
        Self::Unreachable(problem.to_string())
    }
}

/// Lists the models of an endpoint, without sending a completion request.
///
/// # Errors
/// A [`ProbeError`] with the cause and a hint.
pub fn list_models(eval: &Eval, base_url: &str) -> Result<Vec<String>, ProbeError> {
    let reply = exchange(eval, &models_url(base_url), None, PROBE_TIMEOUT)?;
    parse_models(eval.provider, &reply)
}

/// Lists the models of a server on this machine, without a study: no key is sent, and no proxy is used.
///
/// # Errors
/// A [`ProbeError`]: no reply within `timeout`, a key is required ([`ProbeError::Refused`]), or the reply is not a list of
/// models ([`ProbeError::NoList`]).
pub fn list_local_models(base_url: &str, timeout: Duration) -> Result<Vec<String>, ProbeError> {
    let timeouts = Timeouts { connect: timeout, idle: timeout, total: timeout };
    let endpoint = || Endpoint::for_reading_locally(&models_url(base_url), timeouts);
    parse_models(Provider::OpenAiChat, &send(endpoint, Vec::new())?)
}

fn models_url(base_url: &str) -> String {
    format!("{}/models", base_url.trim_end_matches('/'))
}

fn parse_models(provider: Provider, reply: &RawReply) -> Result<Vec<String>, ProbeError> {
    match reply.status {
        200 => {}
        // A rejected key would be rejected in a run too; report it with the same error.
        401 | 403 => return Err(refusal(provider, reply)),
        status => return Err(ProbeError::NoList { status }),
    }
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let Some(models) = body["data"].as_array().or_else(|| body["models"].as_array()) else {
        return Err(ProbeError::NoList { status: reply.status });
    };
    let name = |model: &Value| model["id"].as_str().or_else(|| model["name"].as_str()).map(ToOwned::to_owned);
    Ok(models.iter().filter_map(name).collect())
}

/// Sends one short request with the settings of a run, and returns the reply and its latency.
///
/// # Errors
/// A [`ProbeError`] with the cause and a hint.
pub fn send_test_request(eval: &Eval, base_url: &str) -> Result<(String, Duration), ProbeError> {
    let message = Message { role: Role::User, content: "Reply with the one word: ready".into() };
    let body = eval.payload(&[message]).to_string().into_bytes();
    let reply = exchange(eval, &eval.provider.endpoint(base_url), Some(body), eval.limits.timeout)?;
    let completion = eval.provider.parse(reply.status, &reply.body)?;
    Ok((completion.content, reply.latency))
}

fn refusal(provider: Provider, reply: &RawReply) -> ProbeError {
    match provider.parse(reply.status, &reply.body) {
        Err(problem) => problem.into(),
        Ok(_) => ProbeError::NoList { status: reply.status },
    }
}

fn exchange(eval: &Eval, url: &str, body: Option<Vec<u8>>, total: Duration) -> Result<RawReply, ProbeError> {
    let headers = header_map(eval)?;
    let connect = eval.limits.connect_timeout.min(PROBE_TIMEOUT);
    let timeouts = Timeouts { connect, idle: eval.limits.idle_timeout.min(total), total };
    match body {
        Some(body) => send(|| Endpoint::new(url, headers, timeouts), body),
        None => send(|| Endpoint::for_reading(url, headers, timeouts), Vec::new()),
    }
}

/// Sends one request and waits for the reply, on its own runtime.
fn send(
    endpoint: impl FnOnce() -> Result<Endpoint, reqwest::Error>,
    body: Vec<u8>,
) -> Result<RawReply, ProbeError> {
    let client = |error: String| ProbeError::Client(error);
    // Fails if the provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| client(error.to_string()))?;
    runtime.block_on(async {
        let endpoint = endpoint().map_err(|error| client(error.without_url().to_string()))?;
        Ok(endpoint.send(body).await?)
    })
}
