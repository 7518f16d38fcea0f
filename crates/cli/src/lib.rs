//! The command line: one file per command.
//!
//! # Promises
//! Thin: a command parses its arguments, calls the libraries and prints what they return. Data goes to standard output,
//! everything else to standard error. Exit codes are API: 0 done, 1 failed, 2 invalid input, 130 interrupted. No library
//! depends on this crate; other front ends call [`main`].

mod analyze;
mod board;
mod cache;
mod dataset;
mod demo;
mod doctor;
mod error;
mod estimate;
mod evaluate;
mod export;
mod generate;
mod help;
mod import;
mod init;
mod key;
mod logging;
mod manual;
mod memory_limit;
mod metrics;
mod mode;
mod output;
mod plan;
mod progress;
mod report;
mod run;
mod score;
mod serve;
mod signals;
mod simulate;
mod sql;
mod study;
mod suite;
mod tasks;
mod verify;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use reasonscape_limits::{max_file_bytes, read_to_end};

use crate::error::CliError;
use crate::output::Format;

/// Heading of the options of every command, in their help.
const GLOBAL_OPTIONS: &str = "Global options";

/// Measure how well language models reason, with confidence intervals
#[derive(Debug, Parser)]
#[command(name = "reasonscape", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(
    after_help = "Examples:\n  reasonscape demo\n  reasonscape init my-study\n  reasonscape run my-study\n  \
    reasonscape run questions.jsonl --model my-model --base-url http://127.0.0.1:8000/v1\n\n\
    Use `reasonscape help <COMMAND>` for more on a command, and `reasonscape help` for a list of guides, \
    such as `reasonscape help tutorial`.\n\n\
    Exit codes: 0 success, 1 failure, 2 invalid input, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    /// Log to standard error at this level: error, warn, info, debug or trace.
    ///
    /// Levels can be set per module, e.g. `warn,reasonscape_runner=debug`. Defaults to the environment variable
    /// `RUST_LOG`; without it, nothing is logged.
    #[arg(long, global = true, value_name = "LEVEL", help_heading = GLOBAL_OPTIONS)]
    log: Option<String>,
    /// Memory that inputs and queries may take at once, e.g. `512MiB` or `4GiB`.
    ///
    /// Input that would take more is refused. Files that are read in parts may have any size. Defaults to the environment
    /// variable `REASONSCAPE_MEMORY_LIMIT`, or 1GiB.
    #[arg(long, global = true, value_name = "SIZE", help_heading = GLOBAL_OPTIONS)]
    memory_limit: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Global {
    /// Output format of the data on standard output.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = GLOBAL_OPTIONS)]
    format: Format,
    /// Only print errors.
    #[arg(long, short, global = true, help_heading = GLOBAL_OPTIONS)]
    quiet: bool,
    /// When to use color; `NO_COLOR` is respected.
    #[arg(long, global = true, value_enum, default_value_t = clap::ColorChoice::Auto, value_name = "WHEN",
          help_heading = GLOBAL_OPTIONS)]
    color: clap::ColorChoice,
}

impl Global {
    /// Prints a note to standard error, unless `--quiet` is given.
    fn note(self, message: impl std::fmt::Display) {
        if !self.quiet {
            crate::error::note(message);
        }
    }

    /// Prints a note that explains a table; the other formats carry it in their data.
    fn caption(self, message: impl std::fmt::Display) {
        if self.format == Format::Table {
            self.note(message);
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Analyze(analyze::AnalyzeCommand),
    Cache(cache::CacheCommand),
    Completions(manual::Completions),
    Demo(demo::Demo),
    Doctor(doctor::Doctor),
    Estimate(estimate::Estimate),
    Evaluate(evaluate::Evaluate),
    Export(export::Export),
    Generate(generate::Generate),
    Help(help::Help),
    Import(import::ImportCommand),
    Init(init::Init),
    Key(key::Key),
    Man(manual::Man),
    Metrics(metrics::Metrics),
    Plan(plan::Plan),
    Report(report::ReportCommand),
    Run(Box<run::Run>),
    Score(score::Score),
    Serve(serve::Serve),
    Simulate(simulate::Simulate),
    Sql(sql::Sql),
    Suite(suite::SuiteCommand),
    Tasks(tasks::Tasks),
    Verify(verify::Verify),
}

/// Parses the process arguments and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

/// Runs the command of these arguments, of which the first is the name of the program.
#[must_use]
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    match run_command(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// Commands that print no table, so that `--format` would have no effect.
const WITHOUT_FORMAT: [&[&str]; 11] = [
    &["cache", "export"],
    &["cache", "import"],
    &["completions"],
    &["export"],
    &["generate"],
    &["help"],
    &["init"],
    &["man"],
    &["report"],
    &["serve"],
    &["simulate"],
];

/// The error for `--format` on a command that prints no table.
fn unused_format(matches: &clap::ArgMatches) -> Option<String> {
    let mut path = Vec::new();
    let mut leaf = matches;
    while let Some((name, next)) = leaf.subcommand() {
        path.push(name);
        leaf = next;
    }
    let is_given = leaf.value_source("format") == Some(clap::parser::ValueSource::CommandLine);
    (is_given && WITHOUT_FORMAT.contains(&path.as_slice()))
        .then(|| format!("`--format` has no effect on `reasonscape {}`; remove it", path.join(" ")))
}

/// How often a command is repeated because files were replaced while it read them.
const MAX_REPEATS: usize = 3;

/// Parses the arguments and runs the command.
fn run_command(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<(), CliError> {
    let parsed = Cli::command().try_get_matches_from(arguments).and_then(|matches| {
        let unused = unused_format(&matches);
        Cli::from_arg_matches(&matches).map(|cli| (cli, matches, unused))
    });
    let (Cli { global, log, memory_limit, command }, matches) = match parsed {
        Ok((_, _, Some(unused))) => return Err(CliError::input(unused)),
        Ok((cli, matches, None)) => (cli, matches),
        Err(error)
            if error.use_stderr()
                && error.kind() != clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            let hint = analyze::renamed_subcommand_hint(&error).or_else(|| mode::conflict_hint(&error));
            return Err(CliError::input(hint.unwrap_or_else(|| one_line(&error))));
        }
        Err(error) => {
            error.print()?;
            return if error.use_stderr() { Err(CliError::Usage) } else { Ok(()) };
        }
    };
    match global.color {
        clap::ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
        clap::ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        clap::ColorChoice::Auto => {}
    }
    crate::logging::start(log.as_deref(), |problem| global.note(problem))?;
    memory_limit::set(memory_limit.as_deref())?;
    let mut result = execute(command, global);
    for _ in 0..MAX_REPEATS {
        // Nothing has been printed, so that the command can begin again on the study as it is now.
        let is_changed = matches!(&result, Err(error) if error.is_study_changed());
        if !is_changed || output::has_printed() {
            break;
        }
        let Ok(Cli { command, .. }) = Cli::from_arg_matches(&matches) else { break };
        result = execute(command, global);
    }
    result
}

fn execute(command: Command, global: Global) -> Result<(), CliError> {
    match command {
        Command::Analyze(analyze) => analyze.run(global),
        Command::Cache(cache) => cache.run(global),
        Command::Completions(completions) => completions.run(),
        Command::Doctor(doctor) => doctor.run(global),
        Command::Demo(demo) => demo.run(global),
        Command::Estimate(estimate) => estimate.run(global),
        Command::Evaluate(evaluate) => evaluate.run(global),
        Command::Export(export) => export.run(global),
        Command::Generate(generate) => generate.run(global),
        Command::Help(help) => help.run(),
        Command::Import(import) => import.run(global),
        Command::Init(init) => init.run(global),
        Command::Key(key) => key.run(global),
        Command::Man(man) => man.run(global),
        Command::Metrics(metrics) => metrics.run(global),
        Command::Plan(plan) => plan.run(global),
        Command::Report(report) => report.run(global),
        Command::Run(run) => run.run(global),
        Command::Score(score) => score.run(global),
        Command::Serve(serve) => serve.run(global),
        Command::Simulate(simulate) => simulate.run(global),
        Command::Sql(sql) => sql.run(global),
        Command::Suite(suite) => suite.run(global),
        Command::Tasks(tasks) => tasks.run(global),
        Command::Verify(verify) => verify.run(global),
    }
}

/// The command line definition, for help, completions and manual pages.
fn clap_command() -> clap::Command {
    Cli::command()
}

/// Runs a future to completion on a multi-threaded runtime.
fn wait_for<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    // A query that was given up may still compute.
    runtime.shutdown_background();
    result
}

/// Clap's message as one line: the error, then its tip, without the usage.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        // An unknown option is rarely meant as a value.
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"))
        .collect();
    let message = lines.join("; ").replace(":; ", ": ");
    format!("{}; see `--help`", message.strip_prefix("error: ").unwrap_or(&message))
}

/// Reads a file, or standard input for `-`; returns the name for errors and the text.
fn read_input(path: &Path) -> Result<(String, String), CliError> {
    let (name, bytes) = if path == Path::new("-") {
        ("standard input".to_owned(), read_to_end(std::io::stdin(), max_file_bytes()))
    } else {
        let file = std::fs::File::open(path);
        (format!("`{}`", path.display()), file.and_then(|file| read_to_end(file, max_file_bytes())))
    };
    let bytes = bytes.with_context(|| format!("failed to read {name}")).map_err(CliError::Input)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
            Err(CliError::input(format!("invalid UTF-8 in {name}, line {line}; save the file as UTF-8")))
        }
    }
}

/// An input file argument.
#[derive(Debug, clap::Args)]
struct InputFile {
    /// Input file, or `-` for standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    path: PathBuf,
}
