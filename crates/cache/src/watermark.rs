//! What has come into a cache since somebody looked.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::CacheError;
use crate::reader::{Reader, Record};

/// How far a cache had come at some time; an empty one, by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Watermark {
    /// The last entry.
    pub(crate) last: i64,
    /// When its response came.
    received_ms: i64,
    /// How many entries there were.
    entries: u64,
}

impl Watermark {
    /// How many entries there were.
    pub fn entries(&self) -> u64 {
        self.entries
    }
}

/// What is different from a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheDiff {
    /// Entries came, all of them of these models; none, if nothing came. An entry whose model cannot be told is of the
    /// model that has no name.
    Added(BTreeSet<String>),
    /// Entries went, or others have taken their places.
    Unknown,
}

impl CacheDiff {
    /// Whether the answers of this model may be others than they were.
    pub fn affects(&self, model: &str) -> bool {
        match self {
            Self::Added(models) => models.contains(model) || models.contains(""),
            Self::Unknown => true,
        }
    }
}

impl Reader {
    /// How far the cache has come.
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

    /// What has come since a mark. Reads only what is new.
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
