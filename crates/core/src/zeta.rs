//! Metrics of reasoning that need no judge.

mod confidence;
mod equations;
mod grounding;

pub use confidence::{answer_probability, stated_confidence};
pub use equations::{Step, check_steps};
pub use grounding::{Grounding, Sources, Unsupported, ground};
