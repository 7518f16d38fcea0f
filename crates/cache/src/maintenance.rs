//! Cache maintenance: statistics, verification, import, export, pruning.

use std::collections::{BTreeMap, HashSet};

use rusqlite::params;

use crate::Cache;
use crate::codec::{Encoded, encode};
use crate::entry::{Entry, TokenUsage};
use crate::error::CacheError;
use crate::jsonl::ExportLine;
use crate::marks::Mark;
use crate::reader::{Reader, Record, scan};
use crate::watermark;
use crate::write_connection::{self, WriteConnection};

/// Entries per transaction of an import.
const BATCH: usize = 500;

/// Number, size and age of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryTotals {
    /// Number of entries.
    pub entries: u64,
    /// Bytes of requests and responses, uncompressed.
    pub bytes: u64,
    /// Bytes of requests and responses, compressed.
    pub stored_bytes: u64,
    /// When the oldest entry was received, in milliseconds since 1970.
    pub oldest_ms: Option<i64>,
    /// When the newest entry was received.
    pub newest_ms: Option<i64>,
}

impl EntryTotals {
    fn add(&mut self, record: &Record<'_>) {
        let (bytes, stored_bytes) = record.sizes().unwrap_or_default();
        self.entries += 1;
        self.bytes += bytes;
        self.stored_bytes += stored_bytes;
        if let Ok(received) = record.received_ms() {
            self.oldest_ms = Some(self.oldest_ms.map_or(received, |oldest| oldest.min(received)));
            self.newest_ms = Some(self.newest_ms.map_or(received, |newest| newest.max(received)));
        }
    }
}

/// Statistics of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// All entries.
    pub total: EntryTotals,
    /// Entries by requested model; `None` for requests without a readable model.
    pub models: BTreeMap<Option<String>, EntryTotals>,
    /// Size of the database file.
    pub file_bytes: u64,
}

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Number of entries checked.
    pub entries: u64,
    /// Damaged entries.
    pub damaged: Vec<CorruptEntry>,
    /// Errors that SQLite reports for the database itself.
    pub structure: Vec<String>,
}

impl Verification {
    /// Whether no damage was found.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.structure.is_empty()
    }
}

/// A damaged entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptEntry {
    /// Its id, or its row number if the id cannot be read.
    pub entry: String,
    /// The damage.
    pub problem: String,
}

/// Selects the entries that meet every condition that is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// Received before this time, in milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// Sent to this model.
    pub model: Option<String>,
    /// In this namespace.
    pub namespace: Option<String>,
    /// Damaged.
    pub damaged: bool,
}

impl EntryFilter {
    fn matches(&self, record: &Record<'_>) -> bool {
        let is_old = |moment| record.received_ms().is_ok_and(|received| received < moment);
        self.before_ms.is_none_or(is_old)
            && self
                .namespace
                .as_ref()
                .is_none_or(|expected| record.id().is_ok_and(|id| *id.namespace == **expected))
            && self.model.as_ref().is_none_or(|expected| record.model().as_ref() == Some(expected))
            && (!self.damaged || record.entry().is_err())
    }
}

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeSummary {
    /// Entries added.
    pub stored: u64,
    /// Entries that already existed.
    pub known: u64,
}

impl Reader {
    /// Counts the entries of the cache. `progress` gets the number of entries seen so far.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn stats(&self, mut progress: impl FnMut(u64)) -> Result<CacheStats, CacheError> {
        let file_bytes = std::fs::metadata(&self.path).map_or(0, |file| file.len());
        let mut stats = CacheStats { file_bytes, ..CacheStats::default() };
        self.scan(|record| {
            stats.total.add(record);
            stats.models.entry(record.model()).or_default().add(record);
            progress(stats.total.entries);
            Ok::<_, CacheError>(())
        })?;
        Ok(stats)
    }

    /// Reads every entry, verifies its checksum and its key, and runs SQLite's integrity check. Damage is reported in the
    /// result, not as an error.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read at all.
    pub fn verify(&self, mut progress: impl FnMut(u64)) -> Result<Verification, CacheError> {
        let mut found = Verification::default();
        let scanned = self.scan(|record| {
            if let Err(problem) = record.entry() {
                found.damaged.push(CorruptEntry { entry: record.name(), problem });
            }
            found.entries += 1;
            progress(found.entries);
            Ok::<_, CacheError>(())
        });
        match scanned {
            // The integrity check below reports where.
            Ok(()) | Err(CacheError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        match self.integrity() {
            Ok(lines) => found.structure = lines,
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
                found.structure.push(error.to_string());
            }
            Err(error) => return Err(CacheError::from_sqlite(&self.path)(error)),
        }
        Ok(found)
    }

    fn integrity(&self) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(20)")?;
        let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Counts the entries that [`Cache::prune`] would remove.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be read.
    pub fn select(&self, filter: &EntryFilter) -> Result<EntryTotals, CacheError> {
        let mut totals = EntryTotals::default();
        self.scan(|record| {
            if filter.matches(record) {
                totals.add(record);
            }
            Ok::<_, CacheError>(())
        })?;
        Ok(totals)
    }
}

impl Reader {
    /// Visits every mark and then every entry, in the order of an export.
    ///
    /// An entry that another process stores meanwhile is exported without its mark, and so not as `marked`.
    ///
    /// The database structure is checked first, and ids are counted: a damaged database may skip or repeat entries
    /// without an error.
    ///
    /// # Errors
    /// The error of the visitor, or a [`CacheError`] if the file cannot be read or is damaged; the visited entries are then
    /// incomplete.
    pub fn export<E: From<CacheError>>(
        &self,
        mut visit: impl FnMut(ExportLine) -> Result<(), E>,
    ) -> Result<(), E> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        if let Some(problem) = self.integrity().map_err(to_cache_error)?.into_iter().next() {
            return Err(self.inconsistent(problem).into());
        }
        let watermark = self.watermark()?;
        for mark in self.all_marks()? {
            visit(ExportLine::Mark(mark))?;
        }
        let mut identities = HashSet::new();
        self.scan(|record| {
            let entry = record.entry().map_err(|problem| self.damaged(record.name(), problem))?;
            if !identities.insert(entry.id.clone()) {
                return Err(self.inconsistent(format!("entry {} is stored twice", record.name())).into());
            }
            visit(ExportLine::Entry { entry, marked: record.marked() && record.rowid <= watermark.last })
        })?;
        if (identities.len() as u64) < watermark.entries() {
            let problem = format!("{} of {} entries can be read", identities.len(), watermark.entries());
            return Err(self.inconsistent(problem).into());
        }
        Ok(())
    }

    /// The error for a database whose parts are inconsistent.
    fn inconsistent(&self, problem: String) -> CacheError {
        let corrupt = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        CacheError::from_sqlite(&self.path)(rusqlite::Error::SqliteFailure(corrupt, Some(problem)))
    }
}

impl Cache {
    /// Removes entries, all or none, and returns what was removed. The file keeps its size until [`Cache::compact`].
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written; then nothing was removed.
    pub fn prune(&self, filter: &EntryFilter) -> Result<EntryTotals, CacheError> {
        let mut write_connection = self.write_connection()?;
        let path = write_connection.path.clone();
        write_connection.transaction(|transaction| {
            let mut totals = EntryTotals::default();
            let mut rows = Vec::new();
            let scanned = scan(transaction, &path, |record| {
                if filter.matches(record) {
                    totals.add(record);
                    rows.push(record.rowid);
                }
                Ok::<_, CacheError>(())
            });
            if let Err(error) = scanned {
                return Ok(Err(error));
            }
            let last: Option<i64> =
                transaction.query_row("SELECT max(id) FROM entries", [], |row| row.get(0))?;
            if !rows.is_empty() {
                transaction.execute_batch(watermark::CREATE_REMOVALS)?;
                transaction.execute(
                    "INSERT INTO removals (last, entries) VALUES (?1, ?2)",
                    params![last.unwrap_or(0), rows.len() as i64],
                )?;
            }
            let mut delete = transaction.prepare("DELETE FROM entries WHERE id = ?1")?;
            for row in rows {
                delete.execute([row])?;
            }
            Ok(Ok(totals))
        })?
    }

    /// Rewrites the file without the free space of removed entries, and returns its size.
    ///
    /// # Errors
    /// A [`CacheError`] if the disk is full or another process is writing; the cache is then unchanged.
    pub fn compact(&self) -> Result<u64, CacheError> {
        let write_connection = self.write_connection()?;
        write_connection
            .connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(CacheError::from_sqlite(&self.path))?;
        Ok(std::fs::metadata(&self.path).map_or(0, |file| file.len()))
    }

    /// Starts an import.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn importer(&self) -> Result<Importer, CacheError> {
        Ok(Importer {
            write_connection: self.write_connection()?,
            pending: Vec::with_capacity(BATCH),
            marks: Vec::new(),
            imported: MergeSummary::default(),
        })
    }
}

/// Imports entries; [`Importer::finish`] stores the last of them.
#[derive(Debug)]
#[must_use = "the last entries are stored by `finish`"]
pub struct Importer {
    write_connection: WriteConnection,
    pending: Vec<Encoded>,
    marks: Vec<Mark>,
    imported: MergeSummary,
}

impl Importer {
    /// Adds an entry; an entry that already exists is kept.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn add(&mut self, entry: &Entry) -> Result<(), CacheError> {
        self.push(entry, false)
    }

    /// Adds an export line. A higher mark that already exists is kept.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn add_line(&mut self, line: ExportLine) -> Result<(), CacheError> {
        match line {
            ExportLine::Entry { entry, marked } => self.push(&entry, marked),
            ExportLine::Mark(mark) => {
                self.marks.push(mark);
                if self.marks.len() == BATCH { self.write() } else { Ok(()) }
            }
        }
    }

    fn push(&mut self, entry: &Entry, marked: bool) -> Result<(), CacheError> {
        self.pending.push(encode(entry, marked, TokenUsage::default())?);
        if self.pending.len() == BATCH { self.write() } else { Ok(()) }
    }

    /// Stores the remaining entries and returns the result.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn finish(mut self) -> Result<MergeSummary, CacheError> {
        self.write()?;
        Ok(self.imported)
    }

    fn write(&mut self) -> Result<(), CacheError> {
        let (pending, marks) = (&self.pending, &self.marks);
        let stored = self.write_connection.transaction(|transaction| {
            write_connection::raise_marks(transaction, marks)?;
            let mut stored = 0;
            for entry in pending {
                stored += u64::from(write_connection::store(transaction, entry)?);
            }
            Ok(stored)
        })?;
        self.imported.stored += stored;
        self.imported.known += self.pending.len() as u64 - stored;
        self.pending.clear();
        self.marks.clear();
        Ok(())
    }
}
