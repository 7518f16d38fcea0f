//! The APIs that models are served by: how a request is written, and what a reply means.
//!
//! # Promises
//! Pure functions: nothing here sends a request, reads a file or looks at a clock (keys are read from the environment
//! only by [`Secret::from_env`] and [`ApiKey::from_env`]), except that secrets are registered once per process, so that
//! replies that repeat them can be redacted ([`register_secret`]). No key is ever formatted: `Debug` and `Display` of a
//! [`Secret`] show nothing of it. A reply with a field of the wrong kind is read without that field; it is not lost.

mod anthropic;
mod completion;
mod error_body;
mod lenient;
mod message;
mod openai;
mod provider;
mod redactor;
mod reply_error;
mod secret;
mod transcript;

pub use completion::{Completion, Finish, TokenLogprob, Usage};
pub use message::{Message, Role};
pub use provider::{Provider, UnknownProvider};
pub use redactor::{REDACTION_MARK, redact_body, redact_text, register_secret};
pub use reply_error::ReplyError;
pub use secret::{ApiKey, Header, Secret, SecretError};
pub use transcript::{Transcript, TranscriptMessage};
