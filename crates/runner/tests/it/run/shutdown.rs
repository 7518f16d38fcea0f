//! Runs that are stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reasonscape_runner::{EventKind, RunEvent, RunSummary, Shutdown};
use reasonscape_study::Study;
use tokio::sync::watch;

use super::scripted_server::{ScriptedServer, completion};
use super::{POINTS, TestEnv, count, eval, run_all, run_until, server};

/// Runs until this many trials are answered, and then stops.
fn stopped_after(study: &Study, env: &TestEnv, answers: usize, how: Shutdown) -> (RunSummary, Vec<RunEvent>) {
    let (stop, stopped) = watch::channel(Shutdown::None);
    let mut answered = 0;
    run_until(study, &count(64), &env.cache(), stopped, move |event| {
        answered += usize::from(matches!(event.kind, EventKind::Answered { .. }));
        if answered == answers {
            stop.send_replace(how);
        }
    })
}

#[test]
fn drained_run_keeps_replies_and_the_next_completes_it() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=20"));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = stopped_after(&study, &env, 10, Shutdown::Drain);
    let eval = &summary.evals[0];
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!((eval.sent, eval.missing), (eval.answered, 0), "every request that was sent is kept");
    assert!((10..64 * POINTS).contains(&eval.answered), "{eval:?}");
    assert_eq!((env.entries(), server.stats().requests), (eval.answered, eval.answered));

    let (summary, _) = run_all(&study, &count(64), &env.cache());
    assert!(summary.is_complete() && !summary.stopped);
    assert_eq!((server.stats().requests, server.stats().duplicates), (64 * POINTS, 0));
}

#[test]
fn immediate_shutdown_does_not_wait_for_replies() {
    let env = TestEnv::new();
    // Ten answers, and then silence.
    let answers = Arc::new(AtomicUsize::new(0));
    let silent = Arc::clone(&answers);
    let scripted_server = ScriptedServer::start(move |_| {
        if silent.fetch_add(1, Ordering::SeqCst) >= 10 {
            std::thread::sleep(Duration::from_mins(1));
        }
        completion()
    });
    let study = env.study("", &[eval("m", &scripted_server.base_url())]);
    let began = Instant::now();
    let (summary, _) = stopped_after(&study, &env, 10, Shutdown::Immediate);
    assert!(began.elapsed() < Duration::from_secs(30), "it does not wait for what is in flight");
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!(env.entries(), 10);

    let server = server("");
    let study = env.study("", &[eval("m", &server.base_url()).replace("\"m\"", "\"sim-cheap\"")]);
    let (summary, _) = run_all(&study, &count(64), &env.cache());
    assert!(summary.is_complete(), "claims of what was in flight are given back");
}

#[test]
fn drain_does_not_wait_for_retry_after() {
    let env = TestEnv::new();
    let scripted_server = ScriptedServer::start(|number| match number {
        0 => completion(),
        _ => (429, "Retry-After: 300\r\n", r#"{"error": {"message": "slow down"}}"#.to_owned()),
    });
    let study = env.study("", &[eval("m", &scripted_server.base_url())]);
    let (stop, stopped) = watch::channel(Shutdown::None);
    let began = Instant::now();
    let (summary, _) = run_until(&study, &count(64), &env.cache(), stopped, move |event| {
        if matches!(event.kind, EventKind::Retrying { .. }) {
            stop.send_replace(Shutdown::Drain);
        }
    });
    assert!(began.elapsed() < Duration::from_mins(1));
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!(env.entries(), summary.evals[0].answered);
}

#[test]
fn stopped_run_is_never_complete() {
    let (env, server) = (TestEnv::new(), server(""));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    run_all(&study, &count(64), &env.cache());
    let (_stop, stopped) = watch::channel(Shutdown::Drain);
    // What is cached comes first in the plan.
    let (summary, _) = run_until(&study, &count(96), &env.cache(), stopped, |_| ());
    assert!(summary.stopped && !summary.is_complete(), "{:?}", summary.evals[0]);
    assert_eq!(server.stats().requests, 64 * POINTS);
}
