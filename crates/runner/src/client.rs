//! One request over HTTP, and what can become of it.

use std::error::Error as _;
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, RETRY_AFTER};
use tracing::trace;

/// An answer that is larger than this is none.
const MAX_REPLY_BYTES: u64 = 64 << 20;

/// What a request may cost in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// To get a connection.
    pub(crate) connect: Duration,
    /// Between two pieces of an answer, once the first has come: a model may think for minutes before it.
    pub(crate) idle: Duration,
    /// From start to end.
    pub(crate) total: Duration,
}

/// A place that answers for a model.
#[derive(Debug)]
pub(crate) struct Endpoint {
    client: reqwest::Client,
    /// What every request has in common: all but the body.
    request: reqwest::Request,
    idle: Duration,
}

/// What came back, whatever it says.
#[derive(Debug)]
pub(crate) struct RawReply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
    pub(crate) latency: Duration,
}

/// Why nothing usable came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TransportError {
    #[error("`{host}` is not known; check the host name in `base_url` and the network")]
    UnknownHost { host: String },
    #[error("nothing listens at `{host}`; start the server or mend `base_url`")]
    Refused { host: String },
    #[error(
        "no secure connection to `{host}`: {cause}; use http:// for a plain server, or mend its certificate"
    )]
    Tls { host: String, cause: String },
    #[error("no connection to `{host}`: {cause}")]
    Connect { host: String, cause: String },
    #[error("no answer in time; raise `timeout_seconds` if the model needs longer")]
    TimedOut,
    #[error("the answer stopped half-way; raise `idle_timeout_seconds` if the server pauses that long")]
    Stalled,
    #[error("the answer is larger than {} MiB; is `base_url` a model's?", MAX_REPLY_BYTES >> 20)]
    TooLarge,
    #[error("the connection broke off: {cause}")]
    Broken { cause: String },
}

impl TransportError {
    /// Whether there was no connection at all.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::UnknownHost { .. } | Self::Refused { .. } | Self::Tls { .. } | Self::Connect { .. }
        )
    }

    /// Whether no request to this endpoint can succeed before somebody changes something.
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
            // A key must not follow a redirect to another host.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let request = client.post(url).headers(headers).build()?;
        Ok(Self { client, request, idle: timeouts.idle })
    }

    /// The same for what is only read.
    pub(crate) fn for_reading(
        url: &str,
        headers: HeaderMap,
        timeouts: Timeouts,
    ) -> Result<Self, reqwest::Error> {
        let mut endpoint = Self::new(url, headers, timeouts)?;
        *endpoint.request.method_mut() = reqwest::Method::GET;
        Ok(endpoint)
    }

    /// The same without headers and never through a proxy: a request to this machine must not leave it.
    pub(crate) fn for_reading_locally(url: &str, timeouts: Timeouts) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().no_proxy();
        let mut endpoint = Self::with_client(client, url, HeaderMap::new(), timeouts)?;
        *endpoint.request.method_mut() = reqwest::Method::GET;
        Ok(endpoint)
    }

    /// Sends a request body and reads the whole answer.
    pub(crate) async fn send(&self, body: Vec<u8>) -> Result<RawReply, TransportError> {
        let started = Instant::now();
        trace!(host = self.host(), bytes = body.len(), "sending");
        let mut request = self.request.try_clone().expect("what has no body can be cloned");
        *request.body_mut() = Some(body.into());
        let mut response = self.client.execute(request).await.map_err(|error| self.problem(&error))?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let mut body =
            Vec::with_capacity(response.content_length().unwrap_or(0).min(MAX_REPLY_BYTES) as usize);
        loop {
            let chunk = tokio::time::timeout(self.idle, response.chunk()).await;
            match chunk.map_err(|_| TransportError::Stalled)?.map_err(|error| self.problem(&error))? {
                Some(chunk) if (body.len() + chunk.len()) as u64 > MAX_REPLY_BYTES => {
                    return Err(TransportError::TooLarge);
                }
                Some(chunk) => body.extend_from_slice(&chunk),
                None => break,
            }
        }
        let latency = started.elapsed();
        trace!(host = self.host(), status, bytes = body.len(), ?latency, "reply");
        Ok(RawReply { status, retry_after, body, latency })
    }

    /// Its name and port, which hold no secret.
    pub(crate) fn host(&self) -> String {
        let url = self.request.url();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", url.host_str().unwrap_or_default())
    }

    /// What reqwest says, in words that help. Its own text carries the URL, which may hold a secret.
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

/// The innermost reason, without the URL that reqwest puts around it.
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

/// How long to wait before try number `attempt` (from 1): doubling from half a second to a minute, with jitter so that
/// many requests that failed together do not come back together. `random` is uniform in `[0, 1)`.
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
