//! The one thread of a process that writes, and the handle to it.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reasonscape_core::EntryId;
use tokio::sync::{mpsc, oneshot};

use crate::codec::{Encoded, encode};
use crate::entry::Entry;
use crate::error::CacheError;
use crate::leases::Owner;
use crate::marks::Mark;
use crate::write_connection::{self, Claim, WriteConnection};

/// Commands that may wait to be written; a full queue makes senders wait.
const QUEUE: usize = 512;

/// How long responses that come thick and fast wait for more of them: the more share a transaction, the fewer pages are
/// written for each. One that comes alone does not wait.
const BATCH_WINDOW: Duration = Duration::from_millis(4);

/// Stores responses and claims requests.
///
/// All writing of a process goes through one thread. It takes whatever has queued up into one transaction, so that
/// one sync of the disk serves many responses. Clones share the thread; when the last of them is dropped it finishes
/// what is queued and gives back its claims, which takes some milliseconds.
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

#[derive(Debug)]
enum Command {
    Store(Entry, Reply<()>),
    Claim(Vec<EntryId>, Reply<Vec<Claim>>),
    Release(Vec<EntryId>, Reply<()>),
    RaiseMarks(Vec<Mark>, Reply<()>),
}

/// A command whose entry is compressed.
enum PreparedCommand {
    Store(Encoded, Reply<()>),
    Claim(Vec<EntryId>, Reply<Vec<Claim>>),
    Release(Vec<EntryId>, Reply<()>),
    RaiseMarks(Vec<Mark>, Reply<()>),
}

impl Command {
    /// Compresses what is to be stored; if that fails, replies at once.
    fn prepare(self) -> Option<PreparedCommand> {
        Some(match self {
            Self::Store(entry, reply) => match encode(&entry, true) {
                Ok(encoded) => PreparedCommand::Store(encoded, reply),
                Err(error) => {
                    // A reply that nobody waits for is not an error.
                    let _ = reply.send(Err(error));
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
        let path = Arc::clone(&write_connection.path);
        let (queue, commands) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("cache writer".to_owned())
            .spawn(move || run_writer(write_connection, owner, commands))
            .map_err(CacheError::from_io(&path))?;
        Ok(Self { shared: Arc::new(Shared { path, queue: Some(queue), thread: Some(thread) }) })
    }

    /// Stores an entry and ends its claim. The future is ready when the entry is on the disk, and not before.
    ///
    /// The mark of its point must have been raised ([`Writer::raise_marks`]): scoring looks no further than the marks.
    ///
    /// A future that is dropped while it waits may or may not have stored its entry. Storing an identity again changes
    /// nothing.
    ///
    /// # Errors
    /// A [`CacheError`] if it could not be written; its claim then stands.
    pub fn store(&self, entry: Entry) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::Store(entry, reply)).await }
    }

    /// Claims identities, all in one transaction: one answer for each, in order. What is [`Claim::Granted`] is asked
    /// by nobody else, in this process or another, until it is stored or released or this process ends.
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

    /// Gives back claims of requests that finally failed, so that others may try.
    ///
    /// # Errors
    /// A [`CacheError`] if that could not be written; the claims then stand until this writer ends.
    pub fn release(&self, ids: Vec<EntryId>) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::Release(ids, reply)).await }
    }

    /// Records how far points are requested, before their requests are sent. Marks only rise.
    ///
    /// Not durable by itself: a mark is on the disk as soon as an entry that is stored after it is.
    ///
    /// # Errors
    /// A [`CacheError`] if that could not be written; then no request beyond the old marks may be sent.
    pub fn raise_marks(
        &self,
        marks: Vec<Mark>,
    ) -> impl Future<Output = Result<(), CacheError>> + Send + use<> {
        let writer = self.clone();
        async move { writer.send(|reply| Command::RaiseMarks(marks, reply)).await }
    }

    /// Sends a command and waits for its result. The waiting future holds a handle, so that the thread outlives it.
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
            // It does not panic; if it did, there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

fn run_writer(
    mut write_connection: WriteConnection,
    mut owner: Owner,
    mut commands: mpsc::Receiver<Command>,
) {
    let mut received = Vec::with_capacity(QUEUE);
    let mut batch = Vec::with_capacity(2 * QUEUE);
    while commands.blocking_recv_many(&mut received, QUEUE) > 0 {
        let started = Instant::now();
        batch.extend(received.drain(..).filter_map(Command::prepare));
        if batch.len() > 1 && batch.iter().any(PreparedCommand::is_store) {
            std::thread::sleep(BATCH_WINDOW.saturating_sub(started.elapsed()));
            let more = std::iter::from_fn(|| commands.try_recv().ok()).take(QUEUE);
            batch.extend(more.filter_map(Command::prepare));
        }
        write(&mut write_connection, &mut owner, &mut batch);
    }
    // If the disk is full even for that, the next process sees that this one is gone.
    let _ = write_connection.unregister(&mut owner);
}

/// Runs all commands in one transaction, and replies to them after it.
fn write(write_connection: &mut WriteConnection, owner: &mut Owner, batch: &mut Vec<PreparedCommand>) {
    let durable = batch.iter().any(PreparedCommand::is_store);
    let mut claims = Vec::new();
    let written = write_connection.transaction(durable, |transaction| {
        for command in batch.iter() {
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
    let mut claims = claims.into_iter();
    // A reply that nobody waits for is not an error.
    for command in batch.drain(..) {
        match command {
            PreparedCommand::Store(_, reply)
            | PreparedCommand::Release(_, reply)
            | PreparedCommand::RaiseMarks(_, reply) => {
                let _ = reply.send(written.clone());
            }
            PreparedCommand::Claim(_, reply) => {
                let answers = written.clone().map(|()| claims.next().expect("one answer a claim"));
                let _ = reply.send(answers);
            }
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
        // Bytes that do not compress: digests of a counter.
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
        assert!(writer.store(entry(200)).await.is_err(), "it goes on and says so again");
        drop(writer);
        let reader = cache.reader().unwrap();
        for number in 0..stored {
            assert_eq!(reader.get(&entry(number).id).unwrap(), Some(entry(number).response));
        }
        assert!(!reader.contains(&entry(stored).id).unwrap());
    }
}
