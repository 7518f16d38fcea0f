

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]
//! The runner as other crates meet it.
//! The runner from outside: real files, real processes, real sockets.
mod cache;
mod provider;
mod simulate;
mod study;
mod template;
