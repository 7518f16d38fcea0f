//! An API-compatible server with simulated models of known skill and injectable faults.
//!
//! It generates the problems of its suites at startup, so it has every answer. Each model *knows* an answer with a
//! probability that is a public function ([`true_accuracy`]), so the estimates that ReasonScape computes from the replies
//! can be compared with the true values. `docs/simulator.md` describes the models.
//!
//! # Promises
//! Deterministic: a reply depends on the seed, the model, the question and the repeat. The server never sends a request.
//! It binds to loopback by default, writes nothing to disk, and never shows its API key.
//!
//! # How a reply is generated
//! 1. The model knows the answer with probability `logistic(ability - sum of weight x position)`.
//! 2. If not, it may loop until the token limit. Otherwise it picks one of the options with equal probability or, for a
//!    question without options, gives an answer that is guaranteed to be incorrect.
//! 3. The number of tokens grows with difficulty. A reply that exceeds the limit is truncated before its answer.
//!
//! # Repeated requests
//! A reply is a function of the server's seed, the model, the question (not the text around it) and the repeat. At
//! temperature 0 the repeat is 0. At other temperatures a request with a `seed` gets the reply of that seed; among
//! identical requests without a seed, the n-th one answered gets the n-th reply. The first reply is the same as at
//! temperature 0. A token limit truncates a reply and changes nothing else in it.

mod body;
mod distractors;
mod faults;
mod model_profiles;
mod question_index;
mod reply;
mod request;
mod response;
mod rng;
mod service;
mod skill;
mod stats;
mod text_gen;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reasonscape_core::Suite;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;

pub use faults::{FaultKind, Faults, FaultsError};
pub use reply::{ResolvedPrompt, Simulator};
pub use skill::{CONTEXT_TOKENS, GroundTruth, SimulatedModel, true_accuracy};
pub use stats::ServerStats;

use service::{Key, Service};

/// Length of the queue of connections that are not accepted yet.
const BACKLOG: u32 = 4096;

/// Settings of a simulated server.
pub struct SimulateOptions {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port; 0 picks a free one.
    pub port: u16,
    /// The suites whose questions the models can know.
    pub suites: Vec<Suite>,
    /// Tests per point; if `None`, as set in each suite.
    pub count: Option<usize>,
    /// Determines which answers a model knows, not how many.
    pub seed: u64,
    /// The faults to inject.
    pub faults: Faults,
    /// The API key that requests must send, as `Authorization: Bearer` or `x-api-key`.
    pub api_key: Option<String>,
    /// Number of server threads.
    pub threads: usize,
}

impl Default for SimulateOptions {
    /// A free loopback port; no suites, no faults, no API key.
    fn default() -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            suites: Vec::new(),
            count: None,
            seed: 0,
            faults: Faults::default(),
            api_key: None,
            threads: 2,
        }
    }
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The address is not available.
    #[error("cannot listen on `{address}`; choose another port, or 0 for any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start the server threads")]
    Threads(#[source] std::io::Error),
}

/// A running server; it stops when this is dropped.
///
/// ```
/// use reasonscape_simulator::{SimulateOptions, SimulatedServer};
///
/// let server = SimulatedServer::start(SimulateOptions::default())?;
/// assert!(server.base_url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.stats().requests, 0);
/// # Ok::<(), reasonscape_simulator::SimulateError>(())
/// ```
#[derive(Debug)]
pub struct SimulatedServer {
    address: SocketAddr,
    question_count: usize,
    service: Arc<Service>,
    /// `None` only while being dropped.
    runtime: Option<Runtime>,
}

impl SimulatedServer {
    /// Generates the tests, binds the port and starts the server's own threads. May also be called from within an async
    /// runtime.
    ///
    /// # Errors
    /// A [`SimulateError`] if the port is not available or the threads cannot be started.
    pub fn start(options: SimulateOptions) -> Result<Self, SimulateError> {
        let SimulateOptions { host, port, suites, count, seed, faults, api_key, threads } = options;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("simulate")
            .enable_all()
            .build()
            .map_err(SimulateError::Threads)?;
        let requested = SocketAddr::new(host, port);
        let (listener, address) = {
            let _context = runtime.enter();
            listen(requested).map_err(|source| SimulateError::Listen { address: requested, source })?
        };
        let simulator = Simulator::new(&suites, count, seed);
        let question_count = simulator.question_count();
        let service = Arc::new(Service::new(simulator, faults, api_key.map(Key)));
        runtime.spawn(serve(listener, Arc::clone(&service)));
        Ok(Self { address, question_count, service, runtime: Some(runtime) })
    }

    /// The base URL for clients, such as `http://127.0.0.1:8089/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many questions the models can know.
    pub fn question_count(&self) -> usize {
        self.question_count
    }

    /// The counters so far.
    pub fn stats(&self) -> ServerStats {
        self.service.counters.read()
    }

    /// How often exactly this body was sent to a path such as `/v1/chat/completions`, answered or not.
    pub fn request_count(&self, path: &str, body: &[u8]) -> u32 {
        stats::Api::by_path(path).map_or(0, |api| self.service.counters.request_count(api, body))
    }

    /// Resets the counters, including how often each request was answered.
    pub fn reset_stats(&self) {
        self.service.counters.reset();
    }

    /// Serves until the future completes, and returns its output. The future is polled on this thread, within the server's
    /// runtime, so it may wait for signals.
    pub fn serve_until<F: Future>(&self, end: F) -> F::Output {
        self.runtime.as_ref().expect("only absent while being dropped").block_on(end)
    }

    /// Stops immediately and closes all connections.
    pub fn shutdown(self) {}
}

impl Drop for SimulatedServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A blocking shutdown would panic if the server is dropped within another runtime.
            runtime.shutdown_background();
        }
    }
}

fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that has just stopped leaves its port in a state that blocks the next one. Not on Windows, where the same
    // option would allow binding a port that is in use.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

async fn serve(listener: TcpListener, service: Arc<Service>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Most likely out of file descriptors: connections that end will free some.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        // Without it small replies wait for an acknowledgment. A failure only costs time.
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let handler = service_fn(|request| Arc::clone(&service).handle(request));
            // An error here means that the client disconnected or that the fault was injected.
            let _ = hyper::server::conn::http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), handler)
                .await;
        });
    }
}
