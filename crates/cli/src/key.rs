//! `reasonscape key`: what a JSON document is known by.

use reasonscape_core::{Json, base_seed, cache_key};
use serde_json::json;

use super::{Global, InputFile, read_input};
use crate::error::CliError;
use crate::output::{Format, print, print_text};
use reasonscape_analysis::tables::{Cell, Table};

/// Print the cache key of a JSON document
///
/// The key is the SHA-256 of the document as Python's `json.dumps(x, sort_keys=True)` writes it, so white space and
/// the order of keys do not matter. With another format than `table`, the seed that these coordinates give is shown
/// too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  echo '{\"length\": 16, \"depth\": 3}' | reasonscape key -")]
pub(super) struct Key {
    #[command(flatten)]
    input: InputFile,
}

impl Key {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let (name, text) = read_input(&self.input.path)?;
        let value =
            Json::parse(&text).map_err(|error| CliError::input(format!("{name} is not JSON: {error}")))?;
        let (key, seed) = (cache_key(&value), base_seed(&value));
        if global.format == Format::Table {
            return print_text(&format!("{key}\n"));
        }
        let mut table = Table::new(&["key", "base_seed"]);
        table.push(vec![Cell::text(&key), Cell::text(seed.to_string())]);
        print(global.format, &table, &json!({ "key": key, "base_seed": seed }))
    }
}
