//! Bounds what is read and held in memory at once.
//!
//! A few kilobytes of input can describe gigabytes: compressed pages, repeated values, lines without an end. Readers
//! therefore reserve what they are about to hold from a [`MemoryBudget`], and read streams only up to a maximum.
//!
//! # Promises
//! Counts bytes and reads streams that it is given; opens no file and allocates nothing in advance. Data that is
//! streamed may be of any size: only what is held at once counts.

mod bounded_read;
mod memory_budget;

pub use bounded_read::{is_too_large, read_line, read_to_end};
pub use memory_budget::{
    DEFAULT_MEMORY_LIMIT, HeldBytes, MemoryBudget, MemoryError, check_json, json_size, memory_limit,
    set_memory_limit,
};

/// Maximum bytes of one line or one compressed member: an eighth of the memory limit, since several are held and parsed at
/// the same time.
pub fn max_line_bytes() -> u64 {
    memory_limit() / 8
}

/// Maximum bytes of a file that is read as a whole.
pub fn max_file_bytes() -> u64 {
    memory_limit() / 4
}
