//! Sends the requests of a study to models. No other crate does.
//!
//! [`run`] walks the plan of a study, skips cached responses, claims the rest, sends them within the limits of each
//! endpoint, and stores the replies. It emits [`RunEvent`]s; progress bars, logs and pages only consume them.
//! [`forecast`] estimates the requests and cost of a run; [`list_models`] and [`send_test_request`] probe an endpoint of a
//! study, [`list_local_models`] a server that is not in a study yet.
//!
//! # Promises
//! A response counts only once it is on disk. Identical requests are not sent twice, not even by two processes that share
//! a cache. Network failures are recorded, retried and reported as missing trials, never as incorrect responses. API keys
//! never appear in logs, files or errors. Responses are not scored here.

mod client;
mod congestion_window;
mod endpoint_limiter;
mod event;
mod failure_streak;
mod forecast;
mod probe;
pub mod progress;
mod run;

pub use event::{EventKind, RunEvent};
pub use forecast::{Forecast, ForecastSummary, forecast};
pub use probe::{ProbeError, list_local_models, list_models, send_test_request};
pub use reasonscape_providers::redact_text;
pub use run::{
    AdaptiveRounds, EvalRunSummary, MissingTrial, NextRound, RunError, RunSummary, Shutdown, check, run,
};
