//! The order of the rows, and the columns that change it.

use std::cmp::Ordering;

use reasonscape_analysis::ScoreRow;
use serde::Serialize;

use crate::query_string::Query;

/// The columns other than those of tasks.
const KEYS: [&str; 7] = ["rank", "name", "score", "v2", "truncated", "tokens", "value"];

/// The column that rows are sorted by, and the direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortOrder<'q> {
    /// One of [`KEYS`], or `task:` with the name of a task.
    pub(super) key: &'q str,
    pub(super) is_ascending: bool,
}

impl<'q> SortOrder<'q> {
    /// Reads `sort` and `dir`; an unknown column means the rank.
    pub(super) fn from_query(query: &'q Query, tasks: &[String]) -> Self {
        let requested = query.get("sort").unwrap_or("rank");
        let is_task = requested.strip_prefix("task:").is_some_and(|task| tasks.iter().any(|t| t == task));
        let key = if KEYS.contains(&requested) || is_task { requested } else { "rank" };
        let is_ascending = match query.get("dir") {
            Some("asc") => true,
            Some("desc") => false,
            _ => ascends_first(key),
        };
        Self { key, is_ascending }
    }

    /// Sorts rows; those with equal values by rank and name.
    pub(super) fn sort(self, rows: &mut [&ScoreRow]) {
        rows.sort_by(|a, b| self.compare(a, b).then(a.rank.cmp(&b.rank)).then(a.label.cmp(&b.label)));
    }

    /// Rows by the column. Rows without a value come last in both directions.
    fn compare(self, a: &ScoreRow, b: &ScoreRow) -> Ordering {
        let number = |row: &ScoreRow| match self.key {
            "rank" => Some(row.rank as f64),
            "score" => Some(row.reason_score.estimate),
            "v2" => Some(row.score.center),
            "truncated" => row.truncation_rate,
            "tokens" => row.tokens_mean,
            "value" => row.reason_score_per_1k_tokens,
            task => row.tasks.get(task.strip_prefix("task:")?)?.accuracy.point,
        };
        let direct = |order: Ordering| if self.is_ascending { order } else { order.reverse() };
        if self.key == "name" {
            return direct(a.label.to_lowercase().cmp(&b.label.to_lowercase()));
        }
        match (number(a), number(b)) {
            (Some(a), Some(b)) => direct(a.total_cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    /// The heading of a column, which links to the page sorted by it.
    pub(super) fn column(self, base: &str, query: &Query, key: &str, name: &str, tooltip: &str) -> Column {
        let is_sorted = key == self.key;
        let ascends_next = if is_sorted { !self.is_ascending } else { ascends_first(key) };
        let direction = if ascends_next { "asc" } else { "desc" };
        let query = query.with("sort", Some(key)).with("dir", Some(direction));
        Column {
            key: key.to_owned(),
            name: name.to_owned(),
            tooltip: tooltip.to_owned(),
            href: format!("{base}/{query}"),
            sorted: is_sorted.then_some(if self.is_ascending { "ascending" } else { "descending" }),
            ascends_first: ascends_first(key),
        }
    }
}

/// A column that can be sorted by.
#[derive(Serialize)]
pub(super) struct Column {
    key: String,
    name: String,
    tooltip: String,
    href: String,
    /// `ascending` or `descending`, if the rows are sorted by it.
    sorted: Option<&'static str>,
    /// Whether the first click sorts in ascending order.
    ascends_first: bool,
}

/// Whether a column is sorted in ascending order by default.
fn ascends_first(key: &str) -> bool {
    matches!(key, "rank" | "name" | "truncated" | "tokens")
}
