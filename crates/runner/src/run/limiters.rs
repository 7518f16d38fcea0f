//! The endpoint limiters of a run.

use std::collections::HashMap;
use std::sync::Arc;

use reasonscape_study::{Eval, Limits, Study};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::RunError;
use crate::client::{Endpoint, Timeouts};
use crate::endpoint_limiter::EndpointLimiter;

/// The limiters of each evaluation's endpoints, by evaluation index in the study and endpoint URL.
pub(super) type Limiters = HashMap<(usize, String), Arc<EndpointLimiter>>;

/// A limiter, and the settings that requests must have in common to share it.
struct SharedLimiter {
    url: String,
    headers: HeaderMap,
    limits: Limits,
    limiter: Arc<EndpointLimiter>,
}

/// Creates one limiter per URL, shared by the evaluations that use it with the same headers and limits.
pub(super) fn endpoint_limiters(study: &Study, eval_indices: &[usize]) -> Result<Limiters, RunError> {
    // Fails if the provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut shared: Vec<SharedLimiter> = Vec::new();
    let mut limiters = HashMap::new();
    for &eval_index in eval_indices {
        let eval = &study.evals[eval_index];
        let headers = header_map(eval)?;
        for url in eval.endpoints() {
            let fits = |known: &&SharedLimiter| {
                known.url == url && known.headers == headers && known.limits == eval.limits
            };
            let limiter = if let Some(known) = shared.iter().find(fits) {
                Arc::clone(&known.limiter)
            } else {
                let timeouts = Timeouts {
                    connect: eval.limits.connect_timeout,
                    idle: eval.limits.idle_timeout,
                    total: eval.limits.timeout,
                };
                let endpoint = Endpoint::new(&url, headers.clone(), timeouts)
                    .map_err(|error| RunError::Client { problem: error.without_url().to_string() })?;
                let limiter = Arc::new(EndpointLimiter::new(endpoint, eval.limits.concurrency));
                shared.push(SharedLimiter {
                    url: url.clone(),
                    headers: headers.clone(),
                    limits: eval.limits,
                    limiter: Arc::clone(&limiter),
                });
                limiter
            };
            limiters.insert((eval_index, url), limiter);
        }
    }
    Ok(limiters)
}

/// The headers of every request of an evaluation.
///
/// # Errors
/// A [`RunError`] when a key is not in the environment, or a header is invalid.
pub(crate) fn header_map(eval: &Eval) -> Result<HeaderMap, RunError> {
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for header in eval.request_headers()? {
        let invalid =
            || RunError::Client { problem: format!("header `{}` has an invalid name or value", header.name) };
        let name: HeaderName = header.name.parse().map_err(|_| invalid())?;
        let mut value: HeaderValue = header.value.expose().parse().map_err(|_| invalid())?;
        // Keeps the value out of the logs of HTTP libraries.
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}
