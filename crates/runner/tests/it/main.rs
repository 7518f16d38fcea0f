//! The runner as other crates meet it.

mod provider;
mod study;
mod template;
