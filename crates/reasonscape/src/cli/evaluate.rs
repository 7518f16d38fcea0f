//! `reasonscape evaluate`: from responses to trials and counters.

use std::collections::BTreeMap;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use reasonscape_pipeline::existing_cache;
use reasonscape_points::{Counts, Evaluated, Options, PointsError, Progress, evaluate};
use reasonscape_runner::{Selection, Study, check_selection};
use serde_json::{Value, json};

use super::Global;
use crate::failure::Failure;
use crate::output::{Cell, Table, print};

/// Judge the responses of a study and count them
///
/// Writes a Parquet file of trials and one of points for each evaluation and task. No request is sent, and what has not
/// changed is left as it is, so it can be run at any time; `run` ends with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape evaluate my-study")]
pub(super) struct Evaluate {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Only this evaluation, by id, name or model; may be repeated.
    #[arg(long = "eval", value_name = "EVAL")]
    evals: Vec<String>,
    /// Only this task; may be repeated.
    #[arg(long = "task", value_name = "TASK")]
    tasks: Vec<String>,
    /// Judge again what has not changed, too.
    #[arg(long)]
    force: bool,
}

impl Evaluate {
    pub(super) fn run(self, global: Global) -> Result<(), Failure> {
        let study = Study::load(&self.study)?;
        let selection = Selection { evals: self.evals, tasks: self.tasks, ..Selection::default() };
        check_selection(&study, &selection)?;
        let options = Options { selection, force: self.force };
        let progress = Arc::new(Progress::default());
        let seen = Arc::clone(&progress);
        ctrlc::set_handler(move || seen.stop.store(true, Relaxed))
            .map_err(|error| Failure::Broken(error.into()))?;
        let evaluated = with_progress(&study, &options, &progress, global)?;
        report(&evaluated, global)
    }
}

/// Evaluates a study and shows how far it is. A study without a cache has nothing to evaluate.
pub(super) fn with_progress(
    study: &Study,
    options: &Options,
    progress: &Progress,
    global: Global,
) -> Result<Evaluated, Failure> {
    let Some(cache) = existing_cache(study)? else {
        return Err(Failure::input(format_args!(
            "`{}` has no responses yet; `reasonscape run` asks for them",
            study.folder.display()
        )));
    };
    watch(&EVALUATE, progress, global, || Ok(evaluate(study, &cache, options, progress)?))
}

/// What is done, to what, for whoever watches.
pub(super) struct Watched {
    pub(super) doing: &'static str,
    pub(super) things: &'static str,
}

const EVALUATE: Watched = Watched { doing: "evaluate", things: "trials" };

/// Works on this thread while another shows how far it is.
pub(super) fn watch<T>(
    watched: &Watched,
    progress: &Progress,
    global: Global,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (done, waiting) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut shown = Shown::new(watched, global.quiet);
            while waiting.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                shown.show(progress);
            }
            shown.end();
        });
        // Dropped when the work is over, be it by a panic.
        let _done = done;
        work()
    })
}

/// A bar, or a line now and then where there is no terminal.
struct Shown<'w> {
    watched: &'w Watched,
    bar: ProgressBar,
    started: Instant,
    last_line: Instant,
    lines: bool,
}

/// Nothing is shown of what is over before anybody wonders.
const SHORT: Duration = Duration::from_secs(1);
const LINE_INTERVAL: Duration = Duration::from_secs(10);

impl<'w> Shown<'w> {
    fn new(watched: &'w Watched, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let template = format!("{} {{bar:24}} {{pos}}/{{len}} {{wide_msg}}", watched.doing);
        let style = ProgressStyle::with_template(&template)
            .expect("the template is well formed")
            .progress_chars("━╸ ");
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()).with_style(style);
        if terminal && !quiet {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        let now = Instant::now();
        Self { watched, bar, started: now, last_line: now, lines: !quiet && !terminal }
    }

    fn show(&mut self, progress: &Progress) {
        let elapsed = self.started.elapsed();
        if elapsed < SHORT {
            return;
        }
        let (done, total) = (progress.done.load(Relaxed), progress.total.load(Relaxed));
        let megabytes = progress.bytes.load(Relaxed) as f64 / 1e6 / elapsed.as_secs_f64();
        let rate = done as f64 / elapsed.as_secs_f64();
        let Watched { doing, things } = self.watched;
        let message = format!("{rate:.0} {things}/s, {megabytes:.0} MB/s");
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(message.clone());
        if self.lines && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            // A log that cannot be written is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{doing}: {done}/{total} {things}, {message}");
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn report(evaluated: &Evaluated, global: Global) -> Result<(), Failure> {
    let mut evals: BTreeMap<(&str, &str), (Counts, usize, usize)> = BTreeMap::new();
    for unit in &evaluated.units {
        let (counts, tasks, written) = evals.entry((&unit.name, &unit.eval_id)).or_default();
        *counts += unit.counts;
        *tasks += 1;
        *written += usize::from(unit.written);
    }
    let mut table =
        Table::new(&["eval", "name", "tasks", "written", "trials", "correct", "truncated", "missing"]);
    for ((name, id), (counts, tasks, written)) in &evals {
        table.push(vec![
            Cell::text(*id),
            Cell::text(*name),
            Cell::Number(*tasks as f64, 0),
            Cell::Number(*written as f64, 0),
            Cell::Number(counts.n as f64, 0),
            Cell::Number(counts.n_e as f64, 0),
            Cell::Number(counts.n_t as f64, 0),
            Cell::Number(counts.missing() as f64, 0),
        ]);
    }
    let json: Vec<Value> = evaluated
        .units
        .iter()
        .map(|unit| {
            json!({
                "eval_id": unit.eval_id,
                "name": unit.name,
                "task": unit.base_task,
                "written": unit.written,
                "n": unit.counts.n,
                "n_e": unit.counts.n_e,
                "n_t": unit.counts.n_t,
                "g": unit.counts.g,
                "missing": unit.counts.missing(),
                "damaged": unit.damaged,
            })
        })
        .collect();
    print(global.format, &table, &json)?;
    note_damage(evaluated, global);
    if evaluated.stopped {
        global.note("interrupted; what is not in the table is as it was before");
        return Err(Failure::Interrupted);
    }
    Ok(())
}

/// Says what could not be read.
pub(super) fn note_damage(evaluated: &Evaluated, global: Global) {
    let damaged: u64 = evaluated.units.iter().map(|unit| unit.damaged).sum();
    if let Some(problem) = &evaluated.damage {
        global.note(format_args!(
            "{damaged} responses cannot be read and count as missing: {problem}; `reasonscape cache prune --damaged` \
             removes them, and `run` asks again"
        ));
    }
}

impl From<PointsError> for Failure {
    fn from(error: PointsError) -> Self {
        match error {
            PointsError::Cache(error) => error.into(),
            PointsError::Study(error) => error.into(),
            PointsError::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe => source.into(),
            error if error.is_input() => Self::Input(error.into()),
            error => Self::Broken(error.into()),
        }
    }
}
