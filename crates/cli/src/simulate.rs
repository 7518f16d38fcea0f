//! `reasonscape simulate`: an OpenAI-compatible server with known skill and known faults.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use crate::signals::Interrupts;
use reasonscape_core::Dataset;
use reasonscape_simulator::{Faults, ServerStats, SimulateError, SimulateOptions, SimulatedServer};

use super::dataset::DatasetFormat;
use super::{Global, suite};
use crate::error::CliError;
use crate::output::print_text;

/// Problems per point of the quick suite, which has few points.
const QUICK_COUNT: usize = 128;

/// Serve simulated models with known accuracy and faults, for testing
///
/// Supports the OpenAI chat and text completions APIs and the Anthropic messages API. Models: sim-strong, sim-cheap,
/// sim-truncating, sim-guessing, sim-specialist, and e.g. sim-p0.85 or sim-p0.85-t0.1 for any probability of knowing an
/// answer and of being truncated. `GET /stats` returns request counts, `POST /stats/reset` resets them.
///
/// Prints the base URL to standard output once the server is ready, and serves until Ctrl-C (exit code 0).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape simulate\n  reasonscape simulate --dataset questions.jsonl --port 0\n  \
                  reasonscape simulate --faults 'rate=0.3,kinds=429+500+reset'"
)]
pub(super) struct Simulate {
    /// Address to listen on; the default only accepts connections from this machine.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    host: IpAddr,
    /// Port to listen on; 0 for a free port.
    #[arg(long, default_value_t = 8089, value_name = "N")]
    port: u16,
    /// Suite that the models can answer, in all versions unless it names one: built-in, or path of a TOML file (repeatable).
    #[arg(long, default_values_t = ["quick".to_owned(), "r12".to_owned()], value_name = "NAME")]
    suite: Vec<String>,
    /// Dataset, a file or a folder, that the models can answer too (repeatable).
    #[arg(long, value_name = "FILE")]
    dataset: Vec<PathBuf>,
    #[command(flatten)]
    format: DatasetFormat,
    /// Problems per point that the models can answer [default: 128 for `quick`, otherwise the count of the suite].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: Option<u32>,
    /// Random seed of the models; another seed gives the same accuracy on other problems.
    #[arg(long, default_value_t = 0, value_name = "S")]
    seed: u64,
    /// Faults to simulate, e.g. `rate=0.3,kinds=429+500+reset`.
    ///
    /// Kinds: 429, 500, 503, slow, stall, reset, half, invalid-json, wrong-type, empty, no-usage, overflow. Also
    /// `retry-after=SECONDS`, `slow-ms=N` and `seed=S`. By default, all kinds at rate 1.
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
    /// Environment variable with the API key to require.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Server threads.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

impl Simulate {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let faults = match &self.faults {
            None => Faults::default(),
            Some(text) => {
                text.parse().map_err(|error| CliError::input(format!("invalid `--faults`: {error}")))?
            }
        };
        let api_key = self.api_key_env.as_deref().map(api_key).transpose()?;
        let mut suites = Vec::new();
        for name in &self.suite {
            suites.extend(suite::load_versions(name)?);
        }
        for path in &self.dataset {
            suites.push(
                Dataset::new(
                    &reasonscape_ingest::dataset_reader::dataset_name(path),
                    self.format.items(path, global)?,
                )
                .suite(),
            );
        }
        for manifold in suites.iter_mut().filter(|suite| suite.name == "quick").flat_map(|s| &mut s.manifolds)
        {
            manifold.count = manifold.count.max(QUICK_COUNT);
        }
        let server = SimulatedServer::start(SimulateOptions {
            host: self.host,
            port: self.port,
            suites,
            count: self.count.map(|count| count as usize),
            seed: self.seed,
            faults,
            api_key,
            threads: self.threads.into(),
        })
        .map_err(|error| match error {
            SimulateError::Listen { .. } => CliError::Input(error.into()),
            _ => CliError::Internal(error.into()),
        })?;
        let url = server.base_url();
        server.serve_until(async {
            // Listens before the URL is printed, so that a caller who waits for it can send a signal.
            let mut interrupts = Interrupts::listen();
            let questions = server.question_count();
            global.note(format_args!("listening on {url} with {questions} problems; press Ctrl-C to stop"));
            print_text(&format!("{url}\n"))?;
            interrupts.next().await;
            Ok::<_, CliError>(())
        })?;
        global.note(exit_summary(&server.stats()));
        Ok(())
    }
}

fn api_key(name: &str) -> Result<String, CliError> {
    match std::env::var(name) {
        Ok(key) if !key.is_empty() => Ok(key),
        Ok(_) => {
            Err(CliError::input(format!("the environment variable `{name}` is empty; set it to the API key")))
        }
        Err(_) => Err(CliError::input(format!(
            "the environment variable `{name}` is not set, or not UTF-8; set it to the API key"
        ))),
    }
}

fn exit_summary(stats: &ServerStats) -> String {
    let faults: u64 = stats.by_fault.values().sum();
    format!(
        "{} requests, {} answered, {} duplicates, {faults} faults",
        stats.requests, stats.answered, stats.duplicates
    )
}
