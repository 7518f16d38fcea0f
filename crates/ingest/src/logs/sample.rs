//! The common form of the samples of all tools.

use reasonscape_core::Json;
use sha2::{Digest, Sha256};

use super::score::Threshold;

/// The finish reason of a response where the log has none.
pub const UNKNOWN_FINISH: &str = "unknown";

/// The properties that all samples of a log share.
#[derive(Debug, Clone)]
pub struct LogInfo {
    /// The model, after renaming.
    pub model: String,
    /// The template: the tool, and the number of examples in the prompt.
    pub template: String,
    /// Generation settings.
    pub sampler: String,
    /// The task, after renaming.
    pub task: String,
    /// `lm-eval` or `inspect`.
    pub tool: &'static str,
    /// Identifies this run among others of the same model on the same task.
    pub run: String,
    /// Name of the log's file.
    pub file_name: String,
    /// Tool and version.
    pub tool_version: String,
    /// Version of the task.
    pub task_version: u32,
    /// The score of the log that is read.
    pub score: String,
    /// The lowest score of a correct answer.
    pub threshold: Threshold,
    /// Whether the log records which responses were truncated, except those with the finish reason `unknown`.
    pub is_truncation_known: bool,
}

/// One sample of a log.
#[derive(Debug)]
pub struct LogSample<'a> {
    /// Identifies the document, the same for every model.
    pub index: u64,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The document's id as the log writes it.
    pub doc_id: Json,
    /// The score as it is in the log.
    pub score: f64,
    /// Probability of a correct answer by guessing.
    pub guess: f64,
    /// Whether the answer was truncated.
    pub is_truncated: bool,
    /// Finish reason; [`UNKNOWN_FINISH`] if the log does not record it.
    pub finish: String,
    /// Tokens of the prompt.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the response.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Duration of the request.
    pub latency_ms: u64,
    /// Duration of the request in microseconds, if the log has it.
    pub latency_us: Option<u64>,
    /// When the response arrived, in milliseconds since 1970.
    pub received_ms: i64,
    /// The answer that was extracted.
    pub answer: Option<String>,
    /// The correct answer.
    pub target: String,
    /// The prompt: role and text of each message.
    pub messages: Vec<(String, String)>,
    /// The reasoning, if it is separate from the reply.
    pub reasoning: Option<&'a str>,
    /// Replies to the same prompt; the first one is scored.
    pub replies: Vec<&'a str>,
}

/// The result of reading one sample.
#[derive(Debug)]
pub enum SampleResult<T> {
    /// It was read and mapped.
    Mapped(T),
    /// It cannot be used, for this reason.
    Skipped(&'static str),
    /// The same document under a filter that was not chosen.
    OtherFilter,
}

/// The id of a document, as its log writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum DocumentId<'a> {
    Number(&'a str),
    Text(&'a str),
}

/// A number for a document, the same for every model: an integer id is itself, any other id is the first 53 bits of its
/// SHA-256, which JavaScript numbers can represent exactly.
pub(super) fn document_index(id: DocumentId<'_>) -> u64 {
    const MAX_INDEX: u64 = 1 << 53;
    let text = match id {
        DocumentId::Number(digits) => match digits.parse() {
            Ok(number) if number < MAX_INDEX => return number,
            _ => digits,
        },
        DocumentId::Text(text) => text,
    };
    let digest = Sha256::digest(text);
    u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes")) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_ids_are_kept_and_other_ids_are_hashed() {
        assert_eq!(document_index(DocumentId::Number("0")), 0);
        assert_eq!(document_index(DocumentId::Number("9007199254740991")), (1 << 53) - 1);
        // echo -n sum/0 | sha256sum, its first 53 bits.
        let Some(printed) = reasonscape_test_support::python(
            "import hashlib,sys; print(int(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:14], 16) >> 3)",
            "sum/0",
        ) else {
            return;
        };
        assert_eq!(document_index(DocumentId::Text("sum/0")).to_string(), printed.trim());
        let large = document_index(DocumentId::Number("9007199254740992"));
        assert_eq!(large, document_index(DocumentId::Text("9007199254740992")));
        assert_ne!(document_index(DocumentId::Number("-1")), document_index(DocumentId::Number("1")));
    }
}
