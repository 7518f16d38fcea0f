//! Accepts connections, and closes those whose clients make no progress.
//!
//! A client that doesn't read its reply, or doesn't send its request, must not keep others out. So a write that makes no
//! progress has a deadline, and when all connections are taken, the one that has waited longest for its client is closed
//! for the next. Connections that wait for the server are never closed; [`super::busy`] limits how many these are.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::Sleep;

/// Maximum length of a request line with its headers.
const MAX_HEAD_LEN: usize = 32 * 1024;

/// Limits on connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Maximum number of connections. Half of the usual limit on open files, which queries need as well.
    pub(crate) max: usize,
    /// Time to receive the headers of a request.
    pub(crate) header_timeout: Duration,
    /// Time in which a client must read something of a reply that is being sent.
    pub(crate) write_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { max: 512, header_timeout: Duration::from_secs(15), write_timeout: Duration::from_secs(30) }
    }
}

/// The address of a client, as an extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Since when a connection waits for its client, by what it waits for.
#[derive(Debug, Default)]
struct Waiting {
    request: Option<Instant>,
    body: Option<Instant>,
    reader: Option<Instant>,
}

#[derive(Debug, Default)]
struct Connection {
    waiting: Mutex<Waiting>,
    /// Raised to close the connection.
    close: Notify,
}

impl Connection {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the connection waits for its client; `None` while it waits for the server.
    fn waits_since(&self) -> Option<Instant> {
        let waiting = self.waiting();
        [waiting.request, waiting.body, waiting.reader].into_iter().flatten().min()
    }
}

/// The open connections.
struct Connections {
    limits: ConnectionLimits,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
    /// Raised when a connection ends or begins to wait for its client.
    changed: Notify,
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection that has waited longest for its client, if any does.
    fn close_longest_waiting(&self) -> bool {
        let mut open = self.open();
        let waiting = open.iter().filter_map(|(id, connection)| Some((connection.waits_since()?, *id)));
        let Some((_, id)) = waiting.min() else { return false };
        if let Some(connection) = open.remove(&id) {
            connection.close.notify_one();
        }
        true
    }

    /// Waits until there is room for one more connection.
    async fn make_room(&self) {
        while self.open().len() >= self.limits.max {
            if !self.close_longest_waiting() {
                self.changed.notified().await;
            }
        }
    }
}

/// Removes a connection from the open ones when it ends.
struct Slot {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
    id: u64,
}

impl Slot {
    fn new(connections: &Arc<Connections>, id: u64) -> Self {
        let connection = Arc::new(Connection::default());
        connection.waiting().request = Some(Instant::now());
        connections.open().insert(id, Arc::clone(&connection));
        Self { connections: Arc::clone(connections), connection, id }
    }

    /// Records that the connection waits for its client, or no longer does.
    fn set_waiting(&self, field: fn(&mut Waiting) -> &mut Option<Instant>, is_waiting: bool) {
        let mut waiting = self.connection.waiting();
        let since = field(&mut waiting);
        if is_waiting {
            since.get_or_insert_with(Instant::now);
        } else {
            *since = None;
        }
        drop(waiting);
        if is_waiting {
            self.connections.changed.notify_one();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.open().remove(&self.id);
        self.connections.changed.notify_one();
    }
}

/// Accepts connections for as long as it is polled.
pub(crate) async fn accept(listener: TcpListener, routes: Router, limits: ConnectionLimits) {
    let connections = Arc::new(Connections { limits, open: Mutex::default(), changed: Notify::new() });
    for id in 0.. {
        let (stream, peer) = loop {
            if let Ok(accepted) = listener.accept().await {
                break accepted;
            }
            // Out of descriptors, most likely: connections that end free some.
            connections.close_longest_waiting();
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        connections.make_room().await;
        // Without it small replies wait for an acknowledgement; a failure only costs time.
        let _ = stream.set_nodelay(true);
        let slot = Arc::new(Slot::new(&connections, id));
        tokio::spawn(serve(stream, Peer(peer.ip()), slot, TowerToHyperService::new(routes.clone())));
    }
}

async fn serve(stream: TcpStream, peer: Peer, slot: Arc<Slot>, routes: TowerToHyperService<Router>) {
    let limits = slot.connections.limits;
    let connection = Arc::clone(&slot.connection);
    let io =
        ProgressStream { stream, slot: Arc::clone(&slot), timeout: limits.write_timeout, deadline: None };
    let handle = service_fn(move |request: Request<Incoming>| {
        let slot = Arc::clone(&slot);
        slot.set_waiting(|waiting| &mut waiting.request, false);
        let mut request = request.map(|body| Body::new(RequestBody { body, slot: Arc::clone(&slot) }));
        request.extensions_mut().insert(peer);
        let reply = routes.call(request);
        async move {
            let reply: Response<Body> = reply.await?;
            Ok::<_, std::convert::Infallible>(reply.map(|body| ReplyBody { body, slot }))
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_buf_size(MAX_HEAD_LEN)
        .serve_connection(TokioIo::new(io), handle);
    tokio::select! {
        ended = served => if let Err(error) = ended {
            tracing::debug!(%error, "connection failed");
        },
        () = connection.close.notified() => tracing::debug!("connection closed to make room"),
    }
}

/// The body of a request, which the server may have to wait for.
struct RequestBody {
    body: Incoming,
    slot: Arc<Slot>,
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.slot.set_waiting(|waiting| &mut waiting.body, polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.slot.set_waiting(|waiting| &mut waiting.body, false);
    }
}

/// The body of a reply. When it has been sent, the connection waits for the next request.
struct ReplyBody {
    body: Body,
    slot: Arc<Slot>,
}

impl hyper::body::Body for ReplyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ReplyBody {
    fn drop(&mut self) {
        self.slot.set_waiting(|waiting| &mut waiting.request, true);
    }
}

/// A stream whose writes fail if the client reads nothing for too long.
struct ProgressStream {
    stream: TcpStream,
    slot: Arc<Slot>,
    timeout: Duration,
    /// Set while a write makes no progress.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl ProgressStream {
    fn check_progress<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.deadline.take().is_some() {
                self.slot.set_waiting(|waiting| &mut waiting.reader, false);
            }
            return written;
        }
        let deadline = self.deadline.get_or_insert_with(|| {
            self.slot.set_waiting(|waiting| &mut waiting.reader, true);
            Box::pin(tokio::time::sleep(self.timeout))
        });
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for ProgressStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ProgressStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_progress(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.check_progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
