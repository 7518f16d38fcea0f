//! Everything that changes the file, in transactions.

use std::path::Path;
use std::sync::Arc;

use reasonscape_core::EntryId;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::codec::Encoded;
use crate::error::CacheError;
use crate::leases::Owner;
use crate::marks::Mark;
use crate::reader::contains;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is yours: nobody else asks until the response is stored or the claim released.
    Granted,
    /// Somebody is asking just now, here or in another process. Claim it again later.
    Taken,
    /// It has been answered.
    Stored,
}

/// The connection that writes.
#[derive(Debug)]
pub(crate) struct WriteConnection {
    pub(crate) connection: Connection,
    pub(crate) path: Arc<Path>,
    durable: Option<bool>,
}

impl WriteConnection {
    pub(crate) fn new(connection: Connection, path: Arc<Path>) -> Self {
        Self { connection, path, durable: None }
    }

    /// Does the work in one transaction that holds the write lock from its start, so that it cannot fail half-way
    /// for a lock.
    ///
    /// Responses must be `durable`: on the disk when this returns. Claims need not be. What a power cut takes back
    /// are claims of processes that it ended too; what the end of a process leaves is in the log, which the system
    /// has. A durable transaction makes all that came before it durable as well, since the log is one file.
    pub(crate) fn transaction<T>(
        &mut self,
        durable: bool,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CacheError> {
        let to_cache_error = CacheError::from_sqlite(&self.path);
        if self.durable != Some(durable) {
            let synchronous = if durable { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", synchronous).map_err(to_cache_error)?;
            self.durable = Some(durable);
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(to_cache_error)?;
        let result = work(&transaction).map_err(to_cache_error)?;
        transaction.commit().map_err(to_cache_error)?;
        Ok(result)
    }

    /// Announces this process and clears away what processes that are gone have left.
    pub(crate) fn register(&mut self) -> Result<Owner, CacheError> {
        let path = Arc::clone(&self.path);
        self.transaction(false, |transaction| {
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

    /// Takes leave: nothing is claimed by this process any more.
    pub(crate) fn unregister(&mut self, owner: &mut Owner) -> Result<(), CacheError> {
        self.transaction(false, |transaction| {
            delete_claims(transaction, owner.id())?;
            owner.unregister();
            Ok(())
        })
    }
}

/// Stores an entry and ends its claim. Whether it is new.
pub(crate) fn store(transaction: &Transaction<'_>, entry: &Encoded) -> rusqlite::Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO entries
        (key, namespace, repeat, status, latency_ms, received_ms, bytes, exchange, model, marked, latency_us)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
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

/// Gives back a claim of this owner.
pub(crate) fn release(transaction: &Transaction<'_>, id: &EntryId, owner: i64) -> rusqlite::Result<()> {
    const SQL: &str = "DELETE FROM claims WHERE key = ?1 AND namespace = ?2 AND repeat = ?3 AND owner = ?4";
    transaction.prepare_cached(SQL)?.execute(params![id.key.0, id.namespace, id.repeat, owner])?;
    Ok(())
}

/// Raises marks; one that is higher already stays.
pub(crate) fn raise_marks(transaction: &Transaction<'_>, marks: &[Mark]) -> rusqlite::Result<()> {
    const SQL: &str = "INSERT INTO marks (seed, eval, task, params, requested) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET requested = excluded.requested WHERE excluded.requested > requested";
    let mut statement = transaction.prepare_cached(SQL)?;
    for Mark { seed, eval, task, params, requested } in marks {
        statement.execute(params![seed, eval, task, params, requested])?;
    }
    Ok(())
}

/// Deletes all claims of an owner.
fn delete_claims(transaction: &Transaction<'_>, owner: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM claims WHERE owner = ?1")?.execute([owner])?;
    Ok(())
}
