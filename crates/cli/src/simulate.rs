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

/// Tests a point of the quick suite, which has so few points that more cost nothing.
const QUICK_COUNT: usize = 128;

/// Serve simulated models of known skill, with known faults
///
/// Speaks OpenAI chat and text completions and Anthropic messages. Models: sim-strong, sim-cheap, sim-truncating,
/// sim-guessing, sim-specialist, and the family sim-p0.85 and sim-p0.85-t0.1 for any probability of knowing an answer
/// and of being truncated. `GET /stats` counts what was asked, `POST /stats/reset` starts over.
///
/// Prints the base URL on standard output once it listens, and serves until Ctrl-C, which is no failure: exit code 0.
#[derive(Debug, clap::Args)]
pub(super) struct Simulate {
    /// Address to listen on; other machines get in only when this is changed.
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    host: IpAddr,
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 8089, value_name = "N")]
    port: u16,
    /// Suite whose questions the models can know, built in or the path of a TOML file; repeatable.
    #[arg(long, default_values_t = ["quick".to_owned(), "r12".to_owned()], value_name = "NAME")]
    suite: Vec<String>,
    /// Dataset whose questions the models can know too; repeatable.
    #[arg(long, value_name = "FILE")]
    dataset: Vec<PathBuf>,
    #[command(flatten)]
    format: DatasetFormat,
    /// Tests a point that the models can know; without it 128 for `quick`, else what the suite says.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: Option<u32>,
    /// Seed of the models: another one gives the same skill and other known answers.
    #[arg(long, default_value_t = 0, value_name = "S")]
    seed: u64,
    /// Faults, as in `rate=0.3,kinds=429+500+reset`.
    ///
    /// Kinds: 429, 500, 503, slow, stall, reset, half, invalid-json, wrong-type, empty, no-usage, overflow. Also
    /// `retry-after=SECONDS`, `slow-ms=N` and `seed=S`. Without `kinds` all of them, without `rate` always.
    #[arg(long, value_name = "FAULTS")]
    faults: Option<String>,
    /// Environment variable that holds the API key which requests must bring.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Threads that serve.
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

impl Simulate {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let faults = match &self.faults {
            None => Faults::default(),
            Some(text) => text.parse().map_err(|error| CliError::input(format!("--faults: {error}")))?,
        };
        let api_key = self.api_key_env.as_deref().map(api_key).transpose()?;
        let mut suites = self.suite.iter().map(|name| suite::load(name)).collect::<Result<Vec<_>, _>>()?;
        for path in &self.dataset {
            suites.push(
                Dataset::new(
                    &reasonscape_ingest::dataset_reader::dataset_name(path),
                    self.format.items(path)?,
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
            // Listens before the address is printed, so that no signal of a caller who waits for it is lost.
            let mut interrupts = Interrupts::listen();
            let questions = server.question_count();
            global.note(format_args!("listening on {url} with {questions} questions; Ctrl-C stops"));
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
            Err(CliError::input(format!("the environment variable `{name}` is empty; put the API key there")))
        }
        Err(_) => Err(CliError::input(format!(
            "the environment variable `{name}` is not set or not text; put the API key there"
        ))),
    }
}

fn exit_summary(stats: &ServerStats) -> String {
    let faults: u64 = stats.by_fault.values().sum();
    format!(
        "{} requests, {} answered, {} sent again after an answer, {faults} faults",
        stats.requests, stats.answered, stats.duplicates
    )
}
