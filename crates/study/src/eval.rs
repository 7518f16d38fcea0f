//! Evals: a model, how it is queried and where.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reasonscape_core::{Json, cache_key};
use reasonscape_providers::{ApiKey, Header, Message, Provider, Secret};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Sampler, StudyError, Template};

/// What an eval is known by: six hexadecimal digits made of its model, template and sampler.
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

/// What a model is known by beside others of its name: `model#namespace` where a namespace keeps them apart, since
/// points and trials are known by their model, and two that answer differently are two.
pub(crate) fn display_model_name(model: &str, namespace: &str) -> String {
    if namespace.is_empty() { model.to_owned() } else { format!("{model}#{namespace}") }
}

/// A model, how it is queried, and the endpoints that serve it.
#[derive(Debug, Clone)]
pub struct Eval {
    /// What it is known by.
    pub id: EvalId,
    /// What people call it: its `name`, or else the model.
    pub name: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// Where it is served; several endpoints share the load. None ends with a slash.
    pub base_urls: Vec<String>,
    /// Which API the endpoints speak.
    pub provider: Provider,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// A key that was handed over while the program runs, and is used in the place of that variable. No file has it.
    pub api_key_override: Option<ApiKey>,
    /// How a test becomes messages.
    pub template: Arc<Template>,
    /// How tokens are chosen.
    pub sampler: Sampler,
    /// The sampler's parameters as they are sent, the token limit under the name that the provider wants.
    pub params: Map<String, Value>,
    /// Labels such as `family:smollm`, in the order of the file.
    pub groups: Vec<String>,
    /// The same labels taken apart: `family` is `smollm`.
    pub facets: BTreeMap<String, String>,
    /// Limits on requests.
    pub limits: Limits,
    /// What tokens cost, where it is known.
    pub prices: Option<Prices>,
    /// Keeps apart what two endpoints answer under one model name; empty unless set.
    pub cache_namespace: String,
    /// Headers of the study's own, by lower-case name.
    pub headers: BTreeMap<String, HeaderSource>,
}

/// Limits on the requests to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Most requests in flight at one endpoint; fewer while it cannot keep up.
    pub concurrency: usize,
    /// From sending a request to the last byte of its reply.
    pub timeout: Duration,
    /// Between two bytes of a reply, once the first has come.
    pub idle_timeout: Duration,
    /// For reaching the endpoint.
    pub connect_timeout: Duration,
    /// How often a request is sent again after a failure that may pass.
    pub max_retries: u32,
    /// How long an endpoint may be down before the rest of its requests is given up (`patience_seconds`).
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

/// What a million tokens cost, in any one currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// A million tokens of prompts.
    pub prompt: f64,
    /// A million tokens of completions.
    pub completion: f64,
}

impl Prices {
    /// What so many tokens cost.
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

/// Where a header's value comes from.
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

    /// What trials and points call the model: `model#namespace` where a namespace keeps it apart.
    pub fn display_model(&self) -> String {
        display_model_name(&self.model, &self.cache_namespace)
    }

    /// Where requests go, one address an endpoint.
    pub fn endpoints(&self) -> impl Iterator<Item = String> {
        self.base_urls.iter().map(|base_url| self.provider.endpoint(base_url))
    }

    /// The key: what was handed over, or else what the environment holds now.
    ///
    /// # Errors
    /// When the variable is not set or holds no key. The error names the variable only.
    pub fn api_key(&self) -> Result<Option<ApiKey>, StudyError> {
        if let Some(key) = &self.api_key_override {
            return Ok(Some(key.clone()));
        }
        self.api_key_env.as_deref().map(ApiKey::from_env).transpose().map_err(StudyError::from_secret)
    }

    /// Every header of a request, keys and all, read from the environment now. The study's own win over the provider's.
    ///
    /// # Errors
    /// When a variable is not set or holds no header's value. The error names the variable only.
    pub fn request_headers(&self) -> Result<Vec<Header>, StudyError> {
        let key = self.api_key()?;
        let mut headers = self.provider.headers(key.as_ref());
        headers.retain(|header| !self.headers.contains_key(&header.name));
        for (name, source) in &self.headers {
            let value = match source {
                HeaderSource::Text(value) => value.clone(),
                HeaderSource::Env(variable) => Secret::from_env(variable).map_err(StudyError::from_secret)?,
            };
            headers.push(Header { name: name.clone(), value });
        }
        Ok(headers)
    }
}
