//! The integration tests of the statistics crate, one module a topic.

mod paired;
