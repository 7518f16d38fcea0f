//! Whether the work of a function grows with its input or faster.

use std::fs;

/// How much larger the second input is. Quadratic work grows by its square.
const FACTOR: usize = 8;
/// Work in relation to a linear function from which on it isn't linear any more.
const MAX_RATIO: u64 = 4;
/// CPU time that is well above the resolution of the scheduler's counter.
const MIN_NANOSECONDS: u64 = 8_000_000;
const MAX_SIZE: usize = 1 << 19;

/// Fails if the CPU time of this thread grows much faster than the size that `run` is given. CPU time and not the clock, so
/// that a busy machine changes nothing. Where the system doesn't count it, nothing is checked.
///
/// # Panics
/// If eight times the size takes more than 32 times the work, three times in a row.
pub fn assert_linear(what: &str, mut run: impl FnMut(usize)) {
    let mut size = 1 << 10;
    loop {
        let Some(small) = cpu_time(|| run(size)) else { return };
        if size >= MAX_SIZE && small < MIN_NANOSECONDS {
            return;
        }
        if small < MIN_NANOSECONDS {
            size *= 2;
            continue;
        }
        let max = small * FACTOR as u64 * MAX_RATIO;
        let is_linear = (0..3).any(|_| cpu_time(|| run(size * FACTOR)).is_none_or(|large| large <= max));
        assert!(
            is_linear,
            "{what}: {size} takes {small} ns of CPU time, and {FACTOR} times as much more than {max}"
        );
        return;
    }
}

/// Nanoseconds that this thread was running.
fn cpu_time(run: impl FnOnce()) -> Option<u64> {
    let now = || -> Option<u64> {
        let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let before = now()?;
    run();
    Some(now()?.saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadratic_work_is_found() {
        if cpu_time(|| ()).is_none() {
            return;
        }
        let linear = |size: usize| {
            let sum = (0..40 * size as u64).fold(0_u64, |a, b| a ^ b.wrapping_mul(a | 3));
            std::hint::black_box(sum);
        };
        assert_linear("linear", linear);
        let quadratic = |size: usize| {
            let sum = (0..size as u64)
                .fold(0_u64, |a, b| a ^ (0..size as u64).fold(b, |c, d| c ^ d.wrapping_mul(c | 3)));
            std::hint::black_box(sum);
        };
        assert!(std::panic::catch_unwind(|| assert_linear("quadratic", quadratic)).is_err());
    }
}
