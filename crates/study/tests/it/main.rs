//! Studies, templates and samplers from outside: what is read, what is refused, what is sent.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod study;
mod template;
