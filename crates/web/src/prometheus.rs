//! Request counters in the Prometheus text format.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::http::StatusCode;

/// Upper bounds of the duration buckets, in seconds.
const SECONDS: [f64; 9] = [0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct RequestMetrics {
    /// Requests by the first digit of their status, from 1 to 5.
    by_class: [AtomicU64; 5],
    /// Requests by duration; slower ones are only in the total.
    by_seconds: [AtomicU64; SECONDS.len()],
    micros: AtomicU64,
    /// Reloads of the study because its files changed.
    pub(crate) reloads: AtomicU64,
}

impl RequestMetrics {
    pub(crate) fn count(&self, status: StatusCode, took: Duration) {
        let class = usize::from(status.as_u16() / 100).clamp(1, 5) - 1;
        self.by_class[class].fetch_add(1, Relaxed);
        if let Some(bin) = SECONDS.iter().position(|end| took.as_secs_f64() <= *end) {
            self.by_seconds[bin].fetch_add(1, Relaxed);
        }
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }

    /// The metrics as text, with the size of the study.
    pub(crate) fn text(&self, evals: usize, trials: u64) -> String {
        let mut text = String::new();
        let mut head = |name: &str, kind: &str, help: &str| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            std::mem::take(&mut text)
        };
        let mut all = head("reasonscape_http_requests_total", "counter", "Requests by status class.");
        for (class, count) in self.by_class.iter().enumerate() {
            let _ = writeln!(
                all,
                "reasonscape_http_requests_total{{class=\"{}xx\"}} {}",
                class + 1,
                count.load(Relaxed)
            );
        }
        let total: u64 = self.by_class.iter().map(|count| count.load(Relaxed)).sum();
        let name = "reasonscape_http_request_duration_seconds";
        all += &head(name, "histogram", "Time to a response.");
        let mut below = 0;
        for (end, count) in SECONDS.iter().zip(&self.by_seconds) {
            below += count.load(Relaxed);
            let _ = writeln!(all, "{name}_bucket{{le=\"{end}\"}} {below}");
        }
        let _ = writeln!(all, "{name}_bucket{{le=\"+Inf\"}} {total}");
        let _ = writeln!(all, "{name}_sum {}", self.micros.load(Relaxed) as f64 / 1e6);
        let _ = writeln!(all, "{name}_count {total}");
        for (name, kind, help, value) in [
            ("reasonscape_evaluations", "gauge", "Evaluations of the study.", evals as u64),
            ("reasonscape_trials", "gauge", "Trials of the study.", trials),
            (
                "reasonscape_reloads_total",
                "counter",
                "Reloads of the study after its files changed.",
                self.reloads.load(Relaxed),
            ),
        ] {
            all += &head(name, kind, help);
            let _ = writeln!(all, "{name} {value}");
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_buckets_are_cumulative() {
        let metrics = RequestMetrics::default();
        for (status, ms) in [(200, 3), (200, 60), (404, 60), (500, 40_000)] {
            metrics.count(StatusCode::from_u16(status).unwrap(), Duration::from_millis(ms));
        }
        let text = metrics.text(2, 100);
        for line in [
            "reasonscape_http_requests_total{class=\"2xx\"} 2",
            "reasonscape_http_request_duration_seconds_bucket{le=\"0.005\"} 1",
            "reasonscape_http_request_duration_seconds_bucket{le=\"0.1\"} 3",
            "reasonscape_http_request_duration_seconds_bucket{le=\"30\"} 3",
            "reasonscape_http_request_duration_seconds_bucket{le=\"+Inf\"} 4",
            "reasonscape_trials 100",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
