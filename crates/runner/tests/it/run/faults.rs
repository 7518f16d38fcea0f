//! Everything that can go wrong on the way, alone and together.

use std::time::Duration;

use reasonscape_runner::EventKind;
use reasonscape_simulator::FaultKind;

use super::scripted_server::{ScriptedServer, completion};
use super::{POINTS, TestEnv, assert_counts_add_up, count, eval, run_all, server};

/// Short enough that what stalls does not stall the tests, long enough for a busy machine.
const SHORT_TIMEOUTS: &str = "timeout_seconds = 2\nidle_timeout_seconds = 1\n";

/// Runs against a server with these faults, twice; whatever happened, nothing is lost or paid twice.
fn assert_no_trial_is_lost(faults: &str, kinds: &[FaultKind]) {
    let (env, server) = (TestEnv::new(), server(faults));
    let study = env.study("", &[eval("sim-cheap", &server.base_url()) + SHORT_TIMEOUTS]);
    let cache = env.cache();
    let (summary, events) = run_all(&study, &count(12), &cache);
    let eval = &summary.evals[0];
    assert_eq!(eval.stopped, None, "{faults}");
    assert_counts_add_up(eval);
    assert_eq!(eval.planned, 12 * POINTS);
    assert_eq!(env.entries(), eval.answered, "{faults}: what counts is what is kept");
    let stats = server.stats();
    assert_eq!(stats.requests, eval.sent, "{faults}");
    assert!(stats.duplicates <= slow_replies(&stats.by_fault), "{faults}: {stats:?}");
    for kind in kinds {
        assert!(stats.by_fault.contains_key(kind.name()), "{kind:?} did not happen: {stats:?}");
    }
    // Every failure was reported: a request more than there are trials is one that was sent again.
    let count_events = |is_counted: fn(&EventKind) -> bool| {
        events.iter().filter(|event| is_counted(&event.kind)).count() as u64
    };
    let retried = count_events(|kind| matches!(kind, EventKind::Retrying { .. }));
    assert_eq!(eval.sent, eval.answered + eval.missing + retried, "{faults}");
    assert_eq!(count_events(|kind| matches!(kind, EventKind::Missing { .. })), eval.missing);
    assert_eq!(count_events(|kind| matches!(kind, EventKind::Answered { .. })), eval.answered);

    let answered = eval.answered;
    let (again, _) = run_all(&study, &count(12), &cache);
    let again = &again.evals[0];
    assert_counts_add_up(again);
    assert_eq!(again.cached, answered, "{faults}: only what was missing is asked again");
}

/// Requests that the simulator counts as answered and whose answer a client may not have waited for.
fn slow_replies(by_fault: &std::collections::BTreeMap<&'static str, u64>) -> u64 {
    by_fault.get("slow").copied().unwrap_or(0)
}

#[test]
fn every_single_fault_leaves_trials_answered_or_missing() {
    std::thread::scope(|scope| {
        for kind in FaultKind::ALL {
            scope.spawn(move || {
                let faults = format!("rate=0.3,kinds={},slow-ms=30,retry-after=0.05", kind.name());
                assert_no_trial_is_lost(&faults, &[kind]);
            });
        }
    });
}

#[test]
fn all_faults_together_leave_trials_answered_or_missing() {
    std::thread::scope(|scope| {
        for seed in 0..3 {
            scope.spawn(move || {
                assert_no_trial_is_lost(&format!("rate=0.3,kinds=all,slow-ms=30,seed={seed}"), &[]);
            });
        }
    });
}

#[test]
fn context_overflow_is_a_truncated_answer() {
    let (env, server) = (TestEnv::new(), server("rate=0.5,kinds=overflow"));
    let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = run_all(&study, &count(12), &env.cache());
    let overflows = server.stats().by_fault["overflow"];
    assert!(summary.is_complete() && summary.evals[0].truncated >= overflows && overflows > 0);
    assert_eq!(server.stats().requests, 48, "asking again would not help");
}

#[test]
fn failed_trials_are_missing_and_retried_by_the_next_run() {
    let env = TestEnv::new();
    // The first three requests fail, however often they may be tried.
    let scripted_server = ScriptedServer::start(|number| match number {
        0..3 => (500, "", r#"{"error": {"message": "out of memory"}}"#.to_owned()),
        _ => completion(),
    });
    let lines = format!(
        "[[eval]]\nmodel = \"m\"\nbase_url = \"{}\"\nconcurrency = 1\nmax_retries = 0\n",
        scripted_server.base_url()
    );
    let study = env.study("", &[lines]);
    let (summary, _) = run_all(&study, &count(4), &env.cache());
    let eval = &summary.evals[0];
    assert_counts_add_up(eval);
    assert_eq!((eval.answered, eval.missing, eval.sent), (13, 3, 16));
    for missing in &eval.missing_trials {
        assert!(missing.problem.contains("out of memory"), "{missing:?}");
        assert!(missing.trial.starts_with("arithmetic {"), "{missing:?}");
    }
    assert!(!summary.is_complete());
    let (summary, _) = run_all(&study, &count(4), &env.cache());
    assert!(summary.is_complete());
    assert_eq!((summary.evals[0].cached, summary.evals[0].answered), (13, 3));
}

#[test]
fn nothing_is_sent_during_retry_after() {
    let env = TestEnv::new();
    let scripted_server = ScriptedServer::start(|number| match number {
        0 => (429, "Retry-After: 1\r\n", r#"{"error": {"message": "slow down"}}"#.to_owned()),
        _ => completion(),
    });
    let lines =
        format!("[[eval]]\nmodel = \"m\"\nbase_url = \"{}\"\nconcurrency = 1\n", scripted_server.base_url());
    let study = env.study("", &[lines]);
    let (summary, events) = run_all(&study, &count(4), &env.cache());
    assert!(summary.is_complete());
    assert_eq!(summary.evals[0].sent, 17);
    let seen = scripted_server.seen();
    assert!(seen[1] - seen[0] >= Duration::from_secs(1), "{:?}", seen[1] - seen[0]);
    let waits: Vec<Duration> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Retrying { wait, .. } => Some(wait),
            _ => None,
        })
        .collect();
    assert!(waits.len() == 1 && waits[0] >= Duration::from_secs(1), "{waits:?}");
}

#[test]
fn retry_after_is_limited_by_the_outage_timeout() {
    let env = TestEnv::new();
    let scripted_server = ScriptedServer::start(|number| match number {
        0 => (429, "Retry-After: 1e9\r\n", r#"{"error": {"message": "slow down"}}"#.to_owned()),
        1 => (503, "Retry-After: 1000000000\r\n", r#"{"error": {"message": "come back"}}"#.to_owned()),
        _ => completion(),
    });
    let lines = format!(
        "[[eval]]\nmodel = \"m\"\nbase_url = \"{}\"\nconcurrency = 1\noutage_timeout_seconds = 1\n",
        scripted_server.base_url()
    );
    let study = env.study("", &[lines]);
    let (summary, events) = run_all(&study, &count(4), &env.cache());
    assert!(summary.is_complete(), "{summary:?}");
    let waits: Vec<Duration> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::Retrying { wait, .. } => Some(wait),
            _ => None,
        })
        .collect();
    // A pause of a second, or the usual delay before a retry if that is longer.
    assert!(waits.len() == 2 && waits.iter().all(|wait| *wait <= Duration::from_secs(2)), "{waits:?}");
}
