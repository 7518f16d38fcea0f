//! Versions, hashes, dates, counts and settings that are needed to reproduce the numbers.

use std::collections::BTreeSet;

use reasonscape_points::UnitProvenance;

use super::Block;
use crate::Leaderboard;
use crate::tables::{Cell, Table, utc};

pub(super) fn provenance(sources: &[UnitProvenance], board: &Leaderboard) -> Vec<Block> {
    let distinct = |value: &dyn Fn(&UnitProvenance) -> String| -> String {
        let values: BTreeSet<String> = sources.iter().map(value).filter(|value| !value.is_empty()).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    let mut statements = vec![
        format!("Report by reasonscape {}.", env!("CARGO_PKG_VERSION")),
        format!("Trials scored by reasonscape {}.", distinct(&|source| source.provenance.program.clone())),
    ];
    let suites = distinct(&|source| {
        let (suite, hash) = (&source.provenance.suite, &source.provenance.suite_hash);
        if suite.is_empty() { String::new() } else { format!("{suite} ({hash})") }
    });
    if !suites.is_empty() {
        statements.push(format!("Suite (hash of its points): {suites}."));
        statements.push(format!("Seed: {}.", distinct(&|source| source.provenance.seed.to_string())));
        let tasks = distinct(&|source| format!("{}@{}", source.task, source.provenance.task_version));
        statements.push(format!("Task versions: {tasks}."));
    }
    if let Some([first, last]) = evaluated_range(sources) {
        statements.push(format!("Evaluated from {} to {} (UTC).", date(first), date(last)));
    }
    let mut table =
        Table::new(&["id", "name", "model", "template", "sampler", "groups", "trials", "truncated"]);
    for row in &board.rows {
        let sum = |value: fn(&crate::TaskScore) -> u64| {
            Cell::Number(row.tasks.values().map(value).sum::<u64>() as f64, 0)
        };
        table.push(vec![
            Cell::text(&row.eval.eval_id),
            Cell::text(&row.eval.name),
            Cell::text(&row.eval.model),
            Cell::text(&row.eval.template),
            Cell::text(&row.eval.sampler),
            Cell::text(row.eval.groups.join(" ")),
            sum(|task| task.n),
            if row.truncation_known { sum(|task| task.n_t) } else { Cell::unknown() },
        ]);
    }
    vec![Block::List(statements), Block::Table(table)]
}

/// When the study was evaluated, for the line below the title.
pub(super) fn evaluated_note(sources: &[UnitProvenance]) -> String {
    evaluated_range(sources).map_or_else(String::new, |[_, last]| format!(", as of {}", date(last)))
}

/// The earliest and the latest evaluation, in milliseconds since 1970.
fn evaluated_range(sources: &[UnitProvenance]) -> Option<[i64; 2]> {
    let times = sources.iter().map(|source| source.provenance.evaluated_ms).filter(|time| *time > 0);
    Some([times.clone().min()?, times.max()?])
}

/// A day in UTC.
fn date(ms: i64) -> String {
    utc(ms).chars().take_while(|digit| *digit != 'T').collect()
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_match_python() {
        let days = [-1, 0, 58, 59, 60, 10_956, 11_016, 11_017, 19_782, 20_773, 47_540];
        let script = "import datetime, sys\nfor day in sys.stdin.read().split(): \
                      print(datetime.date(1970, 1, 1) + datetime.timedelta(int(day)))";
        let given: Vec<String> = days.iter().map(ToString::to_string).collect();
        let Some(expected) = reasonscape_test_support::python(script, &given.join(" ")) else { return };
        let ours: Vec<String> = days.iter().map(|day| date(day * 86_400_000 + 5)).collect();
        assert_eq!(ours, expected.lines().collect::<Vec<_>>());
    }
}
