//! `reasonscape cache`: statistics, verification, export, import and pruning of a study's response cache.

mod inspect;
mod prune;
mod transfer;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reasonscape_cache::{Cache, Reader};
use reasonscape_study::Study;

use super::Global;
use super::study::study_folder;
use crate::error::CliError;

/// Manage the response cache
///
/// The cache is the file `cache.sqlite` in the study directory. All results can be recomputed from it without sending a
/// request.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  reasonscape cache stats my-study\n  reasonscape cache export my-study -o part.jsonl\n  \
                  reasonscape cache prune my-study --model old-model --dry-run"
)]
pub(super) struct CacheCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the number and size of the entries by model, and what the cache has saved
    #[command(
        after_help = "Examples:\n  reasonscape cache stats my-study\n  reasonscape cache stats my-study --format json"
    )]
    Stats(CacheArgs),
    /// Check the database and every entry; exits with 1 if anything is damaged
    #[command(after_help = "Example:\n  reasonscape cache verify my-study")]
    Verify(CacheArgs),
    Export(transfer::Export),
    Import(transfer::Import),
    Prune(prune::Prune),
}

#[derive(Debug, clap::Args)]
struct CacheArgs {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
}

impl CacheCommand {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        match self.action {
            Action::Stats(study) => inspect::stats(&study, global),
            Action::Verify(study) => inspect::verify(&study, global),
            Action::Export(export) => export.run(global),
            Action::Import(import) => import.run(global),
            Action::Prune(prune) => prune.run(global),
        }
    }
}

impl CacheArgs {
    fn path(&self) -> Result<PathBuf, CliError> {
        Ok(study_folder(&self.study)?.join(Study::CACHE_FILE))
    }

    fn read(&self) -> Result<Reader, CliError> {
        Ok(Cache::open_read_only(self.path()?)?.reader()?)
    }

    fn open(&self) -> Result<Cache, CliError> {
        Ok(Cache::open(self.path()?)?)
    }

    /// Opens a cache that must exist.
    fn open_existing(&self) -> Result<Cache, CliError> {
        let path = self.path()?;
        Cache::open_read_only(&path)?;
        Ok(Cache::open(path)?)
    }
}

/// Prints progress every two seconds; quick work prints nothing.
pub(crate) struct CacheProgress {
    global: Global,
    verb: &'static str,
    total: Option<u64>,
    last_note: Instant,
}

impl CacheProgress {
    const NOTE_INTERVAL: Duration = Duration::from_secs(2);

    pub(crate) fn new(global: Global, verb: &'static str, total: Option<u64>) -> Self {
        Self { global, verb, total, last_note: Instant::now() }
    }

    pub(crate) fn update(&mut self, done: u64) {
        if self.last_note.elapsed() < Self::NOTE_INTERVAL {
            return;
        }
        self.last_note = Instant::now();
        match self.total {
            Some(total) => self.global.note(format_args!("{} {done} of {total} entries", self.verb)),
            None => self.global.note(format_args!("{} {done} entries", self.verb)),
        }
    }
}

/// `1 entry`, `2 entries`.
fn pluralize_entries(count: u64) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}
