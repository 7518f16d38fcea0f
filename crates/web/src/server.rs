//! Serves a study: connections, and what becomes of runs when the server ends.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use reasonscape_pipeline::Shutdown;
use reasonscape_points::PointsError;
use reasonscape_study::Study;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::app::{App, Snapshot};
use super::auth::Access;
use super::routes::{routes, run_results_routes};
use super::runs::Runs;

/// Connections at a time; more wait.
const MAX_CONNECTIONS: usize = 1_024;
/// Length of a request line with its headers.
const MAX_HEAD_LEN: usize = 32 * 1024;
/// Time to receive the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait for runs to record their end in an immediate shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// What to serve, and to whom.
#[derive(Debug)]
pub struct ServeOptions {
    /// The folder of the study.
    pub folder: PathBuf,
    /// The title of the study.
    pub title: String,
    /// The base path: empty, or as `/x`.
    pub base: String,
    /// Which requests are allowed.
    pub access: Access,
}

/// Why a study is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The study could not be opened.
    #[error(transparent)]
    Points(#[from] PointsError),
}

/// What a server tells whoever started it.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The study is open and requests are answered; with what to know about the study.
    Ready {
        /// Notes on the study.
        remarks: &'a [String],
    },
    /// The server was told to shut down and waits for requests of runs that are in flight.
    Draining,
}

/// Serves until `shutdown` is raised. Active runs are then drained, and left at once if it is raised further.
///
/// # Errors
/// A [`ServeError`] when the study cannot be opened; an error of `on_notice`, which ends the server.
pub async fn serve<E: From<ServeError>>(
    listener: TcpListener,
    options: ServeOptions,
    mut shutdown: watch::Receiver<Shutdown>,
    mut on_notice: impl FnMut(Notice<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let snapshot = match Snapshot::open(&options.folder, None).await {
        Ok(snapshot) => Some(snapshot),
        // A study that has a study.toml can be run from here.
        Err(PointsError::Empty { .. }) if options.folder.join(Study::FILE).exists() => None,
        Err(error) => return Err(ServeError::from(error).into()),
    };
    let remarks = match &snapshot {
        Some(snapshot) => snapshot.remarks.clone(),
        None => vec!["the study has no trials yet; the page Runs starts a run".to_owned()],
    };
    let app = Arc::new(App::new(
        options.folder,
        options.title,
        options.base,
        options.access,
        snapshot,
        run_results_routes,
    ));
    let accepting = tokio::spawn(accept(listener, routes(&app)));
    on_notice(Notice::Ready { remarks: &remarks })?;
    // A sender that is gone cannot say anything more, so the server ends.
    let _ = shutdown.wait_for(|stop| *stop != Shutdown::None).await;
    if let Ok(runs) = app.runs()
        && runs.active_count() > 0
    {
        on_notice(Notice::Draining)?;
        drain(runs, &mut shutdown).await;
    }
    accepting.abort();
    Ok(())
}

/// Lets runs wait for requests in flight, unless the shutdown is to be immediate.
async fn drain(runs: &Runs, shutdown: &mut watch::Receiver<Shutdown>) {
    runs.stop_all(Shutdown::Drain);
    tokio::select! {
        () = runs.wait_idle() => return,
        _ = shutdown.wait_for(|stop| *stop == Shutdown::Immediate) => runs.stop_all(Shutdown::Immediate),
    }
    // Long enough to record how they ended.
    let _ = tokio::time::timeout(SHUTDOWN_GRACE, runs.wait_idle()).await;
}

async fn accept(listener: TcpListener, routes: Router) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: connections that end will free some.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Without it small replies wait for an acknowledgement; a failure only costs time.
        let _ = stream.set_nodelay(true);
        let routes = TowerToHyperService::new(routes.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_TIMEOUT)
                .max_buf_size(MAX_HEAD_LEN)
                .serve_connection(TokioIo::new(stream), routes);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke");
            }
            drop(slot);
        });
    }
}

/// Binds to an address.
///
/// # Errors
/// When the port is taken or the address is not of this machine.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
    // A server that has just stopped leaves its port in a state that would keep the next one out. Windows understands
    // the same option as leave to take a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1_024)
}
