//! Asks models: the only crate that talks to them. It pays for each answer once and loses none.
//!
//! A study becomes a plan of requests; each request has a key; what the cache holds under that key is never asked
//! again. A response counts as done when it is durable on disk.
//!
//! # Promises
//! An identical request is not sent twice, not even by two processes on one cache. A failure of the network is data:
//! recorded, retried, reported, and never a wrong answer. Keys and tokens reach no log, file, error or page.

pub mod cache;
mod client;
mod completion;
mod document;
mod event;
mod forecast;
mod gate;
mod interrupt;
mod library;
mod message;
mod plan;
mod probe;
mod provider;
mod run;
mod sampler;
mod secret;
mod selection;
pub mod simulate;
mod study;
mod template;
mod window;

pub use completion::{Completion, Finish, TokenLogprob, Usage};
pub use event::{EventKind, RunEvent};
pub use forecast::{Forecast, forecast};
pub use interrupt::Interrupts;
pub use message::{Message, Role};
pub use plan::{Asked, Planned, asked};
pub use probe::{ProbeProblem, ask_once, listed_models};
pub use provider::{Provider, ReplyProblem, UnknownProvider};
pub use run::{EvalSummary, MissingTrial, RunError, RunSummary, Stop, check, check_selection, run};
pub use sampler::Sampler;
pub use secret::{ApiKey, Header, Secret, SecretError};
pub use selection::{Selection, SelectionError, Shard, is_called, is_selected, selected_points};
pub use study::{Budget, Eval, EvalId, HeaderSource, Limits, Precision, Prices, Study, StudyError};
pub use template::{Examples, Question, Template};
