//! What happens inside, for whoever asks for it.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::error::CliError;

/// Where the choice stands when `--log` is not given, as for other programs in Rust.
const VARIABLE: &str = "RUST_LOG";

/// Starts to log to standard error what `--log` asks for, or else `RUST_LOG`; without either, nothing.
///
/// # Errors
/// When `--log` is no level and no list of them. A variable that was most likely set for another program is no reason
/// to refuse: `note` is told.
pub(crate) fn start(levels: Option<&str>, note: impl FnOnce(String)) -> Result<(), CliError> {
    let targets = match (levels, std::env::var(VARIABLE)) {
        (Some(levels), _) => parse_levels(levels)?,
        (None, Ok(set)) if !set.is_empty() => match set.parse() {
            Ok(targets) => targets,
            Err(error) => {
                note(format!("nothing is logged, because `{VARIABLE}` cannot be read: {error}"));
                return Ok(());
            }
        },
        (None, _) => return Ok(()),
    };
    // Nobody can be told that a log cannot be written; to try would end the program.
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).log_internal_errors(false);
    tracing_subscriber::registry()
        .with(targets)
        .with(lines)
        .try_init()
        .map_err(|error| CliError::Internal(error.into()))
}

/// Whether anything is logged: lines would go right through progress bars.
pub(crate) fn is_on() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

fn parse_levels(levels: &str) -> Result<Targets, CliError> {
    // A word without a level would be taken for a part of the program, with everything that it says.
    let is_clear = |part: &str| part.contains('=') || part.parse::<LevelFilter>().is_ok();
    match levels.parse() {
        Ok(targets) if !levels.is_empty() && levels.split(',').all(is_clear) => Ok(targets),
        _ => Err(CliError::input(format!(
            "`--log {levels}` is no level; give error, warn, info, debug or trace, or parts with theirs, as \
             reasonscape_runner=debug,hyper_util=trace"
        ))),
    }
}
