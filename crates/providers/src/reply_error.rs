//! What can be wrong with a reply, and whether asking again may help.

use std::borrow::Cow;

use crate::ApiKey;

/// A reply without a usable answer.
///
/// ```
/// use reasonscape_providers::Provider;
///
/// let problem = Provider::OpenAiChat.parse(404, br#"{"error": {"message": "no model `x`"}}"#).unwrap_err();
/// assert!(!problem.is_retryable());
/// assert_eq!(
///     problem.to_string(),
///     "the provider rejected the request (HTTP 404): no model `x`; check `model` and `base_url`, which usually ends with `/v1`"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The provider has too much to do: slow down, then ask again.
    #[error("the provider is overloaded (HTTP {status}): {message}")]
    Overloaded {
        /// The HTTP status.
        status: u16,
        /// What the provider said, shortened.
        message: String,
    },
    /// The provider failed in a way that may pass.
    #[error("the provider failed (HTTP {status}): {message}")]
    Failed {
        /// The HTTP status.
        status: u16,
        /// What the provider said, shortened.
        message: String,
    },
    /// The provider interrupted its answer.
    #[error("the provider interrupted the answer: `{reason}`")]
    Interrupted {
        /// The reason that it gave.
        reason: String,
    },
    /// The reply cannot be read.
    #[error("the reply {problem}")]
    Malformed {
        /// What it is instead.
        problem: Cow<'static, str>,
    },
    /// The reply has neither text nor a reason for having none.
    #[error("the reply is empty and has no finish reason")]
    Empty,
    /// The provider will not answer this request, however often it is sent.
    #[error("the provider rejected the request (HTTP {status}): {message}{}", hint(*status, message))]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the provider said, shortened.
        message: String,
    },
}

impl ReplyError {
    pub(crate) fn malformed(problem: impl Into<Cow<'static, str>>) -> Self {
        Self::Malformed { problem: problem.into() }
    }

    /// Whether the same request may be answered later.
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// Whether the endpoint asks for fewer requests.
    pub fn is_overload(&self) -> bool {
        matches!(self, Self::Overloaded { .. })
    }

    /// The same problem with a key, should the provider have repeated it, blotted out.
    #[must_use]
    pub fn without(mut self, key: &ApiKey) -> Self {
        match &mut self {
            Self::Overloaded { message, .. }
            | Self::Failed { message, .. }
            | Self::Refused { message, .. } => {
                *message = key.redact(message);
            }
            Self::Interrupted { reason } => *reason = key.redact(reason),
            Self::Malformed { .. } | Self::Empty => {}
        }
        self
    }
}

/// What a person can do about a refusal.
fn hint(status: u16, message: &str) -> &'static str {
    let mentions = |words: &str| message.contains(words);
    match status {
        400 if mentions("max_completion_tokens") => "; set `max_tokens_field = \"max_completion_tokens\"`",
        300..=399 => "; `base_url` has moved: write the new address",
        401 | 403 => "; check the key in the variable that `api_key_env` names, and what it may use",
        402 => "; the account has no credit left",
        404 | 405 => "; check `model` and `base_url`, which usually ends with `/v1`",
        400 | 422 => "; check `provider`, and the sampler's parameters against what the provider takes",
        413 => "; the request is too large for this provider",
        _ => "",
    }
}
