//! Sends the requests of a study to models: the only crate that talks to them.
//!
//! [`run`] walks the plan of a study, skips what the cache holds, claims the rest, sends it within the limits of each
//! endpoint, and stores the replies. It emits [`RunEvent`]s; progress bars, logs and pages only consume them.
//! [`forecast`] says what a run would send and cost; [`list_models`] and [`send_test_request`] probe an endpoint,
//! [`list_local_models`] a server that no study names yet.
//!
//! # Promises
//! A response counts when it is on disk, not before. An identical request is not sent twice, not even by two processes
//! that share a cache. A failure of the network is recorded, retried and reported as a missing trial, never as an
//! incorrect answer. Keys reach no log, file or error. Responses are not scored here.

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
pub use run::{EvalRunSummary, MissingTrial, NextRound, RunError, RunSummary, Shutdown, check, run};
