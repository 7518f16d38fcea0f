//! `reasonscape generate`: prints problems of a task.

use std::io::Write;

use reasonscape_core::{Json, Params, TestStream};
use serde::Serialize;

use super::Global;
use super::tasks::find;
use crate::error::CliError;

/// Generate problems of a task as JSON Lines
///
/// The same task, parameters and seed give the same problems on any machine, and a larger count starts with the same
/// problems. Missing parameters take their defaults.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    reasonscape generate arithmetic --params '{\"length\": 16, \"max_depth\": 3}' --count 4")]
pub(super) struct Generate {
    /// Task, one of those listed by `reasonscape tasks`: `sort` is its newest version, `sort@1` the first.
    task: String,
    /// Parameters of the point, as a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    params: String,
    /// Number of problems.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    count: usize,
    /// Global seed; another seed gives other problems.
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true)]
    seed: i64,
}

/// One line of output.
#[derive(Debug, Serialize)]
struct Line<'a> {
    index: usize,
    prompt: &'a str,
    target: &'a str,
    options: &'a [String],
    guess: f64,
}

impl Generate {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let task = find(&self.task)?;
        let given = Json::parse(&self.params)
            .map_err(|error| CliError::input(format!("invalid JSON in `--params`: {error}")))?;
        let params = Params::new(task, &given).map_err(CliError::input)?;
        let mut stdout = std::io::BufWriter::with_capacity(1 << 16, crate::output::stdout());
        let mut problems = 0;
        for (index, test) in TestStream::new(task, &params, self.seed).take(self.count).enumerate() {
            let line = Line {
                index,
                prompt: &test.prompt,
                target: &test.target,
                options: &test.options,
                guess: test.guess(),
            };
            serde_json::to_writer(&mut stdout, &line).map_err(std::io::Error::from)?;
            stdout.write_all(b"\n")?;
            problems += 1;
        }
        stdout.flush()?;
        if problems < self.count {
            global.note(format_args!(
                "these parameters have only {problems} different problems, fewer than the {} requested",
                self.count
            ));
        }
        Ok(())
    }
}
