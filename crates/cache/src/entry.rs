//! Cache entries.

use reasonscape_core::EntryId;

/// A response as received; it is parsed on every use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Milliseconds from sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// The same in microseconds; `None` in entries of older versions, which recorded milliseconds only.
    pub latency_us: Option<u64>,
    /// When the last byte arrived, in milliseconds since 1970 (UTC).
    pub received_ms: i64,
    /// The body as received.
    pub body: Vec<u8>,
}

/// Tokens of a response, as the provider reported them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Tokens of the prompt.
    pub prompt: Option<u64>,
    /// Tokens of the response, reasoning included.
    pub completion: Option<u64>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Identity of the entry; its key is that of `request`.
    pub id: EntryId,
    /// The complete request as canonical JSON, so that it can be inspected.
    pub request: String,
    /// The response.
    pub response: Response,
}

impl Entry {
    /// The model that the request names, if any.
    pub fn model(&self) -> Option<String> {
        model_in_request(&self.request)
    }
}

/// The `model` of a request, extracted without parsing the rest into memory.
pub(crate) fn model_in_request(request: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ModelField {
        model: String,
    }
    serde_json::from_str::<ModelField>(request).ok().map(|field| field.model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_top_level_model() {
        assert_eq!(
            model_in_request(r#"{"a": {"model": "inner"}, "model": "o\u00e9"}"#).as_deref(),
            Some("oé")
        );
        assert_eq!(model_in_request(r#"{"messages": []}"#), None);
        assert_eq!(model_in_request("nonsense"), None);
    }
}
