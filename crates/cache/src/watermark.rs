//! Detects what was added to or removed from a cache since a given time.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::CacheError;
use crate::reader::{Reader, Record};

/// Records what [`Cache::prune`](crate::Cache::prune) removed, to distinguish a pruned cache from one that lost entries.
/// Older programs ignore the table; the first removal creates it.
pub(crate) const CREATE_REMOVALS: &str = "CREATE TABLE IF NOT EXISTS removals (
    last    INTEGER NOT NULL,  -- id of the last entry at that time
    entries INTEGER NOT NULL
) STRICT";

/// State of a cache at some time; an empty cache by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Watermark {
    /// Number of the last entry.
    pub(crate) last: i64,
    /// When its response was received.
    received_ms: i64,
    /// Number of entries.
    entries: u64,
}

impl Watermark {
    /// Number of entries.
    pub fn entries(&self) -> u64 {
        self.entries
    }
}

/// What changed since a watermark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheDiff {
    /// Entries were added, all of these models (an empty set if none were added). An entry with an unreadable model counts
    /// under the empty name.
    Added(BTreeSet<String>),
    /// Entries were removed or replaced.
    Unknown,
}

impl CacheDiff {
    /// Whether the responses of this model may have changed.
    pub fn affects(&self, model: &str) -> bool {
        match self {
            Self::Added(models) => models.contains(model) || models.contains(""),
            Self::Unknown => true,
        }
    }
}

impl Reader {
    /// The current watermark of the cache.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn watermark(&self) -> Result<Watermark, CacheError> {
        const SQL: &str = "SELECT id, received_ms FROM entries ORDER BY id DESC LIMIT 1";
        let last = self
            .connection
            .query_row(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(CacheError::from_sqlite(&self.path))?;
        let (last, received_ms) = last.unwrap_or((0, 0));
        Ok(Watermark { last, received_ms, entries: self.count()? })
    }

    /// Number of entries lost since the watermark: those that disappeared without being pruned.
    ///
    /// # Errors
    /// A [`CacheError`] if the file can't be read.
    pub fn lost_since(&self, watermark: &Watermark) -> Result<u64, CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let sum = |sql: &str| {
            self.connection
                .query_row(sql, [watermark.last], |row| row.get::<_, u64>(0))
                .map_err(to_cache_error)
        };
        let has_removals = self
            .connection
            .prepare("SELECT 1 FROM sqlite_schema WHERE name = 'removals'")
            .and_then(|mut statement| statement.exists([]))
            .map_err(to_cache_error)?;
        let pruned = if has_removals {
            sum("SELECT coalesce(sum(entries), 0) FROM removals WHERE last >= ?1")?
        } else {
            0
        };
        let kept = sum("SELECT count(*) FROM entries WHERE id <= ?1")?;
        Ok(watermark.entries.saturating_sub(kept + pruned))
    }

    /// What changed since a watermark. Reads only new entries.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn changes_since(&self, watermark: &Watermark) -> Result<CacheDiff, CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let now = self.watermark()?;
        if now == *watermark {
            return Ok(CacheDiff::Added(BTreeSet::new()));
        }
        let at_watermark: Option<i64> = self
            .connection
            .query_row("SELECT received_ms FROM entries WHERE id = ?1", [watermark.last], |row| row.get(0))
            .optional()
            .map_err(to_cache_error)?;
        if watermark.entries > 0 && at_watermark != Some(watermark.received_ms) {
            return Ok(CacheDiff::Unknown);
        }
        let mut statement =
            self.connection.prepare_cached("SELECT * FROM entries WHERE id > ?1").map_err(to_cache_error)?;
        let mut rows = statement.query(params![watermark.last]).map_err(to_cache_error)?;
        let mut models = BTreeSet::new();
        let mut added = 0;
        while let Some(row) = rows.next().map_err(to_cache_error)? {
            models.insert(Record::from_row(row).map_err(to_cache_error)?.model().unwrap_or_default());
            added += 1;
        }
        let none_went = watermark.entries + added == now.entries;
        Ok(if none_went { CacheDiff::Added(models) } else { CacheDiff::Unknown })
    }
}
