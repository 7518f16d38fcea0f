//! An API-compatible server with simulated models of known skill and injectable faults.
//!
//! It generates the problems of its suites when it starts and knows every answer; each model then *knows* some of them,
//! with a probability that is a public function ([`true_accuracy`]), so what ReasonScape estimates from the replies can be
//! compared with the truth. `docs/simulator.md` describes the models.
//!
//! # Promises
//! Deterministic: a reply depends on the seed, the model, the question and the repeat. Serves, and never sends a request.
//!
//! # How a reply comes about
//! 1. The model knows the answer with probability `logistic(ability - sum of weight x position)`.
//! 2. If not, it may loop until the token limit. Otherwise it picks one of the options, all alike, or where there are
//!    none gives an answer that is certainly wrong.
//! 3. The reply takes a number of tokens that grows with difficulty. What exceeds the limit is cut, without an answer.
//!
//! # What repeats
//! A reply is a function of the server's seed, the model, the question (not the words around it) and the repeat. At
//! temperature 0 the repeat is 0. Above it, a request with a `seed` gets the reply of that seed, and of requests
//! without one the n-th identical request that is answered gets the n-th reply. The first is the same as at
//! temperature 0. A token limit cuts a reply and changes nothing else in it.
//!
//! # Promises
//! It binds to loopback unless told otherwise, keeps nothing on disk, and never shows the key it was given.

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

/// Connections that wait to be taken.
const BACKLOG: u32 = 4096;

/// What a simulated server serves, where, and how badly.
pub struct SimulateOptions {
    /// Where it listens.
    pub host: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The suites whose questions it knows.
    pub suites: Vec<Suite>,
    /// Tests a point, instead of what each suite says.
    pub count: Option<usize>,
    /// Another seed gives models of the same skill that know other answers.
    pub seed: u64,
    /// What goes wrong.
    pub faults: Faults,
    /// The key that requests must bring, as `Authorization: Bearer` or `x-api-key`.
    pub api_key: Option<String>,
    /// Threads that serve.
    pub threads: usize,
}

impl Default for SimulateOptions {
    /// On a free port of loopback, without suites, faults and key.
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
    /// The address cannot be had.
    #[error("cannot listen on `{address}`; choose another port, or 0 for any that is free")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// No threads to be had.
    #[error("cannot start the threads that serve")]
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
    /// Only absent while being dropped.
    runtime: Option<Runtime>,
}

impl SimulatedServer {
    /// Generates the tests, binds the port and serves from threads of its own. May be called from anywhere, also
    /// from within a runtime.
    ///
    /// # Errors
    /// A [`SimulateError`] when the port or threads cannot be had.
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

    /// Where clients find it, as in `http://127.0.0.1:8089/v1`.
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

    /// What it has seen so far.
    pub fn stats(&self) -> ServerStats {
        self.service.counters.read()
    }

    /// How often it was asked with this very body at a path such as `/v1/chat/completions`, answered or not.
    pub fn request_count(&self, path: &str, body: &[u8]) -> u32 {
        stats::Api::by_path(path).map_or(0, |api| self.service.counters.request_count(api, body))
    }

    /// Forgets what it has seen, and how often each request was answered.
    pub fn reset_stats(&self) {
        self.service.counters.reset();
    }

    /// Serves until a future ends, which is polled on this thread, and gives what it ends with. The future may listen
    /// to signals: it runs within the server's runtime.
    pub fn serve_until<F: Future>(&self, end: F) -> F::Output {
        self.runtime.as_ref().expect("only absent while being dropped").block_on(end)
    }

    /// Stops at once; connections are closed as they are.
    pub fn shutdown(self) {}
}

impl Drop for SimulatedServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting would not be allowed where the server is dropped within another runtime.
            runtime.shutdown_background();
        }
    }
}

fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A server that has just stopped leaves its port in a state that would keep the next one out. Windows
    // understands the same option as leave to take a port that is in use.
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
            // Out of descriptors, most likely: connections that end will free some.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        // Without it small replies wait for an acknowledgement; a failure only costs time.
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            let handler = service_fn(|request| Arc::clone(&service).handle(request));
            // An error here is a client that left or a fault that was asked for.
            let _ = hyper::server::conn::http1::Builder::new()
                .pipeline_flush(true)
                .serve_connection(TokioIo::new(stream), handler)
                .await;
        });
    }
}
