//! The transcript and the measurements of a trial, for templates.

use reasonscape_points::StoredTrial;
use reasonscape_providers::{Transcript, TranscriptMessage};
use serde::Serialize;

use crate::labels::thousands;
use crate::sanitize::escape_invisible;
use reasonscape_analysis::{LogprobStats, bits_per_token};

/// A measured value with its name.
#[derive(Serialize)]
pub(super) struct Field {
    name: &'static str,
    value: String,
}

/// The messages and the response of a trial, with control characters made visible.
/// Escaped here and not only by the template, because pages show the length of the escaped reasoning.
#[derive(Serialize)]
pub(super) struct TranscriptView {
    pub(super) messages: Vec<MessageView>,
    reasoning: Option<String>,
    reply: String,
}

/// One message.
#[derive(Serialize, PartialEq)]
pub(super) struct MessageView {
    role: String,
    content: String,
}

impl From<&Transcript> for TranscriptView {
    fn from(transcript: &Transcript) -> Self {
        let view = |message: &TranscriptMessage| MessageView {
            role: escape_invisible(&message.role).into_owned(),
            content: escape_invisible(&message.content).into_owned(),
        };
        Self {
            messages: transcript.messages.iter().map(view).collect(),
            reasoning: transcript
                .reasoning
                .as_ref()
                .map(|reasoning| escape_invisible(reasoning).into_owned()),
            reply: escape_invisible(&transcript.reply).into_owned(),
        }
    }
}

/// The measurements of a trial.
pub(super) fn fields(trial: &StoredTrial, logprob_stats: Option<LogprobStats>) -> Vec<Field> {
    let field = |name: &'static str, value: String| Field { name, value };
    let tokens = |count: Option<u64>| count.map_or_else(|| "not counted".to_owned(), thousands);
    let guess = match trial.guess {
        0.0 => "none".to_owned(),
        guess => format!("{:.0} %", 100.0 * guess),
    };
    let bits = match bits_per_token(trial) {
        Some(bits) => format!("{bits:.2} bits per token"),
        None => "unknown: no token count, or no text to compress".to_owned(),
    };
    let mut fields = vec![
        field("finish reason", trial.finish.clone()),
        field("completion tokens", tokens(trial.completion_tokens)),
        field("reasoning tokens", tokens(trial.reasoning_tokens)),
        field("prompt tokens", tokens(trial.prompt_tokens)),
        field("time to the last byte", format!("{:.2} s", trial.latency_ms as f64 / 1000.0)),
        field("guess probability", guess),
        field(
            "characters",
            format!(
                "{} in the reasoning, {} in the reply",
                thousands(trial.reasoning_chars),
                thousands(trial.answer_chars)
            ),
        ),
        field("gzip-compressed size", format!("{} bytes", thousands(trial.compressed_size))),
        field("entropy (gzip)", bits),
    ];
    if let Some(stats) = logprob_stats {
        let tokens = thousands(stats.tokens as u64);
        fields.push(field(
            "surprisal (log-probabilities)",
            format!("{:.2} bits per token, over {tokens} tokens", stats.bits_per_token),
        ));
        if let Some(probability) = stats.answer_probability {
            fields.push(field("probability of the answer", format!("{:.1} %", 100.0 * probability)));
        }
    }
    fields.push(field("template and sampler", format!("{} · {}", trial.template, trial.sampler)));
    fields.push(field("cache key", trial.cache_key.chars().take(16).collect()));
    fields
}
