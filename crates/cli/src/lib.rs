//! The command line: one file per command.
//!
//! # Promises
//! Thin: a command parses its arguments, calls the libraries and prints what they return. Data goes to standard output,
//! everything else to standard error. Exit codes are API: 0 done, 1 failed, 2 invalid input, 130 interrupted. No library
//! depends on this crate; other front ends call [`main`].

mod analyze;
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
mod metrics;
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

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::CliError;
use crate::output::Format;

/// Measures how well a language model reasons, and says what the numbers can and cannot support.
#[derive(Debug, Parser)]
#[command(name = "reasonscape", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = "`reasonscape help` also lists topics to read, as `reasonscape help tutorial`.\n\n\
    Exit codes: 0 done, 1 failed, 2 wrong input, 130 interrupted.")]
struct Cli {
    #[command(flatten)]
    global: Global,
    /// Log to standard error what happens inside: error, warn, info, debug or trace, or by part as in
    /// `warn,reasonscape_runner=debug`. Without it `RUST_LOG` decides, and without that nothing is logged.
    #[arg(long, global = true, value_name = "LEVEL")]
    log: Option<String>,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Copy, clap::Args)]
struct Global {
    /// How data is printed to standard output.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Say nothing on standard error but errors.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colour; `NO_COLOR` is honoured.
    #[arg(long, global = true, value_enum, default_value_t = clap::ColorChoice::Auto, value_name = "WHEN")]
    color: clap::ColorChoice,
}

impl Global {
    /// A remark beside the data, unless quiet was asked for.
    fn note(self, message: impl std::fmt::Display) {
        if !self.quiet {
            crate::error::note(message);
        }
    }

    /// What a table shows, for a person; programs have it in their data.
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
}

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn main() -> ExitCode {
    match run() {
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

/// Why `--format` is refused, if it was given to a command on which it has no effect.
fn unused_format(matches: &clap::ArgMatches) -> Option<String> {
    let mut path = Vec::new();
    let mut leaf = matches;
    while let Some((name, next)) = leaf.subcommand() {
        path.push(name);
        leaf = next;
    }
    let is_given = leaf.value_source("format") == Some(clap::parser::ValueSource::CommandLine);
    (is_given && WITHOUT_FORMAT.contains(&path.as_slice()))
        .then(|| format!("`--format` has no effect on `reasonscape {}`; leave it out", path.join(" ")))
}

/// Parses the arguments and runs the command.
fn run() -> Result<(), CliError> {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        let unused = unused_format(&matches);
        Cli::from_arg_matches(&matches).map(|cli| (cli, unused))
    });
    let Cli { global, log, command } = match parsed {
        Ok((_, Some(unused))) => return Err(CliError::input(unused)),
        Ok((cli, None)) => cli,
        Err(error)
            if error.use_stderr()
                && error.kind() != clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            let renamed = analyze::renamed_subcommand_hint(&error);
            return Err(CliError::input(renamed.unwrap_or_else(|| one_line(&error))));
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
    match command {
        Command::Analyze(analyze) => analyze.run(global),
        Command::Cache(cache) => cache.run(global),
        Command::Completions(completions) => completions.run(),
        Command::Doctor(doctor) => doctor.run(global),
        Command::Demo(demo) => demo.run(global),
        Command::Estimate(estimate) => estimate.run(global),
        Command::Evaluate(evaluate) => evaluate.run(global),
        Command::Export(export) => export.run(global),
        Command::Generate(generate) => generate.run(),
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
    }
}

/// The whole command line, for whoever describes it.
fn clap_command() -> clap::Command {
    Cli::command()
}

/// Waits for work that is written to be waited for, on all cores.
fn wait_for<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(work)
}

/// What clap says of a wrong argument, as one line: the error, then its tip, without the usage.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        // A misspelled or unknown option is hardly ever meant as a value.
        .filter(|line| !line.is_empty() && !line.starts_with("tip: to pass"))
        .collect();
    let message = lines.join("; ").replace(":; ", ": ");
    format!("{}; see `--help`", message.strip_prefix("error: ").unwrap_or(&message))
}

/// The text of a file, or of standard input for `-`, and the name to call it by in errors.
fn read_input(path: &Path) -> Result<(String, String), CliError> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().read_to_end(&mut bytes).map(|_| bytes);
        ("standard input".to_owned(), read)
    } else {
        (format!("`{}`", path.display()), std::fs::read(path))
    };
    let bytes = bytes.with_context(|| format!("failed to read {name}")).map_err(CliError::Input)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
            Err(CliError::input(format!("{name}: line {line} is not UTF-8 text; save the file as UTF-8")))
        }
    }
}

/// A file to read, `-` for standard input.
#[derive(Debug, clap::Args)]
struct InputFile {
    /// File to read; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    path: PathBuf,
}
