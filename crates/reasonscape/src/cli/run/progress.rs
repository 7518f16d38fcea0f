//! What a run looks like while it goes on: a bar for each evaluation, or a line now and then.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use reasonscape_runner::{EventKind, RunEvent, Study};
use tokio::sync::mpsc;

/// How often a log that is no terminal gets a line.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// It is shown that nothing comes when nothing has come for so long.
const STALLED: Duration = Duration::from_secs(5);

/// How long events may gather before they are counted: waking up for each would cost as much as a request.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Shows events as they come.
pub(super) struct Progress {
    evals: Vec<Shown>,
    started: Instant,
    last_line: Instant,
    bars: bool,
    lines: bool,
}

struct Shown {
    name: String,
    bar: ProgressBar,
    planned: u64,
    cached: u64,
    answered: u64,
    missing: u64,
    retried: u64,
    tokens: u64,
    /// What it waits for, while nothing comes.
    waiting: Option<String>,
}

impl Progress {
    pub(super) fn new(study: &Study, quiet: bool) -> Self {
        // Bars and a log on one terminal would write over each other.
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
                bar.set_prefix(format!("{:width$}", eval.name.chars().take(width).collect::<String>()));
                Shown {
                    name: eval.name.clone(),
                    bar,
                    planned: 0,
                    cached: 0,
                    answered: 0,
                    missing: 0,
                    retried: 0,
                    tokens: 0,
                    waiting: None,
                }
            })
            .collect();
        let (bars, lines) = (!quiet && terminal, !quiet && !terminal);
        Self { evals, started: Instant::now(), last_line: Instant::now(), bars, lines }
    }

    /// Shows events until the run has no more of them.
    pub(super) fn show(&mut self, mut events: mpsc::Receiver<RunEvent>) {
        let mut batch = Vec::new();
        while events.blocking_recv_many(&mut batch, 1024) > 0 {
            for event in batch.drain(..) {
                self.count(&event);
            }
            let elapsed = self.started.elapsed();
            for eval in &self.evals {
                eval.bar.set_position(eval.cached + eval.answered + eval.missing);
                eval.bar.set_message(eval.rates(elapsed));
            }
            if self.lines && self.last_line.elapsed() >= BETWEEN_LINES {
                self.last_line = Instant::now();
                for eval in self.evals.iter().filter(|eval| eval.planned > 0) {
                    let done = eval.cached + eval.answered + eval.missing;
                    // A log that cannot be written is no reason to end a run.
                    let _ = writeln!(
                        std::io::stderr(),
                        "{}: {done}/{} {}",
                        eval.name,
                        eval.planned,
                        eval.rates(elapsed)
                    );
                }
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        for eval in &self.evals {
            eval.bar.abandon();
        }
        if self.bars {
            // The last bar ends at the edge of the terminal without a line break; what comes next needs one.
            let _ = writeln!(std::io::stderr());
        }
    }

    fn count(&mut self, event: &RunEvent) {
        let eval = &mut self.evals[event.eval];
        eval.waiting = None;
        match &event.kind {
            EventKind::Planned { trials } => {
                eval.planned += trials;
                eval.bar.set_length(eval.planned);
            }
            EventKind::Cached { trials } => eval.cached += trials,
            EventKind::Answered { usage, .. } => {
                eval.answered += 1;
                eval.tokens += usage.prompt_tokens.unwrap_or(0) + usage.completion_tokens.unwrap_or(0);
            }
            EventKind::Retrying { .. } => eval.retried += 1,
            EventKind::Missing { .. } => eval.missing += 1,
            EventKind::Waiting { answers, others, idle, pause } if *idle >= STALLED => {
                eval.waiting = Some(waiting(*answers, *others, *idle, *pause));
            }
            EventKind::Waiting { .. } | EventKind::Stopped { .. } => {}
        }
    }
}

impl Shown {
    /// `12.3/s, 5m left, 3 retries, 4.5k tokens/s, 120 cached`: what matters most first, since a narrow terminal cuts
    /// the rest off.
    fn rates(&self, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64().max(1e-3);
        let rate = self.answered as f64 / seconds;
        let mut parts = vec![format!("{rate:.1}/s")];
        parts.extend(self.waiting.clone());
        let left = self.planned.saturating_sub(self.cached + self.answered + self.missing);
        if left > 0 && rate > 0.0 {
            let time = indicatif::HumanDuration(Duration::from_secs_f64(left as f64 / rate));
            parts.push(format!("{time:#} left"));
        }
        if self.missing > 0 {
            parts.push(format!("{} missing", self.missing));
        }
        if self.retried > 0 {
            parts.push(format!("{} retries", self.retried));
        }
        parts.push(format!("{} tokens/s", rounded(self.tokens as f64 / seconds)));
        if self.cached > 0 {
            parts.push(format!("{} cached", self.cached));
        }
        parts.join(", ")
    }
}

/// `waiting for 12 answers, none for 45 s`: what there is to say when nothing happens.
fn waiting(answers: u64, others: u64, idle: Duration, pause: Option<Duration>) -> String {
    let count = |number: u64, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let what = match (answers, others, pause) {
        (0, _, Some(pause)) => {
            return format!("the endpoint is left alone for {} s more", pause.as_secs() + 1);
        }
        (0, 0, None) => return format!("nothing for {} s", idle.as_secs()),
        (0, others, None) => format!("{} that somebody else asks", count(others, "answer")),
        (answers, ..) => count(answers, "answer"),
    };
    format!("waiting for {what}, none for {} s", idle.as_secs())
}

/// `950`, `4.5k`, `1.2M`.
fn rounded(number: f64) -> String {
    match number {
        ..999.5 => format!("{number:.0}"),
        ..999_950.0 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.1}M", number / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{rounded, waiting};

    #[test]
    fn what_is_waited_for_is_said() {
        let said = |answers, others, pause: Option<f64>| {
            waiting(answers, others, Duration::from_millis(45_800), pause.map(Duration::from_secs_f64))
        };
        assert_eq!(said(12, 0, None), "waiting for 12 answers, none for 45 s");
        assert_eq!(said(1, 3, Some(2.0)), "waiting for 1 answer, none for 45 s");
        assert_eq!(said(0, 3, None), "waiting for 3 answers that somebody else asks, none for 45 s");
        assert_eq!(said(0, 0, Some(11.2)), "the endpoint is left alone for 12 s more");
        assert_eq!(said(0, 0, None), "nothing for 45 s");
    }

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 999.4, 999.6, 4_512.0, 999_949.0, 999_951.0, 1.2e9].map(rounded);
        assert_eq!(shown, ["0", "999", "1.0k", "4.5k", "999.9k", "1.0M", "1200.0M"]);
    }
}
