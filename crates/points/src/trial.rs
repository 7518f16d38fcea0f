//! The content of a pair of files, before it is written.

use reasonscape_cache::Watermark;
use reasonscape_core::CacheKey;
use reasonscape_core::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SamplingRule;

/// An evaluation: a model, a template and a sampler.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EvalName")]
pub struct EvalInfo {
    /// The id: six hexadecimal digits, a hash of model, template and sampler.
    pub eval_id: String,
    /// The model.
    pub model: String,
    /// The prompt template.
    pub template: String,
    /// The sampling parameters.
    pub sampler: String,
    /// The display name.
    pub name: String,
    /// Labels such as `arch:moe`.
    pub groups: Vec<String>,
}

/// The provenance of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the program that wrote it.
    pub program: String,
    /// Name of the suite.
    pub suite: String,
    /// Hash of the suite's points.
    pub suite_hash: String,
    /// Version of the task's generator.
    pub task_version: u32,
    /// Global seed of the study.
    pub seed: i64,
    /// When it was written, in milliseconds since 1970.
    pub evaluated_ms: i64,
    /// A hash of everything except the responses that the file was written from.
    pub inputs: String,
    /// The position of the cache at the time.
    pub mark: Watermark,
    /// The log that the trials were imported from; empty if they were evaluated by reasonscape.
    #[serde(default)]
    pub source: String,
    /// Whether truncation is known. In files of earlier versions it always is.
    #[serde(default)]
    pub truncation: Truncation,
    /// Number of cache entries that the trials were scored from; missing in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Token limit of a response; missing in imported files and files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Cache entries that could not be read, whose trials are missing; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<u64>,
    /// Trials whose reply claimed more tokens than any model has; the count is missing. Absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub implausible_usage: Option<u64>,
}

/// Whether it is known which responses were truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truncation {
    /// Every response has a finish reason.
    #[default]
    Known,
    /// Finish reasons were not recorded: a truncated response counts as it was scored, correct or incorrect.
    Unknown,
}

/// A point and its trials.
#[derive(Debug, Clone, Default)]
pub struct PointTrials {
    /// The parameters, as canonical JSON.
    pub params: String,
    /// The manifolds that contain the point.
    pub manifolds: Vec<String>,
    /// Planned trials; those that are not in `trials` are missing.
    pub planned: u64,
    /// Planned problems in the suite, however many were sampled: the weight of the point in its task.
    pub weight: Option<u64>,
    /// Which trials enter the ReasonScore, if not all.
    pub rule: Option<SamplingRule>,
    /// The trials with a response.
    pub trials: Vec<Trial>,
}

/// One response to one problem, scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Index of the problem at its point; for an imported trial, the id of its document.
    pub index: u64,
    /// Which repeat of the same request.
    pub repeat: u32,
    /// The outcome.
    pub status: Outcome,
    /// Probability that a random guess is correct.
    pub guess: f64,
    /// Tokens of the prompt, where the provider counted them.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the completion, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning alone.
    pub reasoning_tokens: Option<u64>,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// When the reply arrived, in milliseconds since 1970.
    pub received_ms: i64,
    /// Characters (code points) of the reasoning.
    pub reasoning_chars: u64,
    /// Characters of the reply without its reasoning.
    pub answer_chars: u64,
    /// Gzip-compressed size in bytes of the reasoning, or of the whole output if there is none.
    pub compressed_size: u64,
    /// Finish reason: `stop`, `length`, the provider's own word, or `unknown`.
    pub finish: String,
    /// How the answer was extracted, or why there is none.
    pub method: String,
    /// The answer.
    pub answer: Option<String>,
    /// The correct answer.
    pub target: String,
    /// The cache key of the prompt and reply.
    pub cache_key: CacheKey,
    /// The latency in microseconds, where it was recorded.
    pub latency_us: Option<u64>,
    /// The model's confidence in its answer, from token probabilities or as stated in the reply.
    pub prob_correct: Option<f64>,
}
