//! Looking after a cache: what is in it, whether it is sound, moving entries in and out, making room.

use std::collections::BTreeMap;

use crate::Cache;
use crate::codec::{Encoded, encode};
use crate::entry::Entry;
use crate::error::CacheError;
use crate::jsonl::ExportLine;
use crate::marks::Mark;
use crate::reader::{Reader, Record, scan};
use crate::write_connection::{self, WriteConnection};

/// Entries that an import puts into one transaction.
const BATCH: usize = 500;

/// So many entries, so large, from when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryTotals {
    /// How many.
    pub entries: u64,
    /// Bytes of their requests and responses.
    pub bytes: u64,
    /// Bytes that these take, compressed.
    pub stored_bytes: u64,
    /// When the first of them was received, in milliseconds since 1970.
    pub oldest_ms: Option<i64>,
    /// When the last of them was received.
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

/// What is in a cache.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// All entries.
    pub total: EntryTotals,
    /// Entries by the model that was asked; `None` are requests that name none, or cannot be read.
    pub models: BTreeMap<Option<String>, EntryTotals>,
    /// Size of the database file.
    pub file_bytes: u64,
}

/// Whether a cache is sound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// How many entries were looked at.
    pub entries: u64,
    /// Those that are damaged.
    pub damaged: Vec<CorruptEntry>,
    /// What SQLite finds wrong with the database itself.
    pub structure: Vec<String>,
}

impl Verification {
    /// Nothing was found.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.structure.is_empty()
    }
}

/// An entry that is not what was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptEntry {
    /// Its identity, or its row if that cannot be read.
    pub entry: String,
    /// What is wrong.
    pub problem: String,
}

/// Which entries: those that meet every condition that is set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntryFilter {
    /// Received before this moment, in milliseconds since 1970.
    pub before_ms: Option<i64>,
    /// Asked of this model.
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

/// What an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeSummary {
    /// Entries that are new.
    pub stored: u64,
    /// Entries that were there already.
    pub known: u64,
}

impl Reader {
    /// Counts what is in the cache. `progress` is told from time to time how many entries were seen.
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

    /// Reads every entry, compares its checksum and its key, and lets SQLite check the database. Damage is what it
    /// returns, not an error.
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
            // The check of the whole database below says where.
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
    /// Visits every mark and then every entry, as an export writes them.
    ///
    /// An entry that another process stores meanwhile is exported without its mark, so it does not claim to have one.
    ///
    /// # Errors
    /// What the visitor returns, or a [`CacheError`] if the file cannot be read or an entry is damaged.
    pub fn export<E: From<CacheError>>(
        &self,
        mut visit: impl FnMut(ExportLine) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = self.watermark()?.last;
        for mark in self.all_marks()? {
            visit(ExportLine::Mark(mark))?;
        }
        self.scan(|record| {
            let entry = record.entry().map_err(|problem| self.damaged(record.name(), problem))?;
            visit(ExportLine::Entry { entry, marked: record.marked() && record.rowid <= last })
        })
    }
}

impl Cache {
    /// Removes entries, all or none, and says what was removed. The file keeps its size until [`Cache::compact`].
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written; then nothing was removed.
    pub fn prune(&self, filter: &EntryFilter) -> Result<EntryTotals, CacheError> {
        let mut write_connection = self.write_connection()?;
        let path = write_connection.path.clone();
        write_connection.transaction(true, |transaction| {
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
            let mut delete = transaction.prepare("DELETE FROM entries WHERE id = ?1")?;
            for row in rows {
                delete.execute([row])?;
            }
            Ok(Ok(totals))
        })?
    }

    /// Writes the file anew without the room that removed entries have left, and gives its size.
    ///
    /// # Errors
    /// A [`CacheError`] if the disk is full or another process is writing; the cache is then as it was.
    pub fn compact(&self) -> Result<u64, CacheError> {
        let write_connection = self.write_connection()?;
        write_connection
            .connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .map_err(CacheError::from_sqlite(&self.path))?;
        Ok(std::fs::metadata(&self.path).map_or(0, |file| file.len()))
    }

    /// Starts to put entries in that came from elsewhere.
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

/// Puts entries in without asking anybody; [`Importer::finish`] ends it.
#[derive(Debug)]
#[must_use = "the last entries are stored by `finish`"]
pub struct Importer {
    write_connection: WriteConnection,
    pending: Vec<Encoded>,
    marks: Vec<Mark>,
    imported: MergeSummary,
}

impl Importer {
    /// Adds an entry; an identity that is there already stays as it is.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn add(&mut self, entry: &Entry) -> Result<(), CacheError> {
        self.push(entry, false)
    }

    /// Adds what a line of an export holds. A mark that is there already stays if it is higher.
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
        self.pending.push(encode(entry, marked)?);
        if self.pending.len() == BATCH { self.write() } else { Ok(()) }
    }

    /// Stores what is left and says what was done.
    ///
    /// # Errors
    /// A [`CacheError`] if the file cannot be written.
    pub fn finish(mut self) -> Result<MergeSummary, CacheError> {
        self.write()?;
        Ok(self.imported)
    }

    fn write(&mut self) -> Result<(), CacheError> {
        let (pending, marks) = (&self.pending, &self.marks);
        let stored = self.write_connection.transaction(true, |transaction| {
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
