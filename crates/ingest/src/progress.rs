//! Progress of a long operation, shared between threads.

use std::sync::atomic::{AtomicBool, AtomicU64};

/// Progress of a long operation: updated by the threads that work, read by a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// Items to process in total, as far as it is known.
    pub total: AtomicU64,
    /// Items processed.
    pub done: AtomicU64,
    /// Bytes of text processed.
    pub bytes: AtomicU64,
    /// Set this to stop at the next opportunity; nothing half-written stays.
    pub stop: AtomicBool,
}
