//! Progress of a run: a bar per evaluation, or a line every few seconds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use reasonscape_core::escape_invisible;
use reasonscape_pipeline::{EventKind, ProgressCounts, RunEvent};
use reasonscape_runner::progress::compact_number;
use reasonscape_study::Study;

/// How often to print a line if standard error is not a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// How often events are collected: waking up for each would cost as much as a request.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The progress bars of a run.
pub(super) struct RunBars {
    evals: Vec<EvalBar>,
    started: Instant,
    last_line: Instant,
    bars: bool,
    lines: bool,
}

struct EvalBar {
    name: String,
    bar: ProgressBar,
    counts: ProgressCounts,
}

impl RunBars {
    pub(super) fn new(study: &Study, quiet: bool) -> Self {
        // Progress bars and log lines on one terminal overwrite each other.
        let terminal = std::io::stderr().is_terminal() && !crate::logging::is_on();
        let target = if quiet || !terminal {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let bars = MultiProgress::with_draw_target(target);
        let width = study.evals.iter().map(|eval| eval.name.chars().count()).max().unwrap_or(0).min(16);
        let style = ProgressStyle::with_template("{prefix} {bar:12} {pos}/{len} {wide_msg}")
            .expect("the template is well formed")
            .progress_chars("━╸ ");
        let evals = study
            .evals
            .iter()
            .map(|eval| {
                let bar = bars.add(ProgressBar::new(0)).with_style(style.clone());
                let name: String = escape_invisible(&eval.name).chars().take(width).collect();
                bar.set_prefix(format!("{name:width$}"));
                EvalBar { name: eval.name.clone(), bar, counts: ProgressCounts::default() }
            })
            .collect();
        let (bars, lines) = (!quiet && terminal, !quiet && !terminal);
        Self { evals, started: Instant::now(), last_line: Instant::now(), bars, lines }
    }

    /// Counts events and updates the bars.
    pub(super) fn show(&mut self, events: &[RunEvent]) {
        for event in events {
            self.count(event);
        }
        let elapsed = self.started.elapsed();
        for eval in &self.evals {
            eval.bar.set_position(eval.counts.done());
            eval.bar.set_message(eval.rates(elapsed));
        }
        if self.lines && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            for eval in self.evals.iter().filter(|eval| eval.counts.planned > 0) {
                // Failing to write progress must not end a run.
                let _ = writeln!(
                    std::io::stderr(),
                    "{}: {}/{} {}",
                    eval.name,
                    eval.counts.done(),
                    eval.counts.planned,
                    eval.rates(elapsed)
                );
            }
        }
    }

    /// Leaves the bars as they are when the run is over.
    pub(super) fn finish(&self) {
        for eval in &self.evals {
            eval.bar.abandon();
        }
        if self.bars {
            // The last bar ends without a line break.
            let _ = writeln!(std::io::stderr());
        }
    }

    fn count(&mut self, event: &RunEvent) {
        let eval = &mut self.evals[event.eval];
        eval.counts.count(&event.kind);
        if let EventKind::Planned { .. } = event.kind {
            eval.bar.set_length(eval.counts.planned);
        }
    }
}

impl EvalBar {
    /// `12.3/s, 5m left, 3 retries, 4.5k tokens/s, 120 cached`: most important first, since a narrow terminal cuts the
    /// line.
    fn rates(&self, elapsed: Duration) -> String {
        let ProgressCounts { cached, missing, retried, planned, .. } = self.counts;
        if planned > 0 && self.counts.done() == planned {
            return match (cached, missing) {
                (0, 0) => "done".to_owned(),
                (cached, 0) => format!("done, {cached} cached"),
                (0, missing) => format!("done, {missing} missing"),
                (cached, missing) => format!("done, {missing} missing, {cached} cached"),
            };
        }
        let mut parts = vec![format!("{:.1}/s", self.counts.rate(elapsed))];
        parts.extend(self.counts.waiting.clone());
        if let Some(left) = self.counts.left(elapsed) {
            parts.push(format!("{:#} left", indicatif::HumanDuration(left)));
        }
        if missing > 0 {
            parts.push(format!("{missing} missing"));
        }
        if retried > 0 {
            parts.push(format!("{retried} retries"));
        }
        let seconds = elapsed.as_secs_f64().max(1e-3);
        parts.push(format!("{} tokens/s", compact_number(self.counts.tokens() as f64 / seconds)));
        if cached > 0 {
            parts.push(format!("{cached} cached"));
        }
        parts.join(", ")
    }
}
