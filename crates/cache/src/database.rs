//! Opens the database file; contains its schema and migrations.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::CacheError;

/// `RsC1`: identifies a SQLite database as a ReasonScape cache.
const APPLICATION_ID: i64 = 0x5273_4331;

/// The latest format that this program reads and writes.
pub(crate) const FORMAT: i64 = 2;

/// Rows are kept in order of arrival, with their identities in a separate index. A table ordered by its keys
/// (`WITHOUT ROWID`) would write each kilobyte to a random page: a quarter of the speed, and a larger file.
const SCHEMA: &str = "
CREATE TABLE entries (
    id          INTEGER PRIMARY KEY,
    key         BLOB    NOT NULL CHECK (length(key) = 32), -- SHA-256 of the request
    namespace   TEXT    NOT NULL,
    repeat      INTEGER NOT NULL,
    status      INTEGER NOT NULL,                          -- of HTTP
    latency_ms  INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,                          -- since 1970, UTC
    bytes       INTEGER NOT NULL,                          -- of the exchange, before compression
    exchange    BLOB    NOT NULL                           -- zstd: request, line break, body of the response
) STRICT;
CREATE UNIQUE INDEX identity ON entries (key, namespace, repeat);
CREATE TABLE claims (
    key         BLOB    NOT NULL,
    namespace   TEXT    NOT NULL,
    repeat      INTEGER NOT NULL,
    owner       INTEGER NOT NULL,                          -- the process that sends the request
    PRIMARY KEY (key, namespace, repeat)
) STRICT, WITHOUT ROWID;
";

/// What format 2 adds to format 1. This is the whole migration: no row of format 1 is rewritten.
const FORMAT_2: &str = "
ALTER TABLE entries ADD COLUMN model  TEXT;                        -- that the request names; '' none, NULL not recorded
ALTER TABLE entries ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;  -- 1: a mark of its point was written before it
CREATE INDEX by_model ON entries (model, namespace, marked);
CREATE TABLE marks (
    seed      INTEGER NOT NULL,
    eval      TEXT    NOT NULL,
    task      TEXT    NOT NULL,
    params    TEXT    NOT NULL,                            -- canonical JSON
    requested INTEGER NOT NULL,                            -- problems 0..requested may have responses
    PRIMARY KEY (seed, eval, task, params)
) STRICT, WITHOUT ROWID;
";

/// Added to format 2 without a new format number: older programs name the columns that they write, and the positions of
/// the existing columns are unchanged.
const LATENCY_US: &str = "ALTER TABLE entries ADD COLUMN latency_us INTEGER"; // NULL: not recorded

/// Added to format 2 in the same way.
const SAMPLING: &str = "
ALTER TABLE marks ADD COLUMN fixed_count INTEGER;                  -- largest planned count; NULL: not recorded
ALTER TABLE marks ADD COLUMN stop_rule   TEXT;                     -- of the latest run with a precision target
";

/// Added to format 2 in the same way. With it, what a cached response saves is known without reading the response.
const USAGE: &str = "
ALTER TABLE entries ADD COLUMN prompt_tokens     INTEGER;          -- as reported by the provider; NULL: not recorded
ALTER TABLE entries ADD COLUMN completion_tokens INTEGER;
";

/// How long to wait for other processes, which hold locks for milliseconds.
const BUSY_TIMEOUT_MS: i32 = 60_000;

/// Polls every millisecond. SQLite's own back-off grows to 100 ms, which starves the process that came second.
fn busy_backoff(waited_ms: i32) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    waited_ms < BUSY_TIMEOUT_MS
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// For reading and writing; created if missing.
    Write,
    /// For reading only; never created.
    Read,
    /// For reading from a read-only medium, where SQLite can't create its auxiliary files.
    Immutable,
    /// For reading while other processes write, without changing any file.
    Untouched,
}

/// Opens the file, creates the schema if it is new, and rejects other files.
pub(crate) fn open(path: &Path, access: Access) -> Result<Connection, CacheError> {
    let connection = connect(path, access)?;
    match inspect(&connection, path)? {
        Contents::Cache { format }
            if access == Access::Write
                && (format < FORMAT
                    || !Columns::read(&connection)
                        .map_err(CacheError::from_sqlite(path))?
                        .are_complete()) =>
        {
            in_transaction(&connection, path, |transaction| upgrade(transaction, path))?;
        }
        Contents::Cache { .. } => {}
        Contents::Empty if access == Access::Write => create(&connection, path)?,
        Contents::Empty => return Err(CacheError::Missing { path: path.to_owned() }),
    }
    Ok(connection)
}

/// Opens a file that is known to be a cache.
pub(crate) fn connect(path: &Path, access: Access) -> Result<Connection, CacheError> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(CacheError::NotAFile { path: path.to_owned() }),
        Ok(_) => {}
        Err(_) => {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
                return Err(CacheError::NoDirectory { dir: dir.to_owned() });
            }
            if access != Access::Write {
                return Err(CacheError::Missing { path: path.to_owned() });
            }
        }
    }
    let to_cache_error = CacheError::from_sqlite(path);
    // Each connection is used by one thread at a time, so SQLite needs no mutex. A reader also opens the file for writing
    // where possible; otherwise it could not remove SQLite's auxiliary files on close.
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_READ_WRITE;
    let mut connection = match access {
        Access::Write => {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
            Connection::open_with_flags(path, flags)
        }
        Access::Read => Connection::open_with_flags(path, flags),
        Access::Immutable | Access::Untouched => {
            let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_URI;
            let option = if access == Access::Immutable { "immutable=1" } else { "readonly_shm=1" };
            Connection::open_with_flags(uri(path, option), flags)
        }
    }
    .map_err(to_cache_error)?;
    connection.busy_handler(Some(busy_backoff)).map_err(to_cache_error)?;
    connection.set_prepared_statement_cache_capacity(32);
    // 16 MB of pages: enough for the index of 200,000 entries.
    connection.pragma_update(None, "cache_size", -16_384).map_err(to_cache_error)?;
    if access == Access::Write {
        // Without it, macOS reports a write as done before it is durable.
        connection.pragma_update(None, "fullfsync", true).map_err(to_cache_error)?;
        // Fewer, larger checkpoints: 32 MB.
        connection.pragma_update(None, "wal_autocheckpoint", 8_000).map_err(to_cache_error)?;
    } else {
        connection.pragma_update(None, "query_only", true).map_err(to_cache_error)?;
    }
    Ok(connection)
}

/// A SQLite URI with an option, and with special characters escaped.
fn uri(path: &Path, option: &str) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?{option}")
}

enum Contents {
    Empty,
    Cache { format: i64 },
}

fn inspect(connection: &Connection, path: &Path) -> Result<Contents, CacheError> {
    let to_cache_error = CacheError::from_sqlite(path);
    let number =
        |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(to_cache_error);
    let objects = number("SELECT count(*) FROM sqlite_schema")?;
    match (number("PRAGMA application_id")?, number("PRAGMA user_version")?) {
        (0, 0) if objects == 0 => Ok(Contents::Empty),
        (APPLICATION_ID, format @ 1..=FORMAT) => Ok(Contents::Cache { format }),
        (APPLICATION_ID, found) => Err(CacheError::Newer { path: path.to_owned(), found, known: FORMAT }),
        _ => Err(CacheError::Foreign { path: path.to_owned() }),
    }
}

/// Turns an empty file into a cache. Several processes may try at once; one succeeds and the others find it done.
fn create(connection: &Connection, path: &Path) -> Result<(), CacheError> {
    let to_cache_error = CacheError::from_sqlite(path);
    // Two processes that change the journal mode at once may collide without SQLite waiting for either; each retries.
    let mut attempts = 0;
    let mode: String = loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                if attempts == BUSY_TIMEOUT_MS || !busy_backoff(attempts) {
                    return Err(to_cache_error(error));
                }
                attempts += 1;
            }
            answer => break answer.map_err(to_cache_error)?,
        }
    };
    if mode != "wal" {
        return Err(CacheError::NotShareable { path: path.to_owned() });
    }
    in_transaction(connection, path, |transaction| {
        if let Contents::Empty = inspect(transaction, path)? {
            transaction.execute_batch(SCHEMA).map_err(to_cache_error)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(to_cache_error)?;
            transaction.pragma_update(None, "user_version", 1).map_err(to_cache_error)?;
        }
        upgrade(transaction, path)
    })
}

/// Migrates a cache to the latest format, unless another process already has.
fn upgrade(connection: &Connection, path: &Path) -> Result<(), CacheError> {
    let to_cache_error = CacheError::from_sqlite(path);
    if matches!(inspect(connection, path)?, Contents::Cache { format: 1 }) {
        connection.execute_batch(FORMAT_2).map_err(to_cache_error)?;
        connection.pragma_update(None, "user_version", 2).map_err(to_cache_error)?;
    }
    let columns = Columns::read(connection).map_err(to_cache_error)?;
    for (exists, sql) in
        [(columns.latency_us, LATENCY_US), (columns.sampling, SAMPLING), (columns.usage, USAGE)]
    {
        if !exists {
            connection.execute_batch(sql).map_err(to_cache_error)?;
        }
    }
    Ok(())
}

/// Which of the columns exist that were added to format 2 later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    /// Latency in microseconds.
    pub(crate) latency_us: bool,
    /// How the points of marks were sampled.
    pub(crate) sampling: bool,
    /// Tokens of entries.
    pub(crate) usage: bool,
}

impl Columns {
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let has = |table: &str, column: &str| {
            connection
                .prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?
                .exists([table, column])
        };
        Ok(Self {
            latency_us: has("entries", "latency_us")?,
            sampling: has("marks", "stop_rule")?,
            usage: has("entries", "completion_tokens")?,
        })
    }

    fn are_complete(self) -> bool {
        self.latency_us && self.sampling && self.usage
    }
}

/// Runs a transaction that holds the write lock, and rolls back on failure.
fn in_transaction(
    connection: &Connection,
    path: &Path,
    work: impl FnOnce(&Connection) -> Result<(), CacheError>,
) -> Result<(), CacheError> {
    let to_cache_error = CacheError::from_sqlite(path);
    let transaction = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
        .map_err(to_cache_error)?;
    work(&transaction)?;
    transaction.commit().map_err(to_cache_error)
}

/// The format of a file that is known to be a cache.
pub(crate) fn format(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
