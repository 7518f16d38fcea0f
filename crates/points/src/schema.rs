//! The columns of trials and points files. Published names never change; a new meaning gets a new column and a new format.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

/// The file format that is written, and the newest that is read.
pub const FORMAT: u32 = 4;

/// Keys of the file metadata.
pub(crate) mod key {
    /// The format.
    pub(crate) const FORMAT: &str = "reasonscape.format";
    /// `trials` or `points`.
    pub(crate) const KIND: &str = "reasonscape.kind";
    /// The evaluation, as JSON.
    pub(crate) const EVAL: &str = "reasonscape.eval";
    /// The task.
    pub(crate) const TASK: &str = "reasonscape.task";
    /// The provenance, as JSON.
    pub(crate) const PROVENANCE: &str = "reasonscape.provenance";
    /// The id that two files written together share.
    pub(crate) const PAIR: &str = "reasonscape.pair";
}

/// The columns that identify a point, in both kinds of file.
pub(crate) const IDENTITY: [&str; 5] = ["model", "template", "sampler", "base_task", "params"];

/// Columns of a file of trials, in order.
pub const TRIAL_COLUMNS: [&str; 25] = [
    "eval_id",
    "model",
    "template",
    "sampler",
    "base_task",
    "params",
    "index",
    "repeat",
    "status",
    "guess",
    "prompt_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "latency_ms",
    "received_ms",
    "reasoning_chars",
    "answer_chars",
    "compressed_size",
    "finish",
    "method",
    "answer",
    "target",
    "cache_key",
    "latency_us",
    "prob_correct",
];

/// Columns that files of earlier formats lack, with the format that added them. They are read as null.
pub(crate) const ADDED_COLUMNS: [(&str, u32); 11] = [
    ("latency_us", 3),
    ("prob_correct", 3),
    ("problems", 4),
    ("q", 4),
    ("c", 4),
    ("gm", 4),
    ("a", 4),
    ("b", 4),
    ("yy", 4),
    ("weight", 4),
    ("stop_rule", 4),
];

/// Columns of a file of points, in order.
pub const POINT_COLUMNS: [&str; 31] = [
    "eval_id",
    "model",
    "template",
    "sampler",
    "base_task",
    "params",
    "manifolds",
    "groups",
    "planned",
    "n",
    "n_e",
    "n_u",
    "n_t",
    "g",
    "prompt_tokens_sum",
    "prompt_tokens_n",
    "completion_tokens_sum",
    "completion_tokens_n",
    "reasoning_tokens_sum",
    "reasoning_tokens_n",
    "latency_ms_sum",
    "compressed_size_sum",
    "problems",
    "q",
    "c",
    "gm",
    "a",
    "b",
    "yy",
    "weight",
    "stop_rule",
];

/// Columns of a point with the sums over its problems that the ReasonScore needs, after `problems`.
pub(crate) const SUM_COLUMNS: [&str; 6] = ["q", "c", "gm", "a", "b", "yy"];

pub(crate) static TRIALS: LazyLock<SchemaRef> = LazyLock::new(|| schema(&TRIAL_COLUMNS));
pub(crate) static POINTS: LazyLock<SchemaRef> = LazyLock::new(|| schema(&POINT_COLUMNS));

fn schema(columns: &[&str]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(|name| field(name)).collect::<Vec<_>>()))
}

/// The type of a column. Counts are signed because SQL engines differ in how they sum unsigned integers.
fn field(name: &str) -> Field {
    let (data_type, nullable) = match name {
        "manifolds" | "groups" => {
            (DataType::List(Arc::new(Field::new("item", DataType::Utf8, false))), false)
        }
        // `index` has 64 bits since format 2: documents of other tools are identified by a hash of their id.
        "status" | "repeat" => (DataType::Int32, false),
        "guess" | "g" => (DataType::Float64, false),
        "prompt_tokens" | "completion_tokens" | "reasoning_tokens" | "latency_us" | "problems" | "weight" => {
            (DataType::Int64, true)
        }
        "prob_correct" | "q" | "c" | "gm" | "a" | "b" | "yy" => (DataType::Float64, true),
        "answer" | "stop_rule" => (DataType::Utf8, true),
        "eval_id" | "model" | "template" | "sampler" | "base_task" | "params" | "finish" | "method"
        | "target" | "cache_key" => (DataType::Utf8, false),
        _ => (DataType::Int64, false),
    };
    Field::new(name, data_type, nullable)
}
