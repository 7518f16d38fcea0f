//! What a pair of files holds, before it is written.

use reasonscape_cache::Watermark;
use reasonscape_core::CacheKey;
use reasonscape_core::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Where the numbers of a file come from.
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
    /// When, in milliseconds since 1970.
    pub evaluated_ms: i64,
    /// A hash of what the file was made from, the responses aside.
    pub inputs: String,
    /// How far the cache had come.
    pub mark: Watermark,
    /// The log that the trials were imported from; empty if they were evaluated here.
    #[serde(default)]
    pub source: String,
    /// Whether it is known which answers were cut off. Files from before imports all know.
    #[serde(default)]
    pub truncation: Truncation,
    /// Entries of the cache that the trials were scored from; files of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Token limit of a response; files of earlier versions and imported ones do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// Whether it is known which answers were cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truncation {
    /// Every answer came with the reason why it ended.
    #[default]
    Known,
    /// Nobody wrote down why answers ended: one that was cut off counts as incorrect, or even as correct.
    Unknown,
}

/// A point and what was asked there.
#[derive(Debug, Clone)]
pub struct PointTrials {
    /// The coordinates, as canonical JSON.
    pub params: String,
    /// The manifolds that run through it.
    pub manifolds: Vec<String>,
    /// Trials that the study plans here; those that are not below are missing.
    pub planned: u64,
    /// The trials that were answered.
    pub trials: Vec<Trial>,
}

/// One prompt sent once, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Place of the test in the stream of its point; in an imported trial, what tells its document from others.
    pub index: u64,
    /// Which repeat of the same request.
    pub repeat: u32,
    /// How it ended.
    pub status: Outcome,
    /// Chance that a blind guess is right.
    pub guess: f64,
    /// Tokens of the prompt, where the provider counted them.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the completion, reasoning included.
    pub completion_tokens: Option<u64>,
    /// Tokens of the reasoning alone.
    pub reasoning_tokens: Option<u64>,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
    /// When the reply came, in milliseconds since 1970.
    pub received_ms: i64,
    /// Characters (code points) of the reasoning.
    pub reasoning_chars: u64,
    /// Characters of the reply without its reasoning.
    pub answer_chars: u64,
    /// Bytes of the reasoning after gzip, or of the whole output when there is none.
    pub compressed_size: u64,
    /// Why the model stopped: `stop`, `length`, or what the provider called it; `unknown` if it did not say.
    pub finish: String,
    /// How the answer was found, or why there is none.
    pub method: String,
    /// The answer.
    pub answer: Option<String>,
    /// What would have been right.
    pub target: String,
    /// The key of the request, under which the cache has prompt and reply.
    pub cache_key: CacheKey,
    /// The latency in microseconds, where it was recorded so exactly.
    pub latency_us: Option<u64>,
    /// How likely the model takes its answer to be correct, from the tokens' probabilities or as the reply states it.
    pub prob_correct: Option<f64>,
}
