//! What has come into a cache since somebody looked.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::CacheError;
use crate::reader::{Reader, Record};

/// How far a cache had come at some time; an empty one, by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Mark {
    /// The last entry.
    last: i64,
    /// When its response came.
    received_ms: i64,
    /// How many entries there were.
    entries: u64,
}

/// What is different from a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// Entries came, all of them of these models; none, if nothing came. An entry whose model cannot be told is of the
    /// model that has no name.
    Added(BTreeSet<String>),
    /// Entries went, or others have taken their places.
    Unknown,
}

impl Changes {
    /// Whether the answers of this model may be others than they were.
    pub fn concern(&self, model: &str) -> bool {
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
    pub fn mark(&self) -> Result<Mark, CacheError> {
        const SQL: &str = "SELECT id, received_ms FROM entries ORDER BY id DESC LIMIT 1";
        let last = self
            .connection
            .query_row(SQL, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
            .map_err(CacheError::at(&self.path))?;
        let (last, received_ms) = last.unwrap_or((0, 0));
        Ok(Mark { last, received_ms, entries: self.count()? })
    }

    /// What has come since a mark. Reads only what is new.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn changes_since(&self, mark: &Mark) -> Result<Changes, CacheError> {
        let said = CacheError::at(&self.path);
        let now = self.mark()?;
        if now == *mark {
            return Ok(Changes::Added(BTreeSet::new()));
        }
        let at_mark: Option<i64> = self
            .connection
            .query_row("SELECT received_ms FROM entries WHERE id = ?1", [mark.last], |row| row.get(0))
            .optional()
            .map_err(said)?;
        if mark.entries > 0 && at_mark != Some(mark.received_ms) {
            return Ok(Changes::Unknown);
        }
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, key, namespace, repeat, status, latency_ms, received_ms, bytes, exchange
                 FROM entries WHERE id > ?1",
            )
            .map_err(said)?;
        let mut rows = statement.query(params![mark.last]).map_err(said)?;
        let mut models = BTreeSet::new();
        let mut added = 0;
        while let Some(row) = rows.next().map_err(said)? {
            let record = Record::of(row).map_err(said)?;
            models.insert(record.entry().ok().and_then(|entry| entry.model()).unwrap_or_default());
            added += 1;
        }
        let none_went = mark.entries + added == now.entries;
        Ok(if none_went { Changes::Added(models) } else { Changes::Unknown })
    }
}
