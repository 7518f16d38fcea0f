//! Asks models: the only crate that talks to them. It pays for each answer once and loses none.
//!
//! A study becomes a plan of requests; each request has a key; what the cache holds under that key is never asked
//! again. A response counts as done when it is durable on disk.
//!
//! # Promises
//! An identical request is not sent twice, not even by two processes on one cache. A failure of the network is data:
//! recorded, retried, reported, and never a wrong answer. Keys and tokens reach no log, file, error or page.

mod completion;
pub mod simulate;

pub use completion::{Completion, Finish, TokenLogprob, Usage};
