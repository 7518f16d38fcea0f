//! Serves a study until shutdown, and drains its runs then.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reasonscape_pipeline::Shutdown;
use reasonscape_points::PointsError;
use reasonscape_study::{KeyAddress, Study};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::app::{App, Snapshot};
use super::auth::Access;
use super::connections::{ConnectionLimits, accept};
use super::routes::{routes, run_results_routes};
use super::runs::Runs;

/// How long to wait for runs to record their end in an immediate shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Options of a server.
#[derive(Debug)]
pub struct ServeOptions {
    /// The study directory.
    pub folder: PathBuf,
    /// The title of the study.
    pub title: String,
    /// The base path: empty, or like `/x`.
    pub base: String,
    /// Which requests are allowed.
    pub access: Access,
    /// Where runs may send API keys of the environment, besides the addresses in study.toml and those of well-known
    /// providers.
    pub allowed_keys: Vec<KeyAddress>,
}

/// Why a study can't be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The study could not be opened.
    #[error(transparent)]
    Points(#[from] PointsError),
}

/// Events that a server reports to its caller.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The study is open and the server accepts requests.
    Ready {
        /// Notes on the study.
        remarks: &'a [String],
    },
    /// The server is shutting down and waits for the requests that runs have in flight.
    Draining,
}

/// Serves until `shutdown` is raised. Active runs are then drained, or aborted if it is raised to immediate.
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
        // A study that has a study.toml can be run from the web app.
        Err(PointsError::Empty { .. }) if options.folder.join(Study::FILE).exists() => None,
        Err(error) => return Err(ServeError::from(error).into()),
    };
    let remarks = match &snapshot {
        Some(snapshot) => snapshot.remarks.clone(),
        None => vec!["the study has no trials yet; start a run on the Runs page".to_owned()],
    };
    let app = Arc::new(App::new(
        options.folder,
        options.title,
        options.base,
        options.access,
        options.allowed_keys,
        snapshot,
        run_results_routes,
    ));
    let accepting = tokio::spawn(accept(listener, routes(&app), ConnectionLimits::default()));
    on_notice(Notice::Ready { remarks: &remarks })?;
    // A dropped sender also ends the server.
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

/// Binds to an address.
///
/// # Errors
/// When the port is in use or the address is not local.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket =
        if address.is_ipv4() { tokio::net::TcpSocket::new_v4()? } else { tokio::net::TcpSocket::new_v6()? };
    // A port stays in TIME_WAIT after a server stops, which would block a restart. On Windows the same option would allow
    // binding to a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(1_024)
}
