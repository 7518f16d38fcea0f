//! Progress bars for work that takes longer than a second.

use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reasonscape_ingest::Progress;

use crate::Global;
use crate::error::CliError;

/// Labels of a progress bar.
pub(crate) struct ProgressLabels {
    pub(crate) verb: &'static str,
    pub(crate) unit: &'static str,
}

/// Runs `work` on this thread while another one shows its progress.
pub(crate) fn watch<T>(
    labels: &ProgressLabels,
    progress: &Progress,
    global: Global,
    work: impl FnOnce() -> Result<T, CliError>,
) -> Result<T, CliError> {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut shown = ProgressLine::new(labels, global.quiet);
            while waiting.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                shown.show(progress);
            }
            shown.end();
        });
        // Dropped when the work ends, even by a panic.
        let _done = done;
        work()
    })
}

/// A progress bar, or a line every few seconds if standard error is not a terminal.
pub(crate) struct ProgressLine<'w> {
    labels: &'w ProgressLabels,
    bar: ProgressBar,
    started: Instant,
    last_line: Instant,
    lines: bool,
}

/// Shorter work shows no progress.
const SHOW_AFTER: Duration = Duration::from_secs(1);
const LINE_INTERVAL: Duration = Duration::from_secs(10);

impl<'w> ProgressLine<'w> {
    pub(crate) fn new(labels: &'w ProgressLabels, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let template = format!("{} {{bar:24}} {{pos}}/{{len}} {{wide_msg}}", labels.verb);
        let style = ProgressStyle::with_template(&template)
            .expect("the template is well formed")
            .progress_chars("━╸ ");
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()).with_style(style);
        if terminal && !quiet {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        let now = Instant::now();
        Self { labels, bar, started: now, last_line: now, lines: !quiet && !terminal }
    }

    pub(crate) fn show(&mut self, progress: &Progress) {
        let elapsed = self.started.elapsed();
        if elapsed < SHOW_AFTER {
            return;
        }
        let (done, total) = (progress.done.load(Relaxed), progress.total.load(Relaxed));
        let megabytes = progress.bytes.load(Relaxed) as f64 / 1e6 / elapsed.as_secs_f64();
        let rate = done as f64 / elapsed.as_secs_f64();
        let ProgressLabels { verb, unit } = self.labels;
        let message = format!("{rate:.0} {unit}/s, {megabytes:.0} MB/s");
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.clone());
        if self.lines && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            // Failing to write progress must not stop the work.
            let _ = writeln!(std::io::stderr(), "{verb}: {done}/{total} {unit}, {message}");
        }
    }

    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
