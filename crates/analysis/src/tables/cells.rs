//! Cells that several display tables share.

use super::Cell;
use crate::{IntervalEstimate, Reliability};

impl Cell {
    /// An integer.
    pub fn count(count: u64) -> Self {
        Self::Number(count as f64, 0)
    }

    /// The task of a row; `all` if tasks are pooled.
    pub(super) fn task(task: Option<&String>) -> Self {
        Self::text(task.map_or("all", String::as_str))
    }

    /// A proportion with its confidence interval; missing without trials.
    pub(crate) fn estimate(bounds: &IntervalEstimate) -> Self {
        bounds.to_text(3).map_or(Self::Missing, Self::Formatted)
    }

    /// As [`Cell::estimate`], with two decimals.
    pub(crate) fn short_estimate(bounds: &IntervalEstimate) -> Self {
        bounds.to_text(2).map_or(Self::Missing, Self::Formatted)
    }

    /// A value that the log doesn't record.
    pub(crate) fn unknown() -> Self {
        Self::Formatted("?".to_owned())
    }

    /// A number of truncated trials; `?` if the log doesn't record it.
    pub(super) fn truncated_count(count: u64, is_known: bool) -> Self {
        if is_known { Self::count(count) } else { Self::unknown() }
    }

    /// A proportion in percent.
    pub(super) fn rate(rate: Option<f64>) -> Self {
        rate.map_or(Self::Missing, |rate| Self::Formatted(format!("{:.1} %", 100.0 * rate)))
    }

    /// Use of the token limit, `31 % (p95 98 %)`: mean and 95th percentile.
    pub(super) fn utilization(found: &Reliability) -> Self {
        match (found.utilization_mean, found.utilization_p95) {
            (Some(mean), Some(p95)) => {
                Self::Formatted(format!("{:.0} % (p95 {:.0} %)", 100.0 * mean, 100.0 * p95))
            }
            _ => Self::Missing,
        }
    }

    /// A truncation rate in percent; `?` if the log doesn't record it.
    pub(super) fn truncation_rate(rate: Option<f64>, is_known: bool) -> Self {
        match rate {
            _ if !is_known => Self::unknown(),
            Some(rate) => Self::Formatted(format!("{:.1} %", 100.0 * rate)),
            None => Self::Missing,
        }
    }
}
