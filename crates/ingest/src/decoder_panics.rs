//! Turns panics of the Parquet decoder into errors.
//!
//! The decoder checks most of what a damaged file claims, but not all: some sums overflow and some indices are out of
//! bounds. Nothing of ours is in an inconsistent state after such a panic, since the decoder is dropped with it.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs the decoder. A panic in it is an error, and is not reported on standard error.
///
/// # Errors
/// A message that the file is damaged.
pub fn catch_decoder_panic<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_DECODING.get() {
                report(panic);
            }
        }));
    });
    let was_decoding = IS_DECODING.replace(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(was_decoding);
    decoded.map_err(|_| "the file is damaged: its values contradict each other".to_owned())
}
