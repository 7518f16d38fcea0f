//! Answered questions: lines of JSON with an id, a target and an answer, and optionally reasoning, tokens and more.

mod field_map;
mod line_chunks;
mod row;

pub use self::field_map::{Field, FieldMap, NamesSeen, UsualName};
pub use self::line_chunks::LineChunks;
pub use self::row::{AnswerRow, Scorer};
