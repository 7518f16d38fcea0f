//! The integration tests of the statistics crate, one module a topic.

mod coverage;
mod docs;
mod estimators;
mod paired;
mod score;
