//! `cache stats` and `cache verify`.

use reasonscape_analysis::tables::utc;
use reasonscape_cache::{EntryTotals, Savings};
use serde_json::{Value, json};

use super::{CacheArgs, CacheProgress, pluralize_entries};
use crate::Global;
use crate::error::CliError;
use crate::output::print;
use crate::run::thousands;
use reasonscape_analysis::tables::{Cell, Table};

/// Damaged entries that are listed below the table; JSON has all of them.
const MAX_NAMED: usize = 20;

const NO_MODEL: &str = "(no model)";

pub(super) fn stats(study: &CacheArgs, global: Global) -> Result<(), CliError> {
    let reader = study.read()?;
    let mut progress = CacheProgress::new(global, "counted", Some(reader.count()?));
    let stats = reader.stats(|done| progress.update(done))?;

    let mut table = Table::new(&["model", "entries", "bytes", "stored_bytes", "oldest", "newest"]);
    let models = stats.models.iter().map(|(model, totals)| (model.as_deref().unwrap_or(NO_MODEL), totals));
    for (model, totals) in models.chain([("all", &stats.total)]) {
        let mut row = vec![Cell::text(model)];
        row.extend(totals_cells(totals));
        table.push(row);
    }
    let models: Vec<Value> =
        stats.models.iter().map(|(model, totals)| with_totals(json!({ "model": model }), totals)).collect();
    let mut saved = Savings::default();
    reader.savings()?.iter().for_each(|(_, of_eval)| saved.add(of_eval));
    let json = json!({
        "file_bytes": stats.file_bytes,
        "models": models,
        "saved_requests": saved.requests,
        "saved_prompt_tokens": saved.prompt_tokens,
        "saved_completion_tokens": saved.completion_tokens,
        "saved_cost": saved.cost,
    });
    let json = with_totals(json, &stats.total);
    if saved.requests > 0 {
        let cost = saved.cost.map_or_else(String::new, |cost| format!(", cost {cost:.2}"));
        global.caption(format_args!(
            "saved over all runs: {} requests, {} tokens{cost}",
            thousands(saved.requests),
            thousands(saved.tokens()),
        ));
    }
    global.caption(format_args!("file size: {} bytes", stats.file_bytes));
    print(global, &table, &json)
}

/// The columns `entries`, `bytes`, `stored_bytes`, `oldest` and `newest`; to the day, so that they fit 80 columns.
pub(super) fn totals_cells(totals: &EntryTotals) -> [Cell; 5] {
    let day = |ms: Option<i64>| {
        ms.map(utc).and_then(|moment| Some(Cell::text(moment.split_once('T')?.0))).unwrap_or(Cell::Missing)
    };
    [
        Cell::Number(totals.entries as f64, 0),
        Cell::Number(totals.bytes as f64, 0),
        Cell::Number(totals.stored_bytes as f64, 0),
        day(totals.oldest_ms),
        day(totals.newest_ms),
    ]
}

/// The same five as keys of an object, with seconds.
pub(super) fn with_totals(mut json: Value, totals: &EntryTotals) -> Value {
    json["entries"] = totals.entries.into();
    json["bytes"] = totals.bytes.into();
    json["stored_bytes"] = totals.stored_bytes.into();
    json["oldest"] = totals.oldest_ms.map(utc).into();
    json["newest"] = totals.newest_ms.map(utc).into();
    json
}

pub(super) fn verify(study: &CacheArgs, global: Global) -> Result<(), CliError> {
    let reader = study.read()?;
    let mut progress = CacheProgress::new(global, "verified", reader.count().ok());
    let found = reader.verify(|done| progress.update(done))?;

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
        global,
        &table,
        &json!({ "entries": found.entries, "damaged": damaged, "database": found.structure }),
    )?;
    for damage in found.damaged.iter().take(MAX_NAMED) {
        global.caption(format_args!("entry {}: {}", damage.entry, damage.problem));
    }
    if count > MAX_NAMED {
        global.caption(format_args!("and {} more; `--format json` lists all", count - MAX_NAMED));
    }
    for problem in &found.structure {
        global.caption(format_args!("database: {problem}"));
    }
    if !found.structure.is_empty() {
        return Err(CliError::Internal(anyhow::anyhow!(
            "the database is damaged; restore a backup, or recover what is readable with `.recover` of `sqlite3`"
        )));
    }
    if count > 0 {
        return Err(CliError::Internal(anyhow::anyhow!(
            "{} of {} damaged; `reasonscape cache prune {} --damaged` removes them, and the next run sends their requests \
             again",
            count,
            pluralize_entries(found.entries),
            study.study.display()
        )));
    }
    Ok(())
}
