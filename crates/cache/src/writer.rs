//! The writer of a process: a thread that commits, a thread that syncs, and a handle.
//!
//! A response is committed to SQLite's write-ahead log as soon as it arrives, without a sync: from then on it is in the
//! kernel's buffers, and a killed process doesn't lose it. A second thread syncs the log; one sync covers everything
//! committed before it began. Only then does a response count as stored, because only then does it survive a power failure.
//! The committing thread never waits for a sync, so responses don't accumulate in memory behind a slow disk.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, mpsc as std_mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reasonscape_core::EntryId;
use tokio::sync::{mpsc, oneshot};

use crate::codec::{Encoded, encode};
use crate::entry::{Entry, TokenUsage};
use crate::error::CacheError;
use crate::leases::Owner;
use crate::log_path;
use crate::marks::Mark;
use crate::write_connection::{self, Claim, WriteConnection};

/// Maximum queued commands; a full queue makes senders wait.
const QUEUE: usize = 512;

/// How long responses that arrive in quick succession wait for more: the more share a transaction, the fewer pages are
/// written for each. A single response doesn't wait.
const BATCH_WINDOW: Duration = Duration::from_millis(2);

/// Minimum time from the beginning of one sync to that of the next: the more responses share a sync, the less each costs. They
/// are committed already, so nothing waits for it but their being counted.
const SYNC_INTERVAL: Duration = Duration::from_millis(10);

/// Stores responses and claims requests.
///
/// All writes of a process go through one thread, which combines everything queued into one transaction. Clones share the
/// thread; when the last of them is dropped, it finishes the queue and releases its claims, which takes a few milliseconds.
#[derive(Debug, Clone)]
pub struct Writer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: Arc<Path>,
    queue: Option<mpsc::Sender<Command>>,
    thread: Option<JoinHandle<()>>,
}

type Reply<T> = oneshot::Sender<Result<T, CacheError>>;

/// A committed response: it survives a killed process, but not yet a power failure.
#[derive(Debug)]
#[must_use = "a response counts as stored only once it is synced"]
pub struct Committed {
    path: Arc<Path>,
    synced: oneshot::Receiver<Result<(), CacheError>>,
}

impl Committed {
    /// Waits until the response is on disk.
    ///
    /// # Errors
    /// A [`CacheError`] if the sync failed.
    pub async fn synced(self) -> Result<(), CacheError> {
        let closed = || CacheError::Closed { path: self.path.to_path_buf() };
        self.synced.await.map_err(|_| closed())?
    }
}

/// Waits for an entry: first for the commit, then for the sync.
#[derive(Debug)]
struct StoreReply {
    committed: Reply<()>,
    synced: Reply<()>,
}

#[derive(Debug)]
enum Command {
    Store(Arc<Entry>, TokenUsage, StoreReply),
    Claim(Vec<EntryId>, Reply<Vec<Claim>>),
    Release(Vec<EntryId>, Reply<()>),
    RaiseMarks(Vec<Mark>, Reply<()>),
}

/// A command whose entry is compressed.
enum PreparedCommand {
    Store(Encoded, StoreReply),
    Claim(Vec<EntryId>, Reply<Vec<Claim>>),
    Release(Vec<EntryId>, Reply<()>),
    RaiseMarks(Vec<Mark>, Reply<()>),
}

impl Command {
    /// Compresses an entry to be stored; on failure, replies at once.
    fn prepare(self) -> Option<PreparedCommand> {
        Some(match self {
            Self::Store(entry, usage, reply) => match encode(&entry, true, usage) {
                Ok(encoded) => PreparedCommand::Store(encoded, reply),
                Err(error) => {
                    // The receiver may have been dropped; that is not an error.
                    let _ = reply.committed.send(Err(error));
                    return None;
                }
            },
            Self::Claim(ids, reply) => PreparedCommand::Claim(ids, reply),
            Self::Release(ids, reply) => PreparedCommand::Release(ids, reply),
            Self::RaiseMarks(marks, reply) => PreparedCommand::RaiseMarks(marks, reply),
        })
    }
}

impl PreparedCommand {
    fn is_store(&self) -> bool {
        matches!(self, Self::Store(..))
    }
}

impl Writer {
    pub(crate) fn start(mut write_connection: WriteConnection) -> Result<Self, CacheError> {
        let owner = write_connection.register()?;
        write_connection.sync_later()?;
        let path = Arc::clone(&write_connection.path);
        let (queue, commands) = mpsc::channel(QUEUE);
        let syncer = Syncer::start(&path)?;
        let thread = std::thread::Builder::new()
            .name("cache writer".to_owned())
            .spawn(move || run_writer(write_connection, owner, commands, syncer))
            .map_err(CacheError::from_io(&path))?;
        Ok(Self { shared: Arc::new(Shared { path, queue: Some(queue), thread: Some(thread) }) })
    }

    /// Stores an entry and ends its claim. The future resolves once the entry is on disk.
    ///
    /// The mark of its point must have been raised ([`Writer::raise_marks`]): scoring reads only up to the marks.
    ///
    /// If the future is dropped early, the entry may or may not be stored. Storing an entry again changes nothing.
    ///
    /// # Errors
    /// A [`CacheError`] if it could not be written; its claim is then kept.
    pub fn store(&self, entry: Entry) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let committed = self.commit(Arc::new(entry), TokenUsage::default());
        async move { committed.await?.synced().await }
    }

    /// Like [`Writer::store`], in two steps: the future resolves once the entry is committed, and its result waits for the
    /// sync. `usage` is what the response reports, and is stored with it. To limit how many responses a killed process can lose, send the next request after the first step.
    ///
    /// # Errors
    /// A [`CacheError`] if it could not be written; its claim is then kept.
    pub fn commit(
        &self,
        entry: Arc<Entry>,
        usage: TokenUsage,
    ) -> impl Future<Output = Result<Committed, CacheError>> + Send + use<> {
        let writer = self.clone();
        async move {
            let path = Arc::clone(&writer.shared.path);
            let (reply, synced) = oneshot::channel();
            writer
                .send(|committed| Command::Store(entry, usage, StoreReply { committed, synced: reply }))
                .await?;
            Ok(Committed { path, synced })
        }
    }

    /// Claims ids in one transaction; one result per id, in order. No one else, in this process or another, sends a
    /// [`Claim::Granted`] request until it is stored or released or this process ends.
    ///
    /// # Errors
    /// A [`CacheError`] if the claims could not be written; then none is held.
    pub fn claim(
        &self,
        ids: Vec<EntryId>,
    ) -> impl Future<Output = Result<Vec<Claim>, CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::Claim(ids, reply)).await }
    }

    /// Releases claims of requests that failed permanently, so that others may try.
    ///
    /// # Errors
    /// A [`CacheError`] if the release could not be written; the claims are then held until this writer ends.
    pub fn release(&self, ids: Vec<EntryId>) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::Release(ids, reply)).await }
    }

    /// Records how many problems of each point are requested, before the requests are sent. Marks never decrease.
    ///
    /// Not durable by itself: a mark is on disk as soon as a later entry is.
    ///
    /// # Errors
    /// A [`CacheError`] if the marks could not be written; then no request beyond the old marks may be sent.
    pub fn raise_marks(
        &self,
        marks: Vec<Mark>,
    ) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::RaiseMarks(marks, reply)).await }
    }

    /// Sends a command and waits for its result. The future holds a handle, so that the thread outlives it.
    async fn send<T>(self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, CacheError> {
        let closed = || CacheError::Closed { path: self.shared.path.to_path_buf() };
        let (reply, answer) = oneshot::channel();
        let queue = self.shared.queue.as_ref().ok_or_else(closed)?;
        queue.send(command(reply)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has no receiver at this point, so it is ignored.
            let _ = thread.join();
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the last sync ends before the connection closes")]
fn run_writer(
    mut write_connection: WriteConnection,
    mut owner: Owner,
    mut commands: mpsc::Receiver<Command>,
    syncer: Syncer,
) {
    let mut received = Vec::with_capacity(QUEUE);
    while commands.blocking_recv_many(&mut received, QUEUE) > 0 {
        let started = Instant::now();
        let mut batch: Vec<_> = received.drain(..).filter_map(Command::prepare).collect();
        if batch.len() > 1 && batch.iter().any(PreparedCommand::is_store) {
            std::thread::sleep(BATCH_WINDOW.saturating_sub(started.elapsed()));
            let more = std::iter::from_fn(|| commands.try_recv().ok()).take(QUEUE);
            batch.extend(more.filter_map(Command::prepare));
        }
        let Err((batch, error)) = execute(&mut write_connection, &mut owner, batch, &syncer) else {
            continue;
        };
        if batch.len() == 1 {
            reject(batch, &error);
            continue;
        }
        // Retry one by one: an entry that doesn't fit on a full disk must not fail the others, which may be smaller.
        for command in batch {
            if let Err((command, error)) = execute(&mut write_connection, &mut owner, vec![command], &syncer)
            {
                reject(command, &error);
            }
        }
    }
    // If this fails on a full disk, the next process detects that this one has ended.
    let _ = write_connection.unregister(&mut owner);
}

/// Runs all commands in one transaction and replies to them. If the transaction fails, nothing is written and the
/// commands are returned.
fn execute(
    write_connection: &mut WriteConnection,
    owner: &mut Owner,
    batch: Vec<PreparedCommand>,
    syncer: &Syncer,
) -> Result<(), (Vec<PreparedCommand>, CacheError)> {
    let mut claims = Vec::new();
    let written = write_connection.transaction(|transaction| {
        for command in &batch {
            match command {
                PreparedCommand::Store(entry, _) => {
                    write_connection::store(transaction, entry)?;
                }
                PreparedCommand::Claim(ids, _) => {
                    let answers: Result<Vec<Claim>, _> =
                        ids.iter().map(|id| write_connection::claim(transaction, id, owner)).collect();
                    claims.push(answers?);
                }
                PreparedCommand::Release(ids, _) => {
                    ids.iter().try_for_each(|id| write_connection::release(transaction, id, owner.id()))?;
                }
                PreparedCommand::RaiseMarks(marks, _) => write_connection::raise_marks(transaction, marks)?,
            }
        }
        Ok(())
    });
    if let Err(error) = written {
        return Err((batch, error));
    }
    let mut claims = claims.into_iter();
    // The receiver may have been dropped; that is not an error.
    for command in batch {
        match command {
            PreparedCommand::Store(_, StoreReply { committed, synced }) => {
                let _ = committed.send(Ok(()));
                syncer.reply_when_synced(synced);
            }
            PreparedCommand::Release(_, reply) | PreparedCommand::RaiseMarks(_, reply) => {
                let _ = reply.send(Ok(()));
            }
            PreparedCommand::Claim(_, reply) => {
                let _ = reply.send(Ok(claims.next().expect("one answer per claim")));
            }
        }
    }
    Ok(())
}

/// Replies with the error to commands that were not written.
fn reject(batch: Vec<PreparedCommand>, error: &CacheError) {
    for command in batch {
        // The receiver may have been dropped; that is not an error.
        match command {
            PreparedCommand::Store(_, StoreReply { committed: reply, .. })
            | PreparedCommand::Release(_, reply)
            | PreparedCommand::RaiseMarks(_, reply) => {
                let _ = reply.send(Err(error.clone()));
            }
            PreparedCommand::Claim(_, reply) => {
                let _ = reply.send(Err(error.clone()));
            }
        }
    }
}

/// The thread that syncs the write-ahead log. Dropping it waits until every commit is synced.
struct Syncer {
    waiting: Option<std_mpsc::Sender<Reply<()>>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    fn start(path: &Arc<Path>) -> Result<Self, CacheError> {
        let to_cache_error = CacheError::from_io(path);
        let (waiting, replies) = std_mpsc::channel();
        let path = Arc::clone(path);
        // SQLite takes no lock on this file, so a second handle is safe. (Closing a second handle of the database file itself
        // would drop the locks of the whole process.)
        let log = File::open(log_path(&path)).map_err(&to_cache_error)?;
        let thread = std::thread::Builder::new()
            .name("cache syncer".to_owned())
            .spawn({
                let path = Arc::clone(&path);
                move || run_syncer(&path, &log, &replies)
            })
            .map_err(to_cache_error)?;
        Ok(Self { waiting: Some(waiting), thread: Some(thread) })
    }

    /// Replies once everything committed so far is on disk.
    fn reply_when_synced(&self, reply: Reply<()>) {
        if let Some(waiting) = &self.waiting {
            // The thread outlives this sender.
            let _ = waiting.send(reply);
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        drop(self.waiting.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One sync for all waiting commits. Commits that a checkpoint has meanwhile moved from the log to the database are safe
/// too: SQLite syncs both files when it moves them.
fn run_syncer(path: &Path, log: &File, replies: &std_mpsc::Receiver<Reply<()>>) {
    let mut last: Option<Instant> = None;
    while let Ok(first) = replies.recv() {
        if let Some(last) = last {
            std::thread::sleep(SYNC_INTERVAL.saturating_sub(last.elapsed()));
        }
        last = Some(Instant::now());
        let waiting: Vec<_> = std::iter::once(first).chain(replies.try_iter()).collect();
        let synced = log.sync_data().map_err(CacheError::from_io(path));
        for reply in waiting {
            let _ = reply.send(synced.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use reasonscape_core::CacheKey;

    use super::*;
    use crate::{Cache, Response};

    fn entry(number: u8) -> Entry {
        let request = format!("{{\"n\": {number}}}");
        // Incompressible bytes: digests of a counter.
        let digests = (0..100).flat_map(|i| CacheKey::from_canonical_json(&format!("{number} {i}")).0);
        let response = Response {
            status: 200,
            latency_ms: 0,
            latency_us: None,
            received_ms: 0,
            body: digests.collect(),
        };
        Entry { id: EntryId::new(CacheKey::from_canonical_json(&request)), request, response }
    }

    #[tokio::test]
    async fn reports_disk_full_and_keeps_stored_entries() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("cache.sqlite")).unwrap();
        let write_connection = cache.write_connection().unwrap();
        write_connection.connection.pragma_update(None, "max_page_count", 12).unwrap();
        let writer = Writer::start(write_connection).unwrap();
        let mut stored = 0;
        let error = loop {
            match writer.store(entry(stored)).await {
                Ok(()) => stored += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, CacheError::Full { .. }), "{error}");
        assert!(stored > 0);
        assert!(writer.store(entry(200)).await.is_err(), "later writes fail with an error as well");
        drop(writer);
        let reader = cache.reader().unwrap();
        for number in 0..stored {
            assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
        }
        assert!(!reader.contains(&entry(stored).id).unwrap());
    }

    #[tokio::test]
    async fn an_entry_that_does_not_fit_fails_alone() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path().join("cache.sqlite")).unwrap();
        let mut write_connection = cache.write_connection().unwrap();
        let owner = write_connection.register().unwrap();
        let pages: i64 =
            write_connection.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        write_connection.connection.pragma_update(None, "max_page_count", pages + 20).unwrap();
        let large = |number: u8| {
            let bodies = (0..100).flat_map(|part: u8| entry(part).response.body);
            let mut large = entry(number);
            large.response.body = bodies.collect();
            large
        };
        // All of them are in the queue before the thread takes the first, so they share a transaction.
        let (queue, commands) = mpsc::channel(QUEUE);
        let mut committed = Vec::new();
        for entry in [entry(1), large(2), entry(3), large(4), entry(5)] {
            let ((reply, is_committed), (synced, is_synced)) = (oneshot::channel(), oneshot::channel());
            let reply = StoreReply { committed: reply, synced };
            queue.try_send(Command::Store(Arc::new(entry), TokenUsage::default(), reply)).unwrap();
            committed.push((is_committed, is_synced));
        }
        drop(queue);
        let syncer = Syncer::start(&write_connection.path).unwrap();
        tokio::task::spawn_blocking(move || run_writer(write_connection, owner, commands, syncer))
            .await
            .unwrap();
        let reader = cache.reader().unwrap();
        for (number, (is_committed, is_synced)) in (1..).zip(committed) {
            let result = is_committed.await.unwrap();
            if number % 2 == 1 {
                result.unwrap();
                is_synced.await.unwrap().unwrap();
                assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
            } else {
                assert!(matches!(result, Err(CacheError::Full { .. })), "{result:?}");
                assert!(!reader.contains(&entry(number).id).unwrap());
            }
        }
    }
}
