//! Where the interval of mode C is too narrow: near chance.

use reasonscape_stats::{Confidence, Counters, Event, Interval, Mode};

/// The calibrated mode and its interval, where the interval that C gives is too narrow to believe: near chance, where it
/// subtracts luck and keeps none of its spread.
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
    (narrow.margin() < 0.9 * calibrated_interval.margin()).then_some((calibrated, calibrated_interval))
}
