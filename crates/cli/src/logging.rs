//! Logging to standard error.

use std::io::{self, Write};

use reasonscape_runner::redact_text;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::CliError;

/// The default of `--log`, as in other Rust programs.
const VARIABLE: &str = "RUST_LOG";

/// Starts logging at the levels of `--log`, or else of `RUST_LOG`; without either, nothing is logged.
///
/// # Errors
/// When `--log` is invalid. An invalid `RUST_LOG` is only passed to `note`: it was most likely set for another program.
pub(crate) fn start(levels: Option<&str>, note: impl FnOnce(String)) -> Result<(), CliError> {
    let targets = match (levels, std::env::var(VARIABLE)) {
        (Some(levels), _) => parse_levels(levels)?,
        (None, Ok(set)) if !set.is_empty() => match set.parse() {
            Ok(targets) => targets,
            Err(error) => {
                note(format!("logging is off, because `{VARIABLE}` is invalid: {error}"));
                return Ok(());
            }
        },
        (None, _) => return Ok(()),
    };
    // Reporting a failed write to standard error would panic.
    let lines = tracing_subscriber::fmt::layer().with_writer(LogWriter::new).log_internal_errors(false);
    tracing_subscriber::registry()
        .with(targets)
        .with(lines)
        .try_init()
        .map_err(|error| CliError::Internal(error.into()))
}

/// One line of the log, written when it is complete: without secrets that a server repeated, and on a terminal with
/// visible control characters.
struct LogWriter(Vec<u8>);

impl LogWriter {
    fn new() -> Self {
        Self(Vec::new())
    }
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        let text = crate::output::on_terminal(&io::stderr(), redact_text(&text).into_owned());
        // A closed standard error leaves nowhere to report the failure.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Whether logging is on: log lines would break progress bars.
pub(crate) fn is_on() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

fn parse_levels(levels: &str) -> Result<Targets, CliError> {
    // A word that is not a level would be parsed as a module name at level trace.
    let is_clear = |part: &str| part.contains('=') || part.parse::<LevelFilter>().is_ok();
    match levels.parse() {
        Ok(targets) if !levels.is_empty() && levels.split(',').all(is_clear) => Ok(targets),
        _ => Err(CliError::input(format!(
            "invalid level `--log {levels}`; expected error, warn, info, debug or trace, or levels per module, e.g. \
             reasonscape_runner=debug,hyper_util=trace"
        ))),
    }
}
