//! Asks models: the only crate that talks to them. It pays for each answer once and loses none.
//!
//! A study becomes a plan of requests; each request has a key; what the cache holds under that key is never asked
//! again. A response counts as done when it is durable on disk.
//!
//! # Promises
//! An identical request is not sent twice, not even by two processes on one cache. A failure of the network is data:
//! recorded, retried, reported, and never a wrong answer. Keys and tokens reach no log, file, error or page.

mod client;
mod congestion_window;
mod endpoint_limiter;
mod event;
mod failure_streak;
mod forecast;
mod interrupt;
mod probe;
pub mod progress;
mod run;

pub use event::{EventKind, RunEvent};
pub use forecast::{Forecast, forecast};
pub use interrupt::Interrupts;
pub use probe::{ProbeProblem, ask_once, listed_models};
// removed when all users name the new crate
pub use run::EvalRunSummary as EvalSummary;
pub use run::{EvalRunSummary, MissingTrial, RunError, RunSummary, Stop, check, check_selection, run};

// removed when all users name the new crate
/// The names that the cache's types had in this crate.
pub mod cache {
    pub use reasonscape_cache::{
        CacheDiff as Changes, CacheStats as Stats, CorruptEntry as Damage, EntryFilter as Selection,
        EntryTotals as Tally, MergeSummary as Imported, Watermark as Mark, *,
    };
}
// removed when all users name the new crate
pub use reasonscape_providers::{
    ApiKey, Completion, Finish, Header, Message, Provider, ReplyError, ReplyError as ReplyProblem, Role,
    Secret, SecretError, TokenLogprob, UnknownProvider, Usage,
};
// removed when all users name the new crate
/// The names that the simulator's types had in this crate.
pub mod simulate {
    pub use reasonscape_simulator::{GroundTruth as Truth, ResolvedPrompt as Asked, ServerStats as Stats, *};
}
// removed when all users name the new crate
pub use reasonscape_study::{
    Budget, Eval, EvalId, EvalSpec, Examples, HeaderSource, Limits, PlannedRequest as Asked,
    PlannedTrial as Planned, Precision, Prices, Question, Sampler, Selection, SelectionError, Shard, Study,
    StudyError, Template, is_selected, matches_name, planned_requests as asked, selected_points, write_file,
    write_study,
};
