//! Accuracies near chance, where the interval of the C modes is too narrow.

use reasonscape_stats::{Confidence, Counters, Event, Interval, Mode};

/// Guess-corrected accuracy from which the C intervals cover as documented (`docs/coverage.md`: from p = 0.8 on at least
/// 93 %), so that a difference in width says nothing.
const MIN_KNOWN: f64 = 0.8;

/// The calibrated mode and its interval, if the interval of a C mode is too narrow. That happens near chance, where C
/// subtracts the expected number of lucky guesses but ignores its variance.
pub fn calibrated_near_chance(
    mode: Mode,
    counters: &Counters,
    confidence: Confidence,
) -> Option<(Mode, Interval)> {
    if mode.event != Event::Correctness {
        return None;
    }
    let calibrated = Mode { event: Event::Calibrated, ..mode };
    let (narrow, calibrated_interval) =
        (mode.estimate(counters, confidence), calibrated.estimate(counters, confidence));
    let is_near_chance =
        narrow.margin() < 0.9 * calibrated_interval.margin() && calibrated_interval.center() < MIN_KNOWN;
    is_near_chance.then_some((calibrated, calibrated_interval))
}
