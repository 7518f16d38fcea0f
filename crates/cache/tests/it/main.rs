//! The response cache from outside: real files and real processes.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod cache;
