//! `cache prune`: removes entries.

use std::time::{SystemTime, UNIX_EPOCH};

use reasonscape_cache::EntryFilter;
use serde_json::json;

use super::inspect::{totals_cells, with_totals};
use super::{CacheArgs, pluralize_entries};
use crate::Global;
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Remove entries that match all given conditions, and free their disk space
///
/// The next run that needs a removed entry sends its request again, and pays for it again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape cache prune my-study --older-than 90 --dry-run\n  reasonscape cache prune my-study --damaged"
)]
#[command(group = clap::ArgGroup::new("condition").required(true).multiple(true))]
pub(super) struct Prune {
    #[command(flatten)]
    study: CacheArgs,
    /// Entries received more than this many days ago.
    #[arg(long, value_name = "DAYS", group = "condition")]
    older_than: Option<u32>,
    /// Entries of this model.
    #[arg(long, value_name = "NAME", group = "condition")]
    model: Option<String>,
    /// Entries of this namespace; `''` for evals without one.
    #[arg(long, value_name = "NAME", group = "condition")]
    namespace: Option<String>,
    /// Damaged entries, as reported by `cache verify`.
    #[arg(long, group = "condition")]
    damaged: bool,
    /// Show what would be removed, without removing it.
    #[arg(long)]
    dry_run: bool,
}

impl Prune {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let selection = EntryFilter {
            before_ms: self.older_than.map(days_ago_ms),
            model: self.model,
            namespace: self.namespace,
            damaged: self.damaged,
        };
        let totals = if self.dry_run {
            let totals = self.study.read()?.select(&selection)?;
            global.note(format_args!("would remove {}", pluralize_entries(totals.entries)));
            totals
        } else {
            let cache = self.study.open_existing()?;
            let totals = cache.prune(&selection)?;
            global.note(format_args!("removed {}", pluralize_entries(totals.entries)));
            if totals.entries > 0 {
                let file_bytes = cache.compact()?;
                global.note(format_args!("file size: {file_bytes} bytes"));
            }
            totals
        };
        let mut table = Table::new(&["removed", "entries", "bytes", "stored_bytes", "oldest", "newest"]);
        let mut row = vec![Cell::text(if self.dry_run { "no" } else { "yes" })];
        row.extend(totals_cells(&totals));
        table.push(row);
        print(global, &table, &with_totals(json!({ "removed": !self.dry_run }), &totals))
    }
}

fn days_ago_ms(days: u32) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    now - i64::from(days) * 86_400_000
}
