//! The provider APIs from outside: requests as they are sent, replies as servers send them.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod provider;
