//! Cells that several display tables have in common.

use super::Cell;
use crate::{IntervalEstimate, Reliability};

impl Cell {
    /// An integer.
    pub fn count(count: u64) -> Self {
        Self::Number(count as f64, 0)
    }

    /// The task of a row; without one, all of them together.
    pub(super) fn task(task: Option<&String>) -> Self {
        Self::text(task.map_or("all", String::as_str))
    }

    /// A proportion with its margin; missing where nothing was counted.
    pub(super) fn estimate(bounds: &IntervalEstimate) -> Self {
        match bounds.point {
            Some(_) => Self::Formatted(format!("{:.3} ± {:.3}", bounds.center, bounds.margin)),
            None => Self::Missing,
        }
    }

    /// What the log does not say.
    pub(crate) fn unknown() -> Self {
        Self::Formatted("?".to_owned())
    }

    /// A number of truncated trials; `?` where the log does not say.
    pub(super) fn truncated_count(count: u64, is_known: bool) -> Self {
        if is_known { Self::count(count) } else { Self::unknown() }
    }

    /// A proportion in percent.
    pub(super) fn rate(rate: Option<f64>) -> Self {
        rate.map_or(Self::Missing, |rate| Self::Formatted(format!("{:.1} %", 100.0 * rate)))
    }

    /// How much of the token limit responses use, `31 % (p95 98 %)`: mean and 95th percentile.
    pub(super) fn utilization(found: &Reliability) -> Self {
        match (found.utilization_mean, found.utilization_p95) {
            (Some(mean), Some(p95)) => {
                Self::Formatted(format!("{:.0} % (p95 {:.0} %)", 100.0 * mean, 100.0 * p95))
            }
            _ => Self::Missing,
        }
    }

    /// A truncation rate in percent; `?` where the log does not say.
    pub(super) fn truncation_rate(rate: Option<f64>, is_known: bool) -> Self {
        match rate {
            _ if !is_known => Self::unknown(),
            Some(rate) => Self::Formatted(format!("{:.1} %", 100.0 * rate)),
            None => Self::Missing,
        }
    }
}
