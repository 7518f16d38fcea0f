//! Asks models: the only crate that talks to them. It pays for each answer once and loses none.
//!
//! A study becomes a plan of requests; each request has a key; what the cache holds under that key is never asked
//! again. A response counts as done when it is durable on disk.
//!
//! # Promises
//! An identical request is not sent twice, not even by two processes on one cache. A failure of the network is data:
//! recorded, retried, reported, and never a wrong answer. Keys and tokens reach no log, file, error or page.

mod client;
mod document;
mod event;
mod forecast;
mod gate;
mod interrupt;
mod library;
mod plan;
mod probe;
mod run;
mod sampler;
mod selection;
pub mod simulate;
mod study;
mod template;
mod window;

pub use event::{EventKind, RunEvent};
pub use forecast::{Forecast, forecast};
pub use interrupt::Interrupts;
pub use plan::{Asked, Planned, asked};
pub use probe::{ProbeProblem, ask_once, listed_models};
pub use run::{EvalSummary, MissingTrial, RunError, RunSummary, Stop, check, check_selection, run};
pub use sampler::Sampler;
pub use selection::{Selection, SelectionError, Shard, is_called, is_selected, selected_points};
pub use study::{Budget, Eval, EvalId, HeaderSource, Limits, Precision, Prices, Study, StudyError};
pub use template::{Examples, Question, Template};

// removed when all users name the new crate
pub use reasonscape_cache as cache;
// removed when all users name the new crate
pub use reasonscape_providers::{
    ApiKey, Completion, Finish, Header, Message, Provider, ReplyProblem, Role, Secret, SecretError,
    TokenLogprob, UnknownProvider, Usage,
};
