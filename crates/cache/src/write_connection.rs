//! All changes to the file, in transactions.

use std::path::Path;
use std::sync::Arc;

use reasonscape_core::EntryId;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::codec::Encoded;
use crate::error::CacheError;
use crate::leases::Owner;
use crate::marks::{Mark, PointSampling};
use crate::reader::contains;

/// Result of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Granted: no one else sends the request until its response is stored or the claim released.
    Granted,
    /// Already claimed, here or in another process. Try again later.
    Taken,
    /// The response is in the cache.
    Stored,
}

/// The write connection.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    pub(crate) connection: Connection,
    pub(crate) path: Arc<Path>,
}

impl WriteConnection {
    pub(crate) fn new(connection: Connection, path: Arc<Path>) -> Self {
        Self { connection, path }
    }

    /// Runs `work` in one transaction that takes the write lock first, so that it can't fail on a lock half-way.
    ///
    /// By SQLite's default, the commit is on disk when this returns. After [`WriteConnection::sync_later`] it is only in the
    /// kernel's buffers: a killed process loses nothing, a power failure may undo the last commits. That is enough for claims,
    /// because a power failure ends their processes too.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(to_cache_error)?;
        let result = work(&transaction).map_err(to_cache_error)?;
        transaction.commit().map_err(to_cache_error)?;
        Ok(result)
    }

    /// Turns off syncing on commit; callers that need durability sync the log.
    pub(crate) fn sync_later(&self) -> Result<(), CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(to_cache_error)
    }

    /// Registers this process and removes the claims of processes that have ended.
    pub(crate) fn register(&mut self) -> Result<Owner, CacheError> {
        let path = Arc::clone(&self.path);
        self.transaction(|transaction| {
            let owner = match Owner::register(&path) {
                Ok(owner) => owner,
                Err(error) => return Ok(Err(error)),
            };
            for dead in owner.sweep() {
                delete_claims(transaction, dead)?;
            }
            Ok(Ok(owner))
        })?
    }

    /// Unregisters this process and releases all its claims.
    pub(crate) fn unregister(&mut self, owner: &mut Owner) -> Result<(), CacheError> {
        self.transaction(|transaction| {
            delete_claims(transaction, owner.id())?;
            owner.unregister();
            Ok(())
        })
    }
}

/// Stores an entry and ends its claim. Returns whether it is new.
pub(crate) fn store(transaction: &Transaction<'_>, entry: &Encoded) -> rusqlite::Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO entries
        (key, namespace, repeat, status, latency_ms, received_ms, bytes, exchange, model, marked, latency_us,
            prompt_tokens, completion_tokens)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    let stored = transaction.prepare_cached(SQL)?.execute(params![
        entry.id.key.0,
        entry.id.namespace,
        entry.id.repeat,
        entry.status,
        entry.latency_ms,
        entry.received_ms,
        entry.bytes,
        entry.exchange,
        entry.model,
        entry.marked,
        entry.latency_us,
        entry.usage.prompt,
        entry.usage.completion,
    ])?;
    transaction
        .prepare_cached("DELETE FROM claims WHERE key = ?1 AND namespace = ?2 AND repeat = ?3")?
        .execute(params![entry.id.key.0, entry.id.namespace, entry.id.repeat])?;
    Ok(stored > 0)
}

/// Claims an identity for this owner.
pub(crate) fn claim(
    transaction: &Transaction<'_>,
    id: &EntryId,
    owner: &mut Owner,
) -> rusqlite::Result<Claim> {
    if contains(transaction, id)? {
        return Ok(Claim::Stored);
    }
    if insert_claim(transaction, id, owner.id())? {
        return Ok(Claim::Granted);
    }
    let holder: i64 = transaction
        .prepare_cached("SELECT owner FROM claims WHERE key = ?1 AND namespace = ?2 AND repeat = ?3")?
        .query_row(params![id.key.0, id.namespace, id.repeat], |row| row.get(0))?;
    if owner.is_alive(holder) {
        return Ok(Claim::Taken);
    }
    delete_claims(transaction, holder)?;
    insert_claim(transaction, id, owner.id())?;
    Ok(Claim::Granted)
}

fn insert_claim(transaction: &Transaction<'_>, id: &EntryId, owner: i64) -> rusqlite::Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO claims (key, namespace, repeat, owner) VALUES (?1, ?2, ?3, ?4)";
    let inserted =
        transaction.prepare_cached(SQL)?.execute(params![id.key.0, id.namespace, id.repeat, owner])?;
    Ok(inserted > 0)
}

/// Releases a claim of this owner.
pub(crate) fn release(transaction: &Transaction<'_>, id: &EntryId, owner: i64) -> rusqlite::Result<()> {
    const SQL: &str = "DELETE FROM claims WHERE key = ?1 AND namespace = ?2 AND repeat = ?3 AND owner = ?4";
    transaction.prepare_cached(SQL)?.execute(params![id.key.0, id.namespace, id.repeat, owner])?;
    Ok(())
}

/// Raises marks; a higher mark is kept.
pub(crate) fn raise_marks(transaction: &Transaction<'_>, marks: &[Mark]) -> rusqlite::Result<()> {
    const SQL: &str = "INSERT INTO marks (seed, eval, task, params, requested, fixed_count, stop_rule)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT DO UPDATE SET requested = max(requested, excluded.requested),
            fixed_count = coalesce(max(fixed_count, excluded.fixed_count), fixed_count, excluded.fixed_count),
            stop_rule = coalesce(excluded.stop_rule, stop_rule)";
    let mut statement = transaction.prepare_cached(SQL)?;
    for Mark { seed, eval, task, params, requested, sampling } in marks {
        let PointSampling { fixed_count, stop_rule } = sampling;
        statement.execute(params![seed, eval, task, params, requested, fixed_count, stop_rule])?;
    }
    Ok(())
}

/// Deletes all claims of an owner.
fn delete_claims(transaction: &Transaction<'_>, owner: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM claims WHERE owner = ?1")?.execute([owner])?;
    Ok(())
}
