//! `cache stats` and `cache verify`: looking, changing nothing.

use reasonscape_analysis::tables::utc;
use reasonscape_cache::EntryTotals;
use serde_json::{Value, json};

use super::{CacheArgs, Progress, entries};
use crate::Global;
use crate::error::CliError;
use crate::output::print;
use reasonscape_analysis::tables::{Cell, Table};

/// Damaged entries that are named to a person; programs get all of them.
const NAMED: usize = 20;

const NO_MODEL: &str = "(no model)";

pub(super) fn stats(study: &CacheArgs, global: Global) -> Result<(), CliError> {
    let reader = study.read()?;
    let mut progress = Progress::new(global, "counted", Some(reader.count()?));
    let stats = reader.stats(|done| progress.at(done))?;

    let mut table = Table::new(&["model", "entries", "bytes", "stored_bytes", "oldest", "newest"]);
    let models = stats.models.iter().map(|(model, tally)| (model.as_deref().unwrap_or(NO_MODEL), tally));
    for (model, tally) in models.chain([("all", &stats.total)]) {
        let mut row = vec![Cell::text(model)];
        row.extend(cells(tally));
        table.push(row);
    }
    let models: Vec<Value> =
        stats.models.iter().map(|(model, tally)| with(json!({ "model": model }), tally)).collect();
    let json = with(json!({ "file_bytes": stats.file_bytes, "models": models }), &stats.total);
    global.caption(format_args!("the file has {} bytes", stats.file_bytes));
    print(global.format, &table, &json)
}

/// The columns `entries`, `bytes`, `stored_bytes`, `oldest` and `newest`; to the day, so that they fit 80 columns.
pub(super) fn cells(tally: &EntryTotals) -> [Cell; 5] {
    let day = |ms: Option<i64>| {
        ms.map(utc).and_then(|moment| Some(Cell::text(moment.split_once('T')?.0))).unwrap_or(Cell::Missing)
    };
    [
        Cell::Number(tally.entries as f64, 0),
        Cell::Number(tally.bytes as f64, 0),
        Cell::Number(tally.stored_bytes as f64, 0),
        day(tally.oldest_ms),
        day(tally.newest_ms),
    ]
}

/// The same five as members of an object, to the second.
pub(super) fn with(mut json: Value, tally: &EntryTotals) -> Value {
    json["entries"] = tally.entries.into();
    json["bytes"] = tally.bytes.into();
    json["stored_bytes"] = tally.stored_bytes.into();
    json["oldest"] = tally.oldest_ms.map(utc).into();
    json["newest"] = tally.newest_ms.map(utc).into();
    json
}

pub(super) fn verify(study: &CacheArgs, global: Global) -> Result<(), CliError> {
    let reader = study.read()?;
    let mut progress = Progress::new(global, "verified", reader.count().ok());
    let found = reader.verify(|done| progress.at(done))?;

    let count = found.damaged.len();
    let mut table = Table::new(&["entries", "damaged", "database"]);
    table.push(vec![
        Cell::Number(found.entries as f64, 0),
        Cell::Number(count as f64, 0),
        Cell::text(if found.structure.is_empty() { "sound" } else { "damaged" }),
    ]);
    let damaged: Vec<Value> = found
        .damaged
        .iter()
        .map(|damage| json!({ "entry": damage.entry, "problem": damage.problem }))
        .collect();
    print(
        global.format,
        &table,
        &json!({ "entries": found.entries, "damaged": damaged, "database": found.structure }),
    )?;
    for damage in found.damaged.iter().take(NAMED) {
        global.caption(format_args!("entry {}: {}", damage.entry, damage.problem));
    }
    if count > NAMED {
        global.caption(format_args!("and {}; `--format json` names all", entries((count - NAMED) as u64)));
    }
    for problem in &found.structure {
        global.caption(format_args!("database: {problem}"));
    }
    if !found.structure.is_empty() {
        return Err(CliError::Internal(anyhow::anyhow!(
            "the database is damaged; put a backup in its place, or save what can be read with `sqlite3`'s `.recover`"
        )));
    }
    if count > 0 {
        return Err(CliError::Internal(anyhow::anyhow!(
            "{} of {} damaged; `reasonscape cache prune {} --damaged` removes such entries, and the next run asks \
             for them again",
            count,
            entries(found.entries),
            study.study.display()
        )));
    }
    Ok(())
}
