//! One HTTP request and its possible outcomes.

use std::error::Error as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use reasonscape_limits::{json_size, memory_limit};
use reasonscape_providers::redact_body;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::sync::{Semaphore, SemaphorePermit};
use tracing::trace;

/// Maximum size of a reply; larger ones are rejected.
const MAX_REPLY_BYTES: u64 = 64 << 20;
/// Of larger replies only a few are received at once, since many would take the memory many times over.
const LARGE_REPLY_BYTES: usize = 1 << 20;
/// Memory of a large reply: received, parsed, and as a cache entry.
const LARGE_REPLY_MEMORY: u64 = 4 * MAX_REPLY_BYTES;

/// Permits for large replies, as many as fit into half of the process's memory limit.
static LARGE_REPLIES: LazyLock<Semaphore> = LazyLock::new(|| {
    let permits = memory_limit() / 2 / LARGE_REPLY_MEMORY;
    Semaphore::new(usize::try_from(permits).unwrap_or(1).max(1))
});

/// Timeouts of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// Maximum time to connect.
    pub(crate) connect: Duration,
    /// Maximum time between two chunks of a reply, after the first: a model may think for minutes before that.
    pub(crate) idle: Duration,
    /// Maximum time for the whole request.
    pub(crate) total: Duration,
}

/// An endpoint that serves a model.
#[derive(Debug)]
pub(crate) struct Endpoint {
    client: reqwest::Client,
    /// Template of every request: everything but the body.
    request: reqwest::Request,
    idle: Duration,
}

/// An HTTP reply of any status.
#[derive(Debug)]
pub(crate) struct RawReply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
    pub(crate) latency: Duration,
    /// Held by a large reply until it is stored or dropped.
    _large: Option<SemaphorePermit<'static>>,
}

/// The reason why there is no usable reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransportError {
    #[error("unknown host `{host}`; check the host name in `base_url` and the network")]
    UnknownHost { host: String },
    #[error("connection refused by `{host}`; start the server or correct `base_url`")]
    Refused { host: String },
    #[error(
        "TLS connection to `{host}` failed: {cause}; use http:// for a server without TLS, or fix its certificate"
    )]
    Tls { host: String, cause: String },
    #[error("failed to connect to `{host}`: {cause}")]
    Connect { host: String, cause: String },
    #[error("request timed out; raise `timeout_seconds` if the model needs longer")]
    TimedOut,
    #[error(
        "timed out in the middle of the reply; raise `idle_timeout_seconds` if the server pauses that long"
    )]
    Stalled,
    #[error("the reply is larger than {} MiB; check that `base_url` is a model endpoint", MAX_REPLY_BYTES >> 20)]
    TooLarge,
    #[error("connection lost: {cause}")]
    Broken { cause: String },
}

impl TransportError {
    /// Whether no connection was established.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::UnknownHost { .. } | Self::Refused { .. } | Self::Tls { .. } | Self::Connect { .. }
        )
    }

    /// Whether no request to this endpoint can succeed until a setting is changed.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(self, Self::UnknownHost { .. } | Self::Tls { .. })
    }
}

impl Endpoint {
    pub(crate) fn new(url: &str, headers: HeaderMap, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        Self::with_client(reqwest::Client::builder(), url, headers, timeouts)
    }

    fn with_client(
        client: reqwest::ClientBuilder,
        url: &str,
        headers: HeaderMap,
        timeouts: Timeouts,
    ) -> Result<Self, reqwest::Error> {
        let client = client
            .connect_timeout(timeouts.connect)
            .timeout(timeouts.total)
            .pool_max_idle_per_host(usize::MAX)
            .tcp_nodelay(true)
            .user_agent(concat!("reasonscape/", env!("CARGO_PKG_VERSION")))
            // Don't follow redirects: that could send the API key to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let request = client.post(url).headers(headers).build()?;
        Ok(Self { client, request, idle: timeouts.idle })
    }

    /// Same endpoint for GET requests.
    pub(crate) fn for_reading(
        url: &str,
        headers: HeaderMap,
        timeouts: Timeouts,
    ) -> Result<Self, reqwest::Error> {
        let mut endpoint = Self::new(url, headers, timeouts)?;
        *endpoint.request.method_mut() = reqwest::Method::GET;
        Ok(endpoint)
    }

    /// Same without headers and without a proxy: a request to this machine must not leave it.
    pub(crate) fn for_reading_locally(url: &str, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().no_proxy();
        let mut endpoint = Self::with_client(client, url, HeaderMap::new(), timeouts)?;
        *endpoint.request.method_mut() = reqwest::Method::GET;
        Ok(endpoint)
    }

    /// Sends a request body and reads the complete reply.
    pub(crate) async fn send(&self, body: Vec<u8>) -> Result<RawReply, TransportError> {
        let started = Instant::now();
        trace!(host = self.host(), bytes = body.len(), "sending");
        let mut request = self.request.try_clone().expect("requests without a body can be cloned");
        *request.body_mut() = Some(body.into());
        let mut response = self.client.execute(request).await.map_err(|error| self.problem(&error))?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let announced = response.content_length().unwrap_or(0).min(LARGE_REPLY_BYTES as u64);
        let mut body = Vec::with_capacity(announced as usize);
        let mut large = None;
        loop {
            let chunk = tokio::time::timeout(self.idle, response.chunk()).await;
            match chunk.map_err(|_| TransportError::Stalled)?.map_err(|error| self.problem(&error))? {
                Some(chunk) if (body.len() + chunk.len()) as u64 > MAX_REPLY_BYTES => {
                    return Err(TransportError::TooLarge);
                }
                Some(chunk) => body.extend_from_slice(&chunk),
                None => break,
            }
            if large.is_none() && body.len() > LARGE_REPLY_BYTES {
                large = LARGE_REPLIES.acquire().await.ok();
            }
        }
        if large.is_some() && json_size(&body) > LARGE_REPLY_MEMORY {
            return Err(TransportError::TooLarge);
        }
        redact_body(&mut body);
        let latency = started.elapsed();
        trace!(host = self.host(), status, bytes = body.len(), ?latency, "reply");
        Ok(RawReply { status, retry_after, body, latency, _large: large })
    }

    /// Host and port, which contain no secret.
    pub(crate) fn host(&self) -> String {
        let url = self.request.url();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", url.host_str().unwrap_or_default())
    }

    /// Maps a reqwest error to a user-facing one. reqwest's own message contains the URL, which may hold a secret.
    fn problem(&self, error: &reqwest::Error) -> TransportError {
        let cause = root_cause(error);
        let host = self.host();
        if error.is_connect() {
            let text = cause.to_ascii_lowercase();
            return if text.contains("lookup") || text.contains("resolve") || text.contains("not known") {
                TransportError::UnknownHost { host }
            } else if text.contains("refused") {
                TransportError::Refused { host }
            } else if ["certificate", "tls", "handshake", "corrupt message", "invalid peer"]
                .iter()
                .any(|word| text.contains(word))
            {
                TransportError::Tls { host, cause }
            } else if error.is_timeout() {
                TransportError::Connect { host, cause: "timed out".to_owned() }
            } else {
                TransportError::Connect { host, cause }
            };
        }
        if error.is_timeout() {
            return TransportError::TimedOut;
        }
        TransportError::Broken { cause }
    }
}

/// The innermost cause, without the URL that reqwest adds.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.source().is_none() { "the request failed".to_owned() } else { cause.to_string() }
}

/// `Retry-After` as seconds or as a date, at most ten minutes.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    const MAX_RETRY_AFTER_SECONDS: f64 = 600.0;
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let seconds = match value.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => httpdate::parse_http_date(value)
            .ok()?
            .duration_since(std::time::SystemTime::now())
            .unwrap_or_default()
            .as_secs_f64(),
    };
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_RETRY_AFTER_SECONDS)))
}

/// Delay before retry number `attempt` (from 1): exponential from half a second to a minute, with jitter so that
/// requests that failed together are not retried together. `random` is uniform in `[0, 1)`.
pub(crate) fn backoff(attempt: u32, random: f64) -> Duration {
    let full = 0.5 * f64::from(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    Duration::from_secs_f64(full.min(60.0) * (0.5 + 0.5 * random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_a_minute_with_jitter() {
        assert_eq!(backoff(1, 1.0), Duration::from_millis(500));
        assert_eq!(backoff(1, 0.0), Duration::from_millis(250));
        assert_eq!(backoff(4, 1.0), Duration::from_secs(4));
        assert_eq!(backoff(1000, 1.0), Duration::from_mins(1));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let read = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().expect("a header value"));
            retry_after(&headers)
        };
        assert_eq!(read("2"), Some(Duration::from_secs(2)));
        assert_eq!(read("0.25"), Some(Duration::from_millis(250)));
        assert_eq!(read("86400"), Some(Duration::from_mins(10)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
        assert_eq!(read("NaN"), None);
    }
}
