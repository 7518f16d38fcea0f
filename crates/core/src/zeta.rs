//! Metrics of reasoning that need no judge.

mod equations;

pub use equations::{Step, check_steps};
