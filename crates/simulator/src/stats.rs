//! Request counters, mainly for tests.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::faults::FaultKind;
use crate::rng::hash;

/// The supported APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// OpenAI chat completions.
    Chat,
    /// OpenAI text completions.
    Text,
    /// Anthropic messages.
    Messages,
}

impl Api {
    const ALL: [Self; 3] = [Self::Chat, Self::Text, Self::Messages];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Text => "/v1/completions",
            Self::Messages => "/v1/messages",
        }
    }

    pub(crate) fn by_path(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.path() == path)
    }
}

/// Counters since the server started or since the last `POST /stats/reset`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ServerStats {
    /// Requests to the three APIs, including failed and rejected ones.
    pub requests: u64,
    /// Requests by path.
    pub by_path: BTreeMap<&'static str, u64>,
    /// Replies by HTTP status. A request without any reply is only counted by its fault.
    pub by_status: BTreeMap<u16, u64>,
    /// Faults by kind.
    pub by_fault: BTreeMap<&'static str, u64>,
    /// Requests that got a model's reply, including slow ones and those without usage.
    pub answered: u64,
    /// Distinct requests: path and exact body.
    pub distinct: u64,
    /// Requests that had been answered before; a client with a cache sends none.
    pub duplicates: u64,
    /// Requests whose question is in no suite.
    pub unknown_questions: u64,
    /// Requests rejected because the API key was missing or invalid.
    pub unauthorized: u64,
    /// Requests in flight: read and not yet answered.
    pub in_flight: u64,
    /// Maximum number of requests in flight at once.
    pub peak_in_flight: u64,
}

const SHARDS: usize = 64;
const STATUSES: usize = 600;

/// The counters behind [`ServerStats`], and how often each request was received and answered.
#[derive(Debug)]
pub(crate) struct Counters {
    by_path: [AtomicU64; 3],
    by_status: Vec<AtomicU64>,
    by_fault: Vec<AtomicU64>,
    answered: AtomicU64,
    duplicates: AtomicU64,
    unknown_questions: AtomicU64,
    unauthorized: AtomicU64,
    in_flight: AtomicU64,
    peak_in_flight: AtomicU64,
    /// By the hash of path and body; sharded to reduce lock contention.
    seen: Vec<Mutex<HashMap<u64, Times>>>,
}

/// How often one request was received and answered.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    requests: u32,
    answered: u32,
}

impl Default for Counters {
    fn default() -> Self {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            by_path: Default::default(),
            by_status: zeros(STATUSES),
            by_fault: zeros(FaultKind::ALL.len()),
            answered: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            unknown_questions: AtomicU64::new(0),
            unauthorized: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            peak_in_flight: AtomicU64::new(0),
            seen: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }
}

/// Counts a request as in flight until dropped, even if its client disconnects.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a Counters);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Identifies a request by the hash of its path and body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identity(u64);

impl Identity {
    fn new(api: Api, body: &[u8]) -> Self {
        Self(hash(body, api as u64))
    }
}

impl Counters {
    /// Counts a received request.
    pub(crate) fn count_request(&self, api: Api, body: &[u8]) -> (InFlight<'_>, Identity) {
        add(&self.by_path[api as usize]);
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak_in_flight.fetch_max(now, Ordering::Relaxed);
        let identity = Identity::new(api, body);
        let mut shard = self.shard(identity);
        let times = shard.entry(identity.0).or_default();
        times.requests += 1;
        if times.answered > 0 {
            add(&self.duplicates);
        }
        (InFlight(self), identity)
    }

    /// Counts a request as answered; returns how often it had been answered before.
    pub(crate) fn answered(&self, identity: Identity) -> u32 {
        add(&self.answered);
        let mut shard = self.shard(identity);
        let times = shard.entry(identity.0).or_default();
        times.answered += 1;
        times.answered - 1
    }

    /// How often exactly this request was received, answered or not.
    pub(crate) fn request_count(&self, api: Api, body: &[u8]) -> u32 {
        let identity = Identity::new(api, body);
        self.shard(identity).get(&identity.0).map_or(0, |times| times.requests)
    }

    pub(crate) fn status(&self, status: u16) {
        if let Some(count) = self.by_status.get(usize::from(status)) {
            add(count);
        }
    }

    pub(crate) fn fault(&self, kind: FaultKind) {
        add(&self.by_fault[kind as usize]);
    }

    pub(crate) fn unknown_question(&self) {
        add(&self.unknown_questions);
    }

    pub(crate) fn unauthorized(&self) {
        add(&self.unauthorized);
    }

    pub(crate) fn read(&self) -> ServerStats {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let by_path: BTreeMap<_, _> =
            Api::ALL.into_iter().map(|api| (api.path(), count(&self.by_path[api as usize]))).collect();
        let seen = |(key, counter): (u16, &AtomicU64)| Some((key, count(counter))).filter(|(_, n)| *n > 0);
        ServerStats {
            requests: by_path.values().sum(),
            by_path,
            by_status: (0..).zip(&self.by_status).filter_map(seen).collect(),
            by_fault: FaultKind::ALL
                .into_iter()
                .map(|kind| (kind.name(), count(&self.by_fault[kind as usize])))
                .filter(|(_, count)| *count > 0)
                .collect(),
            answered: count(&self.answered),
            distinct: self.seen.iter().map(|shard| lock(shard).len() as u64).sum(),
            duplicates: count(&self.duplicates),
            unknown_questions: count(&self.unknown_questions),
            unauthorized: count(&self.unauthorized),
            in_flight: count(&self.in_flight),
            peak_in_flight: count(&self.peak_in_flight),
        }
    }

    /// Resets everything except the requests in flight.
    pub(crate) fn reset(&self) {
        let counters = [&self.answered, &self.duplicates, &self.unknown_questions, &self.unauthorized];
        for counter in self.by_path.iter().chain(&self.by_status).chain(&self.by_fault).chain(counters) {
            counter.store(0, Ordering::Relaxed);
        }
        self.peak_in_flight.store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
        for shard in &self.seen {
            lock(shard).clear();
        }
    }

    fn shard(&self, identity: Identity) -> std::sync::MutexGuard<'_, HashMap<u64, Times>> {
        lock(&self.seen[identity.0 as usize % SHARDS])
    }
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Ignores poisoning: the maps contain plain numbers, which a panic cannot leave inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_count_only_answered_requests() {
        let counters = Counters::default();
        let arrive = || {
            let (in_flight, identity) = counters.count_request(Api::Chat, b"{}");
            drop(in_flight);
            identity
        };
        arrive();
        let identity = arrive();
        assert_eq!(counters.read().duplicates, 0);
        assert_eq!((counters.answered(identity), counters.answered(identity)), (0, 1));
        arrive();
        let stats = counters.read();
        assert_eq!((stats.requests, stats.distinct, stats.duplicates, stats.in_flight), (3, 1, 1, 0));
        let requests = [(Api::Chat, &b"{}"[..]), (Api::Text, b"{}"), (Api::Chat, b"[]")];
        assert_eq!(requests.map(|(api, body)| counters.request_count(api, body)), [3, 0, 0]);
        counters.reset();
        assert_eq!(counters.read().requests, 0);
        assert_eq!(counters.read().distinct, 0);
    }
}
