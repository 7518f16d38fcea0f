//! Evals: a model, its request settings and its endpoints.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reasonscape_core::{Json, cache_key};
use reasonscape_providers::{ApiKey, Header, Message, Provider, Secret, register_secret};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Sampler, StudyError, Template};

/// Id of an eval: six hexadecimal digits derived from its model, template and sampler.
///
/// ```
/// use reasonscape_study::EvalId;
///
/// let id = EvalId::new("smollm2-135m-instruct", "zero-shot-cot", "greedy-2k");
/// assert_eq!(id.to_string(), "995852");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct EvalId(String);

impl EvalId {
    /// The first six digits of the cache key of the three names.
    pub fn new(model: &str, template: &str, sampler: &str) -> Self {
        let identity =
            Json::from([("model", model.into()), ("template", template.into()), ("sampler", sampler.into())]);
        let mut key = cache_key(&identity);
        key.truncate(6);
        Self(key)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EvalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Model name in results: `model#namespace` if a namespace is set, so that different models served under one name stay
/// separate in points and trials.
pub(crate) fn display_model_name(model: &str, namespace: &str) -> String {
    if namespace.is_empty() { model.to_owned() } else { format!("{model}#{namespace}") }
}

/// A model, its request settings, and the endpoints that serve it.
#[derive(Debug, Clone)]
pub struct Eval {
    /// Id of the eval.
    pub id: EvalId,
    /// Display name: its `name`, or else the model.
    pub name: String,
    /// Model name sent to the provider.
    pub model: String,
    /// Base URLs without a trailing slash; several endpoints share the load.
    pub base_urls: Vec<String>,
    /// API of the endpoints.
    pub provider: Provider,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// A key given at run time that replaces the variable; never written to a file.
    pub api_key_override: Option<ApiKey>,
    /// Renders a test as messages.
    pub template: Arc<Template>,
    /// Sampling parameters.
    pub sampler: Sampler,
    /// The sampler's parameters as sent, with the provider's name for the token limit.
    pub params: Map<String, Value>,
    /// Labels such as `family:smollm`, in the order of the file.
    pub groups: Vec<String>,
    /// The same labels as a map: `family` is `smollm`.
    pub facets: BTreeMap<String, String>,
    /// Limits on requests.
    pub limits: Limits,
    /// Token prices, if known.
    pub prices: Option<Prices>,
    /// Separates cached responses of endpoints that serve different models under one name; empty unless set.
    pub cache_namespace: String,
    /// Additional headers, by lower-case name.
    pub headers: BTreeMap<String, HeaderSource>,
}

/// Limits on the requests to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum requests in flight per endpoint; reduced while it is overloaded.
    pub concurrency: usize,
    /// From sending a request to the last byte of its reply.
    pub timeout: Duration,
    /// Maximum time between two bytes of a reply.
    pub idle_timeout: Duration,
    /// For connecting to the endpoint.
    pub connect_timeout: Duration,
    /// Maximum retries after a transient failure.
    pub max_retries: u32,
    /// How long an endpoint may be down before the rest of its requests is abandoned (`outage_timeout_seconds`).
    pub outage_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 64,
            timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(1),
            connect_timeout: Duration::from_secs(10),
            max_retries: 8,
            outage_timeout: Duration::from_mins(5),
        }
    }
}

/// Prices per million tokens, in any one currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// Per million prompt tokens.
    pub prompt: f64,
    /// Per million completion tokens.
    pub completion: f64,
}

impl Prices {
    /// Cost of these token counts.
    ///
    /// ```
    /// use reasonscape_study::Prices;
    ///
    /// assert_eq!(Prices { prompt: 0.5, completion: 2.0 }.cost(1_000_000, 500_000), 1.5);
    /// ```
    pub fn cost(&self, prompt_tokens: u64, completion_tokens: u64) -> f64 {
        (self.prompt * prompt_tokens as f64 + self.completion * completion_tokens as f64) / 1e6
    }
}

/// Source of a header's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderSource {
    /// The study's file.
    Text(Secret),
    /// An environment variable of this name.
    Env(String),
}

impl Eval {
    /// The complete request body for these messages.
    pub fn payload(&self, messages: &[Message]) -> Value {
        self.provider.payload(&self.model, messages, &self.params)
    }

    /// Model name in trials and points: `model#namespace` if a namespace is set.
    pub fn display_model(&self) -> String {
        display_model_name(&self.model, &self.cache_namespace)
    }

    /// Request URLs, one per endpoint.
    pub fn endpoints(&self) -> impl Iterator<Item = String> {
        self.base_urls.iter().map(|base_url| self.provider.endpoint(base_url))
    }

    /// The API key: the override, or else the current value of the environment variable.
    ///
    /// # Errors
    /// When the variable is not set or is not a valid key. The error contains only the variable's name.
    pub fn api_key(&self) -> Result<Option<ApiKey>, StudyError> {
        if let Some(key) = &self.api_key_override {
            return Ok(Some(key.clone()));
        }
        self.api_key_env.as_deref().map(ApiKey::from_env).transpose().map_err(StudyError::from_secret)
    }

    /// All headers of a request, keys included, read from the environment. The study's headers override the provider's.
    ///
    /// # Errors
    /// When a variable is not set or is not a valid header value. The error contains only the variable's name.
    pub fn request_headers(&self) -> Result<Vec<Header>, StudyError> {
        let key = self.api_key()?;
        if let Some(key) = &key {
            register_secret(key.expose());
        }
        let mut headers = self.provider.headers(key.as_ref());
        headers.retain(|header| !self.headers.contains_key(&header.name));
        for (name, source) in &self.headers {
            let value = match source {
                HeaderSource::Text(value) => value.clone(),
                HeaderSource::Env(variable) => {
                    let value = Secret::from_env(variable).map_err(StudyError::from_secret)?;
                    register_secret(value.expose());
                    value
                }
            };
            headers.push(Header { name: name.clone(), value });
        }
        Ok(headers)
    }
}
