//! Bytes held at once, per request and per process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The limit if none is set.
pub const DEFAULT_MEMORY_LIMIT: u64 = 1 << 30;
/// A lower limit would refuse ordinary files.
const MIN_MEMORY_LIMIT: u64 = 16 << 20;
/// Bytes of a parsed JSON value beside its text, at least half of them for the unused part of a growing list.
const JSON_VALUE_BYTES: u64 = 72;

static LIMIT: AtomicU64 = AtomicU64::new(DEFAULT_MEMORY_LIMIT);
static HELD: AtomicU64 = AtomicU64::new(0);

/// Bytes that all requests of this process may hold together.
pub fn memory_limit() -> u64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Sets the limit of this process; values below 16 MiB are raised to that.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(bytes.max(MIN_MEMORY_LIMIT), Ordering::Relaxed);
}

/// Why bytes can't be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// One request would hold too much.
    #[error(
        "it needs more than {} MiB of memory at once; split the input, or raise `--memory-limit` if it is not a mistake",
        limit >> 20
    )]
    TooLarge {
        /// Bytes that a request may hold.
        limit: u64,
    },
    /// Other requests hold the memory.
    #[error("other requests hold the memory; try again later, or raise `--memory-limit`")]
    Busy,
    /// Nobody waits for the result any more.
    #[error("canceled, because the client is gone")]
    Canceled,
}

impl From<MemoryError> for std::io::Error {
    fn from(error: MemoryError) -> Self {
        Self::new(std::io::ErrorKind::FileTooLarge, error)
    }
}

/// The bytes that one request (an upload, a file to import) may hold at once: half of the process's limit.
///
/// ```
/// use reasonscape_limits::{MemoryBudget, MemoryError};
///
/// let budget = MemoryBudget::default();
/// let held = budget.hold(1000)?;
/// assert!(matches!(budget.hold(1 << 40), Err(MemoryError::TooLarge { .. })));
/// budget.cancel();
/// assert_eq!(budget.hold(1).unwrap_err(), MemoryError::Canceled);
/// drop(held); // gives the bytes back
/// # Ok::<(), MemoryError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryBudget(Arc<Request>);

#[derive(Debug, Default)]
struct Request {
    held: AtomicU64,
    is_canceled: AtomicBool,
}

impl MemoryBudget {
    /// From now on, nothing more can be held: a reader stops at its next row.
    pub fn cancel(&self) {
        self.0.is_canceled.store(true, Ordering::Relaxed);
    }

    /// Fails if the request was canceled.
    ///
    /// # Errors
    /// [`MemoryError::Canceled`].
    pub fn check(&self) -> Result<(), MemoryError> {
        if self.0.is_canceled.load(Ordering::Relaxed) { Err(MemoryError::Canceled) } else { Ok(()) }
    }

    /// Bytes that this request may hold.
    pub fn limit(&self) -> u64 {
        memory_limit() / 2
    }

    /// Reserves bytes until the result is dropped.
    ///
    /// # Errors
    /// A [`MemoryError`] if this request or the process would hold too much, or if the request was canceled.
    pub fn hold(&self, bytes: u64) -> Result<HeldBytes, MemoryError> {
        let mut held = HeldBytes { request: Arc::clone(&self.0), bytes: 0 };
        held.resize(bytes)?;
        Ok(held)
    }
}

/// A reservation of a [`MemoryBudget`], given back when it is dropped.
#[derive(Debug)]
pub struct HeldBytes {
    request: Arc<Request>,
    bytes: u64,
}

impl HeldBytes {
    /// The reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves more, as [`resize`](Self::resize) does.
    ///
    /// # Errors
    /// As [`MemoryBudget::hold`].
    pub fn grow(&mut self, bytes: u64) -> Result<(), MemoryError> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Changes the reservation. On failure it stays as it was.
    ///
    /// # Errors
    /// As [`MemoryBudget::hold`].
    pub fn resize(&mut self, bytes: u64) -> Result<(), MemoryError> {
        if self.request.is_canceled.load(Ordering::Relaxed) {
            return Err(MemoryError::Canceled);
        }
        if bytes <= self.bytes {
            self.release(self.bytes - bytes);
            return Ok(());
        }
        let more = bytes - self.bytes;
        let limit = memory_limit();
        if !try_add(&self.request.held, more, limit / 2) {
            return Err(MemoryError::TooLarge { limit: limit / 2 });
        }
        if !try_add(&HELD, more, limit) {
            self.request.held.fetch_sub(more, Ordering::Relaxed);
            return Err(MemoryError::Busy);
        }
        self.bytes = bytes;
        Ok(())
    }

    fn release(&mut self, bytes: u64) {
        self.request.held.fetch_sub(bytes, Ordering::Relaxed);
        HELD.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes -= bytes;
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.release(self.bytes);
    }
}

fn try_add(held: &AtomicU64, more: u64, limit: u64) -> bool {
    let add = |now: u64| now.checked_add(more).filter(|sum| *sum <= limit);
    held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
}

/// An upper bound of the memory that JSON text takes when it is parsed into a tree of values: `[0,0,…` grows to the
/// thirty-sixfold. Commas in texts count too, which makes prose about twice as large as it is.
///
/// ```
/// assert!(reasonscape_limits::json_size(b"[0,0,0]") > 3 * 32);
/// ```
pub fn json_size(text: &[u8]) -> u64 {
    let values = memchr::memchr3_iter(b',', b'[', b'{', text).count() as u64;
    (values + 1).saturating_mul(JSON_VALUE_BYTES).saturating_add(text.len() as u64)
}

/// Refuses JSON text that would take too much memory when it is parsed.
///
/// # Errors
/// [`MemoryError::TooLarge`].
pub fn check_json(text: &[u8]) -> Result<(), MemoryError> {
    let limit = memory_limit() / 4;
    if json_size(text) > limit { Err(MemoryError::TooLarge { limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_given_back_and_requests_share_the_process() {
        let limit = memory_limit();
        let (first, second, third) =
            (MemoryBudget::default(), MemoryBudget::default(), MemoryBudget::default());
        let mut a = first.hold(limit / 2).unwrap();
        assert_eq!(first.hold(1).unwrap_err(), MemoryError::TooLarge { limit: limit / 2 });
        assert_eq!(a.grow(1).unwrap_err(), MemoryError::TooLarge { limit: limit / 2 });
        assert_eq!(a.bytes(), limit / 2);
        let b = second.hold(limit / 2 - 100).unwrap();
        assert_eq!(third.hold(1000).unwrap_err(), MemoryError::Busy);
        // A refused request holds nothing.
        let c = third.hold(100).unwrap();
        drop(b);
        third.hold(1000).unwrap();
        a.resize(0).unwrap();
        first.hold(limit / 2).unwrap();
        drop(c);
        assert_eq!(third.hold(u64::MAX).unwrap_err(), MemoryError::TooLarge { limit: limit / 2 });
    }
}
