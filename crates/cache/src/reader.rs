//! Looks up entries.

use std::path::Path;
use std::sync::Arc;

use reasonscape_core::{CacheKey, EntryId};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::codec::{Decoded, decode};
use crate::database::Columns;
use crate::entry::{Entry, Response, TokenUsage, model_in_request};
use crate::error::CacheError;

/// A read connection. Each thread has its own: it can be sent to another thread but not shared.
#[derive(Debug)]
pub struct Reader {
    pub(crate) connection: Connection,
    pub(crate) path: Arc<Path>,
    /// Whether the file has marks and records models, which format 1 doesn't.
    pub(crate) has_marks: bool,
    /// Which later columns the file has.
    pub(crate) columns: Columns,
}

/// A cached response.
#[derive(Debug)]
pub struct Found {
    /// Unique number of its entry.
    pub entry: i64,
    /// Whether the mark of its point was written before it.
    pub marked: bool,
    /// The response, or [`CacheError::DamagedEntry`].
    pub response: Result<Response, CacheError>,
}

/// The tokens of a cached response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundUsage {
    /// Unique number of its entry.
    pub entry: i64,
    /// The tokens; `None` if they were not recorded, or the provider reported none.
    pub usage: Option<TokenUsage>,
}

/// A consistent snapshot of a [`Reader`].
#[derive(Debug)]
pub struct Snapshot<'r> {
    _transaction: Transaction<'r>,
}

/// Entries read per statement; the write-ahead log can be checkpointed in between.
const CHUNK: i64 = 1_000;

impl Reader {
    /// Whether the cache holds a response with this id.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn contains(&self, id: &EntryId) -> Result<bool, CacheError> {
        contains(&self.connection, id).map_err(CacheError::from_sqlite(&self.path))
    }

    /// Which of these ids have a response, in one consistent snapshot. One transaction for all is cheaper than one per id.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn contains_each<'i>(
        &self,
        ids: impl IntoIterator<Item = &'i EntryId>,
    ) -> Result<Vec<bool>, CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let transaction = self.connection.unchecked_transaction().map_err(to_cache_error)?;
        let contained: rusqlite::Result<Vec<bool>> =
            ids.into_iter().map(|id| contains(&transaction, id)).collect();
        let contained = contained.map_err(to_cache_error)?;
        transaction.commit().map_err(to_cache_error)?;
        Ok(contained)
    }

    /// The response with this id, if any. The request is not returned, because the caller computed its key from it.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read or the entry is damaged.
    pub fn get(&self, id: &EntryId) -> Result<Option<Response>, CacheError> {
        self.find(id)?.map(|found| found.response).transpose()
    }

    /// Reads from one consistent snapshot until it is dropped, which saves a file lock per lookup. For short use only: the
    /// write-ahead log can't be checkpointed meanwhile.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, CacheError> {
        let transaction = self.connection.unchecked_transaction();
        Ok(Snapshot { _transaction: transaction.map_err(CacheError::from_sqlite(&self.path))? })
    }

    /// The parts of an entry that scoring needs.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read. A damaged entry is not an error.
    pub fn find(&self, id: &EntryId) -> Result<Option<Found>, CacheError> {
        const SQL: &str =
            "SELECT id, status, latency_ms, received_ms, bytes, exchange, marked, latency_us FROM entries
            WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        const SQL_WITHOUT_MICROSECONDS: &str =
            "SELECT id, status, latency_ms, received_ms, bytes, exchange, marked, NULL FROM entries
            WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        const SQL_FORMAT_1: &str =
            "SELECT id, status, latency_ms, received_ms, bytes, exchange, 0, NULL FROM entries
            WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let sql = match (self.has_marks, self.columns.latency_us) {
            (false, _) => SQL_FORMAT_1,
            (true, false) => SQL_WITHOUT_MICROSECONDS,
            (true, true) => SQL,
        };
        let mut statement = self.connection.prepare_cached(sql).map_err(to_cache_error)?;
        let found = statement.query_row(params![id.key.0, id.namespace, id.repeat], |row| {
            let response = match decode(row.get_ref(5)?.as_blob()?, row.get(4)?) {
                Ok(decoded) => Ok(Response {
                    status: row.get(1)?,
                    latency_ms: row.get(2)?,
                    latency_us: row.get(7)?,
                    received_ms: row.get(3)?,
                    body: decoded.into_body(),
                }),
                Err(problem) => Err(self.damaged(id, problem)),
            };
            Ok(Found { entry: row.get(0)?, marked: row.get(6)?, response })
        });
        found.optional().map_err(to_cache_error)
    }

    /// The number of an entry and the tokens of its response, without reading the response.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn find_usage(&self, id: &EntryId) -> Result<Option<FoundUsage>, CacheError> {
        const SQL: &str = "SELECT id, prompt_tokens, completion_tokens FROM entries
            WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        const SQL_WITHOUT_USAGE: &str =
            "SELECT id, NULL, NULL FROM entries WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let sql = if self.columns.usage { SQL } else { SQL_WITHOUT_USAGE };
        let mut statement = self.connection.prepare_cached(sql).map_err(to_cache_error)?;
        let found = statement.query_row(params![id.key.0, id.namespace, id.repeat], |row| {
            let usage = TokenUsage { prompt: row.get(1)?, completion: row.get(2)? };
            Ok(FoundUsage { entry: row.get(0)?, usage: (usage != TokenUsage::default()).then_some(usage) })
        });
        found.optional().map_err(to_cache_error)
    }

    /// The largest number of repeats of any request.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn repeat_count(&self) -> Result<u32, CacheError> {
        self.connection
            .query_row("SELECT coalesce(max(repeat) + 1, 0) FROM entries", [], |row| row.get(0))
            .map_err(CacheError::from_sqlite(&self.path))
    }

    /// The complete entry with this id, including the request.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read or the entry is damaged.
    pub fn entry(&self, id: &EntryId) -> Result<Option<Entry>, CacheError> {
        const SQL: &str = "SELECT * FROM entries WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let mut statement = self.connection.prepare_cached(SQL).map_err(to_cache_error)?;
        let found = statement
            .query_row(params![id.key.0, id.namespace, id.repeat], |row| Ok(Record::from_row(row)?.entry()))
            .optional()
            .map_err(to_cache_error)?;
        found.transpose().map_err(|problem| self.damaged(id, problem))
    }

    /// Number of entries.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn count(&self) -> Result<u64, CacheError> {
        self.connection
            .query_row("SELECT count(*) FROM entries", [], |row| row.get(0))
            .map_err(CacheError::from_sqlite(&self.path))
    }

    /// Visits every entry in order of arrival. Other processes may write meanwhile; entries stored after the start may be
    /// visited too.
    ///
    /// # Errors
    /// The error of the visitor, or a [`CacheError`] if the file cannot be read or an entry is damaged.
    pub fn for_each<E: From<CacheError>>(
        &self,
        mut visit: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        self.scan(|record| {
            let entry = record.entry().map_err(|problem| self.damaged(record.name(), problem))?;
            visit(entry)
        })
    }

    pub(crate) fn scan<E: From<CacheError>>(
        &self,
        visit: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        scan(&self.connection, &self.path, visit)
    }

    pub(crate) fn damaged(&self, entry: impl std::fmt::Display, problem: String) -> CacheError {
        CacheError::DamagedEntry { path: self.path.to_path_buf(), entry: entry.to_string(), problem }
    }
}

pub(crate) fn contains(connection: &Connection, id: &EntryId) -> rusqlite::Result<bool> {
    const SQL: &str = "SELECT 1 FROM entries WHERE key = ?1 AND namespace = ?2 AND repeat = ?3";
    connection.prepare_cached(SQL)?.exists(params![id.key.0, id.namespace, id.repeat])
}

/// Visits every row, damaged or not. A new statement starts every few thousand rows, so that a long visit does not block
/// checkpoints of the write-ahead log.
pub(crate) fn scan<E: From<CacheError>>(
    connection: &Connection,
    path: &Path,
    mut visit: impl FnMut(&Record<'_>) -> Result<(), E>,
) -> Result<(), E> {
    const SQL: &str = "SELECT * FROM entries WHERE id > ?1 ORDER BY id LIMIT ?2";
    let to_cache_error = CacheError::from_sqlite(path);
    let mut after = i64::MIN;
    loop {
        let mut statement = connection.prepare_cached(SQL).map_err(to_cache_error)?;
        let mut rows = statement.query(params![after, CHUNK]).map_err(to_cache_error)?;
        let mut visited = 0;
        while let Some(row) = rows.next().map_err(to_cache_error)? {
            let record = Record::from_row(row).map_err(to_cache_error)?;
            visit(&record)?;
            after = record.rowid;
            visited += 1;
        }
        if visited < CHUNK {
            return Ok(());
        }
    }
}

/// A row of `SELECT * FROM entries`, possibly damaged. Files of format 1 have no `model` and `marked`, and early files of
/// format 2 no `latency_us`.
pub(crate) struct Record<'a> {
    row: &'a Row<'a>,
    pub(crate) rowid: i64,
}

impl<'a> Record<'a> {
    pub(crate) fn from_row(row: &'a Row<'a>) -> rusqlite::Result<Self> {
        Ok(Self { row, rowid: row.get(0)? })
    }

    pub(crate) fn id(&self) -> Result<EntryId, String> {
        let column = |error: rusqlite::Error| format!("its identity cannot be read ({error})");
        Ok(EntryId {
            key: CacheKey(self.row.get(1).map_err(column)?),
            namespace: self.row.get(2).map_err(column)?,
            repeat: self.row.get(3).map_err(column)?,
        })
    }

    /// Its name in messages: the id, or the row number if the id cannot be read.
    pub(crate) fn name(&self) -> String {
        self.id().map_or_else(|_| format!("in row {}", self.rowid), |id| id.to_string())
    }

    pub(crate) fn received_ms(&self) -> Result<i64, String> {
        self.row.get(6).map_err(|error| format!("its time cannot be read ({error})"))
    }

    /// Size before and after compression.
    pub(crate) fn sizes(&self) -> Result<(u64, u64), String> {
        let column = |error: rusqlite::Error| format!("its size cannot be read ({error})");
        let stored = self.row.get_ref(8).map_err(column)?;
        let stored = stored.as_blob().map_err(|error| column(error.into()))?;
        Ok((self.row.get(7).map_err(column)?, stored.len() as u64))
    }

    fn decoded(&self) -> Result<Decoded, String> {
        let column = |error: rusqlite::Error| format!("it cannot be read ({error})");
        let exchange = self.row.get_ref(8).map_err(column)?;
        let exchange = exchange.as_blob().map_err(|error| column(error.into()))?;
        decode(exchange, self.row.get(7).map_err(column)?)
    }

    /// The requested model, if the request can be read and contains one.
    pub(crate) fn model(&self) -> Option<String> {
        match self.row.get("model") {
            Ok(Some(recorded)) => Some(recorded).filter(|model: &String| !model.is_empty()),
            Ok(None) | Err(_) => self.request().ok().and_then(|request| model_in_request(&request)),
        }
    }

    /// Whether the mark of its point was written before it.
    pub(crate) fn marked(&self) -> bool {
        self.row.get("marked").unwrap_or(false)
    }

    /// The request.
    pub(crate) fn request(&self) -> Result<String, String> {
        self.decoded()?.request().map(ToOwned::to_owned)
    }

    /// The complete entry, after verifying its checksum and key.
    pub(crate) fn entry(&self) -> Result<Entry, String> {
        let column = |error: rusqlite::Error| format!("it cannot be read ({error})");
        let id = self.id()?;
        let decoded = self.decoded()?;
        let request = decoded.request()?.to_owned();
        if CacheKey::from_canonical_json(&request) != id.key {
            return Err("its key is not that of its request".to_owned());
        }
        Ok(Entry {
            id,
            request,
            response: Response {
                status: self.row.get(4).map_err(column)?,
                latency_ms: self.row.get(5).map_err(column)?,
                // Files not written to since the column was introduced don't have it.
                latency_us: self.row.get("latency_us").unwrap_or(None),
                received_ms: self.received_ms()?,
                body: decoded.into_body(),
            },
        })
    }
}
