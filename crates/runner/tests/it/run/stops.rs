//! Runs that somebody ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reasonscape_runner::{EventKind, RunEvent, RunSummary, Shutdown};
use reasonscape_study::Study;
use tokio::sync::watch;

use super::script::{Script, completion};
use super::{POINTS, TestEnv, count, eval, run_all, run_until, server};

/// Runs until so many trials are answered, and then says this.
fn stopped_after(
    study: &Study,
    world: &TestEnv,
    answers: usize,
    how: Shutdown,
) -> (RunSummary, Vec<RunEvent>) {
    let (stop, stopped) = watch::channel(Shutdown::None);
    let mut answered = 0;
    run_until(study, &count(64), &world.cache(), stopped, move |event| {
        answered += usize::from(matches!(event.kind, EventKind::Answered { .. }));
        if answered == answers {
            stop.send_replace(how);
        }
    })
}

#[test]
fn drained_run_keeps_replies_and_the_next_completes_it() {
    let (world, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=20"));
    let study = world.study("", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = stopped_after(&study, &world, 10, Shutdown::Drain);
    let eval = &summary.evals[0];
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!((eval.sent, eval.missing), (eval.answered, 0), "every request that was sent is kept");
    assert!((10..64 * POINTS).contains(&eval.answered), "{eval:?}");
    assert_eq!((world.entries(), server.stats().requests), (eval.answered, eval.answered));

    let (summary, _) = run_all(&study, &count(64), &world.cache());
    assert!(summary.is_complete() && !summary.stopped);
    assert_eq!((server.stats().requests, server.stats().duplicates), (64 * POINTS, 0));
}

#[test]
fn immediate_shutdown_does_not_wait_for_replies() {
    let world = TestEnv::new();
    // Ten answers, and then silence.
    let answers = Arc::new(AtomicUsize::new(0));
    let silent = Arc::clone(&answers);
    let script = Script::start(move |_| {
        if silent.fetch_add(1, Ordering::SeqCst) >= 10 {
            std::thread::sleep(Duration::from_mins(1));
        }
        completion()
    });
    let study = world.study("", &[eval("m", &script.base_url())]);
    let began = Instant::now();
    let (summary, _) = stopped_after(&study, &world, 10, Shutdown::Immediate);
    assert!(began.elapsed() < Duration::from_secs(30), "it does not wait for what is in flight");
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!(world.entries(), 10);

    let server = server("");
    let study = world.study("", &[eval("m", &server.base_url()).replace("\"m\"", "\"sim-cheap\"")]);
    let (summary, _) = run_all(&study, &count(64), &world.cache());
    assert!(summary.is_complete(), "claims of what was in flight are given back");
}

#[test]
fn drain_does_not_wait_for_retry_after() {
    let world = TestEnv::new();
    let script = Script::start(|number| match number {
        0 => completion(),
        _ => (429, "Retry-After: 300\r\n", r#"{"error": {"message": "slow down"}}"#.to_owned()),
    });
    let study = world.study("", &[eval("m", &script.base_url())]);
    let (stop, stopped) = watch::channel(Shutdown::None);
    let began = Instant::now();
    let (summary, _) = run_until(&study, &count(64), &world.cache(), stopped, move |event| {
        if matches!(event.kind, EventKind::Retrying { .. }) {
            stop.send_replace(Shutdown::Drain);
        }
    });
    assert!(began.elapsed() < Duration::from_mins(1));
    assert!(summary.stopped && !summary.is_complete());
    assert_eq!(world.entries(), summary.evals[0].answered);
}

#[test]
fn stopped_run_is_never_complete() {
    let (world, server) = (TestEnv::new(), server(""));
    let study = world.study("", &[eval("sim-cheap", &server.base_url())]);
    run_all(&study, &count(64), &world.cache());
    let (_stop, stopped) = watch::channel(Shutdown::Drain);
    // What is cached comes first in the plan.
    let (summary, _) = run_until(&study, &count(96), &world.cache(), stopped, |_| ());
    assert!(summary.stopped && !summary.is_complete(), "{:?}", summary.evals[0]);
    assert_eq!(server.stats().requests, 64 * POINTS);
}
