//! What the cache holds.

use reasonscape_core::EntryId;

/// What came back, untouched: its meaning is read from it each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// When the last byte came, in milliseconds since 1970 (UTC).
    pub received_ms: i64,
    /// The body as it came.
    pub body: Vec<u8>,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is known by; its key is that of `request`.
    pub id: EntryId,
    /// The complete request as canonical JSON, so that anybody can see what was asked.
    pub request: String,
    /// What came back.
    pub response: Response,
}

impl Entry {
    /// The model that was asked, if the request names one.
    pub fn model(&self) -> Option<String> {
        model_of(&self.request)
    }
}

/// The `model` of a request, found without building the whole of it.
pub(crate) fn model_of(request: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Named {
        model: String,
    }
    serde_json::from_str::<Named>(request).ok().map(|named| named.model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_top_level_model() {
        assert_eq!(model_of(r#"{"a": {"model": "inner"}, "model": "o\u00e9"}"#).as_deref(), Some("oé"));
        assert_eq!(model_of(r#"{"messages": []}"#), None);
        assert_eq!(model_of("nonsense"), None);
    }
}
