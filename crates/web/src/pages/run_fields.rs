//! Times, costs and totals of runs, as pages show them.

use serde::Serialize;

use crate::labels::thousands;
use crate::runs::EvalProgress;
use reasonscape_analysis::tables::utc;

/// A time, exact and formatted.
#[derive(Serialize)]
pub(super) struct Moment {
    pub(super) exact: String,
    pub(super) shown: String,
}

/// The sums over the evaluations of a run.
#[derive(Serialize)]
pub(super) struct Totals {
    pub(super) done: u64,
    pub(super) planned: u64,
    pub(super) progress: String,
    pub(super) tokens: String,
    pub(super) cost: Option<String>,
}

pub(super) fn totals(progress: &[EvalProgress]) -> Totals {
    let sum = |of: fn(&EvalProgress) -> u64| progress.iter().map(of).sum::<u64>();
    let (done, planned) = (sum(|one| one.done), sum(|one| one.planned));
    let costs: Option<Vec<f64>> = progress.iter().map(|one| one.cost).collect();
    Totals {
        done,
        planned,
        progress: format!("{} of {}", thousands(done), thousands(planned)),
        tokens: thousands(sum(|one| one.prompt_tokens + one.completion_tokens)),
        cost: costs.filter(|costs| !costs.is_empty()).map(|costs| money(costs.iter().sum())),
    }
}

/// A cost with two decimals, and with four below 0.1.
pub(super) fn money(cost: f64) -> String {
    if cost > 0.0 && cost < 0.1 { format!("{cost:.4}") } else { format!("{cost:.2}") }
}

pub(super) fn moment(ms: u64) -> Moment {
    let exact = utc(i64::try_from(ms).unwrap_or(i64::MAX));
    let shown = exact.get(..16).map_or_else(|| exact.clone(), |shown| shown.replace('T', " ") + " UTC");
    Moment { exact, shown }
}

/// `45 s`, `3 min 20 s`, `2 h 5 min`.
pub(super) fn seconds(seconds: f64) -> String {
    let rounded = seconds.round() as u64;
    match rounded {
        0 => "under 1 s".to_owned(),
        1..60 => format!("{rounded} s"),
        60..3_600 => format!("{} min {} s", rounded / 60, rounded % 60),
        _ => format!("{} h {} min", rounded / 3_600, rounded / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_durations_costs_and_times() {
        assert_eq!(
            [0.2, 45.4, 200.0, 7_500.0].map(seconds),
            ["under 1 s", "45 s", "3 min 20 s", "2 h 5 min"]
        );
        assert_eq!([0.0, 0.01234, 1.5, 1_234.567].map(money), ["0.00", "0.0123", "1.50", "1234.57"]);
        assert_eq!(moment(951_782_400_000).shown, "2000-02-29 00:00 UTC");
    }
}
