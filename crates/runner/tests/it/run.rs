//! Complete runs over real sockets: nothing is paid twice, nothing is lost, and failures are reported.

mod budgets;
mod endpoints;
mod faults;
mod misconfigured;
mod outages;
mod processes;
mod savings;
mod scripted_server;
mod sharing;
mod shutdown;

use std::path::PathBuf;

use reasonscape_cache::{Cache, CacheError};
use reasonscape_core::Suite;
use reasonscape_providers::Provider;
use reasonscape_runner::{EvalRunSummary, RunEvent, RunSummary, Shutdown, run};
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use reasonscape_study::{Selection, Study};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// Four points.
const SUITE: &str = r#"
name = "small"
description = "four points"
count = 8

[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 8, max_depth = 2 }, { length = 24, max_depth = 4, max_number = 99 }]
view = [{ x = "length" }]

[[manifold]]
id = "brackets"
task = "brackets@1"
points = [{ length = 20, max_depth = 6 }, { length = 64, max_depth = 12, kinds = 4 }]
view = [{ x = "length" }]
"#;
/// Its points.
const POINTS: u64 = 4;

/// A temporary directory with a suite, a study and a cache.
struct TestEnv {
    dir: TempDir,
}

impl TestEnv {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("small.toml"), SUITE).unwrap();
        Self { dir }
    }

    fn cache_path(&self) -> PathBuf {
        self.dir.path().join("cache.sqlite")
    }

    fn cache(&self) -> Cache {
        Cache::open(self.cache_path()).unwrap()
    }

    /// A study of these lines at the top and these evals, which is also written to the folder.
    fn study(&self, top: &str, evals: &[String]) -> Study {
        let text = format!("suite = \"small.toml\"\n{top}\n{}", evals.join("\n"));
        std::fs::write(self.dir.path().join(Study::FILE), text).unwrap();
        Study::load(self.dir.path()).unwrap()
    }

    /// How many answers the cache holds. Each of them must be one, and the cache sound.
    fn entries(&self) -> u64 {
        let reader = self.cache().reader().unwrap();
        let verification = reader.verify(|_| ()).unwrap();
        assert!(verification.is_sound(), "{verification:?}");
        reader
            .for_each::<CacheError>(|entry| {
                let parsed = Provider::OpenAiChat.parse(entry.response.status, &entry.response.body);
                assert!(parsed.is_ok(), "{parsed:?}");
                Ok(())
            })
            .unwrap();
        verification.entries
    }
}

/// A simulated server that knows the small suite.
fn server(faults: &str) -> SimulatedServer {
    serve(SimulateOptions {
        faults: if faults.is_empty() { Faults::default() } else { faults.parse().unwrap() },
        ..SimulateOptions::default()
    })
}

fn serve(options: SimulateOptions) -> SimulatedServer {
    let suites = vec![Suite::parse(SUITE).unwrap()];
    SimulatedServer::start(SimulateOptions { suites, count: Some(96), ..options }).unwrap()
}

/// An eval of this model at this address.
fn eval(model: &str, base_url: &str) -> String {
    format!("[[eval]]\nmodel = \"{model}\"\nbase_url = \"{base_url}\"\nconcurrency = 16\n")
}

fn count(count: usize) -> Selection {
    Selection { count: Some(count), ..Selection::default() }
}

/// Runs to the end; returns the summary and all events.
fn run_all(study: &Study, selection: &Selection, cache: &Cache) -> (RunSummary, Vec<RunEvent>) {
    let (_stop, stopped) = watch::channel(Shutdown::None);
    run_until(study, selection, cache, stopped, |_| ())
}

/// The same, and calls `on_event` with each event as it happens.
fn run_until(
    study: &Study,
    selection: &Selection,
    cache: &Cache,
    stop: watch::Receiver<Shutdown>,
    mut on_event: impl FnMut(&RunEvent) + Send,
) -> (RunSummary, Vec<RunEvent>) {
    let (sender, mut receiver) = mpsc::channel(64);
    std::thread::scope(|scope| {
        let events = scope.spawn(move || {
            let mut events = Vec::new();
            while let Some(event) = receiver.blocking_recv() {
                on_event(&event);
                events.push(event);
            }
            events
        });
        let summary = run(study, selection, cache, None, sender, stop).unwrap();
        (summary, events.join().unwrap())
    })
}

/// What must hold of every evaluation that was not stopped: each trial is answered, was cached, or is missing by name.
fn assert_counts_add_up(eval: &EvalRunSummary) {
    assert_eq!(eval.answered + eval.cached + eval.missing, eval.planned, "{eval:?}");
    assert_eq!(eval.missing_trials.len() as u64, eval.missing, "{eval:?}");
    assert!(eval.missing_trials.iter().all(|missing| missing.trial.contains('#')), "{eval:?}");
    assert!(eval.sent >= eval.answered, "{eval:?}");
}

#[test]
fn larger_count_sends_only_the_difference() {
    let (env, server) = (TestEnv::new(), server(""));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    let cache = env.cache();
    let mut before = 0;
    for (tests, new) in [(4, 16), (4, 0), (12, 32), (12, 0), (8, 0)] {
        let (summary, _) = run_all(&study, &count(tests), &cache);
        let eval = &summary.evals[0];
        assert_counts_add_up(eval);
        assert!(summary.is_complete() && !summary.stopped);
        assert_eq!((eval.answered, eval.sent), (new, new), "{eval:?}");
        assert_eq!(eval.planned, tests as u64 * POINTS);
        before += new;
        let stats = server.stats();
        assert_eq!((stats.requests, stats.distinct, stats.duplicates), (before, before, 0));
        assert_eq!(stats.unknown_questions, 0, "what is sent is what the suite asks");
    }
    assert_eq!(env.entries(), 48);
}

#[test]
fn repeats_are_sent_and_stored_separately() {
    let (env, server) = (TestEnv::new(), server(""));
    let sampled = eval("sim-cheap", &server.base_url()) + "sampler = \"sampled-2k\"\n";
    let cache = env.cache();
    for (repeats, requests) in [(2, 32), (2, 32), (3, 48)] {
        let study = env.study(&format!("repeats = {repeats}"), std::slice::from_ref(&sampled));
        let (summary, _) = run_all(&study, &count(4), &cache);
        assert_counts_add_up(&summary.evals[0]);
        assert!(summary.is_complete());
        let stats = server.stats();
        assert_eq!((stats.requests, stats.distinct), (requests, 16));
        assert_eq!(env.entries(), requests);
    }
}

#[test]
fn namespaces_are_separate_and_identical_requests_shared() {
    let (env, server) = (TestEnv::new(), server(""));
    let one = eval("sim-cheap", &server.base_url());
    let apart = one.clone() + "cache_namespace = \"q4\"\n";
    let study = env.study("", &[one, apart]);
    let (summary, _) = run_all(&study, &count(4), &env.cache());
    assert!(summary.is_complete());
    assert_eq!((server.stats().requests, server.stats().distinct), (32, 16));
    assert_eq!(env.entries(), 32);
}
