//! What the cache holds.

use reasonscape_core::EntryId;

/// What came back, untouched: its meaning is read from it each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// The same in microseconds; `None` in entries of programs that recorded milliseconds only.
    pub latency_us: Option<u64>,
    /// When the last byte came, in milliseconds since 1970 (UTC).
    pub received_ms: i64,
    /// The body as it came.
    pub body: Vec<u8>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is known by; its key is that of `request`.
    pub id: EntryId,
    /// The complete request as canonical JSON, so that it can be inspected.
    pub request: String,
    /// What came back.
    pub response: Response,
}

impl Entry {
    /// The model that was asked, if the request names one.
    pub fn model(&self) -> Option<String> {
        model_in_request(&self.request)
    }
}

/// The `model` of a request, found without building the whole of it.
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
