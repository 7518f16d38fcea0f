//! `reasonscape key`: the cache key of a JSON document.

use reasonscape_core::{Json, Params, base_seed, cache_key, canonical_json};
use serde_json::json;

use super::tasks::find;
use super::{Global, InputFile, read_input};
use crate::error::CliError;
use crate::output::{Format, print, print_text};
use reasonscape_analysis::tables::{Cell, Table};

/// Print the cache key of a JSON document
///
/// The key is the SHA-256 of the document as written by Python's `json.dumps(x, sort_keys=True)`, so white space and the
/// order of keys don't matter. `--format json` adds the seed of these parameters and the hashed text. With `--task`, missing
/// parameters take the defaults of the task first, as for a point of a suite.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  echo '{\"length\": 16, \"depth\": 3}' | reasonscape key -\n  \
    echo '{\"length\": 16}' | reasonscape key - --task arithmetic")]
pub(super) struct Key {
    #[command(flatten)]
    input: InputFile,
    /// Complete the parameters with the defaults of this task, and show the seed of its problems.
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
}

impl Key {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let (name, text) = read_input(&self.input.path)?;
        let value = Json::parse(&text)
            .map_err(|error| CliError::input(format!("invalid JSON in {name}: {error}")))?;
        if let Some(task) = &self.task {
            let params = Params::new(find(task)?, &value).map_err(CliError::input)?.to_json();
            let (hashed, key, seed) = (canonical_json(&params), cache_key(&params), base_seed(&params));
            let mut table = Table::new(&["task", "base_seed", "key", "hashed"]);
            table.push(vec![
                Cell::text(task),
                Cell::text(seed.to_string()),
                Cell::text(&key),
                Cell::text(&hashed),
            ]);
            let json = json!({ "task": task, "key": key, "base_seed": seed, "hashed": hashed });
            return print(global, &table, &json);
        }
        let (hashed, key, seed) = (canonical_json(&value), cache_key(&value), base_seed(&value));
        if global.format == Format::Table {
            print_text(&format!("{key}\n"))?;
            global.note(format_args!("SHA-256 of `{}`", shorten(&hashed)));
            return Ok(());
        }
        let mut table = Table::new(&["key", "base_seed", "hashed"]);
        table.push(vec![Cell::text(&key), Cell::text(seed.to_string()), Cell::text(&hashed)]);
        print(global, &table, &json!({ "key": key, "base_seed": seed, "hashed": hashed }))
    }
}

/// Shortens a long text.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
