//! The runner from outside: real files, real processes, real sockets.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod run;
