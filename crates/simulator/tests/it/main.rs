//! The simulated server from outside: real sockets.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod simulate;
