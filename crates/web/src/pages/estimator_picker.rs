//! The choice of an estimation mode.

use reasonscape_stats::{Assumption, Event, Mode};
use serde::Serialize;

/// Modes that estimate the same event.
#[derive(Serialize)]
pub(super) struct EstimatorGroup {
    name: &'static str,
    modes: Vec<ModeChoice>,
}

/// A mode to choose.
#[derive(Serialize)]
pub(super) struct ModeChoice {
    name: &'static str,
    meaning: &'static str,
    is_chosen: bool,
}

/// All modes, grouped by what they estimate.
pub(super) fn estimator_groups(chosen: Mode) -> Vec<EstimatorGroup> {
    let of = |event: Event, name: &'static str| EstimatorGroup {
        name,
        modes: Mode::ALL
            .into_iter()
            .filter(|mode| mode.event == event)
            .map(|mode| ModeChoice {
                name: mode.name(),
                meaning: match mode.assumption {
                    Assumption::Independence => "truncated responses are excluded",
                    Assumption::Pessimism => "truncated responses count as incorrect",
                    Assumption::Optimism => "truncated responses count as correct",
                },
                is_chosen: mode == chosen,
            })
            .collect(),
    };
    vec![
        of(Event::Correctness, "Corrected for guessing (C)"),
        of(Event::Calibrated, "Corrected for guessing, calibrated near chance (K)"),
        of(Event::Equality, "Raw accuracy (E)"),
    ]
}
